// What questions see of users' libraries while others are answered, and which libraries stay in memory.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { LorekeepError } from '../../../src/errors.js'
import { decodeKey, keyPrefix } from '../../../src/keys.js'
import { mostContent } from '../../../src/knowledge/library/held-content.js'
import { mostHeld } from '../../../src/knowledge/library/memory-parts.js'
import { mostAhead } from '../../../src/knowledge/library/read-waiting.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { PartitionName, Storage } from '../../../src/storage.js'
import type { CoreMessage } from '../../../src/types.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { openStore } from '../../fixtures/stores.js'
import { entity, messageOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'

const user = 'u'
const said = (name: string): CoreMessage[] => [
  messageOf([{ s: entity(name), p: entity('p'), o: entity(name) }]),
]

const { gt: prefix } = keyPrefix('segment')

/** Tells of every read of a segment, which waits for what it is given. */
class ToldBackend extends KeptBackend {
  onRead: (generation: string) => Promise<unknown> | undefined = () => undefined

  override async open(partition: PartitionName): Promise<Storage> {
    const real = await super.open(partition)
    return {
      get: async (key) => {
        const isOfSegment = Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
        if (partition === 'cores' && isOfSegment) await this.onRead(decodeKey(key)[1] as string)
        return real.get(key)
      },
      getBytes: (key, from, to) => real.getBytes(key, from, to),
      getMany: (keys) => real.getMany(keys),
      scan: (range) => real.scan(range),
      write: (operations, options) => real.write(operations, options),
      ...(real.sharing && { sharing: real.sharing }),
      close: () => real.close(),
      [Symbol.asyncDispose]: () => real.close(),
    }
  }
}

/** A backend of cores that wait, none of them in memory. */
async function backendOf(cores: readonly string[]): Promise<ToldBackend> {
  const backend = new ToldBackend(new MemoryBackend())
  const first = await createLorekeep({ backend, indexThreads: 0 })
  for (const id of cores) await first.knowledge.write({ user, id }, said(id))
  await first.close()
  return backend
}

/** Holds up what is read a second time, to be joined with others, until it is let through. */
class HeldUp {
  letThrough: () => void = () => undefined
  reads = 0

  constructor(backend: ToldBackend) {
    const held = new Promise<void>((resolve) => (this.letThrough = resolve))
    const read = new Set<string>()
    backend.onRead = (generation) => {
      this.reads++
      return read.has(generation) ? held : void read.add(generation)
    }
  }
}

t.test(
  'the longest unused libraries give up the bytes of what waits, of all that are held',
  async (t) => {
    const usual = { ...mostContent }
    t.teardown(() => Object.assign(mostContent, usual))
    const backend = new ToldBackend(new MemoryBackend())
    const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
    const write = (user: string) => knowledge.write({ user, id: 'core' }, said('name'))
    const { bytes } = await write('a')
    mostContent.bytes = 2 * bytes
    await write('b')
    await knowledge.indexState({ user: 'a' })
    await write('c')
    let reads = 0
    backend.onRead = () => void reads++
    const readBy = async (user: string) => {
      const before = reads
      t.equal(await knowledge.graph({ user }).count(), 1)
      return reads - before
    }
    t.equal(await readBy('a'), 0)
    t.equal(await readBy('b'), 1)
    t.equal(await readBy('c'), 0)
    // What is too long by itself is not held, and leaves nothing to those before.
    mostContent.bytes = bytes - 1
    await write('d')
    t.equal(await readBy('d'), 1)
    reads = 0
    for (const user of ['a', 'b', 'c', 'd']) await knowledge.index({ user })
    t.equal(reads, 4)
  },
)

async function turns(): Promise<void> {
  for (let n = 0; n < 50; n++) await turn()
}

t.test('what is in memory is seen while somebody waits for it to be joined', async (t) => {
  // One more than memory has room for unjoined.
  const cores = Array.from({ length: 25 }, (_, n) => `core ${n}`)
  const backend = await backendOf(cores)
  const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
  const heldUp = new HeldUp(backend)
  const asked = (id: string) => knowledge.graph({ user, cores: [id] }).count()
  for (const id of cores.slice(0, -1)) t.equal(await asked(id), 1)
  const last = cores.at(-1) as string
  const waiting = asked(last)
  await turns()
  t.equal(await asked(last), 1)
  heldUp.letThrough()
  t.equal(await waiting, 1)
  t.equal(await knowledge.graph({ user }).count(), cores.length)
})

t.test('what questions one after the other ask for is indexed before it is too much', async (t) => {
  const usual = { ...mostHeld }
  t.teardown(() => Object.assign(mostHeld, usual))
  mostHeld.segments = 4
  const cores = Array.from({ length: 14 }, (_, n) => `core ${n}`)
  const { knowledge } = await openStore(t, await backendOf(cores), { indexThreads: 0 })
  for (const [n, id] of cores.entries()) {
    t.equal(await knowledge.graph({ user, cores: [id] }).count(), 1)
    const { waiting, parts } = await knowledge.indexState({ user })
    // All that memory had becomes one part, with what came last.
    t.same(
      [cores.length - waiting.segments, parts],
      [5 * Math.floor((n + 1) / 5), Math.floor((n + 1) / 5)],
    )
  }
  const again = await openStore(t, await backendOf(cores), { indexThreads: 0 })
  const graphs = cores.map((id) => again.knowledge.graph({ user, cores: [id] }))
  const counts = await Promise.all(graphs.map((graph) => graph.count()))
  t.same(
    counts,
    cores.map(() => 1),
  )
  t.ok((await again.knowledge.indexState({ user })).waiting.segments <= cores.length - 5)
})

t.test(
  'what memory has and cannot be read any more keeps no other core from being asked',
  async (t) => {
    const usual = { ...mostHeld }
    t.teardown(() => Object.assign(mostHeld, usual))
    mostHeld.segments = 2
    const cores = ['a', 'b', 'c', 'd']
    const backend = await backendOf(cores)
    const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
    const asked = (id: string) => knowledge.graph({ user, cores: [id] }).count()
    const read: string[] = []
    backend.onRead = async (generation) => {
      if (generation === read[0] && read.includes(generation)) {
        throw new LorekeepError('LK_STORAGE_CORRUPT')
      }
      read.push(generation)
    }
    for (const id of cores) t.equal(await asked(id), 1)
    t.equal(await asked('a'), 1, 'as memory has it')
    const { waiting } = await knowledge.indexState({ user })
    t.equal(waiting.segments, 2, 'it, and what memory has room for beside it')
  },
)

t.test('a core is indexed that is written to while its index waits for its turn', async (t) => {
  const backend = await backendOf(['first', 'second'])
  const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
  let letThrough = () => undefined as void
  const held = new Promise<void>((resolve) => (letThrough = resolve))
  let reads = 0
  backend.onRead = () => {
    reads++
    return held
  }
  const indexed = [knowledge.index({ user, id: 'first' })]
  while (reads === 0) await turn()
  indexed.push(knowledge.index({ user, id: 'second' }))
  await turns()
  await knowledge.write({ user, id: 'second' }, said('more'))
  letThrough()
  await Promise.all(indexed)
  t.match(await knowledge.indexState({ user, id: 'second' }), { state: 'complete' })
})

t.test('a core is indexed that is replaced while its index is made', async (t) => {
  const backend = await backendOf(['core'])
  const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
  let replacing: Promise<unknown> | undefined
  backend.onRead = () => {
    replacing ??= knowledge.write({ user, id: 'core' }, said('other'), { mode: 'replace' })
    return replacing
  }
  t.match(await knowledge.index({ user, id: 'core' }), { state: 'complete' })
})

t.test('index() does not go after a core for ever that is replaced each time', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const other = await openStore(t, memory.backend(), { indexThreads: 0 })
  const backend = new ToldBackend(memory.backend())
  const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
  let replaced = 0
  const most = 50
  const replace = () =>
    other.knowledge.write({ user, id: 'core' }, said(`other ${replaced++}`), { mode: 'replace' })
  await replace()
  backend.onRead = async () => {
    if (replaced < most) await replace()
  }
  t.not((await knowledge.index({ user, id: 'core' })).state, 'complete')
  t.ok(replaced < most, `replaced ${replaced} times`)
})

t.test('close() waits for what is joined in memory, and leaves the rest of it', async (t) => {
  const usual = { ...mostAhead }
  t.teardown(() => Object.assign(mostAhead, usual))
  mostAhead.segments = 0
  const cores = Array.from({ length: 7 }, (_, n) => `core ${n}`)
  const backend = await backendOf(cores)
  const keep = await createLorekeep({ backend, indexThreads: 0 })
  const heldUp = new HeldUp(backend)
  for (const id of cores) t.equal(await keep.knowledge.graph({ user, cores: [id] }).count(), 1)
  await turns()
  let isClosed = false
  const closing = keep.close().then(() => (isClosed = true))
  await turns()
  t.equal(isClosed, false)
  heldUp.letThrough()
  await closing
  t.equal(heldUp.reads, cores.length + 1)
  await turns()
  t.equal(heldUp.reads, cores.length + 1)
})
