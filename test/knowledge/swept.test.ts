// An import whose staged record goes away while it runs, because somebody took its process for dead
// or because the storage lost it: it fails and leaves nothing, whatever the storage does beside that.

import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { LorekeepError } from '../../src/errors.js'
import { decodeKey, encodeKey, keyPrefix } from '../../src/keys.js'
import { longestSweep } from '../../src/knowledge/collector.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { Backend, Operation, PartitionName, Storage } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import {
  bigStream,
  exported,
  keysOf,
  openStore,
  slicedMessage,
  triplesMessage,
} from '../fixtures/stores.js'
import { KeptBackend } from '../objects/kept-backend.js'

const ref = { user: 'alice', id: 'core' }
const big = Buffer.concat([...bigStream('big', 1.5, encodeMessage)])
const small = encodeMessage(triplesMessage('small'))

t.test('a store that another one opens and sweeps while it imports', async (t) => {
  for (const mode of ['append', 'replace'] as const) {
    const real = new MemoryBackend()
    const { knowledge } = await openStore(t, new KeptBackend(real))
    await knowledge.import(ref, small)
    const before = await knowledge.stat(ref)
    async function* slowly() {
      yield big
      while ((await stagedIn(real)).length === 0) await turn()
      // Another backend, of a process that believes that it is alone.
      const other = await createLorekeep({ backend: new KeptBackend(real) })
      await other.close()
      t.strictSame(await stagedIn(real), [])
      yield big
    }
    await t.rejects(knowledge.import(ref, slowly(), { mode }), { code: 'LK_STORAGE_CONFLICT' })
    t.strictSame(await knowledge.stat(ref), before, mode)
    t.strictSame(await coreProblems(real), [], mode)
    await knowledge.import(ref, big, { mode })
    t.equal((await knowledge.stat(ref))?.segments, mode === 'append' ? 2 : 1)
  }
})

/** Deletes no slices until it is let through. */
class HeldDeletions extends KeptBackend {
  deletions = 0
  letThrough: () => void = () => undefined
  #held: Promise<void> | undefined

  hold(): void {
    this.#held = new Promise<void>((resolve) => (this.letThrough = resolve))
  }

  override async open(partition: PartitionName): Promise<Storage> {
    const real = await super.open(partition)
    return {
      get: (key) => real.get(key),
      getBytes: (key, from, to) => real.getBytes(key, from, to),
      getMany: (keys) => real.getMany(keys),
      scan: (range) => real.scan(range),
      write: async (operations, options) => {
        if (partition === 'slices' && operations.every(({ type }) => type === 'del')) {
          this.deletions++
          await this.#held
        }
        await real.write(operations, options)
      },
      close: () => real.close(),
      [Symbol.asyncDispose]: () => real.close(),
    }
  }
}

t.test('what is being swept is committed by nobody any more', async (t) => {
  const real = new MemoryBackend()
  const { knowledge } = await openStore(t, new KeptBackend(real))
  const backend = new HeldDeletions(real)
  backend.hold()
  let opening: Promise<Lorekeep> | undefined
  async function* slowly() {
    yield* bigStream('bigger', 8, encodeMessage)
    while ((await keysOf(real)).slices.length === 0) await turn()
    opening = createLorekeep({ backend })
    while (backend.deletions === 0) await turn()
    yield big
  }
  await t.rejects(knowledge.import(ref, slowly()), { code: 'LK_STORAGE_CONFLICT' })
  backend.letThrough()
  await (await opening)?.close()
  await settled(real)
  t.strictSame(await coreProblems(real), [])
})

t.test('neither closing nor opening waits for much that is to be deleted', async (t) => {
  const usual = { ...longestSweep }
  t.teardown(() => Object.assign(longestSweep, usual))
  longestSweep.ms = 1
  const real = new MemoryBackend()
  const backend = new HeldDeletions(real)
  const first = await createLorekeep({ backend, closeTimeoutMs: 1, indexThreads: 0 })
  const ids = Array.from({ length: 5 }, (_, n) => `core ${n}`)
  for (const id of ids) await first.knowledge.import({ ...ref, id }, big)
  backend.hold()
  for (const id of ids) await first.knowledge.delete({ ...ref, id })
  while (backend.deletions === 0) await turn()
  const closing = first.close()
  await sleep(50)
  backend.letThrough()
  await closing
  t.equal(backend.deletions, 1)
  t.ok((await keysOf(real)).slices.length > 0)
  backend.hold()
  const second = await createLorekeep({ backend, indexThreads: 0 })
  t.teardown(() => second.close())
  t.ok((await keysOf(real)).slices.length > 0, 'it is open')
  backend.letThrough()
  while ((await keysOf(real)).slices.length > 0) await turn()
  await settled(real)
  t.strictSame(await coreProblems(real), [])
})

const medium = encodeMessage(slicedMessage('medium'))
const inline = encodeMessage(triplesMessage('inline', 30))

