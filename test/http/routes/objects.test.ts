import { createServer } from 'node:http'
import express from 'express'
import t from 'tap'
import { createHandler } from '../../../src/http/index.js'
import type { StoredObject } from '../../../src/objects/types.js'
import {
  ask,
  batch,
  explainPath,
  fill,
  importPath,
  productSchema,
  products,
  queryPath,
} from '../fixtures/objects.js'
import { as, listen, openStore, serve, wire } from '../fixtures/serving.js'

const place = (id: string, collection = 'catalog') =>
  `/collections/${encodeURIComponent(collection)}/objects/${encodeURIComponent(id)}`

t.test('the examples of the specification', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects, [])

  const imported = await ask(serving, `POST ${importPath}`, batch())
  t.equal(imported.status, 200)
  t.equal(imported.headers['content-type'], 'application/json')
  t.strictSame(imported.value, {
    id: 'batch-1',
    collection: 'catalog',
    schema_name: 'products',
    imported: 4,
    replaced: 0,
    skipped: 0,
    ids: products.map(({ id }) => id),
  })

  const filters = { category: 'electronics', price: { $gt: 100 } }
  const found = await ask(serving, `POST ${queryPath}`, {
    schema_name: 'products',
    filters,
    limit: 10,
    offset: 0,
  })
  t.equal(found.status, 200)
  t.match(found.value, { total: 2, limit: 10, offset: 0 })
  const objects = found.value['objects'] as StoredObject[]
  t.strictSame(objects.map(({ _id }) => _id).sort(), ['prod-1', 'prod-4'])
  const laptop = objects.find(({ _id }) => _id === 'prod-1')
  t.match(laptop, {
    ...products[0],
    _id: 'prod-1',
    _schema: 'products',
    _collection: 'catalog',
    _user: 'alice',
    _metadata: { source: 'erp', date: '2026-01-31', collection: 'catalog' },
  })
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  t.match(laptop, {
    _created_at: time,
    _updated_at: time,
    _metadata: { created_at: time, updated_at: time },
  })

  const all = await ask(serving, `POST ${queryPath}`, { schema_name: 'products' })
  t.match(all.value, { total: 4, limit: 100, offset: 0 }, 'the defaults')
  const bySource = { schema_name: 'products', filters: { '_metadata.source': 'erp' }, limit: 1 }
  t.match((await ask(serving, `POST ${queryPath}`, bySource)).value, { total: 4, limit: 1 })

  const missing = { id: 'prod-6', name: 'no price' }
  const good = { id: 'prod-5', name: 'Lamp', price: 5 }
  const refused = await ask(serving, `POST ${importPath}`, batch([good, missing]))
  t.equal(refused.status, 400)
  t.match(refused.value, {
    code: 'LK_OBJECT_INVALID',
    errors: [{ index: 1, id: 'prod-6', path: 'price', message: String }],
  })
  t.equal((await serving.objects.query({ schema_name: 'products' })).total, 4, 'nothing is stored')
})

