// What others keep to themselves makes no difference to anybody: every route, asked by several
// principals about what is their own, shared, another's and nobody's, answers over a store with the
// secrets of another user as it does over one without them. But for what docs/http.md says: ids that
// are taken in a collection that both write to, and names of collections for whom may touch all.

import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { routesOf } from '../../src/http/options.js'
import type { Principal } from '../../src/http/index.js'
import type { JsonObject } from '../../src/types.js'
import { createSparql } from '../../src/sparql/index.js'
import { batch, productSchema } from './fixtures/objects.js'
import { as, core, send, serve, type Serving } from './fixtures/serving.js'

/** Stands in everything that is secret, names and ids too. */
const secret = 'zanzibar'
const collections = ['own', 'shared', `${secret}-bag`, 'none']

const principals: Readonly<Record<string, Principal>> = {
  alice: { user: 'alice' },
  'in-one-collection': { user: 'alice', collections: ['own'] },
  'with-what-is-shared': { user: 'alice', shared: ['shared'] },
  reader: { user: 'alice', access: 'read', shared: ['shared'] },
  'a-stranger': { user: 'dora' },
  nowhere: { user: 'alice', collections: [] },
}

// One thread serves both.
const sparql = createSparql({ threads: 1 })

interface World extends Serving {
  /** Jobs have other ids in each. */
  readonly jobs: { readonly hers: string; readonly his: string }
}

async function open(t: Test, hasSecrets: boolean): Promise<World> {
  const authenticate = (token = '') => principals[token]
  const serving = await serve(t, { authenticate, sparql, stores: { indexThreads: 0 } })
  const { knowledge, objects, flows } = serving
  await objects.defineSchema(productSchema)
  const put = async (user: string, collection: string, ...ids: string[]) => {
    const values = ids.map((id, n) => ({ id, name: `about ${id}`, price: n, tags: [id] }))
    await objects.import(batch(values, { user, collection }))
  }
  const tell = async (user: string, id: string, content: string) => {
    const { job } = await flows.load('default', { user, id, content, collection: 'own' })
    for await (const { type } of flows.watch({ job })) if (type === 'done') return job
    return job
  }
  // Others come first, and in between: numbers of rows and jobs are not alice's alone.
  const runner = flows.run()
  let his = 'no-such-job'
  if (hasSecrets) {
    await put('bob', 'own', `${secret}-1`, `${secret}-2`)
    await put('bob', `${secret}-bag`, `${secret}-3`)
    await knowledge.import({ user: 'bob', id: `${secret}-core` }, [core('core', 'bob')])
    his = await tell('bob', `${secret}-tale`, 'Ellen of Zanzibar sails the Thames with Ben.')
  }
  await put('alice', 'own', 'own-1', 'own-2', 'own-3')
  await put('carol', 'shared', 'shared-1', 'shared-2')
  await knowledge.import({ user: 'alice', id: 'her-core' }, [core('core', 'alice')])
  const hers = await tell('alice', 'her-tale', 'Ellen lives in a house by the Thames.')
  if (hasSecrets) {
    await put('bob', 'own', `${secret}-4`)
    await put('bob', `${secret}-bag`, `${secret}-5`)
  }
  await runner.stop()
  return { ...serving, jobs: { hers, his } }
}

/** By the name of a part of a path: what is hers, another's, shared or nobody's. */
function valuesOf(path: string, { jobs }: World): Readonly<Record<string, readonly string[]>> {
  const ofObjects = ['own-1', 'shared-1', `${secret}-1`, `${secret}-3`, 'none']
  return {
    id: path.includes('/objects/') ? ofObjects : ['her-core', `${secret}-core`, 'none'],
    collection: collections,
    name: ['products', 'none'],
    flow: ['default', 'none'],
    job: [jobs.hers, jobs.his, 'none'],
    document: ['her-tale', `${secret}-tale`, 'none'],
  }
}

