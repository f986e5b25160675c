import { createServer } from 'node:http'
import t from 'tap'
import { createHandler } from '../../../src/http/index.js'
import type { HandlerOptions } from '../../../src/http/index.js'
import { listOf } from '../../../src/http/result-list.js'
import type { CoreMessage, Triple } from '../../../src/types.js'
import {
  changeGraphs,
  family,
  fillCores,
  fillLong,
  fillMuch,
  firm,
  knows,
  text,
  uri,
} from '../fixtures/graphs.js'
import { ask } from '../fixtures/objects.js'
import { as, json, listen, openStore, send, serve, wire } from '../fixtures/serving.js'
import type { Serving } from '../fixtures/serving.js'

const lines = { ...as('alice'), Accept: 'application/x-ndjson' }

const sorted = (values: unknown) =>
  (values as unknown[]).map((value) => JSON.stringify(value)).toSorted()

async function withCores(t: Parameters<typeof serve>[0], options?: Parameters<typeof serve>[1]) {
  const serving = await serve(t, options)
  await fillCores(serving.knowledge)
  return serving
}

t.test('match answers of one core, and of all or some of them as one graph', async (t) => {
  const serving = await withCores(t)
  const triples = async (path: string, body: object) => {
    const { status, value } = await ask(serving, `POST ${path}`, body)
    t.equal(status, 200, path)
    t.strictSame(Object.keys(value), ['triples'])
    return sorted(value['triples'])
  }
  t.strictSame(await triples('/cores/family/match', {}), sorted(family))
  t.strictSame(await triples('/cores/family/match', { p: knows }), sorted(family.slice(0, 2)))
  const all = [...family, ...firm.filter(({ o }) => o.v !== 'Ann')]
  t.strictSame(await triples('/graph/match', {}), sorted(all))
  t.strictSame(await triples('/graph/match', { cores: ['firm'] }), sorted(firm))
  t.strictSame(await triples('/graph/match', { collection: 'work' }), sorted(firm))
  t.strictSame(await triples('/cores/family/match', { collection: 'work' }), [])
  t.strictSame(await triples('/graph/match', { s: uri('nobody') }), [])

  const texts = all.filter(({ o }) => !o.e)
  const [first = ''] = texts.map(({ o }) => o.v).sort()
  const least = texts.filter(({ o }) => o.v === first)
  t.strictSame(await triples('/graph/match', { filter: { gte: '' } }), sorted(texts))
  t.strictSame(await triples('/graph/match', { filter: { lte: first } }), sorted(least))
  t.strictSame(await triples('/graph/match', { g: null }), sorted(all))
  t.strictSame(await triples('/graph/match', { g: [null, 'urn:g'] }), sorted(all))
  t.strictSame(await triples('/graph/match', { g: '?g' }), [])
  for (const [body, path] of [
    [{ filter: { above: 1 } }, 'filter.above'],
    [{ filter: { gt: { v: '9', e: false, dt: 'x' } } }, 'filter.gt'],
    [{ g: Array(1001).fill('urn:g') }, 'g'],
  ] as const) {
    const { status, value } = await ask(serving, 'POST /graph/match', body)
    t.equal(status, 400)
    t.match(value, { code: 'LK_GRAPH_QUERY', errors: [{ path }] })
  }
})

