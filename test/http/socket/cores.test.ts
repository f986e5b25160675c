import t from 'tap'
import type { Test } from 'tap'
import type { CoreMessage } from '../../../src/types.js'
import { noRealCores, realCores } from '../../cli/command.js'
import { serve } from '../fixtures/serving.js'
import { Client, fileOf1x, putsOf1x } from './client.js'

const term = (v: string) => ({ v, e: true })
const typed = (i: string) => ({ t: 'i', i })
const triple = { s: term('urn:a'), p: term('urn:p'), o: { v: 'A', e: false } }
const typedTriple = { s: typed('urn:a'), p: typed('urn:p'), o: { t: 'l', v: 'A' } }

async function stored(messages: AsyncIterable<CoreMessage>): Promise<CoreMessage[]> {
  const all: CoreMessage[] = []
  for await (const message of messages) all.push(message)
  return all
}

async function putThenGet(t: Test, core: Uint8Array, id: string): Promise<Buffer> {
  const { url } = await serve(t)
  const client = await Client.open(t, url, { token: 'admin' })
  for (const request of putsOf1x(core, id, 'trustgraph')) {
    t.strictSame((await client.one(request)).response, {})
  }
  const got = await client.ask({ operation: 'get-kg-core', user: 'trustgraph', id })
  t.strictSame(got.at(-1)?.response, { eos: true })
  return fileOf1x(got)
}

const cores = realCores().filter(({ bytes }) => bytes.length < 1e6)

t.test(
  'a core put and got by 1.x is the same bytes',
  { skip: !cores[0] && noRealCores },
  async (t) => {
    for (const { id, bytes } of cores) {
      t.ok((await putThenGet(t, bytes, id)).equals(bytes), id)
    }
  },
)

t.test('numbers stay doubles, with every bit', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = await Client.open(t, url, { token: 'alice' })
  const numbers = [1, 0, -0, -7, 0.1, 1e21, 5e-324, 2 ** 53, 1.7976931348623157e308, 1e-7]
  const texts =
    '1, 0.0, -0.0, -7, 1e-1, 1E+21, 5e-324, 9007199254740992.0, 1.7976931348623157e308, 1e-7'
  client.send(
    `{"id":"n","service":"knowledge","request":{"operation":"put-kg-core","user":"alice","id":"n",
      "graph-embeddings":{"metadata":{},"entities":[{"entity":{"v":"urn:a","e":true},"vectors":[[${texts}]]}]}}}`,
  )
  t.strictSame(await client.receive(), { id: 'n', response: {}, complete: true })
  const [message] = await stored(knowledge.messages({ user: 'alice', id: 'n' }))
  t.ok(message?.[0] === 'ge')
  const vector = (message?.[1] as unknown as { e: { v: number[][] }[] }).e[0]?.v[0] ?? []
  t.ok(numbers.every((number, n) => Object.is(vector[n], number)))
  client.send({
    id: 'g',
    service: 'knowledge',
    request: { operation: 'get-kg-core', user: 'alice', id: 'n' },
  })
  t.match(
    await client.text(),
    '"vectors":[[1.0,0.0,-0.0,-7.0,0.1,1e+21,5e-324,9007199254740992.0,1.7976931348623157e+308,1e-7]]',
  )
})

t.test('what JSON cannot say is an error in place of the rest', async (t) => {
  const { url, knowledge } = await serve(t)
  const ref = { user: 'alice', id: 'nan' }
  const m = { i: '', m: [], u: '', c: 'c' }
  await knowledge.write(ref, [
    ['t', { m, t: [triple] }],
    ['ge', { m, e: [{ e: term('urn:a'), v: [[NaN]] }] }],
  ])
  const client = await Client.open(t, url, { token: 'alice' })
  const answers = await client.ask({ operation: 'get-kg-core', user: 'alice', id: 'nan' })
  t.equal(answers.length, 2)
  t.match(answers[1], { error: { code: 'LK_HTTP_REQUEST', message: 'NaN' } })
})