t.test('each thing that is wrong has its status', async (t) => {
  const serving = await serve(t, { stores: { limits: { maxBatchObjects: 5 } } })
  await fill(serving.objects)
  const cases = [
    [`POST ${importPath}`, batch(), 409, 'LK_OBJECT_DUPLICATE'],
    [`POST ${importPath}`, { ...batch(), schema_name: 'none' }, 404, 'LK_SCHEMA_NOT_FOUND'],
    [`POST ${importPath}`, { ...batch(), value: [] }, 400, 'LK_OBJECT_REQUEST'],
    [`POST ${importPath}`, { values: [] }, 400, 'LK_OBJECT_REQUEST'],
    [`POST ${importPath}`, {}, 400, 'LK_OBJECT_REQUEST'],
    [`POST ${importPath}`, [], 400, 'LK_HTTP_JSON'],
    [`POST ${importPath}`, '{', 400, 'LK_HTTP_JSON'],
    [`POST ${importPath}?on_duplicate=merge`, batch(), 400, 'LK_HTTP_REQUEST'],
    [`POST ${importPath}`, batch(Array(6).fill({})), 413, 'LK_OBJECT_TOO_LARGE'],
    ['POST /flow/none/objects/import', batch(), 404, 'LK_FLOW_NOT_FOUND'],
    ['POST /flow/none/objects/query', {}, 404, 'LK_FLOW_NOT_FOUND'],
    ['POST /flow/none/objects/explain', {}, 404, 'LK_FLOW_NOT_FOUND'],
    [`POST ${queryPath}`, { schema_name: 'none' }, 404, 'LK_SCHEMA_NOT_FOUND'],
    [`POST ${queryPath}`, { schema_name: 'products', filter: {} }, 400, 'LK_QUERY'],
    [`POST ${queryPath}`, { schema_name: 'products', limit: -1 }, 400, 'LK_QUERY'],
    [`POST ${queryPath}`, {}, 400, 'LK_QUERY'],
    [`GET ${place('none')}`, undefined, 404, 'LK_OBJECT_NOT_FOUND'],
    [`GET ${place('prod-1', 'none')}`, undefined, 404, 'LK_OBJECT_NOT_FOUND'],
    [`PUT ${place('none')}`, products[0], 404, 'LK_OBJECT_NOT_FOUND'],
    [`PUT ${place('prod-1')}`, { id: 'prod-1' }, 400, 'LK_OBJECT_INVALID'],
    [`PUT ${place('prod-1')}`, { ...products[0], id: 'other' }, 400, 'LK_OBJECT_INVALID'],
    [`PUT ${place('prod-1')}`, [products[0]], 400, 'LK_HTTP_JSON'],
    [`PATCH ${place('none')}`, {}, 404, 'LK_OBJECT_NOT_FOUND'],
    [`PATCH ${place('prod-1')}`, { price: null }, 400, 'LK_OBJECT_INVALID'],
    [`PATCH ${place('prod-1')}`, '', 400, 'LK_HTTP_JSON'],
    [`DELETE ${place('none')}`, undefined, 404, 'LK_OBJECT_NOT_FOUND'],
    [`POST ${place('prod-1')}`, {}, 405, 'LK_HTTP_METHOD'],
    [`GET ${importPath}`, undefined, 405, 'LK_HTTP_METHOD'],
  ] as const
  for (const [line, body, status, code] of cases) {
    const reply = await ask(serving, line, body)
    t.match(
      { status: reply.status, code: reply.value['code'] },
      { status, code },
      `${line} ${JSON.stringify(body)?.slice(0, 60)}`,
    )
  }
  t.strictSame(serving.errors, [])
  t.equal((await serving.objects.query({ schema_name: 'products' })).total, products.length)
})

t.test('what the store says of a batch comes through', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const mixed = batch(
    products.slice(0, 2).map((each, at) => (at === 0 ? { ...each, id: 'new' } : each)),
  )
  const taken = await ask(serving, `POST ${importPath}`, mixed)
  t.equal(taken.status, 409)
  t.strictSame(taken.value['ids'], ['prod-2'])
  const bad = Array.from({ length: 150 }, (_, n) => ({ id: `bad-${n}`, name: 'x', price: 'dear' }))
  const refused = await ask(serving, `POST ${importPath}`, batch(bad))
  t.equal(refused.status, 400)
  t.equal(refused.value['count'], 150)
  const errors = refused.value['errors'] as unknown[]
  t.equal(errors.length, 100)
  t.match(errors[99], { index: 99, id: 'bad-99', path: 'price', message: String })
})

t.test('on_duplicate says what becomes of ids that are there', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const changed = batch(products.map((product) => ({ ...product, name: 'changed' })))
  const nameOf = async () => (await serving.objects.get('catalog', 'prod-1'))?.['name']
  const admin = as('admin')
  const rejected = await ask(serving, `POST ${importPath}?on_duplicate=reject`, changed, admin)
  t.equal(rejected.status, 409)
  const skipped = await ask(serving, `POST ${importPath}?on_duplicate=skip`, changed, admin)
  t.match(skipped, { status: 200, value: { imported: 0, skipped: 4 } })
  t.equal(await nameOf(), 'Laptop')
  const replaced = await ask(serving, `POST ${importPath}?on_duplicate=replace`, changed, admin)
  t.match(replaced, { status: 200, value: { imported: 4, replaced: 4 } })
  t.equal(await nameOf(), 'changed')
})