t.test('count, solve, nearest and retrieve answer in their shapes', async (t) => {
  const serving = await withCores(t)
  const value = async (path: string, body: object) => {
    const reply = await ask(serving, `POST ${path}`, body)
    t.equal(reply.status, 200, `${path} ${JSON.stringify(reply.value)}`)
    t.equal(reply.headers['cache-control'], 'no-store')
    return reply.value
  }
  t.strictSame(await value('/graph/count', { p: knows }), { count: 3 })
  t.strictSame(await value('/cores/firm/count', {}), { count: 3 })

  const patterns = [
    { s: '?a', p: knows, o: '?b' },
    { s: '?b', p: knows, o: '?c' },
  ]
  const { bindings } = await value('/graph/solve', { patterns, select: ['?a', '?c'] })
  t.strictSame(sorted(bindings), sorted([names('ann', 'cas'), names('ben', 'dan')]))
  t.strictSame(await value('/cores/firm/solve', { patterns }), { bindings: [] })
  const who = { patterns: [{ s: '?a', p: '?p', o: '?o' }], select: ['?p'], distinct: true }
  t.equal(((await value('/cores/firm/solve', who))['bindings'] as unknown[]).length, 2)

  const near = { vector: [1, 0, 0], k: 2 }
  const { entities } = await value('/graph/nearest', near)
  t.match(entities, [
    { entity: uri('ann'), score: 1, core: 'family' },
    { entity: uri('ben'), core: 'family' },
  ])
  const where = { p: knows, o: uri('cas') }
  t.match((await value('/graph/nearest', { ...near, where, exact: true }))['entities'], [
    { entity: uri('ben') },
  ])
  t.strictSame(await value('/cores/firm/nearest', { vector: [1, 0] }), { entities: [] })

  const found = await value('/graph/retrieve', { vector: [1, 0, 0], entities: 1, depth: 1 })
  t.strictSame(Object.keys(found).toSorted(), ['entities', 'labels', 'sources', 'triples'])
  t.match(found, { entities: [{ entity: uri('ann') }] })
  t.strictSame(sorted(found['triples']), sorted(family.filter(({ s }) => s.v === 'urn:ann')))
})

const names = (a: string, c: string) => ({ a: uri(a), c: uri(c) })

t.test('retrieve asks the embedder of the host for the vector of a text', async (t) => {
  const embedder = (texts: readonly string[]) => texts.map(() => [0, 0, 1])
  const serving = await withCores(t, { stores: { embedder } })
  const { status, value } = await ask(serving, 'POST /graph/retrieve', { text: 'Who is Cas?' })
  t.equal(status, 200)
  t.match(value, { entities: [{ entity: uri('cas'), core: 'firm' }] })
})

/** Three passages: one of the collection `home`, and two of `work`, which are in a core of their own. */
async function fillPassages({ knowledge }: Serving): Promise<void> {
  const say = (c: string, said: readonly (readonly [string, string, string])[]): CoreMessage[] => {
    const t = said.map(([s, p, o]) => ({ s: uri(s), p: schemaOrg(p), o: text(o) }))
    return [['t', { m: { i: '', m: [], u: '', c }, t }]]
  }
  const letter = say('home', [
    ['letter', 'name', 'A letter'],
    ['letter', 'text', 'They rowed a boat on the Thames.'],
  ])
  await knowledge.write({ user: 'alice', id: 'letters' }, letter)
  const notes = say('work', [
    ['note', 'text', 'A boat is let: “the Isis”.'],
    ['rules', 'name', 'Rowing'],
    ['rules', 'text', 'Who rows a boat keeps to the right.'],
  ])
  await knowledge.write({ user: 'alice', id: 'notes' }, notes)
}

const schemaOrg = (name: string) => ({ v: `https://schema.org/${name}`, e: true })

t.test('search answers with passages of one core, of all, or of some', async (t) => {
  const serving = await withCores(t)
  await fillPassages(serving)
  const search = async (body: object, path = '/graph/search') => {
    const { status, value } = await ask(serving, `POST ${path}`, body)
    t.equal(status, 200, JSON.stringify(value))
    t.strictSame(Object.keys(value), ['passages'])
    return value['passages'] as { readonly chunk: { readonly v: string } }[]
  }
  const found = async (...question: Parameters<typeof search>) =>
    (await search(...question)).map(({ chunk }) => chunk.v).join()

  t.match(await search({ text: 'rowed', k: 1, explain: true, collection: 'home' }), [
    {
      chunk: uri('letter'),
      title: 'A letter',
      core: 'letters',
      text: 'They rowed a boat on the Thames.',
      score: Number,
      highlights: [[5, 10]],
      explanation: [{ word: 'rowed', passages: 1 }],
    },
  ])
  t.equal(await found({ text: 'rowing' }), 'urn:rules,urn:letter')
  t.equal(await found({ text: 'rowing', k: 1 }), 'urn:rules')
  t.equal(await found({ text: 'rowing' }, '/cores/letters/search'), 'urn:letter')
  t.equal(await found({ text: 'rowing', cores: ['letters'] }), 'urn:letter')
  t.equal(await found({ text: 'rowing', cores: ['letters'], collection: 'work' }), '')
  t.equal(await found({ text: 'boat', cores: [] }), '')
  t.equal(await found({ text: 'boat -right -letter' }), 'urn:note')
  t.equal(await found({ text: '"the isis"' }), 'urn:note')
  t.equal(await found({ text: 'thames', languages: ['de'] }), 'urn:letter')
  t.equal(await found({ text: 'boat', document: 'urn:none' }), '')
  t.equal(await found({ text: 'submarine' }), '')
})

