// What the calls of the tables are made of: a store, and every option that there is, each right.

import * as memory from '../../adapters/memory.js'
import * as lorekeep from '../../src/index.js'
import * as langchain from '../../src/langchain/index.js'
import * as sparql from '../../src/sparql/index.js'

export const keep = await lorekeep.createLorekeep({ backend: new memory.MemoryBackend() })
export const { knowledge, objects, flows } = keep
export const ref = { user: 'u', id: 'core' }
await knowledge.write(ref, [])
await objects.defineSchema({ name: 'note', fields: { id: { type: 'string' } } })
export const graph = knowledge.graph(
  ref.user === 'u' ? { user: 'u', cores: ['core'] } : { user: 'u' },
)
export const engine = sparql.createSparql()

export const signal: AbortSignal = new AbortController().signal
export const nothing = () => undefined
export const ofModels = {
  ...{ timeoutMs: 1, maxAttempts: 1 },
  clock: { now: () => 0, after: nothing },
  chance: { fraction: () => 0 },
}
export const within = { knowledge, user: 'u', cores: ['core'], collection: 'c' }
export const vectorStore = new langchain.LorekeepVectorStore({} as never, { knowledge, user: 'u' })
export const term = { v: 'urn:a', e: true }
export const pattern = { s: '?s', p: '?p', o: '?o' }
export const query = {
  schema_name: 'note',
  filters: {},
  limit: 1,
  offset: 0,
  sort: { id: 'asc' },
  fields: ['id'],
  reads: 'recent',
}
const time = '2026-01-31T12:00:00Z'
export const coreQuery = {
  user: 'u',
  prefix: 'p',
  createdFrom: time,
  createdTo: time,
  updatedFrom: time,
  updatedTo: time,
}
export const namedPage = { prefix: 'p', after: 'a', limit: 1 }
export const jobFilter = {
  flow: 'default',
  state: 'done',
  user: 'u',
  document: 'd',
  collection: 'c',
  error: 'e',
  createdFrom: time,
  createdTo: time,
  updatedFrom: time,
  updatedTo: time,
  after: 'a',
  limit: 1,
}
export const jobQuery = { ...jobFilter, order: 'desc', reads: 'recent' }
export const documentQuery = {
  user: 'u',
  prefix: 'p',
  flow: 'default',
  collection: 'c',
  completedFrom: time,
  completedTo: time,
  after: 'd',
  limit: 1,
  reads: 'recent',
}
export const scope = { collections: ['c'], user: 'u', shared: ['s'] }
export const conditions = { ifVersion: 'v', ifNotVersion: 'v', ifUnmodifiedSince: new Date(0) }
export const batch = {
  metadata: { id: 'i', user: 'u', collection: 'c' },
  schema_name: 'note',
  values: [{ id: '1' }],
}
export const progress = { signal, onProgress: nothing }
export const model = {
  model: 'm',
  url: 'http://localhost/v1',
  key: 'k',
  keyVariable: 'A_KEY',
  timeoutMs: 1,
  maxAttempts: 1,
  fetch,
  clock: { now: () => 0, after: nothing },
  chance: { fraction: () => 0 },
}

/** Longer than what a message shows of a value. */
export const secret = 'a secret of 21 chars.'