t.test('puts add to a core in the order in which they are sent', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = await Client.open(t, url, { token: 'alice' })
  const count = 40
  const names = Array.from({ length: count }, (_, n) => `urn:${n}`)
  for (const name of names) {
    const request = {
      operation: 'put-kg-core',
      user: 'alice',
      id: 'ordered',
      triples: { metadata: {}, triples: [{ ...triple, s: term(name) }] },
    }
    client.send({ id: name, service: 'knowledge', request })
  }
  for (const name of names) t.match(await client.receive(), { id: name, response: {} })
  const messages = await stored(knowledge.messages({ user: 'alice', id: 'ordered' }))
  t.strictSame(
    messages.map(([, data]) => ('t' in data ? data.t[0]?.s.v : undefined)),
    names,
  )
  t.match(await knowledge.stat({ user: 'alice', id: 'ordered' }), { segments: count })
})

t.test('clients from 2.5 on are answered in their shape', async (t) => {
  const { url, knowledge } = await serve(t, { defaultUser: 'somebody' })
  const client = await Client.open(t, url)
  t.strictSame(await client.authenticate('alice'), { type: 'auth-ok', default_workspace: 'alice' })
  const envelope = { service: 'knowledge', workspace: 'alice' }
  // Of before it knew its workspace.
  const put = { operation: 'put-kg-core', workspace: 'default', id: 'new' }
  const metadata = { id: 'new', root: 'urn:document', collection: 'shelf' }
  const triples = [typedTriple, { ...typedTriple, s: { t: 'b', d: 'b0' } }]
  const entity = { entity: typed('urn:a'), vector: [0.5, 1] }
  const answers = [
    await client.one({ ...put, triples: { metadata, triples } }, envelope),
    await client.one({ ...put, 'graph-embeddings': { metadata, entities: [entity] } }, envelope),
  ]
  for (const { response } of answers) t.strictSame(response, {})
  t.strictSame(await stored(knowledge.messages({ user: 'alice', id: 'new' })), [
    [
      't',
      {
        m: { i: 'new', m: [], u: 'alice', c: 'shelf' },
        t: [triple, { ...triple, s: term('_:b0') }],
      },
    ],
    [
      'ge',
      { m: { i: 'new', m: [], u: 'alice', c: 'shelf' }, e: [{ e: term('urn:a'), v: [[0.5, 1]] }] },
    ],
  ])
  const get = { operation: 'get-kg-core', workspace: 'default', id: 'new' }
  const flat = { id: 'new', root: '', collection: 'shelf' }
  t.strictSame(
    (await client.ask(get, envelope)).map(({ response, complete }) => ({ response, complete })),
    [
      { response: { triples: { metadata: flat, triples } }, complete: false },
      { response: { 'graph-embeddings': { metadata: flat, entities: [entity] } }, complete: false },
      { response: { eos: true }, complete: true },
    ],
  )
})

t.test('a core of 1.x that a client of 2.5 puts is the same core', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = await Client.open(t, url)
  await client.authenticate('alice')
  const put = { operation: 'put-kg-core', workspace: 'default', id: 'old' }
  // It sends on what stands in the file, in the places of its own messages.
  const metadata = { id: 'old', root: [triple], collection: 'default' }
  const entities = [
    {
      entity: term('urn:a'),
      vector: [
        [1, 2],
        [3, 4],
      ],
    },
    { entity: term('urn:b'), vector: [] },
  ]
  await client.one({ ...put, triples: { metadata, triples: [triple] } })
  await client.one({ ...put, 'graph-embeddings': { metadata, entities } })
  const m = { i: 'old', m: [triple], u: 'alice', c: 'default' }
  t.strictSame(await stored(knowledge.messages({ user: 'alice', id: 'old' })), [
    ['t', { m, t: [triple] }],
    [
      'ge',
      {
        m,
        e: [
          {
            e: term('urn:a'),
            v: [
              [1, 2],
              [3, 4],
            ],
          },
          { e: term('urn:b'), v: [] },
        ],
      },
    ],
  ])
  const [, got] = await client.ask({ operation: 'get-kg-core', workspace: 'default', id: 'old' })
  t.match(got?.response?.['graph-embeddings'], {
    metadata: { root: [typedTriple] },
    entities: [
      { entity: typed('urn:a'), vector: [1, 2] },
      { entity: typed('urn:a'), vector: [3, 4] },
      { entity: typed('urn:b'), vector: [] },
    ],
  })
})

