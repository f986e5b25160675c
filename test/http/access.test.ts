// The table of docs/http.md, row by row: who may do what with objects.

import t from 'tap'
import type { Principal } from '../../src/http/index.js'
import {
  ask,
  batch,
  explainPath,
  importPath,
  productSchema,
  queryPath,
} from './fixtures/objects.js'
import { as, serve } from './fixtures/serving.js'

const principals: Readonly<Record<string, Principal>> = {
  alice: { user: 'alice' },
  bob: { user: 'bob' },
  'alice-in-a': { user: 'alice', collections: ['a'] },
  'alice-nowhere': { user: 'alice', collections: [] },
  any: { user: '*' },
  'any-in-a': { user: '*', collections: ['a', 'c'] },
  'alice-shared': { user: 'alice', shared: ['a'] },
}

const product = (id: string) => ({ id, name: `about ${id}`, price: 1 })
const query = { schema_name: 'products' }
const importOf = (user: string, collection: string, id = 'new') =>
  batch([product(id)], { user, collection })

/** `a` holds `hers` and `his`, `b` holds `other`, which is of alice too. */
async function open(t: Parameters<typeof serve>[0]) {
  const serving = await serve(t, { authenticate: (token = '') => principals[token] })
  const { objects } = serving
  await objects.defineSchema(productSchema)
  await objects.defineSchema({ ...productSchema, name: 'unused' })
  await objects.import(importOf('alice', 'a', 'hers'))
  await objects.import(importOf('bob', 'a', 'his'))
  await objects.import(importOf('alice', 'b', 'other'))
  return serving
}

/** The statuses stand in the order of the principals. */
const rows: readonly (readonly [string, unknown, readonly number[]])[] = [
  [`POST ${importPath}`, importOf('alice', 'a'), [200, 403, 200, 403, 200, 200, 200]],
  [`POST ${importPath}`, importOf('alice', 'b'), [200, 403, 403, 403, 200, 403, 200]],
  [`POST ${importPath}`, importOf('bob', 'a'), [403, 200, 403, 403, 200, 200, 403]],
  [`POST ${importPath}`, importOf('*', 'a'), [403, 403, 403, 403, 200, 200, 403]],
  [
    `POST ${importPath}?on_duplicate=skip`,
    importOf('alice', 'a', 'his'),
    [409, 403, 409, 403, 200, 200, 200],
  ],
  [
    `POST ${importPath}?on_duplicate=replace`,
    importOf('alice', 'a', 'his'),
    [409, 403, 409, 403, 200, 200, 403],
  ],
  [
    `POST ${importPath}?on_duplicate=replace`,
    importOf('alice', 'a', 'hers'),
    [200, 403, 200, 403, 200, 200, 200],
  ],
  [`POST ${queryPath}`, query, [200, 200, 200, 200, 200, 200, 200]],
  [`POST ${explainPath}`, query, [403, 403, 403, 403, 200, 403, 403]],
  ['GET /collections/a/objects/hers', undefined, [200, 404, 200, 403, 200, 200, 200]],
  ['GET /collections/a/objects/his', undefined, [404, 200, 404, 403, 200, 200, 200]],
  ['GET /collections/a/objects/none', undefined, [404, 404, 404, 403, 404, 404, 404]],
  ['GET /collections/b/objects/other', undefined, [200, 404, 403, 403, 200, 403, 200]],
  ['GET /collections/none/objects/none', undefined, [404, 404, 403, 403, 404, 403, 404]],
  ['PUT /collections/a/objects/hers', product('hers'), [200, 404, 200, 403, 200, 200, 200]],
  ['PUT /collections/a/objects/his', product('his'), [404, 200, 404, 403, 200, 200, 403]],
  ['PUT /collections/a/objects/none', product('none'), [404, 404, 404, 403, 404, 404, 404]],
  ['PUT /collections/b/objects/other', product('other'), [200, 404, 403, 403, 200, 403, 200]],
  ['PATCH /collections/a/objects/hers', { price: 2 }, [200, 404, 200, 403, 200, 200, 200]],
  ['PATCH /collections/a/objects/his', { price: 2 }, [404, 200, 404, 403, 200, 200, 403]],
  ['PATCH /collections/b/objects/other', { price: 2 }, [200, 404, 403, 403, 200, 403, 200]],
  ['DELETE /collections/a/objects/hers', undefined, [204, 404, 204, 403, 204, 204, 204]],
  ['DELETE /collections/a/objects/his', undefined, [404, 204, 404, 403, 204, 204, 403]],
  ['DELETE /collections/a/objects/none', undefined, [404, 404, 404, 403, 404, 404, 404]],
  ['DELETE /collections/b/objects/other', undefined, [204, 404, 403, 403, 204, 403, 204]],
  ['GET /collections', undefined, [200, 200, 200, 200, 200, 200, 200]],
  ['PUT /collections/c', undefined, [201, 201, 403, 403, 201, 201, 201]],
  ['PUT /collections/d', undefined, [201, 201, 403, 403, 201, 403, 201]],
  ['DELETE /collections/a', undefined, [403, 403, 403, 403, 200, 200, 403]],
  ['DELETE /collections/b', undefined, [403, 403, 403, 403, 200, 403, 403]],
  ['DELETE /collections/none', undefined, [403, 403, 403, 403, 404, 403, 403]],
  ['GET /schemas', undefined, [200, 200, 200, 200, 200, 200, 200]],
  ['GET /schemas/products', undefined, [200, 200, 200, 200, 200, 200, 200]],
  ['PUT /schemas/products', productSchema, [403, 403, 403, 403, 200, 403, 403]],
  ['PUT /schemas/more', { ...productSchema, name: 'more' }, [403, 403, 403, 403, 201, 403, 403]],
  ['DELETE /schemas/unused', undefined, [403, 403, 403, 403, 204, 403, 403]],
  ['DELETE /schemas/none', undefined, [403, 403, 403, 403, 404, 403, 403]],
]

