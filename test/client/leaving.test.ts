// What a client lets go of when an answer has ended, was left, or broke off.

import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import { connect } from '../../src/client/index.js'
import type * as uploading from '../../src/client/upload.js'
import { fillCores } from '../http/fixtures/graphs.js'
import { core, serve } from '../http/fixtures/serving.js'

const ref = { user: 'alice', id: 'a' }

/** A fetch whose answers are bodies of events, whatever was asked; one ends where it says so. */
function telling(...bodies: readonly (readonly string[] | 'stays open' | 'is not reached')[]) {
  let count = 0
  const fetch = async (_: string, { signal }: RequestInit) => {
    const texts = bodies[Math.min(count++, bodies.length - 1)]!
    if (texts === 'is not reached') throw new TypeError('fetch failed')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(new TypeError('terminated')))
        if (texts === 'stays open') return
        for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    return new Response(body)
  }
  return { fetch, count: () => count }
}

t.test('nothing stays with a signal that many requests have', async (t) => {
  const { url, knowledge } = await serve(t)
  await fillCores(knowledge)
  const client = connect({ url, token: 'admin' })
  const { signal } = new AbortController()
  const graph = client.knowledge.graph({ user: 'alice' })
  await graph.count({}, { signal })
  for await (const _ of graph.match({}, { signal }));
  for await (const _ of graph.match({}, { signal })) break
  await client.knowledge.import(ref, [core('a', 'alice', 3)], { signal })
  for await (const _ of await client.knowledge.export(ref, { signal }));
  const left = await client.knowledge.export(ref, { signal })
  left.close!()
  for await (const _ of graph.answer({ text: 'Who?', signal }));
  await t.rejects(graph.count({ s: 'x' } as never, { signal }), { code: 'LK_GRAPH_QUERY' })
  await t.rejects(connect({ url }).knowledge.graph(ref).count({}, { signal }))
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test('many requests of one client warn of nothing', async (t) => {
  const { url } = await serve(t)
  const { objects } = connect({ url, token: 'admin' })
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  for (let at = 0; at < 1600; at++) await objects.schema('none')
  t.strictSame(warnings, [])
})

t.test(
  'a source is let go of when its import is refused, and not begun before it is sent',
  async (t) => {
    const { url } = await serve(t)
    let begun = 0
    let ended = 0
    async function* source() {
      begun++
      try {
        for (;;) {
          yield new Uint8Array(10)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      } finally {
        ended++
      }
    }
    const refused = connect({ url, token: 'nobody' }).knowledge
    await t.rejects(refused.import(ref, source()), { code: 'LK_HTTP_UNAUTHORIZED' })
    const { knowledge } = connect({ url, token: 'admin' })
    await t.rejects(knowledge.import(ref, source()), { code: 'LK_CORE_FORMAT' })
    const signal = AbortSignal.abort(new Error('enough'))
    await t.rejects(knowledge.import(ref, source(), { signal }), { message: 'enough' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    t.strictSame([begun, ended], [2, 2])
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        controller.enqueue(new Uint8Array(10))
      },
      cancel: () => void (isCancelled = true),
    })
    await t.rejects(refused.import(ref, stream), { code: 'LK_HTTP_UNAUTHORIZED' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    t.ok(isCancelled)
    for (const chunk of ['text', [1], null]) {
      await t.rejects(knowledge.import(ref, [chunk] as never), TypeError)
    }
  },
)

t.test('an answer that is aborted ends with the reason', async (t) => {
  const { fetch } = telling(['event: sources\ndata: {"sources":[]}\n\n'], 'stays open')
  const url = 'http://localhost'
  const ended = connect({ url, fetch }).knowledge.graph(ref).answer({ text: 'x' })
  await t.rejects(ended.then(), { code: 'LK_STORAGE_UNAVAILABLE', message: /broke off/ })
  const client = connect({ url, fetch })
  const graph = client.knowledge.graph(ref)
  const leaving = new AbortController()
  const answer = graph.answer({ text: 'x', signal: leaving.signal })
  const waiting = answer.then()
  const reading = (async () => {
    for await (const _ of answer);
  })()
  waiting.catch(() => undefined)
  reading.catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 20))
  leaving.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  await t.rejects(reading, { message: 'enough' })
  const late = graph.answer({ text: 'x' }).then()
  late.catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await client.close()
  await t.rejects(late, { code: 'LK_CLOSED' })
})

t.test('who watches a job stays through a restart of the server, to its last event', async (t) => {
  const event = (type: string, state: string) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, state, job: 'j' })}\n\n`
  for (const [type, state] of [
    ['done', 'done'],
    ['dead', 'dead'],
    ['cancelled', 'queued'],
    ['state', 'done'],
  ] as const) {
    // The first server is stopped, and ends its answer as it should.
    const { fetch, count } = telling([event('state', 'active')], [event(type, state)])
    const { flows } = connect({ url: 'http://localhost', fetch })
    const seen: string[] = []
    for await (const { type } of flows.watch({ job: 'j' })) seen.push(type)
    t.strictSame([seen, count()], [['state', type], 2])
  }
})

/** Timers run out at once. How long they were to take is told. */
function withoutWaiting(t: Test): number[] {
  const waits: number[] = []
  const { setTimeout } = globalThis
  t.teardown(() => void (globalThis.setTimeout = setTimeout))
  globalThis.setTimeout = ((act: () => void, ms: number, ...given: []) => {
    waits.push(ms)
    return setTimeout(act, 0, ...given)
  }) as never
  return waits
}

t.test('who watches asks less and less often where each answer ends as it begins', async (t) => {
  const { fetch, count } = telling([])
  const waits = withoutWaiting(t)
  const { flows } = connect({ url: 'http://localhost', fetch })
  const leaving = new AbortController()
  for await (const _ of flows.watch({
    signal: leaving.signal,
    onConnected: () => void (count() === 20 && leaving.abort()),
  }));
  const pauses = waits.filter((ms) => ms < 60_000)
  t.ok(pauses.length >= 18)
  t.ok(pauses.slice(4).every((ms) => ms >= 800))
})

t.test(
  'who watches stays through a restart, though answers ended as they began before',
  async (t) => {
    const done = 'event: done\ndata: {"type":"done","state":"done","job":"j"}\n\n'
    const drained = Array.from({ length: 70 }, () => [])
    const restarts = Array.from({ length: 6 }, () => 'is not reached' as const)
    const { fetch, count } = telling(...drained, ...restarts, [done])
    withoutWaiting(t)
    const { now } = Date
    t.teardown(() => void (Date.now = now))
    // A second from each request to the next.
    Date.now = () => now() + count() * 1_000
    const { flows } = connect({ url: 'http://localhost', fetch })
    const seen: string[] = []
    for await (const { type } of flows.watch({ job: 'j' })) seen.push(type)
    t.strictSame([seen, count()], [['done'], 77])
  },
)

t.test('who watches is told where the server is away for more than a minute', async (t) => {
  const { fetch, count } = telling([], 'is not reached')
  withoutWaiting(t)
  const { now } = Date
  t.teardown(() => void (Date.now = now))
  Date.now = () => now() + count() * 1_000
  const { flows } = connect({ url: 'http://localhost', fetch })
  const watching = flows.watch({ job: 'j' })[Symbol.asyncIterator]()
  await t.rejects(watching.next(), { code: 'LK_STORAGE_UNAVAILABLE' })
  t.ok(count() > 60 && count() < 75, `${count()} requests`)
})

t.test('who watches goes on where nothing is heard of the server any more', async (t) => {
  const alive = 'event: done\ndata: {"type":"done","state":"done","job":"j"}\n\n'
  const { fetch, count } = telling('stays open', [': still here\n\n', alive])
  const waits = withoutWaiting(t)
  const { flows } = connect({ url: 'http://localhost', fetch })
  const seen: string[] = []
  for await (const { type } of flows.watch({ job: 'j' })) seen.push(type)
  t.strictSame([seen, count()], [['done'], 2])
  t.equal(waits[0], 60_000)
})

t.test(
  'a tag that was weakened on the way names its version, and one of another is not asked for ever',
  async (t) => {
    const { url, knowledge } = await serve(t)
    const { bytes: expected } = await knowledge.import(ref, [core('a', 'alice', 3)])
    let asked = 0
    const between = (tagOf: (tag: string) => string) =>
      connect({
        url,
        token: 'admin',
        fetch: async (url, init) => {
          const response = await fetch(url, init)
          if (!url.includes('export-core')) return response
          asked++
          const headers = new Headers(response.headers)
          headers.set('ETag', tagOf(headers.get('ETag')!))
          return new Response(response.body, { status: response.status, headers })
        },
      }).knowledge
    let bytes = 0
    for await (const chunk of await between((tag) => `W/${tag}`).export(ref))
      bytes += chunk.byteLength
    t.strictSame([bytes, asked], [expected, 1])
    asked = 0
    asked = 0
    for await (const _ of await between((tag) => tag.replace(/"$/, '-gzip"')).export(ref));
    t.equal(asked, 1)
    asked = 0
    await t.rejects(between(() => '"old"').export(ref), { code: 'LK_STORAGE_UNAVAILABLE' })
    t.equal(asked, 20)
  },
)

t.test('an upload of a browser settles, whatever it is answered', async (t) => {
  let [status, head] = [200, '']
  class XMLHttpRequest {
    readonly upload = {}
    readonly response = new ArrayBuffer(2)
    readonly status = status
    responseURL = ''
    onload = () => {}
    open = (_: string, url: string) => (this.responseURL = url)
    setRequestHeader = () => {}
    getAllResponseHeaders = () => head
    send = () => queueMicrotask(() => this.onload())
  }
  Object.assign(globalThis, { XMLHttpRequest })
  t.teardown(() => void Reflect.deleteProperty(globalThis, 'XMLHttpRequest'))
  // It looks for one when it is loaded.
  const place = '../../src/client/upload.js?in-a-browser'
  const { upload } = (await import(place)) as typeof uploading
  const { signal } = new AbortController()
  const send = () => upload!('http://localhost/', { headers: {}, signal }, () => {})
  t.strictSame([...(await send()).headers], [], 'no header may be read')
  head = 'content-type: a/b: c\r\nx-empty: \r\n'
  t.strictSame(
    [...(await send()).headers],
    [
      ['content-type', 'a/b: c'],
      ['x-empty', ''],
    ],
  )
  status = 999
  await t.rejects(send(), RangeError)
})

t.test('a line of many megabytes is looked through once', async (t) => {
  const text = `"${'a'.repeat(16 * 1024 * 1024)}"\n`
  const fetch = async () => {
    let at = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (at >= text.length) return controller.close()
      controller.enqueue(Buffer.from(text.slice(at, (at += 16 * 1024))))
    }
    return new Response(new ReadableStream({ pull }))
  }
  const graph = connect({ url: 'http://localhost', fetch }).knowledge.graph(ref)
  const before = process.cpuUsage()
  for await (const line of graph.match()) t.equal(String(line).length, text.length - 3)
  const { user, system } = process.cpuUsage(before)
  t.comment(`${(user + system) / 1000} ms`)
  // Looked through with each chunk of it, 6 s.
  t.ok(user + system < 2e6)
})
