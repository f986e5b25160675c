import type { Example } from '../operation.js'

export const serviceExamples = {
  health: {
    status: 200,
    answer: {
      status: 'ok',
    },
  },
  whoami: {
    status: 200,
    answer: {
      user: '*',
      defaultUser: 'trustgraph',
    },
  },
  openapi: {
    status: 200,
  },
  backup: {
    status: 200,
    accept: 'application/octet-stream',
  },
} as const satisfies Readonly<Record<string, Example>>
