// Imports that are large enough for a thread of their own.

import { createHash } from 'node:crypto'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { BlockStorage } from '../../../src/block-writer.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { LorekeepError } from '../../../src/errors.js'
import { mainKey } from '../../../src/graph/index/keys.js'
import { blockBytes, layoutOf, type PartRecord } from '../../../src/graph/index/layout.js'
import { IndexThread } from '../../../src/graph/index/index-thread.js'
import { createLorekeep } from '../../../src/index.js'

const ref = { user: 'u', id: 'c' }
const triples = 50_000
// 12 MB: a thread begins at 8 MiB.
const stream = Array.from({ length: triples / 500 }, (_, n) => messageOf(n * 500))

t.test('an index that a thread makes answers like any other', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  await keep.knowledge.import(ref, stream, { index: true })
  t.match(await keep.knowledge.indexState(ref), { state: 'complete', triples })
  const graph = keep.knowledge.graph({ user: 'u' })
  t.equal(await graph.count(), triples)
  t.equal(await graph.count({ s: uri('s7') }), 10)
})

for (const [what, first] of [
  ['triples, which the thread hashes', []],
  ['vectors, which leave the thread no time', Array.from({ length: 20 }, (_, n) => vectorsOf(n))],
] as const) {
  t.test(`the digest is that of the bytes: ${what}`, async (t) => {
    const keep = await createLorekeep({ backend: new MemoryBackend() })
    t.teardown(() => keep.close())
    const bytes = [...first, ...stream]
    const { digest } = await keep.knowledge.import(ref, bytes, { index: true })
    t.equal(digest, createHash('sha256').update(Buffer.concat(bytes)).digest('hex'))
    // Known before it is indexed, so that nothing is done twice.
    t.match(await keep.knowledge.import(ref, bytes, { index: true }), { digest, duplicate: true })
    // Shorter than what a thread is begun for, but one waits.
    const few = stream.slice(0, 10)
    const { digest: short } = await keep.knowledge.import(ref, few, { index: true })
    t.equal(short, createHash('sha256').update(Buffer.concat(few)).digest('hex'))
  })
}

t.test('an abort ends the thread, and leaves nothing', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const controller = new AbortController()
  const { signal } = controller
  const source = function* () {
    yield* stream
    controller.abort(new Error('enough'))
    yield* stream
  }
  const importing = keep.knowledge.import(ref, source(), { index: true, signal })
  await t.rejects(importing, { message: 'enough' })
  t.equal(await keep.knowledge.stat(ref), undefined)
  await keep.knowledge.import(ref, stream, { index: true })
  t.equal(await keep.knowledge.graph({ user: 'u' }).count(), triples)
})

t.test('it waits while the thread is behind', async (t) => {
  const storage = await new MemoryBackend().open('cores')
  const thread = (await IndexThread.start(storage, 'i', undefined)) as IndexThread
  t.teardown(() => thread.end())
  thread.source({ generation: '0'.repeat(32), core: 'c' })
  let isReady = false
  const wait = () => thread.ready().then(() => (isReady = true))
  // Nothing can come from the thread before this one has a turn of its own.
  for (const message of stream.slice(0, 7)) thread.push(message)
  await wait()
  t.ok(isReady)
  thread.push(stream[7] as Uint8Array)
  isReady = false
  const waiting = wait()
  for (let n = 0; n < 10; n++) await Promise.resolve()
  t.notOk(isReady)
  await waiting
  t.ok(isReady)
})

t.test('what comes faster than it is ready for waits beside it', async (t) => {
  const storage = await new MemoryBackend().open('cores')
  const thread = (await IndexThread.start(storage, 'i', undefined)) as IndexThread
  t.teardown(() => thread.end())
  const named = (n: number) => ({ generation: `${n}`.repeat(32), core: `c${n}` })
  for (const [n, message] of stream.slice(0, 30).entries()) {
    if (n % 15 === 0) thread.source(named(n / 15))
    thread.push(message)
  }
  const [part] = await thread.finish()
  t.match(part, { triples: 15_000, sources: 2 })
  t.throws(() => thread.push(new Uint8Array(2 ** 20 + 1)), {
    message: 'a slice of 1048577 bytes, of at most 1048576',
  })
})