t.test('search finds and counts nothing of a collection that it is not about', async (t) => {
  const serving = await serve(t, {
    authenticate: (token = '') => {
      const collections = token === 'two' ? ['home', 'work'] : [token]
      return { user: 'alice', ...(token !== 'all' && { collections }) }
    },
  })
  await fillPassages(serving)
  const search = async (token: string, body: object, path = '/graph/search') => {
    const { status, value } = await ask(serving, `POST ${path}`, body, as(token))
    return status === 200 ? value['passages'] : [status, value['code']]
  }
  const question = { text: 'boats on the isis', explain: true }
  const before = await search('home', question)
  t.match(before, [{ chunk: uri('letter'), explanation: [{ word: 'boats', passages: 1 }] }])
  t.match(await search('all', question), { length: 3 })
  t.strictSame(await search('home', { text: '"the isis" boat', explain: true }), [])

  const forbidden = [403, 'LK_HTTP_FORBIDDEN']
  t.strictSame(await search('home', { ...question, collection: 'work' }), forbidden)
  t.strictSame(await search('two', question), [400, 'LK_HTTP_REQUEST'])
  t.strictSame(await search('two', { ...question, collection: 'other' }), forbidden)
  t.strictSame(await search('two', { ...question, collection: 'home' }), before)
  t.strictSame(await search('home', { ...question, cores: ['letters', 'notes'] }), before)
  t.strictSame(await search('work', question, '/cores/letters/search'), [])

  // As if there were nothing else.
  await serving.knowledge.delete({ user: 'alice', id: 'notes' })
  t.strictSame(await search('all', question), before)
  t.strictSame(await search('home', question), before)
})

t.test('search takes whatever people may type', async (t) => {
  const serving = await withCores(t)
  await fillPassages(serving)
  for (const text of [
    '"',
    '"""-"-“„«»*',
    '-boat',
    `${'"'.repeat(16_380)}boat`,
    Array.from({ length: 2900 }, (_, n) => `w${n}`).join(' '),
    `"${'boat '.repeat(64)}"`,
    'boat-'.repeat(3200),
    'x'.repeat(16_384),
    '-a '.repeat(5400),
    'boat\u0000\u202e*',
    'boat \ud800 "\udc00',
  ]) {
    const { status, value } = await ask(serving, 'POST /graph/search', { text })
    t.equal(status, 200, `${text.slice(0, 20)} ${JSON.stringify(value).slice(0, 200)}`)
  }
  const phrase = await ask(serving, 'POST /graph/search', { text: `"${'boat '.repeat(65)}"` })
  t.equal(phrase.status, 400)
  t.match(phrase.value, { code: 'LK_GRAPH_QUERY', detail: /65 words/ })
  t.strictSame(serving.errors, [])
})

t.test('the index of a core is made and shown', async (t) => {
  const serving = await withCores(t, { stores: { indexThreads: 0 } })
  const path = '/cores/family/index'
  t.match((await ask(serving, `GET ${path}`)).value, { state: 'none', indexedSegments: 0 })
  const made = await ask(serving, `POST ${path}`)
  t.equal(made.status, 200)
  t.match(made.value, { state: 'complete', segments: 1, indexedSegments: 1, triples: 3 })
  t.strictSame((await ask(serving, `GET ${path}`)).value, made.value)
  for (const method of ['GET', 'POST']) {
    const missing = await ask(serving, `${method} /cores/none/index`)
    t.match(missing.value, { status: 404, code: 'LK_CORE_NOT_FOUND' })
    t.equal((await ask(serving, `${method} ${path}`, undefined, as('bob'))).status, 404)
    const foreign = await ask(serving, `${method} ${path}?user=alice`, undefined, as('bob'))
    t.equal(foreign.status, 403)
  }
})

