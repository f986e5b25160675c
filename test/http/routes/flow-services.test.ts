import t from 'tap'
import { family, fillCores, firm, knows, text, uri } from '../fixtures/graphs.js'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const triplesPath = 'POST /flow/default/service/triples'
const entitiesPath = 'POST /flow/default/service/graph-embeddings'
const home = { user: 'alice', collection: 'home' }

const sorted = (values: unknown) =>
  (values as unknown[]).map((value) => JSON.stringify(value)).toSorted()

async function withCores(t: Parameters<typeof serve>[0], options?: Parameters<typeof serve>[1]) {
  const serving = await serve(t, options)
  await fillCores(serving.knowledge)
  return serving
}

t.test('triples answers with those of a pattern in the collection', async (t) => {
  const serving = await withCores(t)
  const response = async (body: object) => {
    const { status, value } = await ask(serving, triplesPath, body)
    t.equal(status, 200)
    t.strictSame(Object.keys(value), ['response'])
    return sorted(value['response'])
  }
  t.strictSame(await response({ p: knows, limit: 10, ...home }), sorted(family.slice(0, 2)))
  t.strictSame(await response({ ...home, collection: 'work' }), sorted(firm))
  t.strictSame(await response({ o: text('Ann'), s: null, limit: null, ...home }), [
    JSON.stringify(family[2]),
  ])
  // What the reference system's newer clients send along.
  const more = { g: '*', streaming: false, 'batch-size': 20, filter: 5 }
  t.equal((await response({ ...home, ...more })).length, 3)
  t.strictSame(await response({ user: 'alice' }), [], 'of the collection default')
  const { value } = await ask(serving, triplesPath, { ...home, limit: 1 })
  t.match(value, { response: { length: 1 }, truncated: true })
})

t.test('a literal of a question is every literal of its text', async (t) => {
  const serving = await withCores(t)
  const m = { i: 'c', m: [], u: 'alice', c: 'typed' }
  const [s, p] = [uri('ann'), uri('age')]
  const said = [{ ln: 'en' }, { dt: 'http://www.w3.org/2001/XMLSchema#integer' }, {}].map(
    (more) => ({
      s,
      p,
      o: { ...text('9'), ...more },
    }),
  )
  await serving.knowledge.write({ user: 'alice', id: 'typed' }, [['t', { m, t: said }]])
  const body = { o: text('9'), user: 'alice', collection: 'typed' }
  const { value } = await ask(serving, triplesPath, body)
  t.strictSame(sorted(value['response']), sorted(said))
  const named = { s, p, o: text('10'), g: 'urn:graph:source' }
  await serving.knowledge.write({ user: 'alice', id: 'named' }, [['t', { m, t: [named] }]])
  for (const [g, found] of [
    ['*', 4],
    ['', 3],
    ['urn:graph:source', 1],
    ['urn:graph:other', 0],
    ['?g', 0],
  ] as const) {
    const { value } = await ask(serving, triplesPath, { user: 'alice', collection: 'typed', g })
    t.equal((value['response'] as unknown[]).length, found, g)
  }
})

t.test('graph-embeddings answers with the entities nearest to any vector, each once', async (t) => {
  const serving = await withCores(t)
  const entities = async (body: object) => {
    const { status, value } = await ask(serving, entitiesPath, { ...home, ...body })
    t.equal(status, 200)
    return value['entities']
  }
  const [ann, ben] = [uri('ann'), uri('ben')]
  t.strictSame(await entities({ vectors: [[1, 0, 0]], limit: 10 }), [ann, ben])
  t.strictSame(await entities({ vectors: [[0, 1, 0]] }), [ben, ann])
  t.strictSame(
    await entities({
      vectors: [
        [1, 0.6, 0],
        [1, 0, 0],
      ],
    }),
    [ann, ben],
  )
  t.strictSame(
    await entities({
      vectors: [
        [0.8, 0.6, 0],
        [1, 0.1, 0],
      ],
      limit: 1,
    }),
    [ben],
  )
  t.strictSame(await entities({ vectors: [] }), [])
})

t.test('the user is that of the token, or the default one', async (t) => {
  const serving = await withCores(t, { defaultUser: 'alice' })
  const answered = async (body: object, token: string, path = triplesPath) => {
    const { status, value } = await ask(serving, path, { collection: 'home', ...body }, as(token))
    return value['code'] ?? (value['response'] as unknown[] | undefined)?.length ?? status
  }
  t.equal(await answered({}, 'alice'), 3)
  t.equal(await answered({}, 'bob'), 0)
  t.equal(await answered({}, 'admin'), 3)
  t.equal(await answered({ user: null }, 'admin'), 3)
  t.equal(await answered({ user: 'bob' }, 'admin'), 0)
  t.equal(await answered({ user: 'alice' }, 'bob'), 'LK_HTTP_FORBIDDEN')
  t.equal(await answered({ user: 7 }, 'alice'), 'LK_HTTP_REQUEST')
  const nowhere = 'POST /flow/nowhere/service'
  t.equal(await answered({}, 'alice', `${nowhere}/triples`), 'LK_FLOW_NOT_FOUND')
  t.equal(await answered({}, 'alice', `${nowhere}/graph-embeddings`), 'LK_FLOW_NOT_FOUND')
})

