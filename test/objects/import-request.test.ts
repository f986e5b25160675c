// What an import of objects has to be: each member that is wrong is told, all of them at once.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import type { ObjectImport } from '../../src/objects/types.js'
import { openStore } from '../fixtures/stores.js'

const good = {
  schema_name: 's',
  metadata: { id: 'b', user: 'u', collection: 'c', metadata: { source: 'a test' } },
  values: [{ id: 'a' }],
}
const named = (fields: object) => ({ ...good, metadata: { ...good.metadata, ...fields } })
const custom = (metadata: unknown) => named({ metadata })
const long = 'é'.repeat(129)

const cases: readonly (readonly [unknown, readonly string[]])[] = [
  [undefined, ['must be an import, an object, not undefined']],
  [[], ['must be an import, an object, not an empty array']],
  [{}, ['schema_name is missing', 'values is missing', 'metadata is missing']],
  [{ ...good, schema: 's' }, ['schema is unknown']],
  [{ ...good, schema_name: '' }, ['schema_name']],
  [{ ...good, metadata: null }, ['metadata must be an object']],
  [{ ...good, values: {} }, ['values must be an array']],
  [{ ...good, values: [] }, ['values is empty']],
  [named({ tags: [] }), ['metadata.tags is unknown']],
  [named({ id: 5 }), ['metadata.id must be a string, not 5']],
  [named({ id: 'x'.repeat(1025) }), ['metadata.id has 1025 bytes; at most 1024']],
  [named({ user: '' }), ['metadata.user must not be empty']],
  [named({ user: '\ud800' }), ['metadata.user has half of a surrogate pair']],
  [named({ collection: long }), ['metadata.collection has 258 bytes; at most 256']],
  [
    named({ id: 1, user: 2, collection: 3 }),
    ['metadata.id', 'metadata.user', 'metadata.collection'],
  ],
  [custom(5), ['metadata.metadata must be an object, not 5']],
  [custom(null), ['metadata.metadata must be an object, not null']],
  [custom([]), ['metadata.metadata must be an object']],
  [custom({ a: { b: 1n } }), ['metadata.metadata.a.b']],
  [
    custom({ created_at: 1, collection: 2 }),
    ['metadata.metadata.created_at', 'metadata.metadata.collection'],
  ],
]

t.test('what is wrong with an import is told with its place', async (t) => {
  const { objects } = await openStore(t, new MemoryBackend())
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  for (const [batch, expected] of cases) {
    const error: unknown = await objects.import(batch as ObjectImport).catch((error) => error)
    if (!(error instanceof LorekeepError)) throw new Error(`${expected}: ${String(error)}`)
    t.equal(error.code, 'LK_OBJECT_REQUEST')
    const { errors } = error.details as { errors: readonly { path: string; message: string }[] }
    const told = errors.map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
    t.equal(told.length, expected.length, told.join('\n'))
    for (const [n, text] of expected.entries()) t.equal(told[n]?.slice(0, text.length), text)
  }
  t.equal((await objects.query({ schema_name: 's' })).total, 0)
  await objects.import(good)
  await objects.import(named({ collection: long.slice(1), metadata: undefined }))
  t.equal((await objects.query({ schema_name: 's' })).total, 2)
})

t.test('what is put in the place of an object, or changes it, is plain JSON', async (t) => {
  const { objects } = await openStore(t, new MemoryBackend())
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  await objects.import({ ...good, values: [{ id: 'a', n: 1 }] })
  const before = await objects.get('c', 'a')
  class Thing {
    n = 2
  }
  const none = [[], [1, 2], new Map([['n', 1]]), new Date(), new Thing(), new String('abc')]
  const inside = [{ n: new Map() }, { n: undefined }, { n: 1n }, { [Symbol('n')]: 1 }]
  for (const value of [...none, 'x', 7, null, undefined, ...inside] as never[]) {
    const name = String(value)
    await t.rejects(objects.replace('c', 'a', value), { code: 'LK_OBJECT_INVALID' }, name)
    await t.rejects(objects.patch('c', 'a', value), { code: 'LK_OBJECT_REQUEST' }, name)
  }
  t.strictSame(await objects.get('c', 'a'), before)
  t.match(await objects.replace('c', 'a', Object.assign(Object.create(null), { n: 3 })), { n: 3 })
})

t.test(
  'a patch of operators is refused, and one of fields that are called so is not',
  async (t) => {
    const { objects } = await openStore(t, new MemoryBackend())
    await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
    await objects.import({ ...good, values: [{ id: 'a', n: 1, $old: 1 }] })
    const before = await objects.get('c', 'a')
    const path = '$set'
    await t.rejects(objects.patch('c', 'a', { n: 2, $set: { n: 2 } }), {
      code: 'LK_OBJECT_REQUEST',
      details: { errors: [{ path }] },
    })
    t.strictSame(await objects.get('c', 'a'), before)
    t.match(await objects.patch('c', 'a', { $old: 2, in: { $set: 3 } }), {
      $old: 2,
      in: { $set: 3 },
    })
    t.notOk(Object.hasOwn((await objects.patch('c', 'a', { $old: null })) ?? {}, '$old'))
    t.equal(await objects.patch('c', 'none', { $set: {} }), undefined)
  },
)

t.test('an import out of its scope says what is not allowed', async (t) => {
  const { objects } = await openStore(t, new MemoryBackend())
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const details = { ids: [], count: 1 }
  await t.rejects(objects.import(good, { scope: { user: 'v' } }), {
    message: 'no access to the object: the user "u" is not the one allowed',
    details,
  })
  await t.rejects(objects.import(good, { scope: { user: 'u', collections: ['d'] } }), {
    message: 'no access to the object: the collection "c" is not one of those allowed',
    details,
  })
})
