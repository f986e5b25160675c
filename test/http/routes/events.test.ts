import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { latestKey } from '../../../src/flow/queue/records.js'
import { createHandler } from '../../../src/http/index.js'
import { UnreadableBackend } from '../../fixtures/unreadable-backend.js'
import { defineQuick, end, eventOf, load, openEvents, run, text } from '../fixtures/flows.js'
import type { EventStream } from '../fixtures/flows.js'
import { ask } from '../fixtures/objects.js'
import { as, openStore, send, serve } from '../fixtures/serving.js'

const path = '/flow/quick/events'

t.test('what happens to a document is told as it happens', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const stream = await openEvents(t, serving, path)
  const { headers, statusCode } = stream.response
  t.equal(statusCode, 200)
  t.match(headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const job = await load(serving, text('a\nb'))
  run(t, serving)
  for (const [at, type] of ['queued', 'active', 'step', 'done'].entries()) {
    const event = await stream.next()
    t.match(event, {
      id: String(at + 1),
      event: type,
      data: { type, job, flow: 'quick', user: 'alice', document: 'a\nb' },
    })
  }
})

t.test('the text of an event is made once, however many are told', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const streams: EventStream[] = []
  for (let n = 0; n < 5; n++) streams.push(await openEvents(t, serving, path))
  const made: string[] = []
  const { stringify } = JSON
  t.teardown(() => void (JSON.stringify = stringify))
  JSON.stringify = (value: { type?: unknown } | undefined, ...rest: []) => {
    if (typeof value?.type === 'string') made.push(value.type)
    return stringify(value, ...rest)
  }
  const job = await load(serving, text('a'))
  run(t, serving)
  const types = ['queued', 'active', 'step', 'done']
  for (const stream of streams) {
    for (const [at, type] of types.entries()) {
      t.match(await stream.next(), { id: String(at + 1), event: type, data: { type, job } })
    }
  }
  t.strictSame(
    made.filter((type) => types.includes(type)),
    types,
  )
})

t.test('of a document that is named its state is told first', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const job = await load(serving, text('a'))
  await load(serving, text('b'))
  const stream = await openEvents(t, serving, `${path}?document=a`)
  t.match(await stream.next(), { event: 'state', data: { job, state: 'queued' } })
  run(t, serving)
  for (const event of ['active', 'step', 'done']) {
    t.match(await stream.next(), { event, data: { job } })
  }
})

t.test('of a job that is named the stream ends with it', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const job = await load(serving, text('a'))
  const stream = await openEvents(t, serving, `${path}?job=${job}&user=alice&document=a`)
  await load(serving, text('a'))
  run(t, serving)
  for (const event of ['state', 'active', 'step', 'done']) {
    t.match(await stream.next(), { event, data: { job } })
  }
  t.equal(await stream.next(), undefined)
  t.ok(stream.response.complete)
  const late = await openEvents(t, serving, `${path}?job=${job}`)
  t.match(await late.next(), { event: 'state', data: { job, state: 'done' } })
  t.equal(await late.next(), undefined)
  t.strictSame(serving.errors, [])
})

t.test('a job that is not there, or not for its eyes, begins no stream', async (t) => {
  const serving = await serve(t, {
    authenticate: (user = '') => ({ user, ...(user === '*' && { collections: ['a'] }) }),
  })
  await defineQuick(serving)
  await serving.flows.define({ id: 'other' })
  const job = await load(serving, text('x'), 'alice')
  for (const [line, name] of [
    [`${path}?job=none`, 'alice'],
    [`${path}?job=${job}&document=y`, 'alice'],
    [`/flow/other/events?job=${job}`, 'alice'],
    [`${path}?job=${job}`, 'bob'],
    [`${path}?job=${job}`, '*'],
  ] as const) {
    const reply = await ask(serving, `GET ${line}`, undefined, as(name))
    t.match(reply, { status: 404, value: { code: 'LK_JOB_NOT_FOUND' } }, `${name}: ${line}`)
  }
  const any = await ask(serving, `GET ${path}?job=${job}&user=alice`, undefined, as('bob'))
  t.equal(any.status, 403)
})

