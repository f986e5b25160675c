// How a store treats those around it: sources it leaves, readers that pause, hosts that throw.

import assert from 'node:assert/strict'
import { Duplex, Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { createLorekeep } from '../../src/lorekeep.js'
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

const ref = { user: 'alice', id: 'core' }
const message = encodeMessage(triplesMessage('a'))

t.test('close does not wait for a reader that pauses longer than it has patience', async (t) => {
  const keep = await openStore(t, new MemoryBackend(), { closeTimeoutMs: 20 })
  await keep.knowledge.import(ref, bigStream('big', 8, encodeMessage))
  const chunks = (await keep.knowledge.export(ref))[Symbol.asyncIterator]()
  const messages = keep.knowledge.messages(ref)[Symbol.asyncIterator]()
  await chunks.next()
  await messages.next()
  await keep.close()
  await t.rejects(chunks.next(), { code: 'LK_CLOSED' })
})

t.test('an iteration that is dropped in the middle lets go of its version', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  await knowledge.import(ref, bigStream('big', 8, encodeMessage))
  await (async () => {
    await (await knowledge.export(ref))[Symbol.asyncIterator]().next()
    await knowledge.export(ref)
  })()
  await knowledge.delete(ref)
  while ((await keysOf(backend)).slices.length > 0) {
    collectGarbage()
    await turn()
  }
  t.pass()
})

t.test('an export that was closed says so, and one that was not begun can be left', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  await knowledge.import(ref, bigStream('big', 8, encodeMessage))
  const closed = await knowledge.export(ref)
  const chunks = closed[Symbol.asyncIterator]()
  await chunks.next()
  closed.close()
  await t.rejects(chunks.next(), { code: 'LK_CLOSED' })
  await (await knowledge.export(ref))[Symbol.asyncIterator]().return?.()
  await knowledge.delete(ref)
  while ((await coreProblems(backend)).length > 0) await turn()
  t.pass()
})

t.test('what was deleted is forgotten: the next deletion costs no more', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { knowledge } = await openStore(t, backend)
  const costs: number[] = []
  for (let n = 0; n < 4; n++) {
    await knowledge.import(ref, message)
    const before = backend.calls
    await knowledge.delete(ref)
    while ((await coreProblems(backend.real)).length > 0) await turn()
    costs.push(backend.calls - before)
  }
  t.equal(costs[3], costs[1], costs.join(', '))
})

t.test('a source that came to its end is not told to stop', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const left = [message]
  let stops = 0
  const source = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const value = left.pop()
        return value === undefined ? { done: true as const, value } : { value }
      },
      return: async () => {
        stops++
        return { done: true as const, value: undefined }
      },
    }),
  }
  await knowledge.import(ref, source)
  t.equal(stops, 0)
  // The answer to what came by a connection goes out by the same.
  const connection = new Duplex({
    read: () => undefined,
    write: () => undefined,
    autoDestroy: false,
  })
  connection.push(message)
  connection.push(null)
  await knowledge.import(ref, connection)
  t.notOk(connection.destroyed)
})

t.test('every source that is left before its end is told so', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const reason = new Error('enough')
  const bad = { code: 'LK_CORE_FORMAT' }
  const silentReadable = () => new Readable({ read: () => undefined })
  const early = silentReadable()
  await t.rejects(knowledge.import(ref, early, { signal: AbortSignal.abort(reason) }), reason)
  t.ok(early.destroyed, 'aborted before it began')
  const silent = silentReadable()
  const abort = new AbortController()
  const importing = knowledge.import(ref, silent, { signal: abort.signal })
  await turn()
  abort.abort(reason)
  await t.rejects(importing, reason)
  t.ok(silent.destroyed, 'aborted while it was silent')
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.of(0xc1)),
    cancel: () => void (cancelled = true),
  })
  await t.rejects(knowledge.import(ref, stream), bad)
  t.ok(cancelled, 'a web stream')
  let returned = false
  const throwing = (function* () {
    try {
      yield Buffer.of(0xc1)
    } finally {
      returned = true
      throw new Error('from finally')
    }
  })()
  await t.rejects(knowledge.import(ref, throwing), bad, 'and what it throws then changes nothing')
  t.ok(returned)
})

t.test('a source that never waits leaves others their turn, and can be aborted', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const endless = (function* () {
    for (;;) yield new Uint8Array(0)
  })()
  const reason = new Error('enough')
  const abort = new AbortController()
  setImmediate(() => setImmediate(() => abort.abort(reason)))
  await t.rejects(knowledge.import(ref, endless, { signal: abort.signal }), reason)
})

t.test('who imports what is there already can be aborted while that is read', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { knowledge } = await openStore(t, backend)
  await knowledge.import(ref, bigStream('big', 8, encodeMessage))
  const abort = new AbortController()
  const reason = new Error('enough')
  let after: number | undefined
  backend.beforeCall = async () => {
    // The record of the core and where its content lies come before its eight slices.
    if (after !== undefined && ++after === 5) abort.abort(reason)
  }
  const source = (async function* () {
    yield* bigStream('big', 8, encodeMessage)
    after = 0
  })()
  await t.rejects(knowledge.import(ref, source, { signal: abort.signal }), reason)
})

t.test('a chunk that is detached while it is read fails the import', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const big = new Uint8Array(Buffer.concat([...bigStream('big', 6, encodeMessage)]))
  const onProgress = () => void structuredClone(big.buffer, { transfer: [big.buffer] })
  await t.rejects(knowledge.import(ref, big, { onProgress }), TypeError)
  t.equal(await knowledge.stat(ref), undefined)
})