const vector = Array.from({ length: 48 }, (_, at) => Math.sin(at) / 3)
const variables = { s: '?s', p: '?p', o: '?o' }
const query = { schema_name: 'products' }
const objectBodies = [
  query,
  { ...query, limit: 1 },
  { ...query, sort: { price: 'desc' }, limit: 1 },
  { ...query, filters: { name: { $regex: secret } } },
  { ...query, filters: { price: { $gte: 0 } }, limit: 0 },
  { schema_name: 'lorekeep_chunk', sort: { document: 'asc' } },
  { schema_name: 'lorekeep_entity', filters: { name: 'Ellen' } },
]

/** By the end of a path; what is not here is asked without a body. */
const bodies: readonly (readonly [RegExp, readonly (JsonObject | string | Buffer)[]])[] = [
  [/\/match$/, [{}, { limit: 1 }]],
  [/\/count$/, [{}]],
  [/\/solve$/, [{ patterns: [variables], limit: 5 }]],
  [/\/nearest$/, [{ vector, k: 3 }]],
  [/\/retrieve$/, [{ text: `Ellen of ${secret}` }, { vector }]],
  [/\/answer$/, [{ text: `Ellen of ${secret}` }]],
  [
    /\/search$/,
    [
      { text: `Ellen house ${secret}`, explain: true },
      { text: 'a*', k: 1 },
    ],
  ],
  [/\/duplicates$/, [{}, { least: 0 }]],
  [/\/(?:merge|split)$/, [{ a: { v: 'urn:ellen', e: true }, b: { v: secret, e: true } }]],
  [/\/triples$/, [{}, { user: 'bob' }]],
  [/\/graph-embeddings$/, [{ vectors: [vector] }]],
  [
    /\/knowledge$/,
    [{ operation: 'list-kg-cores' }, { operation: 'delete-kg-core', id: `${secret}-core` }],
  ],
  [
    /\/objects\/import$/,
    collections.map(
      (collection) =>
        batch([{ id: 'new', name: 'n', price: 1 }], { collection }) as unknown as JsonObject,
    ),
  ],
  [/\/objects\/(?:query|explain)$/, objectBodies],
  [/\/objects\/\{id\}$/, [{ name: 'changed', price: 7 }]],
  [/\/schemas\/\{name\}$/, [productSchema]],
  [
    /\/text-load$/,
    [
      { id: 'new-tale', content: 'Ben rows.' },
      { id: `${secret}-tale`, content: 'Ben rows.' },
    ],
  ],
  [/\/flows\/\{flow\}$/, [{ steps: ['chunk'] }]],
  [/\/import-core$/, [core('new', 'alice')]],
]

interface Request {
  readonly method: string
  readonly path: (world: World) => string
  readonly body?: JsonObject | string | Buffer
}

function requestsOf(world: World): Request[] {
  const backup = world.lorekeep.backup
  const routes = routesOf({ ...world, backup, authenticate: 'none' }, '')
  return routes.flatMap((route) => {
    if (route.access === 'open') return []
    const { method, path, query = {} } = route
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
    // Choices are by place in the lists: the jobs of the two worlds have other names.
    const choices = names.reduce<number[][]>(
      (all, name) =>
        all.flatMap((chosen) => (valuesOf(path, world)[name] ?? []).map((_, n) => [...chosen, n])),
      [[]],
    )
    const parameters = [
      '',
      ...(Object.hasOwn(query, 'user') ? ['?user=alice', '?user=bob', '?user=none'] : []),
    ]
    const withId = parameters.map((text) => `${text}${text === '' ? '?' : '&'}id=her-core`)
    const asking = `?query=${encodeURIComponent('SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o')}`
    const own =
      path === '/export-core' || path === '/import-core'
        ? withId
        : path === '/sparql'
          ? [asking, `${asking}&user=bob`, `${asking}&core=${secret}-core`]
          : parameters
    const takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
    const given = takesBody ? bodies.find(([end]) => end.test(path))?.[1] : undefined
    return choices.flatMap((chosen) =>
      own.flatMap((search) =>
        (given ?? [undefined]).map((body): Request => {
          const pathIn = (world: World) => {
            let n = 0
            return path.replace(/\{(\w+)\}/g, (_, name: string) =>
              encodeURIComponent(valuesOf(path, world)[name]?.[chosen[n++] as number] ?? ''),
            )
          }
          // A stream of events ends by itself where it is of one job that has ended.
          const isStream = path.endsWith('/events')
          const ofJob = (world: World) => `?job=${world.jobs.hers}`
          return {
            method,
            path: (world) => `/api/v1${pathIn(world)}${isStream ? ofJob(world) : search}`,
            ...(body !== undefined && { body }),
          }
        }),
      ),
    )
  })
}

