// Errors that many operations have.

import type { ErrorCode } from '../../../errors.js'

/** Of every operation that asks who it is. */
export const common: readonly ErrorCode[] = [
  'LK_HTTP_REQUEST',
  'LK_HTTP_UNAUTHORIZED',
  'LK_HTTP_FORBIDDEN',
  'LK_HTTP_NOT_ACCEPTABLE',
  'LK_HTTP_RATE',
  'LK_PRECONDITION',
  'LK_STORAGE_CONFLICT',
  'LK_STORAGE_FAILED',
  'LK_STORAGE_CORRUPT',
  'LK_STORAGE_FORMAT',
  'LK_STORAGE_UNAVAILABLE',
  'LK_STORAGE_LOCKED',
  'LK_CLOSED',
  'LK_INTERNAL',
]

/** Of those that take JSON. */
export const ofJson = [
  'LK_HTTP_JSON',
  'LK_HTTP_TOO_LARGE',
  'LK_HTTP_ENCODING',
  'LK_HTTP_TIMEOUT',
  'LK_HTTP_BODY_CONSUMED',
  'LK_HTTP_BUSY',
] as const satisfies readonly ErrorCode[]

/** Of those that ask cores. */
export const ofQuestions = [
  ...ofJson,
  'LK_CORE_REF',
  'LK_CORE_NOT_FOUND',
  'LK_GRAPH_QUERY',
  'LK_QUERY_BUDGET',
] as const satisfies readonly ErrorCode[]