t.test('the index of all that a user has is made and shown', async (t) => {
  const serving = await withCores(t, { stores: { indexThreads: 0 } })
  const { status, value } = await ask(serving, 'GET /index')
  t.equal(status, 200)
  t.match(value, { state: 'none', waiting: { segments: 2 }, triples: 0, parts: 0 })
  const made = await ask(serving, 'POST /index')
  t.equal(made.status, 200)
  const waiting = { segments: 0, bytes: 0 }
  const triples = new Set([...family, ...firm].map((triple) => JSON.stringify(triple))).size
  t.match(made.value, { state: 'complete', waiting, triples, approximate: 0 })
  t.strictSame((await ask(serving, 'GET /index')).value, made.value)
  t.match((await ask(serving, 'GET /cores/family/index')).value, { state: 'complete' })

  const nothing = { state: 'complete', waiting, parts: 0, bytes: 0 }
  for (const method of ['GET', 'POST']) {
    const answer = async (path: string, token: string) =>
      (await ask(serving, `${method} ${path}`, undefined, as(token))).value
    t.match(await answer('/index', 'bob'), nothing, 'of its own user')
    t.match(await answer('/index?user=alice', 'bob'), { status: 403, code: 'LK_HTTP_FORBIDDEN' })
    t.match(await answer('/index?user=alice', 'admin'), { state: 'complete', triples })
    t.match(await answer('/index', 'admin'), { status: 400, code: 'LK_HTTP_REQUEST' })
    t.match(await answer('/index', 'nobody'), { status: 401, code: 'LK_HTTP_UNAUTHORIZED' })
    t.match(await answer('/index?id=family', 'alice'), { status: 400, code: 'LK_HTTP_REQUEST' })
  }
})

t.test('who may only read is shown the index, and makes none', async (t) => {
  const serving = await withCores(t, {
    authenticate: () => ({ user: 'alice', access: 'read' }),
    stores: { indexThreads: 0 },
  })
  for (const path of ['/index', '/cores/family/index']) {
    t.match((await ask(serving, `GET ${path}`)).value, { state: 'none' })
    t.match((await ask(serving, `POST ${path}`)).value, { code: 'LK_HTTP_FORBIDDEN' })
    t.match((await ask(serving, `GET ${path}`)).value, { state: 'none' })
  }
})

t.test('a core that is named and not there is a 404, in lines too', async (t) => {
  const serving = await withCores(t)
  for (const [path, body] of [
    ['/cores/none/match', {}],
    ['/cores/none/count', {}],
    ['/cores/none/solve', { patterns: [] }],
    ['/cores/none/nearest', { vector: [1] }],
    ['/cores/none/retrieve', { vector: [1] }],
    ['/cores/none/search', { text: 'a' }],
    ['/graph/match', { cores: ['family', 'none'] }],
  ] as const) {
    const hasLines = /match|solve/.test(path)
    for (const headers of [as('alice'), ...(hasLines ? [lines] : [])]) {
      const { value } = await ask(serving, `POST ${path}`, body, headers)
      t.match(value, { status: 404, code: 'LK_CORE_NOT_FOUND' }, path)
    }
  }
})

t.test('a principal asks the cores of its own user, and names one where it is any', async (t) => {
  const serving = await withCores(t)
  const code = async (path: string, token: string) => {
    const { status, value } = await ask(serving, `POST ${path}`, {}, as(token))
    return value['code'] ?? status
  }
  t.equal(await code('/graph/match', 'alice'), 200)
  t.equal(await code('/graph/match?user=alice', 'bob'), 'LK_HTTP_FORBIDDEN')
  t.equal(await code('/cores/family/match', 'bob'), 'LK_CORE_NOT_FOUND')
  t.equal(await code('/cores/family/match?user=alice', 'admin'), 200)
  t.equal(await code('/graph/match', 'admin'), 'LK_HTTP_REQUEST')
  t.equal(await code('/graph/match', 'nobody'), 'LK_HTTP_UNAUTHORIZED')
})

