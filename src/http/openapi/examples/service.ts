import type { Example } from '../operation.js'

export const serviceExamples = {
  health: {
    status: 200,
    answer: {
      status: 'ok',
    },
  },
  readiness: {
    status: 200,
    answer: {
      status: 'ready',
    },
  },
  metrics: {
    status: 200,
    accept: 'text/plain',
  },
  whoami: {
    status: 200,
    answer: {
      user: '*',
      defaultUser: 'trustgraph',
      stores: ['knowledge', 'objects', 'flows'],
      sparql: true,
    },
  },
  openapi: {
    status: 200,
  },
  reference: {
    status: 200,
    accept: 'text/html',
  },
  inspector: {
    status: 200,
    accept: 'text/html',
  },
  'inspector-file': {
    path: { file: 'licenses.txt' },
    status: 200,
    accept: 'text/plain',
  },
  assistant: {
    type: 'application/json',
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    status: 200,
    answer: { jsonrpc: '2.0', id: 1, result: {} },
  },
  backup: {
    status: 200,
    accept: 'application/octet-stream',
  },
} as const satisfies Readonly<Record<string, Example>>