t.test('of imports of one id at once one succeeds, and the others are told', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects, [])
  const racing = products.slice(0, 1)
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => ask(serving, `POST ${importPath}`, batch(racing))),
  )
  const statuses = replies.map(({ status }) => status)
  t.strictSame(statuses.sort(), [200, ...Array<number>(39).fill(409)])
})

t.test('objects are there under every flow that is defined, active or not', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  await serving.flows.define({ id: 'a b' })
  await serving.flows.define({ id: 'ü', active: false })
  await serving.flows.remove('default')
  for (const [flow, status] of [
    ['a%20b', 200],
    ['%C3%BC', 200],
    ['default', 404],
  ] as const) {
    const reply = await ask(serving, `POST /flow/${flow}/objects/query`, {
      schema_name: 'products',
    })
    t.equal(reply.status, status, flow)
  }
})

t.test('without flows there is the flow default', async (t) => {
  const { objects } = await openStore(t)
  await fill(objects)
  const handler = createHandler({ objects, authenticate: 'none' })
  const server = createServer((request, response) => void handler(request, response))
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const query = { schema_name: 'products' }
  t.match(await ask({ url }, `POST ${queryPath}`, query), { status: 200 })
  const other = await ask({ url }, 'POST /flow/other/objects/query', query)
  t.match(other, { status: 404, value: { code: 'LK_FLOW_NOT_FOUND' } })
})

t.test('in declared collections alone an import finds its place', async (t) => {
  const serving = await serve(t, { stores: { collections: 'declared' } })
  await fill(serving.objects, [])
  const before = await ask(serving, `POST ${importPath}`, batch())
  t.match(before, { status: 404, value: { code: 'LK_COLLECTION_NOT_FOUND' } })
  t.equal((await ask(serving, 'PUT /collections/catalog')).status, 201)
  t.equal((await ask(serving, `POST ${importPath}`, batch())).status, 200)
})

t.test('a query is sorted, cut, projected and gone on with', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const query = {
    schema_name: 'products',
    sort: { price: 'desc' },
    fields: ['name'],
    limit: 3,
  }
  const first = await ask(serving, `POST ${queryPath}`, query)
  t.strictSame(first.value['objects'], [
    { name: 'Laptop', _id: 'prod-1' },
    { name: 'Screen', _id: 'prod-4' },
    { name: 'Handbook', _id: 'prod-3' },
  ])
  const after = first.value['next']
  const second = await ask(serving, `POST ${queryPath}`, { ...query, after })
  t.strictSame(second.value['objects'], [{ name: 'Mouse', _id: 'prod-2' }])
  t.notOk('next' in second.value)
  const asked = { schema_name: 'products', filters: { category: 'books' } }
  const plan = await ask(serving, `POST ${explainPath}`, asked, as('admin'))
  const wrong = { ...asked, filters: [] }
  const refused = await ask(serving, `POST ${explainPath}`, wrong, as('admin'))
  t.match(refused, { status: 400, value: { code: 'LK_QUERY' } })
  t.match(plan, { status: 200, value: { plan: 'index', total: 1, returned: 1 } })
})

t.test('an object is shown, replaced, patched and deleted by its id', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const path = place('prod-1')
  const shown = await ask(serving, `GET ${path}`)
  t.match(shown, { status: 200, value: { name: 'Laptop', _id: 'prod-1', _user: 'alice' } })
  const head = await ask(serving, `HEAD ${path}`)
  t.match(head, { status: 200, headers: { 'content-length': `${shown.body.byteLength}` } })
  t.equal(head.body.byteLength, 0)

  const replaced = await ask(serving, `PUT ${path}`, { id: 'prod-1', name: 'New', price: 1 })
  t.match(replaced, { status: 200, value: { name: 'New', price: 1, _id: 'prod-1' } })
  t.notOk('category' in replaced.value, 'the whole object')
  t.strictSame((await ask(serving, `GET ${path}`)).value, replaced.value)

  const patch = { 'Content-Type': 'application/merge-patch+json', ...as('alice') }
  const tags = { tags: ['x'], description: 'y' }
  const patched = await ask(serving, `PATCH ${path}`, tags, patch)
  t.match(patched, { status: 200, value: { name: 'New', ...tags } })
  const again = await ask(serving, `PATCH ${path}`, { tags: null })
  t.equal(again.status, 200)
  t.notOk('tags' in again.value, 'null removes')
  t.match(again.value, { description: 'y' })

  const deleted = await ask(serving, `DELETE ${path}`)
  t.equal(deleted.status, 204)
  t.equal(deleted.body.byteLength, 0)
  t.equal((await ask(serving, `GET ${path}`)).status, 404)
  t.equal((await ask(serving, `DELETE ${path}`)).status, 404)
})

