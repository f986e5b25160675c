import type { Example } from '../operation.js'

export const coreExamples = {
  importCore: {
    query: {
      id: 'visit',
      user: 'alice',
      collection: 'letters',
    },
    type: 'text/turtle',
    body: '@prefix schema: <https://schema.org/> .\n<urn:visit> schema:name "A visit" ; schema:text "Ellen lives by the Thames." .\n<urn:ellen> schema:name "Ellen" ; schema:knows <urn:dick> .\n<urn:dick> schema:name "Dick" .\n',
    status: 200,
    answer: {
      bytes: 389,
      messages: 1,
      triples: 5,
      entities: 0,
      vectors: 0,
      digest: '63a683f6ac8291e3e8338e6a76aaa20729295680410f2491fd66066cc50c7c42',
      version: '63a683f6ac8291e3e8338e6a76aaa20729295680410f2491fd66066cc50c7c42',
      dialect: 'specification',
      skipped: {},
      duplicate: false,
      kept: {
        statements: 0,
        datatypes: 0,
        languages: 0,
        directions: 0,
        graphs: 0,
      },
    },
  },
  listCores: {
    query: {
      user: 'alice',
      limit: '10',
    },
    status: 200,
    answer: {
      cores: [
        {
          user: 'alice',
          id: 'visit',
          segments: 1,
          bytes: 389,
          messages: 1,
          triples: 5,
          entities: 0,
          vectors: 0,
          digest: '63a683f6ac8291e3e8338e6a76aaa20729295680410f2491fd66066cc50c7c42',
          createdAt: '2026-01-31T12:00:00.000Z',
          updatedAt: '2026-01-31T12:00:00.000Z',
        },
      ],
      limit: 10,
    },
  },
  showCore: {
    path: {
      id: 'visit',
    },
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      user: 'alice',
      id: 'visit',
      segments: 1,
      bytes: 389,
      messages: 1,
      triples: 5,
      entities: 0,
      vectors: 0,
      digest: '63a683f6ac8291e3e8338e6a76aaa20729295680410f2491fd66066cc50c7c42',
      createdAt: '2026-01-31T12:00:00.000Z',
      updatedAt: '2026-01-31T12:00:00.000Z',
    },
  },
  exportCore: {
    query: {
      id: 'visit',
      user: 'alice',
    },
    accept: 'application/n-triples',
    status: 200,
    answer:
      '<urn:visit> <https://schema.org/name> "A visit" .\n<urn:visit> <https://schema.org/text> "Ellen lives by the Thames." .\n<urn:ellen> <https://schema.org/name> "Ellen" .\n<urn:ellen> <https://schema.org/knows> <urn:dick> .\n<urn:dick> <https://schema.org/name> "Dick" .\n',
  },
  indexCore: {
    path: {
      id: 'visit',
    },
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      state: 'complete',
      segments: 1,
      indexedSegments: 1,
      triples: 5,
      vectors: 0,
      passages: 1,
      approximate: 0,
      parts: 2,
      bytes: 1000,
    },
  },
  showIndex: {
    path: {
      id: 'visit',
    },
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      state: 'complete',
      segments: 1,
      indexedSegments: 1,
      triples: 5,
      vectors: 0,
      passages: 1,
      approximate: 0,
      parts: 2,
      bytes: 1000,
    },
  },
  indexAll: {
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      state: 'complete',
      waiting: {
        segments: 0,
        bytes: 0,
      },
      triples: 5,
      vectors: 0,
      passages: 1,
      approximate: 0,
      parts: 2,
      bytes: 1000,
    },
  },
  showIndexOfAll: {
    query: {
      user: 'alice',
    },
    status: 200,
    answer: {
      state: 'complete',
      waiting: {
        segments: 0,
        bytes: 0,
      },
      triples: 5,
      vectors: 0,
      passages: 1,
      approximate: 0,
      parts: 2,
      bytes: 1000,
    },
  },
  deleteCore: {
    path: {
      id: 'visit',
    },
    query: {
      user: 'alice',
    },
    status: 204,
  },
} as const satisfies Readonly<Record<string, Example>>