t.test('clients of 2.4 have a workspace and the members of 1.x', async (t) => {
  const { url } = await serve(t)
  const client = await Client.open(t, url, { token: 'admin' })
  const envelope = { service: 'knowledge', workspace: 'bob' }
  const metadata = { id: 'b', metadata: [typedTriple], collection: 'default' }
  const put = { operation: 'put-kg-core', workspace: 'bob', id: 'b' }
  const entities = [{ entity: typed('urn:a'), vectors: [[1]] }]
  t.strictSame(
    (await client.one({ ...put, 'graph-embeddings': { metadata, entities } }, envelope)).response,
    {},
  )
  const get = { operation: 'get-kg-core', workspace: 'bob', id: 'b' }
  const [answer] = await client.ask(get, envelope)
  t.strictSame(answer?.response, {
    'graph-embeddings': { metadata: { ...metadata, user: 'bob' }, entities },
  })
})

t.test('a long message comes in several answers that clients in Python take', async (t) => {
  const { url, knowledge } = await serve(t)
  const ref = { user: 'alice', id: 'long' }
  const m = { i: '', m: [], u: '', c: 'c' }
  const e = Array.from({ length: 1500 }, (_, n) => {
    return { e: term(`urn:ü${n}`), v: [Array.from({ length: 100 }, (_, at) => Math.sin(at + n))] }
  })
  await knowledge.write(ref, [
    ['ge', { m, e }],
    ['t', { m, t: [] }],
  ])
  const client = await Client.open(t, url, { token: 'alice' })
  client.send({
    id: 'a',
    service: 'knowledge',
    request: { operation: 'get-kg-core', user: 'alice', id: 'long' },
  })
  const names: unknown[] = []
  const rest: unknown[] = []
  for (;;) {
    const text = await client.text()
    t.ok(Buffer.byteLength(text) <= 1024 * 1024)
    const { response, complete } = JSON.parse(text) as {
      response: Record<string, Part>
      complete: boolean
    }
    if (complete) break
    const { 'graph-embeddings': part, ...others } = response
    for (const { entity } of part?.entities ?? []) names.push(entity.v)
    if (part === undefined) rest.push(others)
  }
  t.strictSame(
    names,
    e.map(({ e }) => e.v),
  )
  t.match(rest, [{ triples: { triples: [] } }])
})

t.test('what a message has of metadata counts, and comes once', async (t) => {
  const { url, knowledge } = await serve(t)
  const many = (what: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...triple, o: { v: `${what} ${n}`, e: false } }))
  // Some 50 kB, and some 4 MB.
  for (const [id, count] of [
    ['a', 400],
    ['b', 40_000],
  ] as const) {
    const [m, said] = [many('metadata', count), many('said', 20_000)]
    await knowledge.write({ user: 'alice', id }, [
      ['t', { m: { i: '', m, u: '', c: 'c' }, t: said }],
    ])
    const client = await Client.open(t, url, { token: 'alice' })
    const request = { operation: 'get-kg-core', user: 'alice', id }
    client.send({ id: 'a', service: 'knowledge', request })
    const found: { readonly m: unknown[]; readonly t: unknown[] } = { m: [], t: [] }
    for (;;) {
      const text = await client.text()
      t.ok(Buffer.byteLength(text) <= 1024 * 1024)
      const { response, complete } = JSON.parse(text) as {
        response: { triples: { metadata: { metadata: unknown[] }; triples: unknown[] } }
        complete: boolean
      }
      if (complete) break
      found.m.push(...response.triples.metadata.metadata)
      found.t.push(...response.triples.triples)
    }
    t.strictSame(found, { m, t: said })
  }
})

