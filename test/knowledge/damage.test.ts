// What a question and an index say of a core whose stored values are gone, and that reads which fail
// hold nothing.

import { createHash } from 'node:crypto'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { decodeKey, keyPrefix } from '../../src/keys.js'
import type { Backend, Entry, PartitionName, Storage } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import {
  bigStream,
  exported,
  openStore,
  slicedMessage,
  triplesMessage,
} from '../fixtures/stores.js'

const ref = { user: 'alice', id: 'core' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const corrupt = { code: 'LK_STORAGE_CORRUPT' }

type Place = readonly [
  name: string,
  make: (name: string) => CoreMessage,
  PartitionName,
  isLost: (tuple: readonly unknown[]) => boolean,
]

/** Deletes the entries whose keys are like that. */
async function lose(
  backend: Backend,
  partition: PartitionName,
  isLost: (tuple: readonly unknown[]) => boolean,
): Promise<number> {
  const storage = await backend.open(partition)
  let lost = 0
  for await (const page of storage.scan({ keysOnly: true })) {
    for (const { key } of page) {
      if (!isLost(decodeKey(key))) continue
      await storage.write([{ type: 'del', key }])
      lost++
    }
  }
  return lost
}

t.test(
  'a slice or a segment that is gone is told while indexing, and nothing is left',
  async (t) => {
    const big = [...bigStream('big', 2.5, encodeMessage)]
    const losses: Readonly<Record<string, (backend: Backend) => Promise<number>>> = {
      'the first slice': (backend) => lose(backend, 'slices', ([, n]) => n === 0),
      'a slice in the middle': (backend) => lose(backend, 'slices', ([, n]) => n === 1),
      'the last slice': (backend) => lose(backend, 'slices', ([, n]) => n === 2),
      'a segment': (backend) => lose(backend, 'cores', ([kind]) => kind === 'segment'),
    }
    for (const [name, act] of Object.entries(losses)) {
      const backend = new MemoryBackend()
      const { knowledge } = await openStore(t, backend)
      await knowledge.import(ref, big)
      t.equal(await act(backend), 1, name)
      const before = await coreProblems(backend)
      await t.rejects(knowledge.index(ref), corrupt, name)
      await t.rejects(knowledge.graph({ user: ref.user }).count(), corrupt, name)
      t.match(await knowledge.indexState(ref), { state: 'none' })
      t.strictSame(await coreProblems(backend), before, `${name}: what was begun is gone`)

      // A new one is not touched by it. (To replace it by the same content would change nothing.)
      await knowledge.delete(ref)
      await knowledge.import(ref, big)
      t.match(await knowledge.index(ref), { state: 'complete' }, name)
    }
  },
)

t.test('a block of an index that is gone is told by the question that needs it', async (t) => {
  for (const parts of [1, 3, 20]) {
    const backend = new MemoryBackend()
    const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
    for (let n = 0; n < parts; n++) {
      const each = { ...ref, id: `${n}` }
      await knowledge.write(each, [triplesMessage(`${n}`)])
      await knowledge.index(each)
    }
    t.equal(await knowledge.graph({ user: ref.user }).count(), 3 * parts)
    // One that has nothing of them in memory.
    const again = await openStore(t, backend, { indexThreads: 0 })
    const graph = again.knowledge.graph({ user: ref.user })
    // Index, part, 0 for its main file, block.
    const lost = await lose(backend, 'slices', (tuple) => tuple.length === 4)
    t.equal(lost, parts)
    await t.rejects(graph.count({ p: { v: 'http://example.org/p', e: true } }), corrupt)
    const matching = async () => {
      for await (const _ of graph.match()) t.fail('a triple of a part that is gone')
    }
    await t.rejects(matching(), corrupt, `${parts} parts`)
  }
})

t.test('an export, question or state that fails to read lets go of its generation', async (t) => {
  const reads = {
    export: (store: Store) => store.export(ref),
    indexState: (store: Store) => store.indexState(ref),
    index: (store: Store) => store.index(ref),
    count: (store: Store) => store.graph({ user: ref.user, cores: [ref.id] }).count(),
  }
  type Store = Awaited<ReturnType<typeof openStore>>['knowledge']
  for (const [name, read] of Object.entries(reads)) {
    const backend = new FaultyBackend(new MemoryBackend())
    const { knowledge } = await openStore(t, backend, { onError: () => undefined })
    await knowledge.write(ref, [triplesMessage('first')])
    // The first read finds the core, the second one makes sure of it.
    for (const failAt of [1, 2, 3]) {
      backend.failAt = backend.calls + failAt
      await read(knowledge).then(
        (found) => {
          if (typeof found === 'object' && 'close' in found) found.close()
        },
        () => undefined,
      )
      backend.failAt = Infinity
    }
    await knowledge.write(ref, [triplesMessage('second')], { mode: 'replace' })
    for (let n = 0; n < 100; n++) await new Promise(setImmediate)
    t.strictSame(await coreProblems(backend.real), [], name)
  }
})

t.test('an export that meets a damaged slice names its core', async (t) => {
  const directory = t.testdir()
  const { knowledge } = await openStore(t, new LevelBackend(directory))
  await knowledge.import(ref, bigStream('big', 1.5, encodeMessage))
  const values = join(directory, 'slices', 'values')
  for (const name of await readdir(values)) await truncate(join(values, name), 70_000)
  await t.rejects(
    async () => {
      for await (const _ of await knowledge.export(ref));
    },
    {
      ...corrupt,
      message: /core 'core' of 'alice' has \d+ bytes .* after 0 bytes a slice is damaged/,
      details: { partition: 'slices', key: String, user: 'alice', id: 'core' },
      cause: corrupt,
    },
  )
})

t.test('content that is damaged is stored again by the next import of it', async (t) => {
  const big = [...bigStream('big', 2.5, encodeMessage)]
  for (const mode of ['append', 'replace'] as const) {
    for (const isMissing of [true, false]) {
      const directory = t.testdir()
      const backend = new LevelBackend(directory)
      const keep = await openStore(t, backend)
      const { knowledge } = keep
      const { digest } = await knowledge.import(ref, big)
      t.match(await knowledge.import(ref, big, { mode }), { duplicate: true })
      if (isMissing) await lose(backend, 'slices', ([, n]) => n === 1)
      else {
        const values = join(directory, 'slices', 'values')
        for (const name of await readdir(values)) await truncate(join(values, name), 70_000)
      }
      t.match(await knowledge.import(ref, big, { mode }), { duplicate: false, digest })
      t.match(await knowledge.import(ref, big, { mode }), { duplicate: true, digest })
      t.equal(sha256(await exported(knowledge, ref)), digest)
      await keep.close()
    }
  }
})

for (const [place, make, partition, isLost] of [
  ['slices', slicedMessage, 'slices', () => true],
  ['inline', triplesMessage, 'cores', ([kind]) => kind === 'small'],
] as readonly Place[]) {
  t.test(`${place}: content that is damaged in one of several segments is refused`, async (t) => {
    const backend = new MemoryBackend()
    const { knowledge } = await openStore(t, backend)
    const first = encodeMessage(make('first'))
    await knowledge.import(ref, first)
    await knowledge.import(ref, encodeMessage(make('second')))
    t.match(await knowledge.import(ref, first), { duplicate: true })
    t.equal(await lose(backend, partition, isLost), 2)
    await t.rejects(knowledge.import(ref, first), {
      ...corrupt,
      message: /core 'core' of 'alice' holds this content .* delete the core/,
    })
    t.match(await knowledge.import(ref, first, { mode: 'replace' }), { duplicate: false })
    t.match(await knowledge.stat(ref), { segments: 1 })
  })
}

t.test('a segment that has become another one no longer holds its content', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  const first = encodeMessage(slicedMessage('first'))
  await knowledge.import(ref, first)
  await knowledge.import(ref, encodeMessage(slicedMessage('second')))
  t.match(await knowledge.import(ref, first), { duplicate: true })
  const storage = await backend.open('cores')
  const segments: Entry[] = []
  for await (const page of storage.scan(keyPrefix('segment'))) segments.push(...page)
  const [{ key }, { value }] = segments as [Entry, Entry]
  await storage.write([{ type: 'put', key, value }])
  await t.rejects(knowledge.import(ref, first), corrupt)
})

