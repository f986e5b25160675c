// Random histories of three users, one of whom shares a collection: what each sees, changes and counts
// is what a model of one line a rule says.

import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Scope } from '../../src/scope.js'

/** RUNS=10000 takes some minutes. */
const numRuns = Number(process.env['RUNS'] ?? 60)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

interface Known {
  readonly user: string
  readonly schema: string
  price: number
}

const scopes: Readonly<Record<string, Scope>> = {
  any: {},
  alice: { user: 'alice' },
  bob: { user: 'bob', shared: ['shop'] },
  carol: { user: 'carol', collections: ['shop'] },
}

const schemas = ['product', 'lorekeep_chunk']
const collections = ['shop', 'store']

function sees(
  { collections, user, shared = [] }: Scope,
  collection: string,
  known: Known,
): boolean {
  if (collections?.includes(collection) === false) return false
  if (user === undefined || known.user === user) return true
  return shared.includes(collection) && known.schema === 'product'
}

const changes = ({ user }: Scope, known: Known) => user === undefined || known.user === user

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values)

const step = fc.record({
  who: pick(Object.keys(scopes)),
  what: pick(['import', 'skip', 'replace', 'get', 'patch', 'delete', 'query', 'find'] as const),
  schema: pick(schemas),
  collection: pick(collections),
  id: pick(['a', 'b', 'c']),
  price: fc.integer({ min: 0, max: 3 }),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** A store, and what it has to hold by the model. */
interface Run {
  readonly objects: ObjectStore
  readonly stored: Map<string, Known>
}

t.test(`what lies outside a scope is not there (seed ${seed})`, async (t) => {
  const history = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    await using keep = await createLorekeep({ backend: new MemoryBackend() })
    const { objects } = keep
    const fields = { id: { type: 'string' }, price: { type: 'number' } }
    for (const name of schemas) await objects.defineSchema({ name, fields, indexes: ['price'] })
    const run = { objects, stored: new Map<string, Known>() }
    for (const step of steps) await takeStep(run, step)
  })
  await fc.assert(history, { numRuns, seed })
  t.pass()
})

async function takeStep(run: Run, step: Step): Promise<void> {
  switch (step.what) {
    case 'import':
    case 'skip':
    case 'replace':
      return importOne(run, step, step.what === 'import' ? 'reject' : step.what)
    case 'get':
      return getOne(run, step)
    case 'patch':
    case 'delete':
      return changeOne(run, step, step.what)
    case 'query':
    case 'find':
      return askForAll(run, step, step.what)
  }
}

async function importOne(
  { objects, stored }: Run,
  step: Step,
  onDuplicate: 'reject' | 'skip' | 'replace',
): Promise<void> {
  const { schema, collection, id, price } = step
  const { scope, key, known, isSeen } = lookUp(stored, step)
  const user = scope.user ?? 'dave'
  const batch = {
    schema_name: schema,
    metadata: { id: 'b', user, collection },
    values: [{ id, price }],
  }
  const found = await outcome(objects.import(batch, { onDuplicate, scope }))
  const isElsewhere = scope.collections?.includes(collection) === false
  const code = isElsewhere
    ? 'LK_OBJECT_ACCESS'
    : known === undefined
      ? undefined
      : onDuplicate === 'reject' || !isSeen
        ? 'LK_OBJECT_DUPLICATE'
        : onDuplicate === 'replace' && !changes(scope, known)
          ? 'LK_OBJECT_ACCESS'
          : undefined
  expect(step, typeof found === 'string' ? found : undefined, code)
  if (code === undefined && !(onDuplicate === 'skip' && known)) {
    stored.set(key, { user, schema, price })
  }
}

async function getOne({ objects, stored }: Run, step: Step): Promise<void> {
  const { scope, known, isSeen } = lookUp(stored, step)
  const found = (await objects.get(step.collection, step.id, { scope }))?.['price']
  expect(step, found, isSeen ? known?.price : undefined)
}

