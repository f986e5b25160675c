import type { Example } from '../operation.js'

/** Of all that a user has. */
const questions = {
  match: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      s: {
        v: 'urn:ellen',
        e: true,
      },
      limit: 10,
    },
    status: 200,
    answer: {
      triples: [
        {
          s: {
            v: 'urn:ellen',
            e: true,
          },
          p: {
            v: 'https://schema.org/knows',
            e: true,
          },
          o: {
            v: 'urn:dick',
            e: true,
          },
        },
        {
          s: {
            v: 'urn:ellen',
            e: true,
          },
          p: {
            v: 'https://schema.org/name',
            e: true,
          },
          o: {
            v: 'Ellen',
            e: false,
          },
        },
      ],
    },
  },
  count: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      p: {
        v: 'https://schema.org/name',
        e: true,
      },
    },
    status: 200,
    answer: {
      count: 3,
    },
  },
  solve: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      patterns: [
        {
          s: '?who',
          p: {
            v: 'https://schema.org/knows',
            e: true,
          },
          o: '?whom',
        },
        {
          s: '?whom',
          p: {
            v: 'https://schema.org/name',
            e: true,
          },
          o: '?name',
        },
      ],
      select: ['?name'],
    },
    status: 200,
    answer: {
      bindings: [
        {
          name: {
            v: 'Dick',
            e: false,
          },
        },
      ],
    },
  },
  nearest: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      vector: [1, 0, 0],
      k: 1,
    },
    status: 200,
    answer: {
      entities: [
        {
          entity: {
            v: 'urn:ellen',
            e: true,
          },
          score: 1,
          core: 'visit',
        },
      ],
    },
  },
  retrieve: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      text: 'Where does Ellen live?',
      entities: 1,
      depth: 0,
    },
    status: 200,
    answer: {
      entities: [],
      triples: [],
      labels: {},
      sources: [
        {
          chunk: {
            v: 'urn:visit',
            e: true,
          },
          title: 'A visit',
          core: 'visit',
          text: 'Ellen lives by the Thames.',
          score: 0.22295360615013016,
          legs: {
            words: {
              rank: 1,
              score: 0.22295360615013016,
            },
          },
          via: [],
          entities: [],
        },
      ],
    },
  },
  search: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      text: 'Who lives by the Thames?',
      k: 1,
    },
    status: 200,
    answer: {
      passages: [
        {
          chunk: {
            v: 'urn:visit',
            e: true,
          },
          title: 'A visit',
          core: 'visit',
          text: 'Ellen lives by the Thames.',
          score: 0.2301456579614247,
          highlights: [
            [6, 11],
            [19, 25],
          ],
        },
      ],
    },
  },
  duplicates: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      least: 0.9,
    },
    status: 200,
    answer: {
      duplicates: [],
    },
  },
  answer: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      text: 'Where does Ellen live?',
      entities: 1,
      depth: 0,
    },
    status: 200,
    answer: {
      text: '[1] A visit\nEllen lives by the Thames.\n',
      citations: [
        {
          n: 1,
          source: {
            chunk: {
              v: 'urn:visit',
              e: true,
            },
            title: 'A visit',
            core: 'visit',
            text: 'Ellen lives by the Thames.',
            score: 0.22295360615013016,
            legs: {
              words: {
                rank: 1,
                score: 0.22295360615013016,
              },
            },
            via: [],
            entities: [],
          },
          start: 0,
          end: 3,
        },
      ],
      unknown: [],
      sources: [
        {
          chunk: {
            v: 'urn:visit',
            e: true,
          },
          title: 'A visit',
          core: 'visit',
          text: 'Ellen lives by the Thames.',
          score: 0.22295360615013016,
          legs: {
            words: {
              rank: 1,
              score: 0.22295360615013016,
            },
          },
          via: [],
          entities: [],
        },
      ],
      triples: [],
      labels: {},
    },
  },
} as const satisfies Readonly<Record<string, Example>>

/** The same of one core. */
const inCore = (example: Example): Example => ({ path: { id: 'visit' }, ...example })

export const graphExamples = {
  matchInCore: inCore(questions.match),
  matchInGraph: questions.match,
  countInCore: inCore(questions.count),
  countInGraph: questions.count,
  solveInCore: inCore(questions.solve),
  solveInGraph: questions.solve,
  nearestInCore: inCore(questions.nearest),
  nearestInGraph: questions.nearest,
  retrieveInCore: inCore(questions.retrieve),
  retrieveInGraph: questions.retrieve,
  searchInCore: inCore(questions.search),
  searchInGraph: questions.search,
  duplicatesInCore: inCore(questions.duplicates),
  duplicatesInGraph: questions.duplicates,
  answerInCore: inCore(questions.answer),
  answerInGraph: questions.answer,
  mergeThings: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      a: {
        v: 'urn:ellen',
        e: true,
      },
      b: {
        v: 'urn:dick',
        e: true,
      },
    },
    status: 204,
  },
  splitThings: {
    query: {
      user: 'alice',
    },
    type: 'application/json',
    body: {
      a: {
        v: 'urn:ellen',
        e: true,
      },
      b: {
        v: 'urn:dick',
        e: true,
      },
    },
    status: 204,
  },
} as const satisfies Readonly<Record<string, Example>>