t.test('each sees what is its own', async (t) => {
  const principals: Readonly<Record<string, { user: string; collections?: readonly string[] }>> = {
    alice: { user: 'alice' },
    bob: { user: 'bob' },
    any: { user: '*' },
    'any-in-a': { user: '*', collections: ['a'] },
  }
  const serving = await serve(t, { authenticate: (token = '') => principals[token] })
  await defineQuick(serving)
  await serving.flows.define({ id: 'other' })
  const streams = {
    alice: await openEvents(t, serving, path, 'alice'),
    bob: await openEvents(t, serving, path, 'bob'),
    any: await openEvents(t, serving, path, 'any'),
    bobs: await openEvents(t, serving, `${path}?user=bob`, 'any'),
    inA: await openEvents(t, serving, path, 'any-in-a'),
  }
  await load(serving, text('1'), 'alice', '/flow/other/service/text-load')
  await load(serving, text('2', { collection: 'a' }), 'alice')
  await load(serving, text('3'), 'bob')
  await load(serving, text('4', { collection: 'a' }), 'bob')
  await load(serving, text('5'), 'alice')
  await serving.lorekeep.close()
  const seen = async (stream: EventStream) => {
    const documents: string[] = []
    for await (const block of stream) documents.push(eventOf(block).data.document)
    return documents.join('')
  }
  t.equal(await seen(streams.alice), '25')
  t.equal(await seen(streams.bob), '34')
  t.equal(await seen(streams.any), '2345')
  t.equal(await seen(streams.bobs), '34')
  t.equal(await seen(streams.inA), '24')
  t.strictSame(serving.errors, [])
})

t.test('what is not allowed, or not there, begins no stream', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  t.match(await ask(serving, `GET ${path}?user=bob`), { status: 403 })
  t.match(await ask(serving, 'GET /flow/none/events'), { status: 404 })
  const url = `${serving.url}/api/v1${path}`
  const withBody = { ...as('alice'), 'Content-Length': '5' }
  const refused = await send(url, { headers: withBody, body: [Buffer.from('a')] })
  t.equal(refused.status, 400)
  const head = await send(url, { method: 'HEAD', headers: as('alice') })
  t.match(head, { status: 200, headers: { 'content-type': 'text/event-stream' } })
  await serving.lorekeep.close()
  t.match(await ask(serving, `GET ${path}`), { status: 503, value: { code: 'LK_CLOSED' } })
})

t.test('where the state of a document cannot be read, no stream begins', async (t) => {
  const backend = new UnreadableBackend(new MemoryBackend())
  const serving = await serve(t, { backend })
  await defineQuick(serving)
  run(t, serving)
  // Who is any user, and names none, asks for the document of the store's.
  for (const [token, user] of [
    ['alice', 'alice'],
    ['admin', 'trustgraph'],
  ] as const) {
    await end(serving, await load(serving, text('a'), token))
    backend.lose('flows', latestKey(user, 'a'))
    const reply = await ask(serving, `GET ${path}?document=a`, undefined, as(token))
    t.match(reply, { status: 500, value: { code: 'LK_STORAGE_CORRUPT' } }, token)
  }
})

t.test('a stream in which nothing happens shows that it is alive', async (t) => {
  const serving = await serve(t, { heartbeatMs: 1 })
  await defineQuick(serving)
  const stream = await openEvents(t, serving, path)
  const blocks = stream[Symbol.asyncIterator]()
  for (let beat = 0; beat < 3; beat++) t.match((await blocks.next()).value, /^:/)
})

t.test('a stream ends when its reader leaves', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const streams = [await openEvents(t, serving, path), await openEvents(t, serving, path)]
  t.equal(serving.answers.length, 2)
  streams[0]?.leave()
  await serving.answers[0]
  await load(serving, text('a'))
  t.match(await streams[1]?.next(), { event: 'queued' }, 'others go on')
  t.strictSame(serving.errors, [])
})

