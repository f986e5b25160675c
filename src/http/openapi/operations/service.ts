// The service itself.

import { serviceExamples as examples } from '../examples/service.js'
import { ofJson } from './errors.js'
import { json, ok } from '../operation.js'
import type { Operation } from '../operation.js'
import { anyObject, bytes, ref, text } from '../schema.js'

const ofFiles = ['Cache-Control', 'Content-Security-Policy', 'ETag', 'Referrer-Policy'] as const

export const serviceOperations = {
  health: {
    tag: 'service',
    summary: 'Whether the process answers',
    answers: { 200: ok('It does.', ref('Health')) },
    example: examples.health,
  },
  readiness: {
    tag: 'service',
    summary: 'Whether work is taken',
    answers: {
      200: ok('It is.', ref('Readiness')),
      503: {
        description: 'The storage refuses it, or merges are behind.',
        headers: ['Cache-Control', 'Retry-After'],
        content: json(ref('Readiness')),
      },
    },
    example: examples.readiness,
  },
  metrics: {
    tag: 'service',
    summary: 'What operators watch',
    description:
      'For tokens for any user and every collection, unless the host has it open: docs/operations.md says what is told.',
    answers: {
      200: {
        description: 'Text for Prometheus, or OpenMetrics where that is asked for.',
        headers: ['Cache-Control', 'Vary'],
        content: {
          'text/plain': { schema: text },
          'application/openmetrics-text': { schema: text },
        },
      },
    },
    example: examples.metrics,
  },
  openapi: {
    tag: 'service',
    summary: 'This document',
    answers: {
      200: { description: 'OpenAPI 3.1.', headers: ['Cache-Control'], content: json(anyObject) },
    },
    example: examples.openapi,
  },
  reference: {
    tag: 'service',
    summary: 'This document as a page',
    description: 'HTML without scripts, and with nothing from elsewhere.',
    answers: {
      200: {
        description: 'To read in a browser.',
        headers: ['Cache-Control', 'Content-Security-Policy'],
        content: { 'text/html': { schema: text } },
      },
    },
    example: examples.reference,
  },
  inspector: {
    tag: 'service',
    summary: 'A page to look at what is stored',
    description: 'Nothing of what is stored is in it: it asks with the token of whoever looks.',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'To look at in a browser.',
        headers: ofFiles,
        content: { 'text/html': { schema: text } },
      },
      304: { description: 'As it was.', headers: ofFiles },
    },
    example: examples.inspector,
  },
  'inspector-file': {
    tag: 'service',
    summary: 'A file of that page',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'It has another name whenever there is something else in it.',
        headers: ['Cache-Control', 'ETag'],
        content: {
          'text/javascript': { schema: text },
          'text/css': { schema: text },
          'text/plain': { schema: text },
        },
      },
      304: { description: 'As it was.', headers: ['Cache-Control', 'ETag'] },
    },
    errors: ['LK_HTTP_NOT_FOUND'],
    example: examples['inspector-file'],
  },
  assistant: {
    tag: 'service',
    summary: 'A message of the Model Context Protocol',
    description:
      'JSON-RPC, as https://modelcontextprotocol.io has it: docs/assistants.md says which tools there are. A server that asks for no token refuses names of other machines in Host and Origin.',
    body: { content: json(anyObject) },
    answers: {
      200: {
        description:
          'The answer to a request, which may be an error of JSON-RPC; as events, where the request asks for progress, and it comes before.',
        headers: ['Cache-Control', 'X-Accel-Buffering?'],
        content: { ...json(anyObject), 'text/event-stream': { schema: text, each: anyObject } },
      },
      202: { description: 'A notification was taken.' },
    },
    errors: [...ofJson, 'LK_PEER_MISSING'],
    example: examples.assistant,
  },
  whoami: {
    tag: 'service',
    summary: 'Whom the token stands for',
    answers: { 200: ok('What it may do.', ref('Principal')) },
    example: examples.whoami,
  },
  backup: {
    tag: 'service',
    summary: 'Back up everything',
    description:
      'For tokens for any user and every collection. An answer that is cut off broke on the way.',
    answers: {
      200: {
        description: 'A backup, in the format of docs/format.md.',
        headers: ['Cache-Control'],
        content: { 'application/octet-stream': { schema: bytes } },
      },
    },
    errors: ['LK_HTTP_BUSY', 'LK_HTTP_TIMEOUT'],
    example: examples.backup,
  },
} as const satisfies Readonly<Record<string, Operation>>
