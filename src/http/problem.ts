// Errors as application/problem+json (RFC 9457). The only place that knows which code is which status.

import type { OutgoingHttpHeaders } from 'node:http'
import { Problems, maxErrorBytes, maxErrors, shortText } from '../door/problems.js'
import { LorekeepError, catalogue, isDiskFull } from '../errors.js'
import type { ErrorCode, ErrorKind } from '../errors.js'
import { codingsOfBodies } from './coding/codings.js'

export const status: Readonly<Record<ErrorCode, number>> = {
  LK_CORE_REF: 400,
  LK_CORE_NOT_FOUND: 404,
  LK_CORE_FORMAT: 400,
  LK_CORE_TYPE: 400,
  LK_CORE_TOO_LARGE: 413,
  LK_CORE_MESSAGE: 400,
  LK_GRAPH_QUERY: 400,
  LK_RDF_FORMAT: 400,
  LK_RDF_LOSS: 422,
  LK_PEER_MISSING: 501,
  LK_WORKSPACE_FORMAT: 400,
  LK_WORKSPACE_DAMAGED: 400,
  LK_WORKSPACE_TOO_LARGE: 413,
  LK_SCHEMA_INVALID: 400,
  LK_SCHEMA_NOT_FOUND: 404,
  LK_SCHEMA_VIOLATED: 409,
  LK_SCHEMA_IN_USE: 409,
  LK_COLLECTION_NOT_FOUND: 404,
  LK_OBJECT_REQUEST: 400,
  LK_OBJECT_INVALID: 400,
  LK_OBJECT_DUPLICATE: 409,
  LK_OBJECT_ACCESS: 403,
  LK_OBJECT_NOT_FOUND: 404,
  LK_OBJECT_TOO_LARGE: 413,
  LK_QUERY: 400,
  LK_QUERY_BUDGET: 400,
  LK_FLOW_INVALID: 400,
  LK_FLOW_NOT_FOUND: 404,
  LK_FLOW_INACTIVE: 409,
  LK_FLOW_IN_USE: 409,
  LK_FLOW_FULL: 503,
  LK_DOCUMENT_INVALID: 400,
  LK_DOCUMENT_TOO_LARGE: 413,
  LK_DOCUMENT_TYPE: 415,
  LK_DOCUMENT_UNREADABLE: 422,
  LK_DOCUMENT_ACCESS: 403,
  LK_DOCUMENT_NOT_FOUND: 404,
  LK_JOB_NOT_FOUND: 404,
  LK_JOB_STATE: 409,
  LK_LEASE_LOST: 409,
  LK_STEP_INPUT: 500,
  LK_STEP_OUTPUT: 500,
  LK_STEP_TIMEOUT: 500,
  LK_STEP_UNRECOVERABLE: 500,
  LK_MODEL_UNAVAILABLE: 503,
  LK_MODEL_REFUSED: 502,
  LK_MODEL_ANSWER: 502,
  LK_STORAGE_FAILED: 500,
  LK_STORAGE_FORMAT: 500,
  LK_STORAGE_CORRUPT: 500,
  LK_STORAGE_UNAVAILABLE: 503,
  LK_STORAGE_CONFLICT: 409,
  LK_STORAGE_LOCKED: 503,
  LK_BACKUP_FORMAT: 400,
  LK_BACKUP_DAMAGED: 400,
  LK_BACKUP_NOT_EMPTY: 409,
  LK_BACKUP_UNFINISHED: 500,
  LK_CLOSED: 503,
  LK_PRECONDITION: 412,
  LK_CURSOR: 400,
  LK_HTTP_REQUEST: 400,
  LK_HTTP_UNAUTHORIZED: 401,
  LK_HTTP_FORBIDDEN: 403,
  LK_HTTP_JSON: 400,
  LK_HTTP_TOO_LARGE: 413,
  LK_HTTP_NOT_FOUND: 404,
  LK_HTTP_METHOD: 405,
  LK_HTTP_NOT_ACCEPTABLE: 406,
  LK_HTTP_ENCODING: 415,
  LK_HTTP_BODY_CONSUMED: 500,
  LK_HTTP_TIMEOUT: 408,
  LK_HTTP_RANGE: 416,
  LK_HTTP_CONDITION: 428,
  LK_HTTP_RATE: 429,
  LK_HTTP_BUSY: 503,
  LK_INTERNAL: 500,
  LK_TOOL_ARGUMENTS: 400,
  LK_CONFIG: 500,
}

