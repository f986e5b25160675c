// Approximate indexes of vectors as they are stored: written by imports and by index(), read by
// questions, and damaged.

import { Cursors } from '../../src/paging.js'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { Graph } from '../../src/graph/types.js'
import { decodeKey } from '../../src/keys.js'
import { openKnowledgeStore } from '../../src/knowledge/store.js'
import type { Backend } from '../../src/storage.js'
import type { CoreMessage, Vector } from '../../src/types.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { clusters } from './vectors/sets.js'

const ref = { user: 'u', id: 'core' }
const count = 1200
// Few dimensions and few topics: links help among so few vectors as well.
const next = clusters(new Random(5), 3, 30)
const vectors = Array.from({ length: count }, next)
const message: CoreMessage = [
  'ge',
  {
    m: { i: '', m: [], u: '', c: 'default' },
    e: vectors.map((vector, n) => ({ e: { v: `urn:${n}`, e: true }, v: [vector] })),
  },
]
const filler: CoreMessage = [
  't',
  {
    m: { i: '', m: [], u: '', c: 'default' },
    t: Array.from({ length: 2000 }, (_, n) => ({
      s: { v: 's', e: true },
      p: { v: 'p', e: true },
      o: { v: `${n} `.repeat(200), e: false },
    })),
  },
]
const queries = Array.from({ length: 40 }, next)

/** A store over the same data each time, which links what has 1,000 vectors. */
async function opened(t: Test, backend: Backend, minLinked = 1000) {
  const knowledge = await openKnowledgeStore({
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    isAlone: true,
    cursors: new Cursors(() => ''),
    onError: (error) => t.fail('onError', { error }),
    indexCacheBytes: 1024 * 1024,
    vectorCacheBytes: 16 * 1024 * 1024,
    minLinked,
    embedder: () => [],
    isOffline: false,
  })
  t.teardown(() => knowledge.close(0))
  return knowledge
}

const names = (found: Awaited<ReturnType<Graph['nearest']>>) => found.map(({ entity }) => entity.v)

/** How many of the nearest the links lead to. */
async function recall(graph: Graph): Promise<number> {
  let found = 0
  for (const query of queries as Vector[]) {
    const exact = new Set(names(await graph.nearest(query, { k: 5, exact: true })))
    const near = names(await graph.nearest(query, { k: 5 }))
    found += near.filter((name) => exact.has(name)).length
  }
  return found / (5 * queries.length)
}

async function linkKeys(backend: Backend): Promise<Uint8Array[]> {
  const slices = await backend.open('slices')
  const keys: Uint8Array[] = []
  for await (const page of slices.scan({ keysOnly: true })) {
    // Index, part, 2 for links, block.
    for (const { key } of page) {
      const tuple = decodeKey(key)
      if (tuple.length === 4 && tuple[2] === 2) keys.push(key)
    }
  }
  return keys
}

t.test('an index says how many bytes it takes, links included', async (t) => {
  const backend = new MemoryBackend()
  const knowledge = await opened(t, backend)
  const stored = async () => {
    let bytes = 0
    for await (const page of (await backend.open('slices')).scan({})) {
      for (const { value } of page) bytes += value.length
    }
    return bytes
  }
  await knowledge.write(ref, [message])
  const before = await stored()
  await knowledge.index(ref)
  const { bytes } = await knowledge.indexState(ref)
  t.equal(bytes, (await stored()) - before)
})

t.test('an import with its index writes links, and questions follow them', async (t) => {
  const backend = new MemoryBackend()
  const knowledge = await opened(t, backend)
  // Smaller ones are indexed later, with others.
  await knowledge.write(ref, [message, filler], { index: true })
  t.match(await knowledge.indexState(ref), {
    state: 'complete',
    vectors: count,
    approximate: count,
  })
  t.ok((await recall(knowledge.graph({ user: 'u' }))) >= 0.95)
  t.strictSame(await coreProblems(backend), [])

  const again = await opened(t, backend)
  t.ok((await recall(again.graph({ user: 'u' }))) >= 0.95, 'after it was opened anew')
})