t.test('ids and collections of any kind are one segment of the path', async (t) => {
  const serving = await serve(t)
  await serving.objects.defineSchema({ name: 'any', fields: { n: { type: 'number' } } })
  const ids = ['a/b', 'https://a/b?c#d', 'ü😀', ' ', 'a+b', '%2F', '__proto__', 'constructor', 7]
  for (const collection of ['a/b', 'ü', '__proto__', 'toString']) {
    const values = ids.map((id) => ({ id }))
    await serving.objects.import({ ...batch(values, { collection }), schema_name: 'any' })
    for (const id of ids) {
      const reply = await ask(serving, `GET ${place(`${id}`, collection)}`)
      t.match(reply, { status: 200, value: { _id: id, _collection: collection } }, `${id}`)
    }
  }
  t.equal((await ask(serving, 'GET /collections/a/b/objects/7')).status, 404)
})

t.test('a path that cannot be a name is no server error', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  for (const name of ['%00', 'a%00b', '%0A', 'x'.repeat(5_000), '%F0%9F%98%80'.repeat(400)]) {
    for (const path of [
      `/collections/catalog/objects/${name}`,
      `/collections/${name}/objects/prod-1`,
    ]) {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { id: 'x', name: 'x', price: 1 }],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const { status } = await ask(serving, `${method} ${path}`, body)
        t.ok(status === 404 || status === 400, `${method} ${path.slice(0, 50)}: ${status}`)
      }
    }
  }
  for (const name of ['%', '%zz', '%ED%A0%80', '%C0%80']) {
    const reply = await ask(serving, `GET /collections/catalog/objects/${name}`)
    t.match(reply, { status: 400, value: { code: 'LK_HTTP_REQUEST' } }, name)
  }
  t.strictSame(serving.errors, [])
})

t.test('hostile bodies are a 400 or no match, and leave nothing behind', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const value = (fields: string) =>
    `{"metadata":{"id":"b","user":"alice","collection":"catalog"},"schema_name":"products","values":[{"id":"evil","name":"x","price":1,${fields}}]}`
  const query = (filters: string) => `{"schema_name":"products","filters":${filters}}`
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  const refused = [
    [importPath, value('"__proto__":{"polluted":true}'), 'LK_OBJECT_INVALID'],
    [importPath, value('"a":{"__proto__":{"polluted":true}}'), 'LK_OBJECT_INVALID'],
    [importPath, value('"a":1e400'), 'LK_OBJECT_INVALID'],
    [importPath, value('"a":-1e400'), 'LK_OBJECT_INVALID'],
    [importPath, value('"a":"\\ud800"'), 'LK_OBJECT_INVALID'],
    [importPath, value('"\\udc00":1'), 'LK_OBJECT_INVALID'],
    [importPath, value('"_user":"bob"'), 'LK_OBJECT_INVALID'],
    [importPath, value(`"a":${nested(150)}`), 'LK_OBJECT_INVALID'],
    [importPath, value('"price":2'), 'LK_HTTP_JSON'],
    [importPath, value(`"a":${nested(100_000)}`), 'LK_HTTP_JSON'],
    [importPath, value('"a":1').slice(0, -5), 'LK_HTTP_JSON'],
    [importPath, Buffer.from(value('"a":"\xff"'), 'latin1'), 'LK_HTTP_JSON'],
    [importPath, '{"__proto__":{"metadata":{}}}', 'LK_OBJECT_REQUEST'],
    [queryPath, query('{"$where":"1"}'), 'LK_QUERY'],
    [queryPath, query('{"price":{"$where":"1"}}'), 'LK_QUERY'],
    [queryPath, query('{"$gt":1}'), 'LK_QUERY'],
    [queryPath, query('{"price":{"$gt":1,"x":1}}'), 'LK_QUERY'],
    [queryPath, query('{"$and":{}}'), 'LK_QUERY'],
    [queryPath, query('{"price":{"$in":1}}'), 'LK_QUERY'],
    [queryPath, query('{"price":1e400}'), 'LK_QUERY'],
    [queryPath, query('{"__proto__":1}'), 'LK_QUERY'],
    [queryPath, query('{"a.__proto__.b":1}'), 'LK_QUERY'],
    [queryPath, query('{"price":1,"price":2}'), 'LK_HTTP_JSON'],
    [queryPath, query(`{"price":${nested(100_000)}}`), 'LK_HTTP_JSON'],
    [queryPath, '{"schema_name":"products","sort":{"__proto__":"asc"}}', 'LK_QUERY'],
  ] as const
  for (const [path, body, code] of refused) {
    const reply = await ask(serving, `POST ${path}`, body)
    t.match({ status: reply.status, code: reply.value['code'] }, { status: 400, code }, `${body}`)
  }
  t.equal(await serving.objects.get('catalog', 'evil'), undefined)

  const unmatched = [
    '{"constructor":{"$exists":true}}',
    '{"toString":{"$ne":null}}',
    '{"name.length":6}',
    '{"tags.length":{"$gte":0}}',
    '{"constructor.name":"Object"}',
  ]
  for (const filters of unmatched) {
    const reply = await ask(serving, `POST ${queryPath}`, query(filters))
    t.match(reply, { status: 200, value: { total: 0 } }, filters)
  }

  const named = value('"constructor":{"prototype":{"polluted":true}},"toString":5')
  t.equal((await ask(serving, `POST ${importPath}`, named)).status, 200)
  const stored = await ask(serving, `GET ${place('evil')}`)
  t.match(stored.value, { constructor: { prototype: { polluted: true } }, toString: 5 })
  const patch = '{"__proto__":{"polluted":true}}'
  t.equal((await ask(serving, `PATCH ${place('evil')}`, patch)).status, 400)
  t.equal((await ask(serving, `PATCH ${place('evil')}`, `{"a":${patch}}`)).status, 400)
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
  t.strictSame(serving.errors, [])
})

