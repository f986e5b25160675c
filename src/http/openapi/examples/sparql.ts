import type { Example } from '../operation.js'

export const sparqlExamples = {
  sparqlByGet: {
    query: {
      user: 'alice',
      query: 'SELECT ?name WHERE { <urn:ellen> <https://schema.org/name> ?name }',
    },
    accept: 'application/sparql-results+json',
    status: 200,
    answer: {
      head: {
        vars: ['name'],
      },
      results: {
        bindings: [
          {
            name: {
              type: 'literal',
              value: 'Ellen',
            },
          },
        ],
      },
    },
  },
  sparqlByPost: {
    query: {
      user: 'alice',
    },
    type: 'application/sparql-query',
    body: 'ASK { <urn:ellen> <https://schema.org/knows> ?whom }',
    accept: 'application/sparql-results+json',
    status: 200,
    answer: {
      head: {},
      boolean: true,
    },
  },
} as const satisfies Readonly<Record<string, Example>>
