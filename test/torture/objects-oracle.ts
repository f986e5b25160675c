import assert from 'node:assert/strict'
import { MemoryBackend } from '../../adapters/memory.js'
import { parseFilter } from '../../src/objects/filter/filter.js'
import '../fixtures/regex-engine.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectQuery, ObjectStore, QueryPlan } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import { Random } from '../fixtures/random.js'
import {
  matches,
  mingoErrs,
  mingoQuery,
  randomFilter,
  randomObject,
  type Filter,
} from '../objects/filter/oracle.js'

export interface OracleReport {
  readonly pairs: number
  /** Pairs with an object for which mingo errs, and which is not compared. */
  readonly leftOut: number
  /** How often explain() named what. */
  readonly plans: Record<string, number>
}

/** What is under these names is of the type that the schema says; under others it is anything. */
const fields = {
  s: { type: 'string' },
  list: { type: 'array' },
  items: { type: 'array' },
  n: { type: 'object' },
  k: { type: 'integer' },
  l: { type: 'integer', nullable: true },
  a: { type: 'any' },
}
const paths = [
  ...[
    'a',
    'b',
    'list.0',
    'items.0.a',
    'items.b.0',
    'n.list',
    'missing.a',
    'k',
    'l',
    's',
    'list',
    'items',
    'items.a',
    'items.b',
    'n.a',
    'n.b',
    'n.s',
    '_id',
  ],
]

/**
 * Pairs of a collection and a filter. Throws where the store and mingo disagree, and where it finds
 * anything else by its indexes than by looking at each object.
 */
export async function compareWithOracle(options: {
  readonly pairs: number
  readonly seed: number
}): Promise<OracleReport> {
  const { pairs, seed } = options
  const random = new Random(seed)
  const report = { pairs, leftOut: 0, plans: {} as Record<string, number> }
  let done = 0
  while (done < pairs) {
    await using keep = await createLorekeep({ backend: new MemoryBackend() })
    const all = await filled(keep.objects, random)
    for (let n = 0; n < 100 && done < pairs; n++, done++) {
      const filter = filterFor(random)
      const erring = new Set<unknown>()
      for (const [id, object] of all) if (mingoErrs(filter, object)) erring.add(id)
      if (erring.size > 0) report.leftOut++
      const place = `seed ${seed}, pair ${done}`
      count(report.plans, await compare(keep.objects, random, filter, all, erring, place))
    }
  }
  return report
}

async function filled(objects: ObjectStore, random: Random): Promise<Map<number, JsonObject>> {
  const indexes = random.shuffle(paths).slice(0, random.below(paths.length))
  const definition = { name: 'things', fields, index_undeclared: true }
  await objects.defineSchema({ ...definition, indexes: random.chance(0.5) ? [] : indexes })
  const all = new Map<number, JsonObject>()
  // Half of the collections have nothing that is not regular.
  const isPlain = random.chance(0.5)
  const size = 50 + random.below(random.chance(0.2) ? 250 : 50)
  while (all.size < size) {
    const from = all.size
    const batch = Array.from({ length: 1 + random.below(100) }, (_, n) =>
      objectFor(random, from + n, isPlain),
    )
    await objects.import({
      metadata: { id: 'batch', user: 'alice', collection: 'c' },
      schema_name: 'things',
      values: batch,
    })
    for (const object of batch) all.set(object['id'] as number, object)
  }
  for (let n = random.below(40); n > 0; n--) {
    const id = random.below(all.size)
    if (!all.has(id)) continue
    if (random.chance(0.5)) {
      await objects.delete('c', id)
      all.delete(id)
    } else {
      const object = objectFor(random, id, isPlain)
      await objects.replace('c', id, object)
      all.set(id, object)
    }
  }
  // Indexes of objects that are there already, too.
  await objects.defineSchema({ ...definition, indexes })
  return all
}

function objectFor(random: Random, id: number, isPlain: boolean): JsonObject {
  const object: Record<string, unknown> = { ...randomObject(random) }
  const { s, list, items, n } = object
  if (typeof s !== 'string') delete object['s']
  if (!Array.isArray(list) || isPlain) delete object['list']
  if (!Array.isArray(items) || isPlain) delete object['items']
  if (typeof n !== 'object' || n === null || Array.isArray(n)) delete object['n']
  else if (isPlain) object['n'] = { a: random.below(5), s: random.pick(['a', 'b', 'ab']) }
  if (random.chance(0.9)) object['k'] = random.below(100)
  if (random.chance(0.9)) object['l'] = random.chance(0.1) ? null : random.below(30)
  return { id, ...object } as JsonObject
}

/** Narrow filters on numbers beside those of the oracle, so that several indexes are worth it. */
function filterFor(random: Random): Filter {
  const range = () => {
    const [path, from] = [random.pick(['k', 'l']), random.below(100)]
    const tests: Filter[] = [
      { [path]: from },
      { [path]: { $gte: from, $lt: from + 10 } },
      { [path]: { $in: [from, random.below(100)] } },
    ]
    return random.pick(tests)
  }
  const choice = random.next()
  if (choice < 0.55) return randomFilter(random)
  if (choice < 0.7) return range()
  if (choice < 0.8) return { $or: [range(), range()] }
  if (choice < 0.9) return { $and: [range(), range()] }
  return { $and: [range(), randomFilter(random)] }
}

async function compare(
  objects: ObjectStore,
  random: Random,
  filter: Filter,
  all: ReadonlyMap<number, JsonObject>,
  erring: ReadonlySet<unknown>,
  place: string,
): Promise<QueryPlan> {
  const isMatch = mingoQuery(filter)
  const condition = parseFilter(filter, () => undefined)
  const expected: number[] = []
  const scanned: number[] = []
  for (const [id, object] of all) {
    const stored = { ...object, _id: id }
    if (!erring.has(id) && isMatch(stored)) expected.push(id)
    if (matches(condition, stored)) scanned.push(id)
  }
  expected.sort((a, b) => a - b)
  scanned.sort((a, b) => a - b)
  const [first = ''] = Object.keys(filter)
  const path = paths.includes(first) && random.chance(0.5) ? first : random.pick(paths)
  const query: ObjectQuery = {
    schema_name: 'things',
    filters: filter,
    limit: 1000,
    ...(random.chance(0.4) && { sort: { [path]: random.chance(0.5) ? 'asc' : 'desc' } }),
  }
  const where = `${place}: ${JSON.stringify(query)}`
  const page = await objects.query(query)
  const found = idsOf(page.objects)
  assert.deepEqual(found, scanned, `an index changes the answer: ${where}`)
  assert.deepEqual(
    found.filter((id) => !erring.has(id)),
    expected,
    where,
  )
  assert.equal(page.total, found.length, where)
  const plan = await objects.explain(query)
  assert.equal(plan.total, found.length, where)
  return plan
}

const idsOf = (objects: readonly { readonly _id?: unknown }[]) =>
  objects.map(({ _id }) => _id as number).sort((a, b) => a - b)

function count(plans: Record<string, number>, { plan, counted, sort, filtered }: QueryPlan): void {
  const names = [plan, counted ? 'counted' : 'not counted', `sort ${sort}`]
  for (const name of filtered ? [...names, 'filtered'] : names) plans[name] = (plans[name] ?? 0) + 1
}