for (const [line, body, statuses] of rows) {
  const user = (body as Partial<ReturnType<typeof batch>> | undefined)?.metadata
  const what = user === undefined ? line : `${line} as ${user.user} into ${user.collection}`
  t.test(`who may ${what}`, async (t) => {
    let opened: Opened | undefined
    for (const [at, name] of Object.keys(principals).entries()) {
      // What has changed nothing leaves it to the next.
      opened ??= await openWithContent(t)
      const { serving, before } = opened
      const reply = await ask(serving, line, body, as(name))
      t.equal(reply.status, statuses[at], name)
      if (reply.status === 403) {
        t.match(reply.value['code'], /^LK_(HTTP_FORBIDDEN|OBJECT_ACCESS)$/, name)
      }
      const isChanging = reply.status < 400 && !isReading(line)
      if (isChanging) opened = undefined
      else t.strictSame(await content(serving), before, 'nothing has changed')
    }
  })
}

function isReading(line: string): boolean {
  return line.startsWith('GET ') || [queryPath, explainPath].some((path) => line.endsWith(path))
}

type Opened = Awaited<ReturnType<typeof openWithContent>>

async function openWithContent(t: Parameters<typeof serve>[0]) {
  const serving = await open(t)
  return { serving, before: await content(serving) }
}

async function content({ objects }: Awaited<ReturnType<typeof serve>>): Promise<unknown> {
  const { objects: stored } = await objects.query(query)
  return [stored, await objects.collections(), await objects.schemas()]
}

