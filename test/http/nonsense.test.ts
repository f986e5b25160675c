// Headers that make no sense, drawn at random, by both doors: each is answered alike, as the document says, never by a
// 5xx, and what is not answered with success has changed nothing.

import t from 'tap'
import { Random, pickSeed } from '../fixtures/random.js'
import { byBothDoors, fill } from './fixtures/doors.js'
import type { Ask } from './fixtures/doors.js'
import { core } from './fixtures/serving.js'

const seed = pickSeed()

/** What headers are made of, and what they are not. */
const pieces: Readonly<Record<string, readonly string[]>> = {
  'If-Match': ['*', '"a"', 'W/"a"', '""', 'VERSION', ',', '"', 'w/', ' ', '"a" "b"'],
  'If-None-Match': ['*', '"a"', 'W/"a"', 'VERSION', '"VERSION.gzip"', ',', '"', ' '],
  'If-Unmodified-Since': ['Wed, 25 Nov 2026 16:00:00 GMT', 'yesterday', '0', '-1', '99999999999'],
  'If-Modified-Since': ['Wed, 25 Nov 2026 16:00:00 GMT', 'Thu, 32 Nov 9999', ''],
  'If-Range': ['"a"', 'VERSION', 'W/"a"', 'Wed, 25 Nov 2026 16:00:00 GMT', '*', ','],
  Range: [
    'bytes=',
    '0-0',
    '5-',
    '-3',
    '9-1',
    ',',
    '99999999999999999999-',
    'items=',
    '-',
    ' ',
    '*',
  ],
  Accept: ['*/*', 'text/', 'application/json', ';q=', '0', '2', '-1', ',', 'a/b/c', '\t', '"'],
  'Accept-Encoding': ['gzip', 'br', 'zstd', 'x', '*', 'identity', ';q=0', ';q=9', ';q=', ','],
  'Content-Encoding': ['gzip', 'br', 'zstd', 'x', 'identity', ',', ' ', 'GZIP', ';'],
  Origin: ['https://app.example.com', 'https://app.example.com.evil.com', 'null', '*', 'file://'],
  'Access-Control-Request-Method': ['PUT', 'NONE', '', 'PUT, GET'],
  'Access-Control-Request-Headers': ['authorization', ',', '*', 'x'.repeat(500)],
  'Content-Type': ['application/json', 'text/turtle', '; charset=', 'utf-16', '/', 'multipart/x'],
}

const requests = [
  ['GET', '/export-core?id=x'],
  ['HEAD', '/export-core?id=x'],
  ['GET', '/cores/x'],
  ['GET', '/collections/things/objects/small'],
  ['PUT', '/collections/things/objects/small'],
  ['PATCH', '/collections/things/objects/small'],
  ['DELETE', '/collections/things/objects/none'],
  ['POST', '/import-core?id=x&mode=replace'],
  ['POST', '/flow/default/objects/query'],
  ['OPTIONS', '/cores'],
] as const

type Headers = Record<string, string>

function draw(random: Random, version: string) {
  const [method, path] = requests[random.below(requests.length)]!
  const names = Object.keys(pieces)
  const headers: Headers = {}
  for (let left = 1 + random.below(3); left > 0; left--) {
    const name = names[random.below(names.length)]!
    const parts = Array.from({ length: 1 + random.below(4) }, () => {
      const of = pieces[name]!
      return of[random.below(of.length)]!.replace('VERSION', version)
    })
    headers[name] = parts.join('').trim()
  }
  const hasBody = ['PUT', 'PATCH', 'POST'].includes(method)
  const isCore = path.startsWith('/import-core')
  const json = path.endsWith('/query') ? { schema_name: 'things' } : { n: random.below(9) }
  const body = isCore ? core('x', 'alice', 4) : Buffer.from(JSON.stringify(json))
  return { method, path, headers, ...(hasBody && { body }) }
}

t.test('whatever headers say, it is answered by what they mean', async (t) => {
  const statuses: number[][] = []
  await byBothDoors(t, { cors: { origins: ['https://app.example.com'] } }, async (t, ask, keep) => {
    const { knowledge, objects } = keep
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice', 60), { mode: 'replace' })
    await fill(objects)
    const random = new Random(seed)
    const found: number[] = []
    for (let n = 0; n < 400; n++) {
      const stateOf = async () =>
        JSON.stringify([
          (await knowledge.stat({ user: 'alice', id: 'x' }))?.digest,
          await objects.get('things', 'small'),
        ])
      const before = await stateOf()
      const asked = draw(random, n % 2 === 0 ? before.slice(2, 20) : '"a"')
      const { status } = await ask(asked.path, asked)
      found.push(status)
      const what = `seed ${seed}, ${n}: ${status} ${JSON.stringify(asked.headers)} ${asked.method} ${asked.path}`
      if (status >= 500) t.fail(what)
      if (status >= 300 && (await stateOf()) !== before) t.fail(`${what} has changed something`)
    }
    t.ok(new Set(found).size > 5, `${[...new Set(found)].sort()}`)
    statuses.push(found)
  })
  t.strictSame(statuses[0], statuses[1])
})

t.test('headers of any length take time as they are long', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { objects }) => {
    await fill(objects)
    await longOnes(t.name === 'fetch' ? 500_000 : 7_000, ask)
  })
  t.pass('each was answered')

  async function longOnes(length: number, ask: Ask): Promise<void> {
    for (const name of Object.keys(pieces)) {
      for (const piece of ['"', ',', ' ', 'a', '"a",', 'W/', ';q=0', '-', '0']) {
        const headers = { [name]: `x${piece.repeat(length / piece.length)}x` }
        const { status } = await ask('/collections/things/objects/small', { headers })
        if (status >= 500) t.fail(`${name} of ${piece}: ${status}`)
      }
    }
  }
})