async function changeOne(
  { objects, stored }: Run,
  step: Step,
  what: 'patch' | 'delete',
): Promise<void> {
  const { collection, id, price } = step
  const { scope, key, known, isSeen } = lookUp(stored, step)
  const found = await outcome(
    what === 'patch'
      ? objects.patch(collection, id, { price }, { scope }).then((object) => object?.['price'])
      : objects.delete(collection, id, { scope }),
  )
  if (known === undefined || !isSeen) expect(step, found, what === 'patch' ? undefined : false)
  else if (!changes(scope, known)) expect(step, found, 'LK_OBJECT_ACCESS')
  else if (what === 'patch') known.price = price
  else stored.delete(key)
}

async function askForAll(
  { objects, stored }: Run,
  step: Step,
  what: 'query' | 'find',
): Promise<void> {
  const { schema, price } = step
  const { scope } = lookUp(stored, step)
  const expected = [...stored]
    .filter(([place, each]) => sees(scope, place.split(' ')[0] ?? '', each))
    .filter(([, each]) => each.schema === schema && each.price >= price)
    .map(([place]) => place)
    .sort()
  const query = { schema_name: schema, filters: { price: { $gte: price } } }
  if (what === 'query') {
    const page = await objects.query({ ...query, limit: 2 }, scope)
    expect(step, page.total, expected.length)
    const all = await objects.query(query, scope)
    expect(step, all.objects.map(placeOf).sort(), expected)
  } else {
    const found: string[] = []
    for await (const object of objects.find(query, scope)) found.push(placeOf(object))
    expect(step, found.sort(), expected)
  }
}

function lookUp(stored: Run['stored'], { who, collection, id }: Step) {
  const scope = scopes[who] as Scope
  const key = `${collection} ${id}`
  const known = stored.get(key)
  return { scope, key, known, isSeen: known !== undefined && sees(scope, collection, known) }
}

/** What came of it, or the code of the error. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LorekeepError) return error.code
    throw error
  }
}

function expect({ who, what, collection, id }: Step, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Error(`${who} ${what} ${collection} ${id}: ${String(found)}, not ${String(expected)}`)
}

function placeOf(object: object): string {
  const { _collection, _id } = object as { _collection: string; _id: string }
  return `${_collection} ${_id}`
}

t.test('a scope may have more collections than a filter may name', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { objects } = keep
  const fields = { id: { type: 'string' }, text: { type: 'text' } }
  await objects.defineSchema({ name: 'product', fields, indexes: [{ text: ['text'] }] })
  const many = Array.from({ length: 10_001 }, (_, n) => `c${n}`)
  for (const collection of ['c10000', 'other']) {
    const metadata = { id: 'b', user: 'bob', collection }
    const values = [{ id: 'a', text: 'some' }]
    await objects.import({ schema_name: 'product', metadata, values })
  }
  for (const scope of [
    { collections: many },
    { user: 'alice', shared: many },
    { user: 'bob', collections: many },
  ]) {
    for (const filters of [{}, { $text: { $search: 'some' } }]) {
      const page = await objects.query({ schema_name: 'product', filters }, scope)
      t.match(page, { total: 1, objects: [{ _collection: 'c10000' }] })
    }
  }
})

t.test('a scope that is misspelt is refused: it would allow more', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { objects } = keep
  await objects.defineSchema({ name: 'product', fields: { id: { type: 'string' } } })
  const bad = [
    { users: 'a' },
    { user: 5 },
    { user: '' },
    { collections: 'a' },
    { shared: [1] },
    5,
    null,
  ]
  for (const scope of bad as Scope[]) {
    const query = { schema_name: 'product' }
    await t.rejects(objects.query(query, scope), TypeError)
    await t.rejects(
      async () => void (await objects.find(query, scope)[Symbol.asyncIterator]().next()),
      TypeError,
    )
    await t.rejects(objects.get('c', 'a', { scope }), TypeError)
    await t.rejects(objects.patch('c', 'a', {}, { scope }), TypeError)
    await t.rejects(objects.replace('c', 'a', {}, { scope }), TypeError)
    await t.rejects(objects.delete('c', 'a', { scope }), TypeError)
    await t.rejects(objects.import({} as never, { scope }), TypeError)
  }
  await t.rejects(objects.import({} as never, { onDup: 'skip' } as never), TypeError)
})
