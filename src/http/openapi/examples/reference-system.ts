import type { Example } from '../operation.js'

export const referenceExamples = {
  'triples-service': {
    path: {
      flow: 'default',
    },
    type: 'application/json',
    body: {
      s: {
        v: 'urn:dick',
        e: true,
      },
      user: 'alice',
      collection: 'letters',
    },
    status: 200,
    answer: {
      response: [
        {
          s: {
            v: 'urn:dick',
            e: true,
          },
          p: {
            v: 'https://schema.org/name',
            e: true,
          },
          o: {
            v: 'Dick',
            e: false,
          },
        },
      ],
    },
  },
  'graph-embeddings-service': {
    path: {
      flow: 'default',
    },
    type: 'application/json',
    body: {
      vectors: [[1, 0, 0]],
      limit: 1,
      user: 'alice',
      collection: 'letters',
    },
    status: 200,
    answer: {
      entities: [
        {
          v: 'urn:ellen',
          e: true,
        },
      ],
    },
  },
  'knowledge-service': {
    type: 'application/json',
    body: {
      operation: 'list-kg-cores',
      user: 'alice',
    },
    status: 200,
    answer: {
      ids: ['urn:lorekeep:same', 'visit'],
    },
  },
} as const satisfies Readonly<Record<string, Example>>