interface Part {
  readonly entities: readonly { readonly entity: { readonly v: string } }[]
}

t.test('what is put wrong is refused, with its id, and leaves nothing', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = await Client.open(t, url, { token: 'alice' })
  const put = { operation: 'put-kg-core', user: 'alice', id: 'a' }
  const entity = { entity: term('urn:a') }
  for (const [request, code] of [
    [put, 'LK_HTTP_REQUEST'],
    [{ ...put, triples: 7 }, 'LK_HTTP_REQUEST'],
    [{ ...put, triples: {} }, 'LK_CORE_MESSAGE'],
    [
      { ...put, triples: { triples: [{ ...triple, o: { t: 't', tr: typedTriple } }] } },
      'LK_CORE_MESSAGE',
    ],
    [{ ...put, triples: { triples: [triple], metadata: { collection: 7 } } }, 'LK_CORE_MESSAGE'],
    [{ ...put, 'graph-embeddings': { entities: [entity] } }, 'LK_CORE_MESSAGE'],
    [
      { ...put, 'graph-embeddings': { entities: [{ ...entity, vector: ['1'] }] } },
      'LK_CORE_MESSAGE',
    ],
    [{ ...put, id: 7, triples: { triples: [triple] } }, 'LK_HTTP_REQUEST'],
    [{ ...put, id: '', triples: { triples: [triple] } }, 'LK_CORE_REF'],
    [{ ...put, user: 'bob', triples: { triples: [triple] } }, 'LK_HTTP_FORBIDDEN'],
  ] as const) {
    t.equal((await client.one(request)).error?.code, code, JSON.stringify(request))
  }
  t.equal(await knowledge.stat({ user: 'alice', id: 'a' }), undefined)
  // A library has no place here.
  const library = { 'library-metadata': { id: 'urn:d' }, 'library-blob': { id: 'urn:d', data: '' } }
  t.strictSame((await client.one({ ...put, ...library })).response, {
    skipped: Object.keys(library),
  })
  t.equal(
    (await client.one({ operation: 'get-kg-core', user: 'alice', id: 'a' })).error?.code,
    'LK_CORE_NOT_FOUND',
  )
})

t.test('datatypes, languages and graphs are kept in typed terms', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = await Client.open(t, url)
  await client.authenticate('alice')
  const [dt, langString] = ['urn:number', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString']
  const literals = [
    { t: 'l', v: '1', dt },
    { t: 'l', v: 'Haus', ln: 'de' },
    { t: 'l', v: 'A' },
  ]
  const put = { operation: 'put-kg-core', workspace: 'default', id: 'rich' }
  const sent = [
    { ...typedTriple, o: { ...literals[0], ln: '' }, g: 'urn:g' },
    { ...typedTriple, o: { ...literals[1], dt: langString }, g: null },
    { ...typedTriple, o: { ...literals[2], dt: '' }, g: '' },
  ]
  t.strictSame(
    (await client.one({ ...put, triples: { metadata: {}, triples: sent } })).response,
    {},
  )
  const [message] = await stored(knowledge.messages({ user: 'alice', id: 'rich' }))
  t.match(message, [
    't',
    {
      t: [
        { o: { v: '1', e: false, dt }, g: 'urn:g' },
        { o: { v: 'Haus', e: false, ln: 'de' } },
        triple,
      ],
    },
  ])
  const [got] = await client.ask({ ...put, operation: 'get-kg-core' })
  const { triples } = got?.response?.['triples'] as { triples: object[] }
  t.strictSame(triples, [
    { ...typedTriple, o: literals[0], g: 'urn:g' },
    ...literals.slice(1).map((o) => ({ ...typedTriple, o })),
  ])
  const asked = { o: literals[0], collection: 'default' }
  const found = await client.one(asked, { service: 'triples', flow: 'default' })
  t.match(found.response?.['response'], [{ o: literals[0] }])
})
