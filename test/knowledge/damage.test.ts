// What a question and an index say of a core whose stored values are gone, and that reads which fail
// hold nothing.

import { createHash } from 'node:crypto'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { decodeKey } from '../../src/keys.js'
import type { Backend, PartitionName } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import { bigStream, exported, openStore, triplesMessage } from '../fixtures/stores.js'

const ref = { user: 'alice', id: 'core' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const corrupt = { code: 'LK_STORAGE_CORRUPT' }

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
    const { knowledge } = await openStore(t, backend)
    for (let n = 0; n < parts; n++) {
      await knowledge.write({ ...ref, id: `${n}` }, [triplesMessage(`${n}`)], { index: true })
    }
    t.equal(await knowledge.graph({ user: ref.user }).count(), 3 * parts)
    // One that has nothing of them in memory.
    const again = await openStore(t, backend)
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

t.test('content that is damaged in one of several segments is refused, and replaced', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  const first = encodeMessage(triplesMessage('first'))
  await knowledge.import(ref, first)
  await knowledge.import(ref, encodeMessage(triplesMessage('second')))
  t.match(await knowledge.import(ref, first), { duplicate: true })
  t.equal(await lose(backend, 'slices', () => true), 2)
  await t.rejects(knowledge.import(ref, first), {
    ...corrupt,
    message: /core 'core' of 'alice' holds this content .* delete the core/,
  })
  t.match(await knowledge.import(ref, first, { mode: 'replace' }), { duplicate: false })
  t.match(await knowledge.stat(ref), { segments: 1 })
})
