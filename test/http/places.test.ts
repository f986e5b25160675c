// How many of what takes long may be under way, and for how long.

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { BodyMemory, type HeldBody } from '../../src/http/body-memory.js'
import { collect } from '../../src/http/json.js'
import { Places } from '../../src/http/places.js'
import { Stopwatch } from '../../src/http/stream.js'
import { createSparql } from '../../src/sparql/index.js'
import { ask } from './fixtures/objects.js'
import { as, core, json, send, serve, wire } from './fixtures/serving.js'
import type { Serving } from './fixtures/serving.js'

t.setTimeout(60_000)

t.test(
  'one user gets half of the places, rounded up, and all where it is the only one',
  async (t) => {
    for (const [total, isShared, share] of [
      [1, true, 1],
      [2, true, 1],
      [5, true, 3],
      [64, true, 32],
      [5, false, 5],
    ] as const) {
      const places = new Places('works', total, isShared)
      let end = () => {}
      const ended = new Promise<void>((resolve) => (end = resolve))
      const held = Array.from({ length: share }, () => places.hold({ user: 'a' }, () => ended))
      await t.rejects(
        places.hold({ user: 'a' }, () => ended),
        { code: 'LK_HTTP_BUSY' },
      )
      const others = Array.from({ length: total - share }, () =>
        places.hold({ user: 'b' }, () => ended),
      )
      await t.rejects(
        places.hold({ user: 'c' }, () => ended),
        { code: 'LK_HTTP_BUSY' },
      )
      end()
      await Promise.all([...held, ...others])
      await t.resolves(places.hold({ user: 'c' }, async () => undefined))
    }
  },
)

t.test('a place is given back whatever becomes of the work', async (t) => {
  const places = new Places('works', 1, true)
  const fail = () => Promise.reject(new Error('no'))
  for (let i = 0; i < 3; i++) await t.rejects(places.hold({ user: 'a' }, fail), { message: 'no' })
})

async function idle(t: Parameters<typeof wire>[0], { port }: Serving, path: string, token: string) {
  const found = await wire(t, port)
  found.socket.pause()
  const head = [`GET /api/v1${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`]
  found.socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return found
}

t.test('exports whose readers take nothing hold places, and give them back', async (t) => {
  const serving = await serve(t, { maxConcurrentExports: 2 })
  const { url, knowledge } = serving
  const bytes = core('x', 'alice', 40_000)
  for (const user of ['alice', 'bob']) await knowledge.import({ user, id: 'x' }, bytes)
  const paused = await idle(t, serving, '/export-core?id=x', 'alice')
  const status = async (token: string, accept = '*/*') => {
    const headers = { ...as(token), Accept: accept }
    const reply = await send(`${url}/api/v1/export-core?id=x`, { headers })
    if (reply.status === 503) {
      t.equal(json(reply).code, 'LK_HTTP_BUSY')
      t.equal(reply.headers['retry-after'], '1')
    }
    return reply.status
  }
  while ((await status('alice')) !== 503);
  t.equal(await status('alice', 'application/n-triples'), 503, 'in whatever format')
  t.equal(await status('bob'), 200)
  paused.socket.destroy()
  while ((await status('alice')) !== 200);
})

t.test('JSON bodies that never end hold a bounded amount together', async (t) => {
  const KiB = 1024
  const serving = await serve(t, { maxJsonBytes: 512 * KiB, maxBufferedBytes: 2048 * KiB })
  const query = (token: string, padding = 1) => {
    const body = Buffer.from(`{"schema_name":"x"}${' '.repeat(padding)}`)
    return { method: 'POST', headers: as(token), body }
  }
  const ask = async (token: string, padding?: number) =>
    send(`${serving.url}/api/v1/flow/default/objects/query`, query(token, padding))
  const unended = async (token: string, length: number) => {
    const found = await wire(t, serving.port)
    const head = [
      'POST /api/v1/flow/default/objects/query HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${token}`,
    ]
    found.socket.write(`${head.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n`)
    found.socket.write(Buffer.alloc(length - 1, ' '))
    return found
  }
  const first = await ask('alice')
  t.equal(json(first).code, 'LK_SCHEMA_NOT_FOUND', 'the body was read')
  const known = first.status
  const held = [await unended('alice', 512 * KiB), await unended('alice', 512 * KiB)]
  // They are read a bit at a time, and each by itself.
  let busy = await ask('alice')
  while (busy.status !== 503) busy = await ask('alice')
  t.equal(json(busy).code, 'LK_HTTP_BUSY')
  t.equal(busy.headers['retry-after'], '1')
  t.equal((await ask('bob', 400 * KiB)).status, known, 'the other half is for others')

  held[0]?.socket.destroy()
  held[1]?.socket.write(' ')
  await held[1]?.until('HTTP/1.1 4')
  while ((await ask('alice', 500 * KiB)).status !== known);
  for (let n = 0; n < 10; n++) {
    t.equal((await ask('alice', 500 * KiB)).status, known, 'what was answered holds nothing')
  }
})