async function answer(
  world: World,
  token: string,
  { method, path, body }: Request,
): Promise<unknown> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body ?? null))
  const sending = { method, headers: as(token), ...(body !== undefined && { body: bytes }) }
  const { status, headers, body: found } = await send(world.url + path(world), sending)
  const { etag, 'content-type': type } = headers
  const text = found.toString('latin1')
  const plain = text
    .replaceAll(world.jobs.hers, 'HER JOB')
    .replaceAll(world.jobs.his, 'HIS JOB')
    .replace(/[\w-]{20,}\.\w+/g, 'A JOB')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'NOW')
    .replace(/"requestId":"[^"]*"/, '"requestId":""')
    .replace(/"next":"[^"]*"/, '"next":""')
    .replace(/"(_?version)":"[^"]{1,20}"/g, '"$1":""')
  // Versions of objects are sealed references, and that of what is known of a core has a time.
  const isOfObject = path(world).includes('/objects/')
  const tag = isOfObject ? etag?.replace(/^"[\w-]+/, '"') : etag?.replace(/\.\w+"$/, '"')
  return { status, etag: tag, type, plain }
}

/** The list of collections, and making one: 201 where there was none of its name. */
function tellsNames({ method, path }: Request, world: World): boolean {
  if (method === 'GET') return path(world).endsWith('/collections')
  return method === 'PUT' && /\/collections\/[^/]+$/.test(path(world))
}

/** All that the other user has. */
async function secretsOf({ knowledge, objects, flows }: World): Promise<unknown> {
  const found: unknown[] = []
  for await (const { id, digest } of knowledge.list({ user: 'bob' })) found.push([id, digest])
  for (const { name } of await objects.schemas()) {
    for await (const object of objects.find({ schema_name: name }, { user: 'bob' }))
      found.push(object)
  }
  found.push(await flows.document({ user: 'bob', document: `${secret}-tale` }))
  return found
}

for (const token of Object.keys(principals)) {
  t.test(`what is another's makes no difference to ${token}`, async (t) => {
    const quiet = await open(t, false)
    const full = await open(t, true)
    const before = await secretsOf(full)
    const requests = requestsOf(quiet)
    t.ok(requests.length > 200, `${requests.length} requests`)
    let answered = 0
    for (const [n, request] of requestsOf(full).entries()) {
      if (principals[token]?.collections === undefined && tellsNames(request, full)) continue
      const expected = await answer(quiet, token, requests[n] as Request)
      const found = await answer(full, token, request)
      if ((expected as { status: number }).status < 300) answered++
      if (!isDeepStrictEqual(found, expected)) {
        t.strictSame(
          found,
          expected,
          `${request.method} ${request.path(full)} ${JSON.stringify(request.body ?? '').slice(0, 100)}`,
        )
      }
    }
    t.ok(token === 'nowhere' || answered > 30, `${answered} answers that are none of refusal`)
    t.strictSame(await secretsOf(full), before, 'and nothing of it has changed')
    t.strictSame([...quiet.errors, ...full.errors], [])
  })
}
