// Ranges of exports, by both doors: a download that broke goes on where it did, of the same version.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { rangeOf } from '../../src/http/range.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { openFetch } from './fixtures/fetching.js'
import { as, core, json, send, serve } from './fixtures/serving.js'

t.test('what a range says', async (t) => {
  const all: [header: string, expected: readonly [number, number] | undefined][] = [
    ['bytes=0-0', [0, 1]],
    ['bytes=0-', [0, 10]],
    ['bytes=3-5', [3, 6]],
    ['bytes=9-9', [9, 10]],
    ['bytes=5-99999999999', [5, 10]],
    ['bytes=-3', [7, 10]],
    ['bytes=-99', [0, 10]],
    ['BYTES = 1 - 2', [1, 3]],
    ['bytes=5-3', undefined],
    ['bytes=-', undefined],
    ['bytes=a-b', undefined],
    ['bytes=1-2,4-5', undefined],
    ['items=1-2', undefined],
    ['bytes=1.5-2', undefined],
    ['bytes=--2', undefined],
    [`bytes=${'9'.repeat(40)}-`, undefined],
  ]
  for (const [header, expected] of all) {
    const range = rangeOf(header, 10)
    t.strictSame(range && [range.from, range.to], expected, header)
  }
  for (const header of ['bytes=10-', 'bytes=10-11', 'bytes=-0', 'bytes=99999-']) {
    t.throws(() => rangeOf(header, 10), { code: 'LK_HTTP_RANGE' } as never, header)
  }
  t.throws(() => rangeOf('bytes=0-', 0), { code: 'LK_HTTP_RANGE' } as never)
  t.equal(rangeOf(undefined, 10), undefined)
})

t.test('parts of an export', async (t) => {
  const seed = pickSeed()
  const random = new Random(seed)
  const backend = new MemoryBackend()
  const slices = await backend.open('slices')
  let reads = 0
  const get = slices.get.bind(slices)
  slices.get = (key) => {
    reads++
    return get(key)
  }
  const serving = await serve(t, { backend })
  const { knowledge, objects, flows } = serving
  const ref = { user: 'alice', id: 'x' }
  // Of several slices, and of little.
  for (const rounds of [9000, 1, 40, 3000]) {
    await knowledge.import(ref, core('x', 'alice', rounds).subarray(0), { copies: 9 })
  }
  const whole: Uint8Array[] = []
  for await (const chunk of await knowledge.export(ref)) whole.push(chunk)
  const bytes = Buffer.concat(whole)
  t.ok(bytes.length > 4 * 1024 ** 2)
  const handler = openFetch({
    knowledge,
    objects,
    flows,
    authenticate: () => ({ user: 'alice' }),
  })
  const path = '/api/v1/export-core?id=x'
  const byNode = (headers: Record<string, string>, method = 'GET') =>
    send(serving.url + path, { method, headers: { ...as('alice'), ...headers } })
  const byFetch = async (headers: Record<string, string>, method = 'GET') => {
    const reply = await handler(new Request(`http://host${path}`, { method, headers }))
    const { status } = reply
    const body = Buffer.from(await reply.arrayBuffer())
    return { status, headers: Object.fromEntries(reply.headers), body }
  }
  for (const [door, ask] of Object.entries({ node: byNode, fetch: byFetch })) {
    await t.test(door, async (t) => {
      const { headers: head } = await ask({}, 'HEAD')
      t.match(head, { 'accept-ranges': 'bytes', 'content-length': String(bytes.length) })
      const etag = head.etag ?? ''
      const edges = [0, 1, 1024 ** 2 - 1, 1024 ** 2, 2 * 1024 ** 2, bytes.length - 1]
      for (let n = 0; n < 30; n++) {
        const from = n < edges.length ? edges[n]! : random.below(bytes.length)
        const last = Math.min(bytes.length - 1, from + random.below(n % 3 === 0 ? 9 : 2_000_000))
        const reply = await ask({ Range: `bytes=${from}-${last}`, 'If-Range': etag })
        const expected = bytes.subarray(from, last + 1)
        const isRight = reply.status === 206 && reply.body.equals(expected)
        if (!isRight) t.fail(`seed ${seed}: ${from} to ${last}: ${reply.status}`)
        t.match(reply.headers, {
          etag,
          'content-range': `bytes ${from}-${last}/${bytes.length}`,
          'content-length': String(expected.length),
        })
      }
      reads = 0
      const end = await ask({ Range: 'bytes=-10' })
      t.ok(end.body.equals(bytes.subarray(-10)))
      t.ok(reads <= 1, `${reads} slices are read for ten bytes`)
      const beyond = await ask({ Range: `bytes=${bytes.length}-` })
      t.match(beyond, { status: 416, headers: { 'content-range': `bytes */${bytes.length}` } })
      t.match(json(beyond as never), { code: 'LK_HTTP_RANGE' })
      for (const headers of [
        { Range: 'bytes=1-2', 'If-Range': '"other"' },
        { Range: 'bytes=1-2', 'If-Range': `W/${etag}` },
        { Range: 'bytes=1-2', 'If-Range': head['last-modified'] ?? '' },
        { Range: `bytes=${bytes.length}-`, 'If-Range': '"other"' },
        { Range: 'bytes=1-2,5-6' },
        { Range: 'lines=1-2' },
        { Range: 'bytes=7-3' },
      ]) {
        const reply = await ask(headers)
        t.strictSame(
          [reply.status, reply.body.length],
          [200, bytes.length],
          JSON.stringify(headers),
        )
      }
      const ranged = { Range: 'bytes=1-2' }
      t.equal((await ask({ ...ranged, 'If-None-Match': etag })).status, 304)
      t.equal((await ask({ ...ranged, 'If-Match': '"other"' })).status, 412)
      t.equal((await ask({ ...ranged, Accept: 'text/turtle' })).status, 200)
      t.equal((await ask(ranged, 'HEAD')).status, 200)
    })
  }
  const part: Uint8Array[] = []
  for await (const chunk of await knowledge.export(ref, { from: 5, to: 8 })) part.push(chunk)
  t.ok(Buffer.concat(part).equals(bytes.subarray(5, 8)))
  for await (const _ of await knowledge.export(ref, { from: 9e9 })) t.fail('there is nothing')
  const wrong = knowledge.export(ref, { from: 1, dialect: 'trustgraph-2' })
  await t.rejects(wrong, TypeError)
  t.strictSame(serving.errors, [])
})