t.test('a principal of some collections asks about one of them at a time', async (t) => {
  const collections: Record<string, string[]> = {
    one: ['work'],
    several: ['work', 'home'],
    none: [],
    other: ['elsewhere'],
  }
  const serving = await withCores(t, {
    authenticate: (token = '') => ({ user: 'alice', collections: collections[token] ?? [] }),
  })
  const asked = async (token: string, body: object, path = '/graph/count') => {
    const { status, value } = await ask(serving, `POST ${path}`, body, as(token))
    return status === 200 ? value['count'] : [status, value['code']]
  }
  const forbidden = [403, 'LK_HTTP_FORBIDDEN']
  t.equal(await asked('one', {}), 3)
  t.equal(await asked('one', {}, '/cores/family/count'), 0)
  t.equal(await asked('one', { collection: 'work' }), 3)
  t.strictSame(await asked('one', { collection: 'home' }), forbidden)
  t.strictSame(await asked('several', {}), [400, 'LK_HTTP_REQUEST'])
  t.equal(await asked('several', { collection: 'home', p: knows }), 2)
  t.strictSame(await asked('several', { collection: 'elsewhere' }), forbidden)
  t.strictSame(await asked('none', {}), forbidden)
  t.equal(await asked('other', {}), 0)
})

/** Of the first error. */
const pathIn = ({ errors }: Readonly<Record<string, unknown>>) =>
  (errors as readonly { path: string }[] | undefined)?.[0]?.path

t.test('one JSON has 1,000 results, or the limit, and says where there are more', async (t) => {
  const serving = await serve(t, { maxGraphResults: 1500 })
  await fillMuch(serving.knowledge, 1501)
  const answered = async (body: object, path = '/graph/match', member = 'triples') => {
    const { value } = await ask(serving, `POST ${path}`, body)
    return [(value[member] as unknown[] | undefined)?.length, value['truncated'] ?? pathIn(value)]
  }
  t.strictSame(await answered({}), [1000, true])
  t.strictSame(await answered({ limit: 0 }), [0, true])
  t.strictSame(await answered({ limit: 1500 }), [1500, true])
  t.strictSame(await answered({ limit: 1501 }), [undefined, 'limit'])
  t.strictSame(await answered({ p: uri('p7'), limit: 1 }), [1, undefined])
  const patterns = [{ s: uri('much'), p: '?p', o: '?o' }]
  t.strictSame(await answered({ patterns }, '/graph/solve', 'bindings'), [1000, true])
  t.strictSame(await answered({ patterns, limit: 2 }, '/graph/solve', 'bindings'), [2, true])
})

t.test('one JSON ends early where its terms are very long', async (t) => {
  const long = { a: text('x'.repeat(1000 ** 2)) }
  const list = await listOf(
    'bindings',
    async function* () {
      for (;;) yield long
    },
    1000,
  )
  t.ok(list.endsWith('],"truncated":true}'))
  t.equal(Math.floor(list.length / 1000 ** 2), 9)
})

t.test('lines have no limit but the one that is asked for', async (t) => {
  const serving = await serve(t, { maxGraphResults: 10 })
  await fillMuch(serving.knowledge, 1501)
  const url = `${serving.url}/api/v1`
  const read = async (path: string, body: object) => {
    const options = { method: 'POST', headers: lines, body: Buffer.from(JSON.stringify(body)) }
    const reply = await send(url + path, options)
    t.equal(reply.status, 200)
    t.equal(reply.headers['content-type'], 'application/x-ndjson')
    const text = reply.body.toString()
    t.ok(text === '' || text.endsWith('\n'))
    return text.split('\n').slice(0, -1)
  }
  const all = (await read('/graph/match', {})).map((line) => (JSON.parse(line) as Triple).p.v)
  t.equal(new Set(all).size, 1501)
  t.equal((await read('/graph/match', { limit: 12 })).length, 12)
  t.strictSame(await read('/graph/match', { s: uri('nobody') }), [])
  const patterns = [{ s: '?s', p: uri('p3'), o: '?o' }]
  t.strictSame(await read('/cores/much/solve', { patterns }), [
    JSON.stringify({ s: uri('much'), o: text('x') }),
  ])
})

t.test('what fails before the first line has a status, and what fails later is cut', async (t) => {
  const serving = await withCores(t)
  let failAt = 0
  changeGraphs(serving.knowledge, (graph) => {
    const match = graph.match.bind(graph)
    return {
      match: async function* (...question) {
        let place = 0
        for await (const triple of match(...question)) {
          if (place++ === failAt) throw new Error('broken')
          yield triple
        }
      },
    }
  })
  const early = await ask(serving, 'POST /graph/match', {}, lines)
  t.match(early.value, { status: 500, code: 'LK_INTERNAL' })
  failAt = 2
  await t.rejects(ask(serving, 'POST /graph/match', {}, lines), { code: 'ECONNRESET' })
  t.match(serving.errors, [{ message: 'broken' }, { message: 'broken' }])
})

