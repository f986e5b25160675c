import t from 'tap'
import type { SchemaDefinition } from '../../../src/objects/types.js'
import { ask, fill, productSchema } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const admin = as('admin')

t.test('a schema is defined, shown, listed, redefined and dropped', async (t) => {
  const serving = await serve(t)
  t.strictSame((await ask(serving, 'GET /schemas')).value, {
    schemas: [],
    limit: 100,
    total: 0,
  })

  const made = await ask(serving, 'PUT /schemas/products', productSchema, admin)
  t.equal(made.status, 201)
  t.match(made.value, { ...productSchema, strict: false, id_field: 'id', generate_ids: false })
  t.strictSame((await ask(serving, 'GET /schemas/products')).value, made.value)
  t.strictSame((await ask(serving, 'GET /schemas')).value, {
    schemas: [made.value],
    limit: 100,
    total: 1,
  })

  const { name: _, ...unnamed } = productSchema
  const redefined = await ask(serving, 'PUT /schemas/products', { ...unnamed, indexes: [] }, admin)
  t.match(redefined, { status: 200, value: { name: 'products', indexes: [] } })
  const shown = (await ask(serving, 'GET /schemas/products')).value as unknown
  t.strictSame((shown as SchemaDefinition).indexes, [])

  const dropped = await ask(serving, 'DELETE /schemas/products', undefined, admin)
  t.equal(dropped.status, 204)
  t.equal((await ask(serving, 'GET /schemas/products')).status, 404)
})

t.test('the array form found in practice is read as well', async (t) => {
  const serving = await serve(t)
  const fields = [
    { name: 'sku', type: 'string', primary_key: true, required: true },
    { name: 'state', type: 'string', enum: ['new', 'old'] },
  ]
  const made = await ask(serving, 'PUT /schemas/items', { name: 'items', fields }, admin)
  t.match(made, {
    status: 201,
    value: { id_field: 'sku', fields: { state: { type: 'enum', values: ['new', 'old'] } } },
  })
})

t.test('what is wrong with a schema is told', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const { price, ...fields } = productSchema.fields
  const narrow = { ...fields, price: { ...price, max: 10 } }
  const cases = [
    ['PUT /schemas/other', productSchema, 400, 'LK_HTTP_REQUEST'],
    ['PUT /schemas/other', { name: null, fields }, 400, 'LK_HTTP_REQUEST'],
    ['PUT /schemas/other', {}, 400, 'LK_SCHEMA_INVALID'],
    ['PUT /schemas/other', { fields: { a: { type: 'blob' } } }, 400, 'LK_SCHEMA_INVALID'],
    ['PUT /schemas/other', '{"__proto__":{"fields":{}}}', 400, 'LK_SCHEMA_INVALID'],
    [
      'PUT /schemas/other',
      '{"fields":{"a":{"type":"text"},"__proto__":{"type":"text"}}}',
      400,
      'LK_SCHEMA_INVALID',
    ],
    [
      'PUT /schemas/other',
      '{"fields":{"a":{"type":"text"}},"__proto__":{"strict":true}}',
      400,
      'LK_SCHEMA_INVALID',
    ],
    ['PUT /schemas/%00', { fields }, 201, undefined],
    ['PUT /schemas/__proto__', { fields }, 400, 'LK_SCHEMA_INVALID'],
    [`PUT /schemas/${'x'.repeat(300)}`, { fields }, 400, 'LK_SCHEMA_INVALID'],
    ['PUT /schemas/other', [], 400, 'LK_HTTP_JSON'],
    ['PUT /schemas/other', '{"fields":{},"fields":{}}', 400, 'LK_HTTP_JSON'],
    ['PUT /schemas/products', { fields: narrow }, 409, 'LK_SCHEMA_VIOLATED'],
    ['DELETE /schemas/products', undefined, 409, 'LK_SCHEMA_IN_USE'],
    ['DELETE /schemas/none', undefined, 404, 'LK_SCHEMA_NOT_FOUND'],
    ['GET /schemas/none', undefined, 404, 'LK_SCHEMA_NOT_FOUND'],
    ['GET /schemas/__proto__', undefined, 404, 'LK_SCHEMA_NOT_FOUND'],
    ['POST /schemas', {}, 405, 'LK_HTTP_METHOD'],
  ] as const
  for (const [line, body, status, code] of cases) {
    const reply = await ask(serving, line, body, admin)
    t.match(
      { status: reply.status, code: reply.value['code'] },
      { status, code },
      `${line} ${JSON.stringify(body)?.slice(0, 60)}`,
    )
  }
  const reasons = await ask(
    serving,
    'PUT /schemas/other',
    { fields: { a: { type: 'blob' }, b: { type: 'number', minimum: 1 } } },
    admin,
  )
  t.match(reasons.value['errors'], [{ path: String }, { path: String }], 'every reason')
  t.strictSame(serving.errors, [])
})

t.test('a name is one segment of the path', async (t) => {
  const serving = await serve(t)
  for (const name of ['a/b', 'ü 😀', '%2F', 'constructor']) {
    const path = `/schemas/${encodeURIComponent(name)}`
    const fields = { n: { type: 'number' } }
    t.equal((await ask(serving, `PUT ${path}`, { fields }, admin)).status, 201, name)
    t.match(await ask(serving, `GET ${path}`), { status: 200, value: { name } })
    t.equal((await ask(serving, `DELETE ${path}`, undefined, admin)).status, 204, name)
  }
})