t.test('bytes that lie inline and are damaged are told by all who read them', async (t) => {
  const zeros = deflateRawSync(new Uint8Array(64 * 1024 * 1024))
  for (const triples of [3, 50]) {
    const bytes = encodeMessage(triplesMessage('inline', triples))
    const longer = encodeMessage(triplesMessage('inline', triples + 1))
    const damages: Readonly<Record<string, Uint8Array | undefined>> = {
      gone: undefined,
      empty: new Uint8Array(0),
      garbage: Buffer.alloc(bytes.length + 1, 0xff),
      'a byte more': triples === 3 ? Buffer.concat([bytes, Buffer.of(0)]) : deflateRawSync(longer),
      'cut short': triples === 3 ? bytes.subarray(1) : deflateRawSync(bytes).subarray(0, -5),
      '64 MiB of zeros': zeros,
    }
    for (const [name, value] of Object.entries(damages)) {
      const backend = new MemoryBackend()
      const earlier = await openStore(t, backend, { indexThreads: 0 })
      const { digest } = await earlier.knowledge.import(ref, bytes)
      // Another one: this has in memory what came a moment ago.
      const { knowledge } = await openStore(t, backend)
      const cores = await backend.open('cores')
      const [key] = await keysOf(cores, 'small')
      await cores.write([
        value === undefined
          ? { type: 'del', key: key as Uint8Array }
          : { type: 'put', key: key as Uint8Array, value },
      ])
      const expected = {
        ...corrupt,
        details: { user: 'alice', id: 'core' },
        message: /'core' of 'alice'/,
      }
      await t.rejects(exported(knowledge, ref), expected, name)
      await t.rejects(knowledge.messages(ref)[Symbol.asyncIterator]().next(), expected, name)
      const before = await coreProblems(backend)
      t.equal(before.length, 1, before.join())
      await t.rejects(knowledge.index(ref), expected, name)
      await t.rejects(knowledge.graph({ user: ref.user }).count(), expected, name)
      t.strictSame(await coreProblems(backend), before, `${name}: what was begun is gone`)
      // Whoever imports it again gets it back.
      t.match(await knowledge.import(ref, bytes), { duplicate: false, digest }, name)
      t.equal(sha256(await exported(knowledge, ref)), digest)
      while ((await coreProblems(backend)).length > 0) await new Promise(setImmediate)
    }
  }
})

async function keysOf(storage: Storage, kind: string): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = []
  for await (const page of storage.scan({ ...keyPrefix(kind), keysOnly: true })) {
    keys.push(...page.map(({ key }) => key))
  }
  return keys
}
