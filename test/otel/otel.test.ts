// lorekeep/otel with the real SDK: one trace from a request through the queue, over a restart, to the commit.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/index.js'
import { createFetchHandler } from '../../src/http/index.js'
import { instrument } from '../../src/otel/index.js'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
// As that of W3C does; the package that has it brings seven others.
propagation.setGlobalPropagator({
  inject: (from, carrier, setter) => {
    const span = trace.getSpanContext(from)
    if (span === undefined) return
    setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`)
  },
  extract: (into, carrier, getter) => {
    const [, traceId, spanId] =
      /^00-(\w{32})-(\w{16})-01$/.exec(String(getter.get(carrier, 'traceparent'))) ?? []
    if (traceId === undefined || spanId === undefined) return into
    return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1, isRemote: true })
  },
  fields: () => ['traceparent'],
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

t.test('one trace goes from a request to the commit, in another process too', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-otel-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const stop = instrument({ without: ['flows.get'] })
  t.teardown(stop)
  const first = await createLorekeep({ backend: new LevelBackend(directory) })
  const handler = createFetchHandler({ flows: first.flows, authenticate: 'none' })
  const body = { id: 'd', user: 'u', text: Buffer.from('Anna lives in Berlin.').toString('base64') }
  const answer = await handler(
    new Request('http://lorekeep.example/api/v1/flow/default/service/text-load', {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-${spanId}-01` },
      body: JSON.stringify(body),
    }),
  )
  t.equal(answer.status, 200)
  await first.close()

  const keep = await createLorekeep({ backend: new LevelBackend(directory) })
  t.teardown(() => keep.close())
  const steps = (await keep.flows.get('default'))?.steps ?? []
  let active: string | undefined
  await keep.flows.define({
    id: 'default',
    steps: [
      ...steps,
      {
        name: 'look',
        run: () => {
          active = trace.getActiveSpan()?.spanContext().spanId
        },
      },
    ],
  })
  const runner = keep.flows.run()
  for await (const { type } of keep.flows.watch({ flow: 'default' })) if (type === 'done') break
  await runner.stop()

  const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)
  const named = (name: string) => spans.find((span) => span.name === name) as ReadableSpan
  const request = named('POST /api/v1/flow/{flow}/service/text-load')
  const load = named('load default')
  const process = named('process default')
  const store = named('step store')
  t.equal(request.parentSpanContext?.spanId, spanId)
  t.equal(load.parentSpanContext?.spanId, request.spanContext().spanId)
  t.equal(process.parentSpanContext?.spanId, load.spanContext().spanId)
  t.equal(store.parentSpanContext?.spanId, process.spanContext().spanId)
  t.equal(active, named('step look').spanContext().spanId, 'what a step calls finds its span')
  t.match(request.attributes, { 'http.request.method': 'POST', 'http.response.status_code': 200 })
  t.match(process.attributes, {
    'messaging.system': 'lorekeep',
    'messaging.destination.name': 'default',
    'messaging.message.id': load.attributes['lorekeep.job'],
  })
  const within = (span: ReadableSpan, top: ReadableSpan): boolean => {
    if (span === top) return true
    const parent = spans.find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId)
    return parent !== undefined && within(parent, top)
  }
  const writes = spans.filter(({ name }) => name === 'storage.write')
  t.ok(
    writes.some((span) => within(span, store)),
    'down to the commit',
  )
})

t.test('what is written for each is in the trace of who asked for it', async (t) => {
  exporter.reset()
  const stop = instrument()
  t.teardown(stop)
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-otel-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const keep = await createLorekeep({ backend: new LevelBackend(directory) })
  t.teardown(() => keep.close())
  const { flows, objects } = keep
  await objects.defineSchema({ name: 'boats', fields: { id: { type: 'string' } } })
  const values = Array.from({ length: 10_000 }, (_, n) => ({ id: `${n}` }))
  exporter.reset()
  const tracer = trace.getTracer('test')
  const asking = (name: string, work: () => Promise<unknown>) =>
    tracer.startActiveSpan(name, (span) => work().finally(() => span.end()))
  // More than one write takes, so that who comes later is written by what began with the first.
  const text = 'x'.repeat(700_000)
  const works = Array.from({ length: 4 }, (_, n) => [
    asking(`load ${n}`, () => flows.load('default', { user: 'u', id: `${n}`, content: text })),
    asking(`import ${n}`, () =>
      objects.import({
        metadata: { id: `${n}`, user: 'u', collection: `c${n}` },
        schema_name: 'boats',
        values,
      }),
    ),
  ])
  await Promise.all(works.flat())
  const spans = exporter.getFinishedSpans()
  const writtenIn = spans
    .filter(({ name }) => name === 'storage.write')
    .map((span) => span.spanContext().traceId)
  // Two imports share a draft.
  for (const [what, least] of [
    ['load', 4],
    ['import', 2],
  ] as const) {
    const asked = spans.filter(({ name }) => name.startsWith(`${what} `) && name.length < 9)
    const written = asked.filter((span) => writtenIn.includes(span.spanContext().traceId))
    t.ok(written.length >= least, `${what}: ${written.map(({ name }) => name)}`)
  }
})

