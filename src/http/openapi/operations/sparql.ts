// SPARQL over cores.

import { sparqlExamples as examples } from '../examples/sparql.js'
import type { Answer, Operation } from '../operation.js'
import { anyObject, list, object, text } from '../schema.js'
import type { ErrorCode } from '../../../errors.js'

const errors: readonly ErrorCode[] = [
  'LK_CORE_REF',
  'LK_CORE_NOT_FOUND',
  'LK_GRAPH_QUERY',
  'LK_QUERY_BUDGET',
  'LK_HTTP_TOO_LARGE',
  'LK_HTTP_ENCODING',
  'LK_HTTP_BODY_CONSUMED',
  'LK_HTTP_TIMEOUT',
  'LK_HTTP_BUSY',
  'LK_PEER_MISSING',
]

const answers: Readonly<Record<number, Answer>> = {
  200: {
    description: 'The results, in a format by `Accept`.',
    headers: ['Cache-Control', 'Vary'],
    content: {
      'application/sparql-results+json': { schema: anyObject },
      'application/json': { schema: anyObject },
      'application/sparql-results+xml': { schema: text },
      'text/csv': { schema: text },
      'text/tab-separated-values': { schema: text },
      'application/n-triples': { schema: text },
      'text/turtle': { schema: text },
    },
  },
}

export const sparqlOperations = {
  sparqlByGet: {
    tag: 'sparql',
    summary: 'Ask SPARQL, with the query in the URL',
    answers,
    errors,
    example: examples.sparqlByGet,
  },
  sparqlByPost: {
    tag: 'sparql',
    summary: 'Ask SPARQL, with the query in the body',
    body: {
      content: {
        'application/sparql-query': { schema: text },
        'application/x-www-form-urlencoded': {
          schema: object({
            query: text,
            'user?': text,
            'collection?': text,
            'core?': list(text),
            'default-graph-uri?': list(text),
            'named-graph-uri?': list(text),
          }),
        },
      },
    },
    answers,
    errors,
    example: examples.sparqlByPost,
  },
} as const satisfies Readonly<Record<string, Operation>>