t.test('a progress handler that throws fails the import before its commit', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  const error = new Error('from onProgress')
  const onProgress = () => {
    throw error
  }
  for (const source of [[], [message], bigStream('big', 3, encodeMessage)]) {
    await t.rejects(knowledge.import(ref, source, { onProgress }), error)
    t.equal(await knowledge.stat(ref), undefined)
  }
  t.strictSame(await coreProblems(backend), [])
})

t.test('an error handler that throws becomes a warning, and the work goes on', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const onError = () => {
    throw new Error('from onError')
  }
  const { knowledge } = await openStore(t, backend, { onError })
  await knowledge.import(ref, bigStream('big', 3, encodeMessage))
  // The first write of the collection: the core's own is the call before.
  backend.failAt = backend.calls + 4
  await knowledge.delete(ref)
  t.match(await warned, { message: 'from onError' })
  backend.failAt = Infinity
  await knowledge.import({ ...ref, id: 'other' }, [message])
  while ((await coreProblems(backend.real)).length > 0) await turn()
})

t.test('one generation that cannot be deleted does not hold up the others', async (t) => {
  const backend = new MemoryBackend()
  const keep = await openStore(t, backend, { onError: () => undefined })
  const { knowledge } = keep
  const sliced = encodeMessage(slicedMessage('a'))
  await knowledge.import(ref, [sliced])
  await knowledge.import({ ...ref, id: 'other' }, [sliced])
  t.equal((await keysOf(backend)).slices.length, 2)
  const cores = await backend.open('cores')
  const { generation } = JSON.parse(
    Buffer.from((await firstValue(cores, ref.id)) ?? []).toString(),
  ) as { generation: string }
  for await (const page of cores.scan({})) {
    for (const { key } of page) {
      const isBroken = Buffer.from(key).includes('segment') && Buffer.from(key).includes(generation)
      if (isBroken) await cores.write([{ type: 'put', key, value: Buffer.from('{') }])
    }
  }
  await knowledge.delete(ref)
  await knowledge.delete({ ...ref, id: 'other' })
  while ((await keysOf(backend)).slices.length > 1) await turn()
  t.pass()
})

t.test('limits bind imports, not what was accepted before', async (t) => {
  const directory = t.testdir()
  const { LevelBackend } = await import('../../adapters/level/index.js')
  const first = await createLorekeep({ backend: new LevelBackend(directory) })
  await first.knowledge.import(ref, [message])
  await first.close()
  const limits = { maxStringBytes: 3, maxMessageBytes: 10 }
  const keep = await openStore(t, new LevelBackend(directory), { limits })
  await t.rejects(keep.knowledge.import(ref, [message]), { code: 'LK_CORE_FORMAT' })
  t.equal(
    (await exported(keep.knowledge, ref)).length,
    message.length + 'core'.length + 'alice'.length - 'iu'.length,
  )
  for await (const [type] of keep.knowledge.messages(ref)) t.equal(type, 't')
})

t.test('all names that cannot be are told at once', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const bad = { user: '', cores: ['', 'core', 7, 'x'.repeat(1025)] }
  t.throws(() => knowledge.graph(bad as never), {
    code: 'LK_CORE_REF',
    details: { errors: ['user', 'cores[0]', 'cores[2]', 'cores[3]'].map((path) => ({ path })) },
  })
  const before = knowledge.stat({ user: 7, id: '' } as never)
  const errors = [{ path: 'user' }, { path: 'id' }]
  await t.rejects(before, { code: 'LK_CORE_REF', details: { errors } })
})

t.test('options that cannot be are refused before anything is opened', async (t) => {
  const open = (options: object) => createLorekeep(options as never)
  await t.rejects(open({}), { name: 'TypeError', message: /backend is missing/ })
  await t.rejects(open({ backend: new MemoryBackend(), limit: {} }), TypeError)
  for (const closeTimeoutMs of [-1, NaN, 2 ** 31]) {
    await t.rejects(open({ backend: new MemoryBackend(), closeTimeoutMs }), TypeError)
  }
  await t.rejects(open({ backend: new MemoryBackend(), limits: { maxStringByte: 1 } }), TypeError)
  for (const name of ['maxTextBytes', 'maxMetadataTriples']) {
    for (const limit of [-1, 0.5, NaN, '1']) {
      const opening = open({ backend: new MemoryBackend(), limits: { [name]: limit } })
      await t.rejects(opening, { name: 'TypeError', message: `limits.${name}` })
    }
    await (await open({ backend: new MemoryBackend(), limits: { [name]: 0 } })).close()
  }
  const keep = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: Infinity })
  await assert.rejects(
    keep.knowledge
      .list({ user: 'a', after: 5 as never })
      [Symbol.asyncIterator]()
      .next(),
    TypeError,
  )
  const importing = keep.knowledge.import(
    ref,
    (async function* () {
      await turn()
      yield message
    })(),
  )
  await keep.close()
  t.match(await importing, { messages: 1 })
})

async function firstValue(cores: Awaited<ReturnType<MemoryBackend['open']>>, id: string) {
  for await (const page of cores.scan({})) {
    for (const { key, value } of page) {
      const text = Buffer.from(key).toString('latin1')
      if (text.includes('\u0002core\u0000') && text.includes(`\u0002${id}\u0000`)) return value
    }
  }
  return undefined
}