t.test('what is hidden is neither found nor counted', async (t) => {
  const serving = await open(t)
  const seen = [
    ['alice', ['hers', 'other'], ['a', 'b']],
    ['bob', ['his'], ['a', 'b']],
    ['alice-in-a', ['hers'], ['a']],
    ['alice-nowhere', [], []],
    ['any', ['hers', 'his', 'other'], ['a', 'b']],
    ['any-in-a', ['hers', 'his'], ['a']],
    ['alice-shared', ['hers', 'his', 'other'], ['a', 'b']],
  ] as const
  for (const [name, ids, collections] of seen) {
    for (const filters of [{}, { price: 1 }, { price: { $gte: 0 } }, { $or: [{ price: 1 }] }]) {
      const { value } = await ask(serving, `POST ${queryPath}`, { ...query, filters }, as(name))
      const found = value['objects'] as { _id: string }[]
      t.strictSame(found.map(({ _id }) => _id).sort(), ids, name)
      t.equal(value['total'], ids.length, name)
    }
    const asked = { ...query, filters: { _collection: 'b' } }
    const { value } = await ask(serving, `POST ${queryPath}`, asked, as(name))
    t.equal(value['total'], ids.filter((id) => id === 'other').length, name)
    const listed = (await ask(serving, 'GET /collections', undefined, as(name))).value[
      'collections'
    ] as { name: string; objects?: number }[]
    t.strictSame(
      listed.map((each) => each.name),
      collections,
    )
    t.ok(listed.every(({ objects }) => (objects === undefined) === !name.startsWith('any')))
  }
})

t.test('what is hidden by id answers as what is not there', async (t) => {
  const serving = await open(t)
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', product('his')],
    ['PATCH', { price: 3 }],
    ['DELETE', undefined],
  ] as const) {
    const detailOf = async (id: string) => {
      const { value } = await ask(
        serving,
        `${method} /collections/a/objects/${id}`,
        body,
        as('alice'),
      )
      return String(value['detail']).replace(id, 'ID')
    }
    t.equal(await detailOf('his'), await detailOf('none'))
  }
})

t.test("what flows find in texts is nobody else's, also where it is shared", async (t) => {
  const serving = await open(t)
  const name = 'lorekeep_chunk'
  await serving.objects.defineSchema({ ...productSchema, name })
  await serving.objects.import({ ...importOf('bob', 'a', 'chunk'), schema_name: name })
  const asked = { schema_name: name }
  const totalOf = async (token: string) =>
    (await ask(serving, `POST ${queryPath}`, asked, as(token))).value['total']
  t.equal(await totalOf('alice-shared'), 0)
  t.equal(await totalOf('bob'), 1)
  for (const method of ['GET', 'DELETE']) {
    const line = `${method} /collections/a/objects/chunk`
    t.equal((await ask(serving, line, undefined, as('alice-shared'))).status, 404)
  }
})

t.test('a query does not tell which collections of others there are', async (t) => {
  const serving = await serve(t, {
    authenticate: (token = '') => principals[token],
    stores: { collections: 'declared' },
  })
  await serving.objects.defineSchema(productSchema)
  for (const name of ['a', 'b']) await serving.objects.createCollection(name)
  const [there, none] = await Promise.all(
    ['b', 'none'].map((collection) => {
      const asked = { ...query, filters: { _collection: collection } }
      return ask(serving, `POST ${queryPath}`, asked, as('alice-in-a'))
    }),
  )
  t.equal(there?.status, none?.status)
  t.equal(there?.value['code'], none?.value['code'])
})

t.test('without authentication everyone may do everything', async (t) => {
  const serving = await serve(t, { authenticate: 'none' })
  const lines = [
    ['PUT /schemas/products', productSchema, 201],
    [`POST ${importPath}`, importOf('someone', 'a', 'x'), 200],
    [`POST ${importPath}?on_duplicate=replace`, importOf('someone else', 'a', 'x'), 200],
    ['PATCH /collections/a/objects/x', { price: 3 }, 200],
    ['DELETE /collections/a', undefined, 200],
    ['DELETE /schemas/products', undefined, 204],
  ] as const
  for (const [line, body, status] of lines) {
    t.equal((await ask(serving, line, body, {})).status, status, line)
  }
})

t.test('every route for objects wants a token', async (t) => {
  const serving = await open(t)
  for (const [line, body] of rows) {
    t.equal((await ask(serving, line, body, {})).status, 401, line)
  }
})
