import t from 'tap'
import { ask, batch, fill, products } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'

const admin = as('admin')

t.test('collections are listed, made, and deleted with what is in them', async (t) => {
  const serving = await serve(t)
  t.strictSame((await ask(serving, 'GET /collections')).value, {
    collections: [],
    limit: 100,
    total: 0,
  })
  await fill(serving.objects)

  const made = await ask(serving, 'PUT /collections/empty')
  t.match(made, { status: 201, value: { name: 'empty' } })
  const again = await ask(serving, 'PUT /collections/empty')
  t.match(again, { status: 200, value: { name: 'empty' } })
  t.equal((await ask(serving, 'PUT /collections/catalog')).status, 200)
  const listed = (await ask(serving, 'GET /collections', undefined, admin)).value['collections']
  t.match(listed, [
    { name: 'catalog', objects: products.length, schemas: { products: products.length } },
    { name: 'empty', objects: 0, schemas: {} },
  ])

  const deleted = await ask(serving, 'DELETE /collections/catalog', undefined, admin)
  t.equal(deleted.status, 200)
  t.strictSame(deleted.value, { deleted: products.length })
  t.equal(await serving.objects.get('catalog', 'prod-1'), undefined)
  const gone = await ask(serving, 'DELETE /collections/catalog', undefined, admin)
  t.match(gone, { status: 404, value: { code: 'LK_COLLECTION_NOT_FOUND' } })
})

t.test('a body that a collection is made with is not looked at', async (t) => {
  const serving = await serve(t)
  t.equal((await ask(serving, 'PUT /collections/x', 'no JSON')).status, 201)
})

t.test('a name is one segment of the path, and has to be one', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects, [])
  for (const collection of ['a/b', 'ü 😀', '%2F', 'constructor', '__proto__']) {
    const path = `/collections/${encodeURIComponent(collection)}`
    t.equal((await ask(serving, `PUT ${path}`)).status, 201, collection)
    await serving.objects.import(batch(products, { collection }))
    const reply = await ask(serving, `DELETE ${path}`, undefined, admin)
    t.match(reply, { status: 200, value: { deleted: products.length } }, collection)
  }
  const long = await ask(serving, `PUT /collections/${'x'.repeat(5_000)}`)
  t.match(long, { status: 400, value: { code: 'LK_OBJECT_REQUEST' } })
  t.equal((await ask(serving, 'PUT /collections/')).status, 404)
  t.strictSame(serving.errors, [])
})