t.test(
  'index() writes the links that a question left out, once, and tells how far it is',
  async (t) => {
    const backend = new MemoryBackend()
    const knowledge = await opened(t, backend)
    await knowledge.write(ref, [message])
    const graph = knowledge.graph({ user: 'u' })
    const before = names(await graph.nearest(queries[0] as Vector, { k: 5 }))
    t.match(await knowledge.indexState(ref), { state: 'none', approximate: 0 })
    t.strictSame(await linkKeys(backend), [])
    const told: [string, number, number][] = []
    const state = await knowledge.index(ref, {
      onProgress: ({ stage, done, total }) => told.push([stage, done, total]),
    })
    t.match(state, { state: 'complete', approximate: count })
    t.match(await knowledge.indexState(ref), { approximate: count })
    t.ok(told.some(([stage, done, total]) => stage === 'vectors' && done > 0 && total === count))
    // A header, the upper levels, and the rows.
    const keys = await linkKeys(backend)
    t.equal(keys.length, 3)
    t.strictSame(names(await graph.nearest(queries[0] as Vector, { k: 5 })), before)
    t.ok((await recall(graph)) >= 0.95)
    t.strictSame(await coreProblems(backend), [])

    const slices = await backend.open('slices')
    const blocks = await Promise.all(keys.map((key) => slices.get(key)))
    await knowledge.index(ref)
    t.strictSame(await linkKeys(backend), keys)
    t.strictSame(await Promise.all(keys.map((key) => slices.get(key))), blocks)
  },
)

t.test('one vector fewer than there have to be is not linked', async (t) => {
  const knowledge = await opened(t, new MemoryBackend(), count + 1)
  await knowledge.write(ref, [message], { index: true })
  t.match(await knowledge.index(ref), { approximate: 0 })
})

t.test('a question for many of few vectors compares all of them', async (t) => {
  const knowledge = await opened(t, new MemoryBackend())
  await knowledge.write(ref, [message])
  await knowledge.index(ref)
  const graph = knowledge.graph({ user: 'u' })
  for (const k of [1, 5, 20, 60, 200, 600, count, 2 * count]) {
    const [query] = queries as [Vector]
    const found = names(await graph.nearest(query, { k }))
    t.equal(found.length, Math.min(k, count))
    if (k >= 60) t.strictSame(found, names(await graph.nearest(query, { k, exact: true })), `${k}`)
  }
})

t.test('damaged links are an error, and the vectors are found without them', async (t) => {
  type Damage = (bytes: Uint8Array) => Uint8Array | undefined
  const damages: Readonly<Record<string, Damage>> = {
    gone: () => undefined,
    'cut short': (bytes) => bytes.subarray(0, bytes.length - 4),
    'too long': (bytes) => Buffer.concat([bytes, Buffer.alloc(4)]),
  }
  const headerDamages: Readonly<Record<string, Damage>> = {
    'of another kind': (bytes) => Buffer.concat([Buffer.from('what'), bytes.subarray(4)]),
    'of other vectors': (bytes) =>
      Buffer.concat([bytes.subarray(0, 4), Buffer.of(1, 0, 0, 0), bytes.subarray(8)]),
  }
  for (const [place, name, damage] of [
    ...[0, 1, 2].flatMap((n) => Object.entries(damages).map((entry) => [n, ...entry] as const)),
    ...Object.entries(headerDamages).map((entry) => [0, ...entry] as const),
  ]) {
    const what = `block ${place}, ${name}`
    const backend = new MemoryBackend()
    const knowledge = await opened(t, backend)
    await knowledge.write(ref, [message])
    await knowledge.index(ref)
    const slices = await backend.open('slices')
    const key = (await linkKeys(backend))[place] as Uint8Array
    const value = damage((await slices.get(key)) as Uint8Array)
    await slices.write([value === undefined ? { type: 'del', key } : { type: 'put', key, value }])
    const graph = knowledge.graph({ user: 'u' })
    const question = graph.nearest(queries[0] as Vector, { k: 5 })
    await t.rejects(question, { code: 'LK_STORAGE_CORRUPT' }, what)
    t.equal((await graph.nearest(queries[0] as Vector, { k: 5, exact: true })).length, 5, what)
  }
})

t.test('a block of vectors that is gone is an error while links are made of them', async (t) => {
  const backend = new MemoryBackend()
  const knowledge = await opened(t, backend)
  // Links of what is there already: those of the first wait for the second.
  await knowledge.write(ref, [message])
  await (await opened(t, backend, Infinity)).index(ref)
  const slices = await backend.open('slices')
  for await (const page of slices.scan({ keysOnly: true })) {
    for (const { key } of page) {
      const tuple = decodeKey(key)
      if (tuple.length === 4 && tuple[2] === 1) await slices.write([{ type: 'del', key }])
    }
  }
  await t.rejects((await opened(t, backend)).index(ref), { code: 'LK_STORAGE_CORRUPT' })
})