t.test('a principal of some collections asks about those', async (t) => {
  const serving = await withCores(t, {
    authenticate: () => ({ user: 'alice', collections: ['work'] }),
  })
  const status = async (body: object) => (await ask(serving, triplesPath, body)).status
  t.equal(await status({ collection: 'work' }), 200)
  t.equal(await status({ collection: 'home' }), 403)
  t.equal(await status({}), 403)
})

t.test('a body that is no such question is a 400 that says where', async (t) => {
  const serving = await withCores(t, { maxGraphResults: 100 })
  for (const [line, body, path] of [
    [triplesPath, { s: 'urn:ann' }, 's'],
    [triplesPath, { s: { t: 'i' } }, 's.v'],
    [triplesPath, { s: { t: 't', tr: {} } }, 's'],
    [entitiesPath, { vector: [[1]] }, 'vector[0]'],
    [triplesPath, { limit: 101 }, 'limit'],
    [triplesPath, { limit: '10' }, 'limit'],
    [triplesPath, { g: 7 }, 'g'],
    [triplesPath, { collection: [] }, 'collection'],
    [entitiesPath, {}, 'vectors'],
    [entitiesPath, { vectors: [[1], 1] }, 'vectors[1]'],
    [entitiesPath, { vectors: { length: 1 } }, 'vectors'],
    [entitiesPath, { vectors: Array(65).fill([1]) }, 'vectors'],
    [entitiesPath, { vectors: [[1], Array(65_537).fill(1)] }, 'vectors[1]'],
    [entitiesPath, { vectors: [[1]], limit: 101 }, 'limit'],
  ] as const) {
    const { value } = await ask(serving, line, body)
    t.match(
      value,
      { status: 400, code: 'LK_GRAPH_QUERY', errors: [{ path }] },
      JSON.stringify(body).slice(0, 60),
    )
  }
})

t.test('terms with types are answered with such', async (t) => {
  const serving = await withCores(t)
  const response = async (body: object) => {
    const { value } = await ask(serving, triplesPath, { collection: 'home', ...body })
    return value['response']
  }
  const [{ s, o }] = (await response({ p: { t: 'i', i: knows.v }, limit: 1 })) as [
    { s: object; o: object },
  ]
  t.match({ s, o }, { s: { t: 'i', i: /^\w/ }, o: { t: 'i', i: /^\w/ } })
  const typedAnn = { t: 'i', i: uri('ann').v }
  const label = { t: 'l', v: 'Ann', dt: '', ln: null }
  const labelled = await response({ o: label, p: null })
  t.match(labelled, [{ s: typedAnn, o: { t: 'l', v: 'Ann' } }])
  t.match(await response({ workspace: 'default', limit: 1 }), [{ s: { t: 'i' } }])
  t.match(await response({ workspace: 'default', o: text('Ann') }), [{ o: text('Ann') }])
  t.match(await response({ user: 'alice', limit: 1 }), [{ s: { e: true } }])

  const { value } = await ask(serving, entitiesPath, { collection: 'home', vector: [1, 0, 0] })
  const entities = value['entities'] as { entity: object; score: number }[]
  t.strictSame(entities[0]?.entity, typedAnn)
  t.ok(entities.every(({ score }) => score > 0 && score <= 1.0001))
  const plain = { user: 'alice', collection: 'home', vector: [1, 0, 0], limit: 1 }
  t.match((await ask(serving, entitiesPath, plain)).value, { entities: [{ entity: uri('ann') }] })
})

t.test('a workspace is a user', async (t) => {
  const serving = await withCores(t, { defaultUser: 'alice' })
  const answered = async (workspace: unknown, token: string) => {
    const { value } = await ask(serving, triplesPath, { collection: 'home', workspace }, as(token))
    return value['code'] ?? (value['response'] as unknown[]).length
  }
  t.equal(await answered('alice', 'admin'), 3)
  t.equal(await answered('bob', 'admin'), 0)
  t.equal(await answered('default', 'admin'), 3, 'of the default user')
  t.equal(await answered('default', 'alice'), 3, "of the token's")
  t.equal(await answered('default', 'bob'), 0)
  t.equal(await answered('alice', 'bob'), 'LK_HTTP_FORBIDDEN')
  t.equal(await answered(7, 'alice'), 'LK_HTTP_REQUEST')
})