t.test('only who acts for any user imports where flows put what they find', async (t) => {
  const serving = await serve(t)
  const term = { v: 'urn:a', e: true }
  const names = ['lorekeep_chunk', 'lorekeep_entity', 'lorekeep_mine']
  for (const name of names) await serving.objects.defineSchema({ ...productSchema, name })
  await fill(serving.objects, [])
  for (const [n, schema_name] of names.entries()) {
    const values = [{ ...products[0], id: `o${n}`, term }]
    const asked = { ...batch(values), schema_name }
    const refused = await ask(serving, `POST ${importPath}`, asked)
    t.match(refused, { status: 403, value: { code: 'LK_HTTP_FORBIDDEN' } }, schema_name)
    t.equal(await serving.objects.get('catalog', `o${n}`), undefined)
    t.equal((await ask(serving, `POST ${importPath}`, asked, as('admin'))).status, 200)
  }
  for (const schema_name of [['lorekeep_chunk'], { toString: 1 }, 7, null]) {
    const { status, value } = await ask(serving, `POST ${importPath}`, { ...batch(), schema_name })
    t.match({ status, ...value }, { status: 400, code: 'LK_OBJECT_REQUEST' })
  }
  t.equal((await ask(serving, `POST ${importPath}`, batch())).status, 200)
})

t.test('a body that is too large, encoded or missing is told so', async (t) => {
  const body = JSON.stringify(batch())
  const serving = await serve(t, { maxJsonBytes: Buffer.byteLength(body) })
  await fill(serving.objects, [])
  const large = await ask(serving, `POST ${importPath}`, `${body} `)
  t.match(large, { status: 413, value: { code: 'LK_HTTP_TOO_LARGE' } })
  const packed = { ...as('alice'), 'Content-Encoding': 'compress' }
  t.equal((await ask(serving, `POST ${importPath}`, body, packed)).status, 415)
  t.equal((await ask(serving, `POST ${importPath}`, '')).status, 400)
  t.equal((await ask(serving, `POST ${importPath}`, body)).status, 200)
})