t.test(
  'bodies take their share, then what there is for all, and one alone what it needs',
  async (t) => {
    const busy = { code: 'LK_HTTP_BUSY' }
    const memory = new BodyMemory(100, true)
    const bodies = ['a', 'b', 'c'].map((user) => memory.open({ user }))
    const [a, b, c] = bodies as [HeldBody, HeldBody, HeldBody]
    a.take(40)
    t.throws(() => memory.open({ user: 'a' }).take(11), busy, 'the share of a')
    b.take(40)
    t.throws(() => c.take(21), busy, 'of all')
    c.take(20)
    t.throws(() => memory.open({ user: 'd' }).take(1), busy)
    for (const body of bodies) body.release()
    const alone = memory.open({ user: 'a' })
    alone.take(300)
    alone.take(300)
    t.throws(() => memory.open({ user: 'b' }).take(1), busy)
    alone.release()
    t.doesNotThrow(() => memory.open({ user: 'b' }).take(50))
  },
)

t.test('a body takes what has come of it, not what was announced', async (t) => {
  const KiB = 1024
  const memory = new BodyMemory(Infinity, true)
  let taken = 0
  const { release } = memory.open({ user: 'a' })
  const counting = { take: (bytes: number) => void (taken += bytes), release }
  const chunks = async function* (count: number, size: number) {
    for (let n = 0; n < count; n++) yield Buffer.alloc(size, n)
  }
  const all = async (count: number, size: number, most: number) => {
    taken = 0
    return (await collect(chunks(count, size), most, counting)).length
  }
  t.equal(await all(3, 10, 16 * KiB * KiB), 30)
  t.equal(taken, 64 * KiB)
  t.equal(await all(3, 10, 30), 30)
  t.equal(taken, 30)
  t.equal(await all(100, 10 * KiB, 1000 * KiB), 1000 * KiB)
  t.equal(taken, 1000 * KiB)
})

t.test('streams of events have places of their own', async (t) => {
  const serving = await serve(t, { maxEventStreams: 2 })
  const watch = () => send(`${serving.url}/api/v1/flow/default/events`, { headers: as('alice') })
  const open = await wire(t, serving.port)
  open.socket.write(
    'GET /api/v1/flow/default/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\n\r\n',
  )
  await open.until('text/event-stream')
  t.equal((await watch()).status, 503)
})

const all = { s: '?a', p: '?b', o: '?c' }
const product = ['d', 'e', 'f', 'g'].map((x) => ({ s: `?${x}1`, p: `?${x}2`, o: `?${x}3` }))

async function withMany(t: Parameters<typeof serve>[0], maxQueryMs: number) {
  const serving = await serve(t, { maxQueryMs, sparql: createSparql({ threads: 1 }) })
  await serving.knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice', 200))
  await serving.knowledge.index({ user: 'alice', id: 'x' })
  return serving
}

t.test('a question about cores is worked on for maxQueryMs', async (t) => {
  const serving = await withMany(t, 1)
  const body = { patterns: [all, ...product], limit: 10_000 }
  const { status, value } = await ask(serving, 'POST /cores/x/solve', body)
  t.equal(status, 400)
  t.match(value, { code: 'LK_QUERY_BUDGET', maxQueryMs: 1 })
})

t.test('SPARQL is worked on for maxQueryMs', async (t) => {
  const serving = await withMany(t, 200)
  const query = 'SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?c'
  const url = `${serving.url}/api/v1/sparql?${new URLSearchParams({ query }).toString()}`
  const reply = await send(url, { headers: as('alice') })
  t.equal(reply.status, 400)
  t.match(json(reply), { code: 'LK_QUERY_BUDGET', maxQueryMs: 200 })
})

t.test('a clock that is paused does not run, and goes on with what was left', async (t) => {
  let ends = 0
  let tell = () => {}
  const ended = new Promise<void>((resolve) => (tell = resolve))
  const clock = new Stopwatch(100, () => {
    ends++
    tell()
  })
  clock.pause()
  clock.pause()
  await sleep(200)
  t.equal(ends, 0)
  clock.go()
  clock.go()
  await ended
  await sleep(200)
  t.equal(ends, 1)
})