t.test('a slow reader slows the question down, and one that leaves ends it', async (t) => {
  const serving = await serve(t)
  await fillMuch(serving.knowledge, 100)
  const body = JSON.stringify({ patterns: await fillLong(serving.knowledge) })
  let found = 0
  let signal: AbortSignal | undefined
  const ended = new Promise<void>((resolve) => {
    changeGraphs(serving.knowledge, (graph) => {
      const solve = graph.solve.bind(graph)
      return {
        solve: async function* (patterns, options) {
          signal = options?.signal
          try {
            for await (const solution of solve(patterns, options)) {
              found++
              yield solution
            }
          } finally {
            resolve()
          }
        },
      }
    })
  })
  const { socket, until } = await wire(t, serving.port)
  socket.write(
    [
      'POST /api/v1/graph/solve HTTP/1.1',
      'Host: localhost',
      'Authorization: Bearer alice',
      'Accept: application/x-ndjson',
      `Content-Length: ${body.length}`,
      `\r\n${body}`,
    ].join('\r\n'),
  )
  await until('\r\n\r\n')
  socket.pause()
  // Whatever the buffers of both ends take, it is less than the 100 MB there are.
  for (let before = -1; before !== found;) {
    before = found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  t.ok(found > 0 && found < 100, `${found} were found`)
  socket.destroy()
  await ended
  await Promise.all(serving.answers)
  t.equal(signal?.aborted, true)
  t.ok(found < 100)
  t.strictSame(serving.errors, [])
})

t.test('a question without lines ends too where its client leaves', async (t) => {
  const serving = await withCores(t)
  const { socket } = await wire(t, serving.port)
  const asked = new Promise<AbortSignal | undefined>((resolve) => {
    changeGraphs(serving.knowledge, () => ({
      count: async (_, { signal } = {}) => {
        resolve(signal)
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    }))
  })
  socket.write(
    'POST /api/v1/graph/count HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nContent-Length: 2\r\n\r\n{}',
  )
  t.equal((await asked)?.aborted, false)
  socket.destroy()
  await Promise.all(serving.answers)
  t.equal((await asked)?.aborted, true)
  t.strictSame(serving.errors, [])
})

const s = uri('ann')
const pattern = { s: '?s', p: knows, o: '?o' }
const numbers = (length: number) => Array<number>(length).fill(1)

/** Question, body, and where in it something is wrong. */
const hostile: readonly (readonly [question: string, body: unknown, path: string])[] = [
  ['match', { limit: -1 }, 'limit'],
  ['match', { limit: 1e300 }, 'limit'],
  ['match', { limit: 1.5 }, 'limit'],
  ['match', '{ "limit": 1e999 }', 'limit'],
  ['match', { limit: '10' }, 'limit'],
  ['match', { limit: null }, 'limit'],
  ['match', { s: 'urn:ann' }, 's'],
  ['match', { s: '?s' }, 's'],
  ['match', { p: null }, 'p'],
  ['match', { o: { v: 1, e: true } }, 'o.v'],
  ['match', { o: { v: '\ud800', e: true } }, 'o.v'],
  ['match', { o: { v: 'x' } }, 'o.e'],
  ['match', '{ "__proto__": { "limit": 1 } }', '__proto__'],
  ['match', '{ "s": { "__proto__": { "v": "x", "e": true } } }', 's.v'],
  ['match', { subject: s }, 'subject'],
  ['match', { collection: 7 }, 'collection'],
  ['match', { collection: '' }, 'collection'],
  ['count', { limit: 7 }, 'limit'],
  ['solve', {}, 'patterns'],
  ['solve', { patterns: pattern }, 'patterns'],
  ['solve', { patterns: Array(100_000).fill(pattern) }, 'patterns'],
  ['solve', { patterns: [pattern, { s: '?s', p: 'knows', o: '?o' }] }, 'patterns[1].p'],
  ['solve', { patterns: [{ s: '?s', o: '?o' }] }, 'patterns[0].p'],
  ['solve', { patterns: [{ ...pattern, o: '?__proto__' }] }, 'patterns[0].o'],
  ['solve', { patterns: [pattern], select: ['s'] }, 'select[0]'],
  ['solve', { patterns: [pattern], distinct: 'yes' }, 'distinct'],
  ['solve', { patterns: [pattern], limit: 10_001 }, 'limit'],
  ['nearest', {}, 'vector'],
  ['nearest', { vector: [] }, 'vector'],
  ['nearest', { vector: ['1', 0, 0] }, 'vector[0]'],
  ['nearest', '{ "vector": [1, 1e999] }', 'vector[1]'],
  ['nearest', { vector: numbers(1_000_000) }, 'vector'],
  ['nearest', { vector: { length: 3 } }, 'vector'],
  ['nearest', { vector: [1], k: -1 }, 'k'],
  ['nearest', { vector: [1], k: 10_001 }, 'k'],
  ['nearest', { vector: [1], exact: 1 }, 'exact'],
  ['nearest', { vector: [1], where: 'all' }, 'where'],
  ['nearest', { vector: [1], where: [{ p: 'knows' }] }, 'where[0].p'],
  ['nearest', { vector: [1], where: Array(65).fill({ p: knows }) }, 'where'],
  ['retrieve', { vector: numbers(65_537) }, 'vector'],
  ['retrieve', { text: 7 }, 'text'],
  ['retrieve', { text: 'x'.repeat(100_000) }, 'text'],
  ['retrieve', { vector: [1], entities: 1e9 }, 'entities'],
  ['retrieve', { vector: [1], entities: 0 }, 'entities'],
  ['retrieve', { vector: [1], triples: 1e9 }, 'triples'],
  ['retrieve', { vector: [1], maxTriples: 1e9 }, 'maxTriples'],
  ['retrieve', { vector: [1], depth: 1e9 }, 'depth'],
  ['retrieve', { vector: [1], signal: {} }, 'signal'],
  ['search', {}, 'text'],
  ['search', { text: '' }, 'text'],
  ['search', { text: ' \n' }, 'text'],
  ['search', { text: 7 }, 'text'],
  ['search', { text: 'x'.repeat(16_385) }, 'text'],
  ['search', { text: 'a', k: 0 }, 'k'],
  ['search', { text: 'a', k: 10_001 }, 'k'],
  ['search', { text: 'a', document: { v: 'urn:a', e: true } }, 'document'],
  ['search', { text: 'a', languages: 'de' }, 'languages'],
  ['search', { text: 'a', languages: Array(101).fill('de') }, 'languages'],
  ['search', { text: 'a', explain: 1 }, 'explain'],
  ['search', { text: 'a', signal: {} }, 'signal'],
]

t.test('a body that is no such question is a 400 that says where', async (t) => {
  const serving = await withCores(t)
  for (const [question, body, path] of hostile) {
    const { value } = await ask(serving, `POST /cores/family/${question}`, body)
    const name = `${question} ${JSON.stringify(body).slice(0, 60)}`
    t.match(value, { status: 400, code: 'LK_GRAPH_QUERY', errors: [{ path }] }, name)
  }
  const cores = async (value: unknown, path = '/graph/match') =>
    pathIn((await ask(serving, `POST ${path}`, { cores: value })).value)
  t.equal(await cores('family'), 'cores')
  t.equal(await cores(['family', 7]), 'cores[1]')
  t.equal(await cores(Array(1001).fill('family')), 'cores')
  t.equal(await cores(['family'], '/cores/family/match'), 'cores')
  t.equal(await cores([]), undefined)
  const found = async (question: string, body: object, message: RegExp) => {
    const { value } = await ask(serving, `POST /cores/family/${question}`, body)
    t.match(value, { errors: [{ message }] })
  }
  await found('solve', { patterns: 'x' }, /^must be an array of patterns, not the string "x"$/)
  await found('retrieve', { vector: [1], entities: -1 }, /from 1 to 10000, not -1$/)
  await found('retrieve', { vector: [1], entities: 0 }, /from 1 to 10000, not 0$/)
  t.strictSame(serving.errors, [])
})

t.test('64 patterns are answered', async (t) => {
  const serving: Serving = await withCores(t)
  const patterns = Array(64).fill({ s: '?a', p: knows, o: uri('ben') })
  const { value } = await ask(serving, 'POST /graph/solve', { patterns })
  t.strictSame(value, { bindings: [{ a: uri('ann') }] })
})

t.test('options that cannot be are a TypeError', async (t) => {
  const { knowledge } = await openStore(t)
  for (const wrong of [
    { maxGraphResults: 0 },
    { maxGraphResults: 1.5 },
    { defaultUser: '' },
    { sparql: {} },
    { sparql: null },
  ]) {
    const options = { knowledge, authenticate: 'none', ...wrong } as unknown as HandlerOptions
    t.throws(() => createHandler(options), TypeError, JSON.stringify(wrong))
  }
})

t.test('without the store of cores there are no questions', async (t) => {
  const { objects } = await openStore(t)
  const handler = createHandler({ objects, authenticate: 'none' })
  const port = await listen(
    t,
    createServer((request, response) => void handler(request, response)),
  )
  for (const path of ['graph/match', 'knowledge', 'sparql', 'flow/default/service/triples']) {
    const reply = await send(`http://127.0.0.1:${port}/api/v1/${path}`, { method: 'POST' })
    t.match(json(reply), { code: 'LK_HTTP_NOT_FOUND' }, path)
  }
})

t.test('pairs that may be one are told page by page, merged and split', async (t) => {
  const serving = await serve(t)
  const label = { v: 'http://www.w3.org/2000/01/rdf-schema#label', e: true }
  const names = { us: 'US Navy', 'u.s.': 'U.S. Navy', nato: 'NATO', 'n.a.t.o.': 'N.A.T.O.' }
  const triples = Object.entries(names).map(([name, called]) => {
    return { s: uri(name), p: label, o: text(called) }
  })
  await serving.knowledge.write({ user: 'alice', id: 'names' }, [
    ['t', { m: { i: 'names', u: 'alice', m: [], c: 'books' }, t: triples }],
  ])
  const post = (path: string, body: object) => ask(serving, `POST ${path}`, body)
  const pairs = async (body: object, path = '/graph/duplicates') => {
    const { status, value } = await ask(serving, `POST ${path}`, body)
    t.equal(status, 200)
    return value['duplicates'] as { readonly names: readonly string[] }[]
  }
  const all = await pairs({})
  t.equal(all.length, 2)
  t.strictSame(await pairs({}, '/cores/names/duplicates'), all)
  const [first] = await pairs({ limit: 1 })
  t.strictSame([first, ...(await pairs({ limit: 1, after: first }))], all)
  t.strictSame(await pairs({ least: 0.99 }), [])
  const us = { a: uri('us'), b: uri('u.s.') }
  t.equal((await post('/graph/merge', us)).status, 204)
  t.equal((await pairs({})).length, 1)
  const same = { v: 'http://www.w3.org/2002/07/owl#sameAs', e: true }
  const merged = await ask(serving, 'POST /graph/match', { p: same })
  t.strictSame(merged.value, { triples: [{ s: us.b, p: same, o: us.a }] })
  t.equal((await post('/graph/split', us)).status, 204)
  t.equal((await pairs({})).length, 1)
  for (const [body, path] of [
    [{ a: uri('us') }, 'b'],
    [{ a: uri('us'), b: uri('us') }, 'b'],
    [{ a: uri('nobody'), b: uri('us') }, 'a'],
    [{ ...us, cores: ['names'] }, 'cores'],
    [{ ...us, c: 1 }, 'c'],
  ] as const) {
    const { status, value } = await ask(serving, 'POST /graph/merge', body)
    t.equal(status, 400)
    t.match(value, { code: 'LK_GRAPH_QUERY', errors: [{ path }] })
  }
  for (const [body, path] of [
    [{ least: 2 }, 'least'],
    [{ limit: 10_001 }, 'limit'],
    [{ after: { a: uri('us'), b: uri('u.s.') } }, 'after.score'],
  ] as const) {
    const { status, value } = await ask(serving, 'POST /graph/duplicates', body)
    t.equal(status, 400)
    t.match(value, { code: 'LK_GRAPH_QUERY', errors: [{ path }] })
  }
})
