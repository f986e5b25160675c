// /metrics and /readyz. The text is read by a parser that knows no more than the formats say.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { Counter, Histogram } from '../../../src/http/metrics/instruments.js'
import { exposition } from '../../../src/http/metrics/exposition.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { as, openStore, send, serve } from '../fixtures/serving.js'

interface Parsed {
  readonly types: ReadonlyMap<string, string>
  /** By name and labels. */
  readonly values: ReadonlyMap<string, number>
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const sample = new RegExp(`^(${name})(?:\\{(${label}(?:,${label})*)\\})? (\\+Inf|-?[0-9.e+-]+)$`)

/** @throws Error for a line that is none, a series that comes twice, one without its type or out of its family */
function parse(text: string): Parsed {
  const types = new Map<string, string>()
  const values = new Map<string, number>()
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  let family = ''
  for (const line of text.split('\n').slice(0, -1)) {
    const [, word, of, rest] = /^# (HELP|TYPE|EOF) ?(\S*) ?(.*)$/.exec(line) ?? []
    if (word === 'EOF') continue
    if (word === 'HELP') {
      if (types.has(String(of))) throw new Error(`${of} comes twice`)
      family = String(of)
    } else if (word === 'TYPE') {
      if (of !== family) throw new Error(`${line} stands under ${family}`)
      types.set(family, String(rest))
    } else {
      const [, series, labels = '', value] = sample.exec(line) ?? []
      if (series === undefined) throw new Error(`no sample: ${line}`)
      const suffixes =
        types.get(family) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['', '_total']
      if (!suffixes.some((suffix) => series === family + suffix)) {
        throw new Error(`${series} stands under ${family}`)
      }
      const key = `${series}{${labels}}`
      if (values.has(key)) throw new Error(`${key} comes twice`)
      values.set(key, value === '+Inf' ? Infinity : Number(value))
    }
  }
  return { types, values }
}

t.test('metrics are for those who act for everyone, unless they are open', async (t) => {
  const { url } = await serve(t, { metrics: true })
  t.equal((await send(`${url}/metrics`)).status, 401)
  t.equal((await send(`${url}/metrics`, { headers: as('alice') })).status, 403)
  const reply = await send(`${url}/metrics`, { headers: as('admin') })
  t.equal(reply.status, 200)
  t.equal(reply.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const { url: open } = await serve(t, { metrics: 'open' })
  t.equal((await send(`${open}/metrics`)).status, 200)
  const { url: without } = await serve(t, { metrics: false, health: undefined as never })
  t.equal((await send(`${without}/metrics`, { headers: as('admin') })).status, 404)
  t.equal((await send(`${without}/readyz`)).status, 404)
})

t.test('they count requests, operations, steps, writes and jobs', async (t) => {
  const backend = new MemoryBackend()
  const { health } = await openStore(t, backend)
  const { url, flows, objects } = await serve(t, { metrics: true, health })
  const headers = as('admin')
  const look = async (accept?: string) => {
    const reply = await send(`${url}/metrics`, {
      headers: { ...headers, ...(accept && { accept }) },
    })
    return { text: reply.body.toString(), ...parse(reply.body.toString()) }
  }
  const before = await look()
  const of = (values: ReadonlyMap<string, number>, key: string) =>
    (values.get(key) ?? 0) - (before.values.get(key) ?? 0)
  await send(`${url}/api/v1/schemas`, { headers })
  await send(`${url}/api/v1/schemas/nosuch`, { headers })
  await t.rejects(objects.createCollection(''))
  await flows.load('default', { id: 'd', user: 'u', content: 'Anna lives in Berlin.' })
  await flows.load('default', { id: 'e', user: 'u', content: 'Otto lives in Rome.' })
  const waiting = await look()
  t.equal(waiting.values.get('lorekeep_jobs{flow="default",state="queued"}'), 2)
  t.ok(Number(waiting.values.get('lorekeep_oldest_queued_seconds{flow="default"}')) > 0)
  const runner = flows.run()
  for await (const { type } of flows.watch({ flow: 'default' })) {
    if (type === 'done' && (await flows.stats('default')).done === 2) break
  }
  await runner.stop()
  const { types, values, text } = await look()
  t.equal(
    of(values, 'lorekeep_http_requests_total{method="GET",route="/api/v1/schemas",status="200"}'),
    1,
  )
  t.equal(
    of(
      values,
      'lorekeep_http_requests_total{method="GET",route="/api/v1/schemas/{name}",status="404"}',
    ),
    1,
  )
  t.equal(
    of(values, 'lorekeep_operation_duration_seconds_count{operation="flows.load",outcome="ok"}'),
    2,
  )
  t.equal(
    of(values, 'lorekeep_operation_duration_seconds_count{operation="flows.process",outcome="ok"}'),
    2,
  )
  t.equal(
    of(values, 'lorekeep_step_duration_seconds_count{flow="default",step="store",outcome="ok"}'),
    2,
  )
  t.ok(of(values, 'lorekeep_storage_written_bytes_total{partition="flows"}') > 0)
  t.equal(values.get('lorekeep_jobs{flow="default",state="done"}'), 2)
  t.equal(values.get('lorekeep_oldest_queued_seconds{flow="default"}'), 0)
  t.equal(values.get('lorekeep_ready{}'), 1)
  t.ok(Number(values.get('lorekeep_cache_max_bytes{cache="objects"}')) > 0)
  t.ok(values.has('nodejs_eventloop_delay_seconds{quantile="0.99"}'))
  t.equal(types.get('lorekeep_http_requests_total'), 'counter')
  t.notMatch(text, /alice|nosuch|"(?:u|d|e)"/, 'nobody is named')
  const open = await look('application/openmetrics-text; version=1.0.0, text/plain;q=0.5')
  t.ok(open.text.endsWith('# EOF\n'))
  t.equal(open.types.get('lorekeep_http_requests'), 'counter')
})

t.test('it is ready while the storage takes work', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { health, objects } = await openStore(t, backend)
  const { url } = await serve(t, { health })
  const ready = await send(`${url}/readyz`)
  t.equal(ready.status, 200)
  t.equal(ready.body.toString(), '{"status":"ready"}')
  backend.refusesWrites = true
  await t.rejects(objects.createCollection('c'))
  const unready = await send(`${url}/readyz`)
  t.equal(unready.status, 503)
  t.equal(unready.body.toString(), '{"status":"unready","where":["objects"]}')
  t.equal((await send(`${url}/healthz`)).status, 200, 'the process is well')
  backend.refusesWrites = false
  t.equal((await send(`${url}/readyz`)).status, 200)
})

t.test('it is not ready once the store was closed, which is no failure', async (t) => {
  const { health, close } = await openStore(t, new MemoryBackend())
  const { url, errors } = await serve(t, { health })
  await close()
  const unready = await send(`${url}/readyz`)
  t.equal(unready.status, 503)
  t.equal(unready.body.toString(), '{"status":"unready","where":[]}')
  t.strictSame(errors, [])
})

t.test('labels are bounded, and what is in them is escaped', (t) => {
  const counter = new Counter('steps', 'Steps.')
  for (let n = 0; n < 3000; n++) counter.add({ flow: `f${n}`, step: 's' })
  const { samples } = counter.family
  t.equal(samples.length, 1001)
  t.same(samples.at(-1), { labels: { flow: 'other', step: 'other' }, value: 2000 })
  const named = new Counter('named', 'With a \\ and a\nline.')
  named.add({ flow: 'a "b" \\ c\nd' })
  const text = exposition([named.family], false)
  t.equal(
    text,
    '# HELP named_total With a \\\\ and a\\nline.\n# TYPE named_total counter\nnamed_total{flow="a \\"b\\" \\\\ c\\nd"} 1\n',
  )
  t.equal(parse(text).values.size, 1)
  t.end()
})

t.test('a histogram counts what is below each bound', (t) => {
  const histogram = new Histogram('took', 'Seconds.')
  for (const seconds of [0.0005, 0.001, 0.3, 100]) histogram.observe({}, seconds)
  const { values } = parse(exposition([histogram.family], false))
  t.equal(values.get('took_bucket{le="0.001"}'), 2)
  t.equal(values.get('took_bucket{le="0.1"}'), 2)
  t.equal(values.get('took_bucket{le="0.5"}'), 3)
  t.equal(values.get('took_bucket{le="60"}'), 3)
  t.equal(values.get('took_bucket{le="+Inf"}'), 4)
  t.equal(values.get('took_count{}'), 4)
  t.ok(Math.abs(Number(values.get('took_sum{}')) - 100.3015) < 1e-9)
  t.end()
})
