// `$text`: what it takes, what it refuses, and how it stands beside the rest of a query. That it finds
// what it should is for text-model.test.ts.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { hasCode } from '../../src/errors.js'
import type { Filters } from '../../src/objects/filter-types.js'
import type { ObjectQuery, ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'

const fields = {
  id: { type: 'string' },
  name: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  price: { type: 'number' },
}
const definition = {
  name: 'things',
  fields,
  indexes: ['price', { text: ['name', 'tags'], weights: { name: 3 } }],
}

const things: readonly JsonObject[] = [
  { id: 'a', name: 'Steel lamp', tags: ['bright red', 'home'], price: 1 },
  { id: 'b', name: 'Oak table', tags: ['lamps'], price: 2 },
  { id: 'c', name: 'Lamp, lamp, lamp: shade', price: 3 },
  { id: 'd', name: 'Ordinary', tags: ['red', 'home'], price: 4 },
]

async function filled(t: Test, indexes: readonly unknown[] = definition.indexes) {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  await keep.objects.defineSchema({ ...definition, indexes })
  await put(keep.objects, things)
  return keep.objects
}

async function put(objects: ObjectStore, values: readonly JsonObject[]): Promise<void> {
  const metadata = { id: 'batch', user: 'alice', collection: 'c' }
  await objects.import({ metadata, schema_name: 'things', values })
}

const searchFor = ($search: string, more: object = {}): ObjectQuery => ({
  schema_name: 'things',
  filters: { $text: { $search }, ...more } as Filters,
})

async function found(objects: ObjectStore, query: ObjectQuery): Promise<string> {
  const { objects: some } = await objects.query(query)
  return some.map(({ _id }) => _id).join('')
}

async function problems(objects: ObjectStore, query: unknown) {
  try {
    await objects.query({ schema_name: 'things', ...(query as object) })
  } catch (error) {
    if (!hasCode(error, 'LK_QUERY')) throw error
    return error.details.errors
  }
  return []
}

t.test('words are any of them, in any form, and the best come first', async (t) => {
  const objects = await filled(t)
  t.equal(await found(objects, searchFor('lamp')), 'cab')
  t.equal(await found(objects, searchFor('LAMPS')), 'cab')
  t.equal(await found(objects, searchFor('oak shade')), 'bc')
  t.equal(await found(objects, searchFor('lam*')), 'cab')
  t.equal(await found(objects, searchFor('nowhere')), '')
  t.equal(await found(objects, searchFor('')), '')
})

t.test('phrases have to be there, in one string, and excluded words not', async (t) => {
  const objects = await filled(t)
  t.equal(await found(objects, searchFor('"bright red" oak')), 'a')
  t.equal(await found(objects, searchFor('"red home"')), '')
  t.equal(await found(objects, searchFor('lamp -steel')), 'cb')
  t.equal(await found(objects, searchFor('red -"bright red"')), 'd')
  t.equal(await found(objects, searchFor('-steel')), '')
})

t.test('stop words are passed over where there are others', async (t) => {
  const objects = await filled(t)
  await put(objects, [{ id: 'e', name: 'The who' }])
  t.equal(await found(objects, searchFor('the table')), 'b')
  t.equal(await found(objects, searchFor('the')), 'e')
  const filters = { $text: { $search: 'the table', $language: 'none' } }
  t.equal(await found(objects, { schema_name: 'things', filters }), 'eb')
})

t.test('a language is that of the question, or of the index', async (t) => {
  const objects = await filled(t, [{ text: ['name'], language: 'none' }])
  t.equal(await found(objects, searchFor('lamps')), '')
  const filters = { $text: { $search: 'lamps', $language: 'English' } }
  t.equal(await found(objects, { schema_name: 'things', filters }), 'ca')
})

t.test('other filters are kept to, with an index and without, and totals are exact', async (t) => {
  const objects = await filled(t)
  t.equal(await found(objects, searchFor('lamp', { price: { $gte: 2 } })), 'cb')
  t.equal(await found(objects, searchFor('lamp', { name: { $regex: 'amp' } })), 'ca')
  t.equal(await found(objects, searchFor('lamp', { $or: [{ price: 1 }, { id: 'b' }] })), 'ab')
  const filters = { $and: [{ price: { $lt: 3 } }, { $text: { $search: 'lamp' } }] }
  const page = await objects.query({ schema_name: 'things', filters, limit: 1 })
  t.equal(page.total, 2)
  const { total, objects: none } = await objects.query({ ...searchFor('lamp'), limit: 0 })
  t.strictSame([total, none], [3, []])
})

t.test('_score is given, chosen and sorted by', async (t) => {
  const objects = await filled(t)
  const whole = await objects.query(searchFor('lamp'))
  const scores = whole.objects.map(({ _score = 0 }) => _score)
  t.ok(scores.every((score) => score > 0))
  t.strictSame(
    scores,
    [...scores].sort((a, b) => b - a),
  )
  const chosen = await objects.query({
    ...searchFor('lamp'),
    fields: ['price', '_score'],
    limit: 1,
  })
  t.strictSame(chosen.objects, [{ price: 3, _score: scores[0], _id: 'c' }])
  const others = await objects.query({ ...searchFor('lamp'), fields: ['price'], limit: 1 })
  t.strictSame(others.objects, [{ price: 3, _id: 'c' }])
  t.equal(await found(objects, { ...searchFor('lamp'), sort: { _score: 'asc' } }), 'bac')
  t.equal(await found(objects, { ...searchFor('lamp'), sort: { price: 'asc' } }), 'abc')
  const byMeta = { ...searchFor('lamp'), sort: { score: { $meta: 'textScore' } as const } }
  t.equal(await found(objects, byMeta), 'cab')
})

t.test('of one score those that were stored first come first, over all pages', async (t) => {
  const objects = await filled(t)
  // Of one list after the other, each of which has half of them.
  const ids = Array.from({ length: 300 }, (_, n) => `n${n}`)
  await put(
    objects,
    ids.map((id, n) => ({ id, name: n % 2 === 0 ? 'beta' : 'alpha' })),
  )
  const query = { ...searchFor('alpha beta'), limit: 7 }
  const found: unknown[] = []
  for (let after: string | undefined; ;) {
    const page = await objects.query({ ...query, ...(after !== undefined && { after }) })
    t.equal(page.total, 300)
    found.push(...page.objects.map(({ _id }) => _id))
    if (page.next === undefined) break
    after = page.next
  }
  t.strictSame(found, ids)
})

t.test('explain says which words were looked up, and what they were crossed with', async (t) => {
  const objects = await filled(t)
  const plan = await objects.explain(searchFor('lamp -oak', { price: { $gt: 1 } }))
  t.equal(plan.plan, 'text')
  t.match(plan.indexes[0], { path: '$text', ranges: ['lamp', 'lamps'] })
  t.equal(plan.indexes[1]?.path, 'price')
  t.strictSame([plan.filtered, plan.counted, plan.total], [false, false, 1])
})

t.test('what somebody sees is all that scores go by', async (t) => {
  const objects = await filled(t)
  const alone = await objects.query(searchFor('lamp red'), { user: 'alice' })
  const metadata = { id: 'batch', user: 'bob', collection: 'c' }
  const values = Array.from({ length: 50 }, (_, n) => ({ id: `bob ${n}`, name: 'Red red shade' }))
  await objects.import({ metadata, schema_name: 'things', values })
  t.strictSame(await objects.query(searchFor('lamp red'), { user: 'alice' }), alone)
  t.equal((await objects.query(searchFor('lamp red'))).total, 54)
})

t.test('an index of text is built over what there is, changed and dropped', async (t) => {
  const objects = await filled(t, ['price'])
  t.match(await problems(objects, searchFor('lamp')), [
    { path: 'filters.$text', message: /'things' has not/ },
  ])
  await objects.defineSchema(definition)
  t.equal(await found(objects, searchFor('lamp')), 'cab')
  await objects.defineSchema({ ...definition, indexes: [{ text: ['tags'] }] })
  t.equal(await found(objects, searchFor('lamp')), 'b')
  await objects.defineSchema({ ...definition, indexes: [{ text: ['tags'], language: 'none' }] })
  t.equal(await found(objects, searchFor('lamp')), '')
  await objects.defineSchema({ ...definition, indexes: [] })
  t.equal((await problems(objects, searchFor('lamp'))).length, 1)
})

t.test('a definition says what is wrong with its index of text', async (t) => {
  const { objects } = await createLorekeep({ backend: new MemoryBackend() })
  const wrong = async (index: unknown) => {
    try {
      await objects.defineSchema({ name: 'x', fields, indexes: [index] })
    } catch (error) {
      if (!hasCode(error, 'LK_SCHEMA_INVALID')) throw error
      return error.details.errors.map(({ path, message }) => `${path} ${message}`).join()
    }
    return ''
  }
  t.match(await wrong({}), /indexes\[0\]\.text is missing/)
  t.match(await wrong({ text: 'name' }), /indexes\[0\]\.text must be an array/)
  t.match(await wrong({ text: [] }), /indexes\[0\]\.text names no field/)
  t.match(await wrong({ text: ['name', 'name'] }), /indexes\[0\]\.text\[1\] comes a second time/)
  t.match(await wrong({ text: ['nam'] }), /indexes\[0\]\.text\[0\] 'nam' is not declared/)
  t.match(await wrong({ text: ['price'] }), /indexes\[0\]\.text\[0\] holds no text/)
  t.match(await wrong({ text: ['_user'] }), /indexes\[0\]\.text\[0\] holds no text/)
  t.match(await wrong({ text: ['name'], weights: { tags: 2 } }), /weights\.tags is not among/)
  t.match(await wrong({ text: ['name'], weights: { name: 0.5 } }), /weights\.name must be/)
  t.match(await wrong({ text: ['name'], language: 'xx' }), /language is none that is known/)
  t.match(await wrong({ text: ['name'], foo: 1 }), /foo is unknown/)
  const twice = { name: 'x', fields, indexes: [{ text: ['name'] }, { text: ['tags'] }] }
  await t.rejects(objects.defineSchema(twice), { code: 'LK_SCHEMA_INVALID' })
  const plain = await objects.defineSchema({
    name: 'x',
    fields,
    indexes: [{ text: ['name'], weights: { name: 1 } }],
  })
  t.strictSame(plain.indexes, [{ text: ['name'], language: 'en' }])
  t.strictSame(await objects.defineSchema(plain), plain)
})

t.test('$text is refused where it cannot be answered', async (t) => {
  const objects = await filled(t)
  const $text = { $search: 'lamp' }
  const refused = async (filters: unknown) =>
    (await problems(objects, { filters })).map(({ path, message }) => `${path} ${message}`).join()
  t.match(await refused({ $or: [{ $text }] }), /\$or\[0\]\.\$text may stand at the top/)
  t.match(await refused({ $nor: [{ $text }] }), /\$nor\[0\]\.\$text may stand at the top/)
  t.match(await refused({ tags: { $elemMatch: { $text } } }), /\$text/)
  t.match(await refused({ name: { $text } }), /name\.\$text stands beside fields/)
  t.match(await refused({ $text, $and: [{ $text }] }), /comes a second time/)
  t.match(await refused({ $text: 'lamp' }), /filters\.\$text must be an object/)
  t.match(await refused({ $text: {} }), /\$search is missing/)
  t.match(await refused({ $text: { ...$text, $language: 'xx' } }), /\$language is none/)
  t.match(await refused({ $text: { ...$text, $caseSensitive: true } }), /not supported/)
  t.match(await refused({ $text: { ...$text, $diacriticSensitive: true } }), /not supported/)
  t.equal(await refused({ $text: { ...$text, $caseSensitive: false } }), '')
  t.match(await refused({ $text, _score: 1 }), /_score is what \$text gives/)
  const many = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ')
  t.equal(await refused({ $text: { $search: many(256) } }), '')
  t.match(await refused({ $text: { $search: many(257) } }), /257 words, at most 256/)
  t.equal(await refused({ $text: { $search: `"${many(64)}"` } }), '')
  t.match(await refused({ $text: { $search: `"${many(65)}"` } }), /65 words that have to stand/)
})

t.test('there is no _score without $text', async (t) => {
  const objects = await filled(t)
  const refused = async (query: unknown) =>
    (await problems(objects, query)).map(({ path, message }) => `${path} ${message}`).join()
  t.match(await refused({ sort: { _score: 'desc' } }), /sort\._score is there with \$text/)
  t.match(await refused({ fields: ['name', '_score'] }), /fields\[1\] is there with \$text/)
  t.match(await refused({ ...searchFor('lamp'), fields: ['_score.a'] }), /has no fields/)
})

t.test('a cursor of a search is none of a query without it, and the other way round', async (t) => {
  const objects = await filled(t)
  const { next: scored = '' } = await objects.query({ ...searchFor('lamp'), limit: 1 })
  const { next: plain = '' } = await objects.query({ schema_name: 'things', limit: 1 })
  t.ok(scored !== '' && plain !== '')
  const refused = { code: 'LK_CURSOR', details: { errors: [{ path: 'after' }] } }
  await t.rejects(objects.query({ schema_name: 'things', after: scored }), refused)
  await t.rejects(objects.query({ ...searchFor('lamp'), after: plain }), refused)
  await t.rejects(objects.query({ ...searchFor('red'), after: scored }), refused)
  const rest = await objects.query({ ...searchFor('lamp'), after: scored })
  t.ok(rest.objects.length > 0)
})