t.test('streams end well when the server is about to stop', async (t) => {
  const stopping = new AbortController()
  const serving = await serve(t, { signal: stopping.signal })
  await defineQuick(serving)
  const streams = [await openEvents(t, serving, path), await openEvents(t, serving, path)]
  await load(serving, text('a'))
  stopping.abort()
  for (const stream of streams) {
    t.match(await stream.next(), { event: 'queued' })
    t.equal(await stream.next(), undefined)
    t.ok(stream.response.complete)
  }
  const late = await openEvents(t, serving, path)
  t.equal(late.response.statusCode, 200)
  t.equal(await late.next(), undefined)
  t.strictSame(serving.errors, [])
})

/** A connection whose other end takes nothing before it is told to. */
class StalledReader extends Duplex {
  received = ''
  #waiting: (() => void) | undefined
  #reads = false

  readOn(): void {
    this.#reads = true
    this.#waiting?.()
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.received += chunk.toString()
    if (this.#reads) done()
    else this.#waiting = done
  }
}

/** A flow whose step tells of much progress, and somebody who asked for its events and reads none. */
async function stall(t: Parameters<typeof serve>[0], exportIdleTimeoutMs: number) {
  const { flows } = await openStore(t)
  const times = 1000
  const progressing = {
    name: 'only',
    run: async (_: unknown, { progress }: { progress: (done: number, total: number) => void }) => {
      for (let done = 1; done <= times; done++) {
        progress(done, times)
        // So that each can be written before the next one comes.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
  await flows.define({ id: 'quick', steps: [progressing] })
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const handler = createHandler({ flows, authenticate: 'none', exportIdleTimeoutMs, onError })
  const reader = new StalledReader()
  t.teardown(() => reader.destroy())
  let answer: Promise<void> | undefined
  const asked = new Promise<ServerResponse>((resolve) => {
    const server = createServer((request, response) => {
      answer = handler(request, response)
      // Its head is written once the stream has begun.
      const beginning = setInterval(() => {
        if (!response.headersSent) return
        clearInterval(beginning)
        resolve(response)
      }, 1)
    })
    server.emit('connection', reader)
  })
  reader.push(`GET /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const response = await asked
  const { job } = await flows.load('quick', { id: 'a', content: 'A text.', user: 'alice' })
  run(t, { flows })
  await end({ flows }, job)
  return { reader, response, errors, answer }
}

t.test('a slow reader slows the writing down, and misses progress alone', async (t) => {
  const { reader, response, errors } = await stall(t, 60_000)
  t.ok(response.writableNeedDrain)
  // Node's own mark differs between versions; the event that reaches it is the last one written.
  const { writableLength, writableHighWaterMark } = response
  t.ok(writableLength < writableHighWaterMark + 1024, `${writableLength} bytes wait`)
  const ended = new Promise<void>((resolve) => {
    const write = reader._write.bind(reader)
    reader._write = (chunk: Buffer, encoding, done) => {
      write(chunk, encoding, done)
      if (reader.received.includes('event: done')) resolve()
    }
  })
  reader.readOn()
  await ended
  const types = [...reader.received.matchAll(/event: (\w+)/g)].map(([, type]) => type)
  t.same(types.slice(0, 2), ['queued', 'active'])
  t.same(types.slice(-3), ['progress', 'step', 'done'])
  t.ok(types.length < 500, `${types.length} events`)
  t.match(reader.received, /"done":1000,"total":1000/, 'the newest progress is there')
  t.strictSame(errors, [])
})

t.test('a reader that takes nothing is left', async (t) => {
  const { reader, errors, answer } = await stall(t, 50)
  await answer
  t.ok(reader.destroyed)
  t.match(errors, [{ code: 'LK_HTTP_TIMEOUT' }])
})