t.test('a delivery says what became of its job', async (t) => {
  exporter.reset()
  const stop = instrument()
  t.teardown(stop)
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { flows } = keep
  const run = (input: unknown) => {
    if ((input as { readonly id: string }).id === 'bad') throw new Error('no oars')
  }
  const delays = { minDelayMs: 1, maxDelayMs: 1 }
  await flows.define({ id: 'rowing', maxAttempts: 2, ...delays, steps: [{ name: 'row', run }] })
  await flows.load('rowing', { id: 'good', user: 'u', content: 'x' })
  await flows.load('rowing', { id: 'bad', user: 'u', content: 'x' })
  const runner = flows.run()
  for await (const { type } of flows.watch({ flow: 'rowing' })) if (type === 'dead') break
  await runner.stop()
  const told = exporter
    .getFinishedSpans()
    .filter(({ name }) => name === 'process rowing')
    .map(({ attributes, status }) => [
      attributes['lorekeep.document'],
      attributes['lorekeep.state'],
      status.code,
    ])
  t.strictSame(told.sort(), [
    ['bad', 'dead', SpanStatusCode.ERROR],
    ['bad', 'delayed', SpanStatusCode.ERROR],
    ['good', 'done', SpanStatusCode.UNSET],
  ])
})

t.test('a request that fails says so, and methods that clients think of are one', async (t) => {
  exporter.reset()
  const stop = instrument()
  t.teardown(stop)
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-otel-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const { flows, close } = await createLorekeep({ backend: new LevelBackend(directory) })
  const handler = createFetchHandler({
    flows,
    authenticate: () => {
      throw new Error('out of order')
    },
  })
  for (const method of ['CONJURE', 'GET']) {
    await handler(new Request('http://lorekeep.example/api/v1/jobs', { method }))
  }
  await close()
  const found = exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER)
  t.match(found, [
    {
      name: 'HTTP /api/v1/jobs',
      attributes: {
        'http.request.method': '_OTHER',
        'http.request.method_original': 'CONJURE',
        'http.response.status_code': 405,
      },
      status: { code: SpanStatusCode.UNSET },
    },
    {
      name: 'GET /api/v1/jobs',
      attributes: { 'http.request.method': 'GET', 'error.type': '500' },
      status: { code: SpanStatusCode.ERROR },
    },
  ])
})

t.test('without it, and after its end, there are no spans', async (t) => {
  exporter.reset()
  const keep = await createLorekeep({
    backend: new LevelBackend(await mkdtemp(join(tmpdir(), 'lorekeep-otel-'))),
  })
  await keep.objects.schemas()
  t.same(exporter.getFinishedSpans(), [])
  const stop = instrument()
  await keep.objects.schemas()
  await t.rejects(keep.objects.schema(1 as never))
  stop()
  await keep.objects.schemas()
  await keep.close()
  const found = exporter.getFinishedSpans().map(({ name, status }) => [name, status.code])
  t.same(found, [
    ['objects.schemas', 0],
    ['objects.schema', 2],
  ])
  for (const [name, told] of [
    ['storage.wirte', /without: 'storage\.wirte' is unknown; did you mean 'storage\.write'/],
    ['nothing', /without: 'nothing' is unknown; there are .*index\.make/],
    [7, /without must be an array of strings/],
  ] as const) {
    t.throws(() => instrument({ without: [name as never] }), { name: 'TypeError', message: told })
  }
})