t.test('what it writes comes to the storage in memory that nobody shares', async (t) => {
  const storage = await new MemoryBackend().open('cores')
  const values: Uint8Array[] = []
  const spied: BlockStorage = {
    get: (key) => storage.get(key),
    write: (operations, options) => {
      for (const one of operations) if (one.type === 'put') values.push(one.value)
      return storage.write(operations, options)
    },
  }
  const thread = (await IndexThread.start(spied, 'i', undefined)) as IndexThread
  t.teardown(() => thread.end())
  thread.source({ generation: '0'.repeat(32), core: 'c' })
  for (const message of stream) {
    thread.push(message)
    await thread.ready()
  }
  const [part] = await thread.finish()
  t.match(part, { triples })
  t.ok(values.length > 1)
  t.notOk(values.some(({ buffer }) => buffer instanceof SharedArrayBuffer))
})

t.test('one that was aborted before does nothing', async (t) => {
  const storage = await new MemoryBackend().open('cores')
  const signal = AbortSignal.abort(new Error('enough'))
  const thread = (await IndexThread.start(storage, 'i', signal)) as IndexThread
  t.teardown(() => thread.end())
  await t.rejects(thread.finish(), { message: 'enough' })
})

function messageOf(from: number): Uint8Array {
  const t = Array.from({ length: 500 }, (_, i) => ({
    s: uri(`s${Math.floor((from + i) / 10)}`),
    p: uri('p'),
    o: { v: `${from + i} ${'long '.repeat(32)}`, e: false },
  }))
  return encodeMessage(['t', { m: { i: 'c', m: [], u: 'u', c: 'default' }, t }])
}

function vectorsOf(n: number): Uint8Array {
  const e = Array.from({ length: 1000 }, (_, i) => ({
    e: uri(`v${n} ${i}`),
    v: [Array.from({ length: 50 }, (_, at) => n + 1 / (i + at + 1))],
  }))
  return encodeMessage(['ge', { m: { i: 'c', m: [], u: 'u', c: 'default' }, e }])
}

function uri(v: string) {
  return { v, e: true }
}

t.test('a block that is too long or too short for what is lent is told of as it is', async (t) => {
  for (const [what, bytes] of [
    ['longer than the memory that the thread has for it', blockBytes + 1],
    ['shorter', 100],
  ] as const) {
    const storage = await new MemoryBackend().open('cores')
    const parts = [await partOf(storage, 'a'), await partOf(storage, 'b')]
    const [first] = parts as [PartRecord]
    await storage.write([{ type: 'put', key: mainKey(first, 0), value: Buffer.alloc(bytes) }])
    const thread = (await IndexThread.start(storage, 'm', undefined)) as IndexThread
    const merging = thread.merge(
      parts.map((part) => ({ part, dead: [] })),
      1_000_000,
      undefined,
    )
    const { end } = layoutOf(first)
    const error: unknown = await merging.catch((error: unknown) => error)
    // Whoever asks for its code wants it to be one of ours, as where no thread is.
    t.ok(error instanceof LorekeepError, what)
    t.match(error, {
      code: 'LK_STORAGE_CORRUPT',
      message: `a block of an index has ${bytes} bytes in place of ${Math.min(end, blockBytes)}`,
    })
    await thread.end()
  }
})

async function partOf(storage: BlockStorage, id: string): Promise<PartRecord> {
  const thread = (await IndexThread.start(storage, id, undefined)) as IndexThread
  thread.source({ generation: '0'.repeat(32), core: id })
  thread.push(stream[0] as Uint8Array)
  const [part] = await thread.finish()
  await thread.end()
  return part as PartRecord
}