/** The body of an error response. Details of the error (offsets, indexes) are further members. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly requestId: string
  /** What is wrong, one by one; at least one, at most 100 and 64 KiB of them. */
  readonly errors: readonly Readonly<Record<string, unknown>>[]
  /** How many more there are. */
  readonly errorsOmitted?: number
  /** Where it is known when trying again makes sense. */
  readonly retryAfterSeconds?: number
  /** What the field's existing clients read. */
  readonly error: { readonly type: ErrorKind; readonly message: string }
}

export function problemOf(thrown: unknown, requestId: string): ProblemDetails {
  const error = errorForClients(thrown)
  const { code, kind } = error
  const title = catalogue[code].message
  const detail = shortText(error.message, longestDetail)
  const { errors, errorsOmitted, ...rest } = error.details
  const details = plainMembers(rest)
  return {
    ...details,
    type: `urn:lorekeep:error:${code}`,
    title,
    status: status[code],
    detail,
    code,
    kind,
    requestId,
    ...(listOf(errors, errorsOmitted) ?? { errors: [{ ...details, message: detail }] }),
    error: { type: kind, message: detail },
  }
}

/** What may leave the house of an error: where its words may not, those of its code. */
export function errorForClients(thrown: unknown): LorekeepError {
  const error = thrown instanceof LorekeepError ? thrown : new LorekeepError('LK_INTERNAL')
  return isForClients(error.code) ? error : new LorekeepError(error.code, closedDetail(error))
}

export function problemHeaders({
  code,
  retryAfterSeconds = 1,
}: Pick<ProblemDetails, 'code' | 'retryAfterSeconds'>): OutgoingHttpHeaders {
  return {
    'Content-Type': 'application/problem+json',
    ...([429, 503].includes(status[code]) && { 'Retry-After': String(retryAfterSeconds) }),
    ...(code === 'LK_HTTP_ENCODING' && { 'Accept-Encoding': codingsOfBodies }),
  }
}

/**
 * Whether message and details may leave the house. What the storage says can hold file names;
 * the LK_HTTP errors are all worded in this folder, a full flow says how many wait, and a missing
 * package which one it is.
 */
function isForClients(code: ErrorCode): boolean {
  if (code.startsWith('LK_HTTP_')) return true
  if (code === 'LK_FLOW_FULL' || code === 'LK_PEER_MISSING') return true
  return status[code] < 500 && !code.startsWith('LK_STORAGE_')
}

/** A full disk is for the client to know: it may wait, or ask for room. It names no file. */
function closedDetail({ code, cause }: LorekeepError): string | undefined {
  const isStorage = code === 'LK_STORAGE_FAILED' || code === 'LK_STORAGE_UNAVAILABLE'
  return isStorage && isDiskFull(cause) ? "no space is left on the server's disk" : undefined
}

/** Whatever was collected: an answer repeats no more than this of what a client sent. */
const longestDetail = 8192
const longestMember = 1024

/** An object that slipped into the details stays inside; plain values and lists of them are ours. */
function plainMembers(details: object): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(details)) {
    if (isPlain(value)) members[name] = short(value)
    else if (Array.isArray(value) && value.every(isPlain)) {
      members[name] = firstOf(value.map(short))
    }
  }
  return members
}

/** It stands in the problem twice. */
function firstOf(values: readonly unknown[]): readonly unknown[] {
  let length = 0
  const end = values.findIndex((value, n) => {
    length += String(value).length
    return n >= maxErrors || length > maxErrorBytes / 8
  })
  return end < 0 ? values : values.slice(0, end)
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function short(value: unknown): unknown {
  return typeof value === 'string' ? shortText(value, longestMember) : value
}

function listOf(
  errors: unknown,
  errorsOmitted: unknown,
): Pick<ProblemDetails, 'errors' | 'errorsOmitted'> | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined
  const list = new Problems<Readonly<Record<string, unknown>>>()
  for (const error of errors as readonly unknown[]) {
    if (typeof error !== 'object' || error === null) continue
    if (list.isFull) list.omit()
    else list.add(plainMembers(error))
  }
  if (typeof errorsOmitted === 'number') list.omit(errorsOmitted)
  return list.details
}