const operations: Readonly<Record<string, (knowledge: KnowledgeStore) => Promise<unknown>>> = {
  'append of slices': (knowledge) => knowledge.import(ref, big),
  append: (knowledge) => knowledge.import(ref, medium),
  replace: (knowledge) => knowledge.import(ref, medium, { mode: 'replace' }),
  'append with its index': (knowledge) => knowledge.import(ref, medium, { index: true }),
  'small append': (knowledge) => knowledge.import(ref, inline),
  'small replace': (knowledge) => knowledge.import(ref, inline, { mode: 'replace' }),
  'small append with its index': (knowledge) => knowledge.import(ref, inline, { index: true }),
  index: (knowledge) => knowledge.index({ ...ref, id: 'unindexed' }),
  'import of a bad stream': (knowledge) =>
    knowledge.import(ref, Buffer.concat([big, Buffer.of(0xc1)])),
}

for (const [name, operate] of Object.entries(operations)) {
  for (const vanish of [deleteStaged, sweep]) {
    t.test(`${name}: ${vanish.name} before each call, alone and with failures`, async (t) => {
      let calls = Infinity
      let lost = 0
      // The first round counts the calls.
      for (let vanishAt = 0; vanishAt <= calls; vanishAt++) {
        for (const { failAfter, when, lasting } of failures(
          vanishAt === 0 || vanish === deleteStaged ? 0 : 3,
        )) {
          const real = new MemoryBackend()
          const backend = new FaultyBackend(new KeptBackend(real))
          const keep = await createLorekeep({ backend, onError: () => undefined, indexThreads: 0 })
          const { knowledge } = keep
          await knowledge.import(ref, small)
          await knowledge.import({ ...ref, id: 'unindexed' }, small)
          const before = await state(knowledge)
          const start = backend.calls
          backend.beforeCall = async (call) => {
            if (call - start === vanishAt) await vanish(real)
          }
          const failAt = failAfter === undefined ? Infinity : start + vanishAt + failAfter
          Object.assign(backend, { failAt, when, lasting })
          const error = await operate(knowledge).then(
            () => undefined,
            (error: unknown) => error,
          )
          const place = `${vanishAt} of ${calls}, ${failAfter} ${when} ${lasting}`
          backend.failAt = Infinity
          if (vanishAt === 0) calls = backend.calls - start
          assert.ok(error === undefined || error instanceof LorekeepError, place)
          const after = await state(knowledge)
          const isIndex = name === 'index'
          if (error !== undefined) {
            if (vanishAt > 0) lost++
            assert.deepEqual(after, before, `rejected and done: ${place}`)
          } else if (isIndex) {
            const { state } = await knowledge.indexState({ ...ref, id: 'unindexed' })
            assert.equal(state, 'complete', place)
          } else {
            // Acknowledged: it is there, and can be read.
            assert.notEqual(after.digest, before.digest, `acknowledged and lost: ${place}`)
            assert.ok(after.bytes > before.bytes, place)
          }
          await knowledge.import({ ...ref, id: 'other' }, small)
          while ((await stagedIn(real)).length > 0) await turn()
          await settled(real)
          assert.deepEqual(await coreProblems(real), [], place)
          await keep.close()
        }
      }
      t.ok(calls > 2, `${calls} calls, ${lost} rejected`)
      // A small segment alone has nothing that could be swept.
      const isStaged = !name.startsWith('small ')
      if (!isStaged && vanish === deleteStaged) t.equal(lost, 0)
      else if (name !== 'index') t.ok(lost > 0)
    })
  }
}

/** Of calls that follow one, or of none. */
function* failures(most: number) {
  yield { failAfter: undefined, when: 'before', lasting: false }
  for (let failAfter = 0; failAfter < most; failAfter++) {
    for (const when of ['before', 'after'] as const) yield { failAfter, when, lasting: false }
    yield { failAfter, when: 'before', lasting: true }
  }
}

/** The records alone, as a storage would lose them. */
async function deleteStaged(real: Backend): Promise<void> {
  const cores = await real.open('cores')
  const keys = (await stagedIn(real)).map((id) => encodeKey('staged', id))
  if (keys.length > 0) await cores.write(keys.map((key) => ({ type: 'del', key })))
}

/** As another process does it at its open. */
async function sweep(real: Backend): Promise<void> {
  const slices = await real.open('slices')
  const operations: Operation[] = []
  for (const id of await stagedIn(real)) {
    for await (const page of slices.scan({ ...keyPrefix(id), keysOnly: true })) {
      for (const { key } of page) operations.push({ type: 'del', key })
    }
  }
  if (operations.length > 0) await slices.write(operations)
  await deleteStaged(real)
}

async function stagedIn(real: Backend): Promise<string[]> {
  const cores = await real.open('cores')
  const ids: string[] = []
  for await (const page of cores.scan({ ...keyPrefix('staged'), keysOnly: true })) {
    for (const { key } of page) ids.push(decodeKey(key)[1] as string)
  }
  return ids
}

async function state(knowledge: KnowledgeStore) {
  const { digest, segments } = (await knowledge.stat(ref)) ?? {}
  return { digest, segments, bytes: (await exported(knowledge, ref)).length }
}

/**
 * What is deleted in the background takes some turns. Nothing may be left in between as well: what was
 * swept is marked anew before it is deleted.
 */
async function settled(real: Backend): Promise<void> {
  for (let turns = 0, quiet = 0; turns < 2000 && quiet < 8; turns++, quiet++) {
    await turn()
    if ((await coreProblems(real)).length > 0) quiet = 0
  }
}