t.test('100 Continue is sent only where the flow and the token are right', async (t) => {
  const { port, objects } = await serve(t, { checkContinue: true })
  await fill(objects, [])
  const body = JSON.stringify(batch())
  const head = (flow: string) =>
    [
      `POST /api/v1/flow/${flow}/objects/import HTTP/1.1`,
      'Host: localhost',
      'Authorization: Bearer alice',
      'Expect: 100-continue',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '\r\n',
    ].join('\r\n')
  const wanted = await wire(t, port)
  wanted.socket.write(head('default'))
  await wanted.until('100 Continue')
  wanted.socket.write(body)
  t.match(await wanted.until('}'), /HTTP\/1.1 200 /)
  const refused = await wire(t, port)
  refused.socket.write(head('none'))
  const answer = await refused.ended()
  t.match(answer, /^HTTP\/1.1 404 /)
  t.notMatch(answer, '100 Continue')
})

t.test('behind express.json() the same is imported, found and changed', async (t) => {
  const { objects } = await openStore(t)
  const handler = createHandler({ objects, authenticate: 'none' })
  for (const parser of [express.json(), express.raw({ type: '*/*' })]) {
    const app = express().use(parser).use(handler)
    const serving = { url: `http://127.0.0.1:${await listen(t, createServer(app))}` }
    const schema = await ask(serving, 'PUT /schemas/products', productSchema)
    t.ok([200, 201].includes(schema.status))
    t.equal((await ask(serving, `POST ${importPath}`, batch())).status, 200)
    const found = await ask(serving, `POST ${queryPath}`, { schema_name: 'products' })
    t.match(found.value, { total: 4 })
    t.equal((await ask(serving, `PATCH ${place('prod-1')}`, { name: 'x' })).status, 200)
    const hostile = await ask(serving, `PATCH ${place('prod-1')}`, '{"__proto__":{"a":1}}')
    t.equal(hostile.status, 400)
    t.equal((await ask(serving, 'DELETE /collections/catalog')).status, 200)
  }
})

t.test('the routes of a store that is not given are not there', async (t) => {
  const { knowledge, objects } = await openStore(t)
  const start = async (stores: object) => {
    const handler = createHandler({ ...stores, authenticate: 'none' })
    return { url: `http://127.0.0.1:${await listen(t, createServer(handler))}` }
  }
  const ofKnowledge = await start({ knowledge })
  const ofObjects = await start({ objects })
  for (const path of ['/schemas', '/collections']) {
    t.equal((await ask(ofKnowledge, `GET ${path}`)).status, 404)
    t.equal((await ask(ofObjects, `GET ${path}`)).status, 200)
  }
  t.equal((await ask(ofKnowledge, 'GET /cores?user=u')).status, 200)
  t.equal((await ask(ofObjects, 'GET /cores?user=u')).status, 404)
})

t.test('a closed store is a 503 with Retry-After', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  await serving.lorekeep.close()
  for (const [line, body] of [
    [`POST ${importPath}`, batch()],
    [`POST ${queryPath}`, { schema_name: 'products' }],
    [`GET ${place('prod-1')}`, undefined],
    ['GET /schemas', undefined],
    ['GET /collections', undefined],
  ] as const) {
    const reply = await ask(serving, line, body)
    t.match(reply, { status: 503, headers: { 'retry-after': '1' }, value: { code: 'LK_CLOSED' } })
  }
})

t.test('$text finds objects by their words, among those that whoever asks may see', async (t) => {
  const serving = await serve(t)
  await serving.objects.defineSchema({
    ...productSchema,
    indexes: ['price', { text: ['name', 'description'] }],
  })
  await ask(serving, `POST ${importPath}`, batch())
  const $text = { $search: 'laptops "on paper"' }
  const found = await ask(serving, `POST ${queryPath}`, {
    schema_name: 'products',
    filters: { $text, price: { $lt: 100 } },
    sort: { _score: 'desc' },
    fields: ['name', '_score'],
  })
  t.equal(found.status, 200)
  t.match(found.value, { total: 1, objects: [{ _id: 'prod-3', name: 'Handbook', _score: Number }] })
  const refused = await ask(serving, `POST ${queryPath}`, {
    schema_name: 'products',
    filters: { $or: [{ $text }] },
  })
  t.equal(refused.status, 400)
  t.match(refused.value, { code: 'LK_QUERY', errors: [{ path: 'filters.$or[0].$text' }] })
})
