import t from 'tap'
import {
  compareSorted,
  compareSortValues,
  sortValues,
  type SortKey,
} from '../../../src/objects/filter/sort-values.js'
import { compareScalars, isScalar } from '../../../src/objects/values/values.js'
import type { SortDirection } from '../../../src/objects/types.js'
import type { JsonObject, JsonValue } from '../../../src/types.js'
import { Random, pickSeed } from '../../fixtures/random.js'
import { refusedSorts } from './mongodb/refusals.js'
import { sortFacts, type Sort } from './mongodb/sorts.js'
import { oraclePaths, randomObject } from './oracle.js'

const seed = pickSeed()

function keysOf(sort: Sort): SortKey[] {
  return Object.entries(sort).map(([path, direction]) => ({ path: path.split('.'), direction }))
}

function sortedBy(object: JsonObject, sort: Sort): JsonValue[] {
  const keys = keysOf(sort)
  const fields = keys.map(({ path: [name = ''] }) =>
    Object.hasOwn(object, name) ? object[name] : undefined,
  )
  return sortValues(keys, fields, 'x')
}

const only = (a: JsonValue | undefined, direction: SortDirection, path = 'a') =>
  sortedBy(a === undefined ? {} : { a }, { [path]: direction })[0]

t.test('an array is sorted by its lowest element, or by its highest', async (t) => {
  t.equal(only(5, 'asc'), 5)
  t.equal(only(undefined, 'asc'), null)
  t.equal(only([2, 'a', 1], 'asc'), 1)
  t.equal(only([2, 'a', 1], 'desc'), 'a')
  t.equal(only([2, [0], true], 'desc'), true)
  t.same(only([], 'asc'), [])
  t.same(only({ x: 1 }, 'asc'), { x: 1 })
})

t.test('behind an array, elements without the field are sorted as null', async (t) => {
  t.equal(only([{ b: 2 }, { b: [3, 1] }], 'asc', 'a.b'), 1)
  t.equal(only([{ b: 2 }, { b: [3, 1] }], 'desc', 'a.b'), 3)
  t.equal(only([{ b: 2 }, {}], 'asc', 'a.b'), null)
  t.equal(only([{ b: 2 }, 1], 'asc', 'a.b'), null)
  t.equal(only([{ b: 2 }, [{ b: 1 }]], 'asc', 'a.b'), null)
  t.equal(only([{ b: 2 }, {}], 'desc', 'a.b'), 2)
  t.equal(only([], 'asc', 'a.b'), null)
  t.same(only([{ b: [] }, {}], 'asc', 'a.b'), [])
})

t.test('an array in an array is sorted as a whole, wrapped', async (t) => {
  t.same(only([[1]], 'asc'), [[1]])
  t.same(only([[]], 'asc'), [[]])
  t.same(only([[], 1], 'asc'), 1)
  t.same(only([[], 1], 'desc'), [[]])
  t.same(only([[1, 2]], 'asc', 'a.0'), [[1, 2]])
  t.same(only([[]], 'asc', 'a.0'), [])
})

t.test('a number names a place', async (t) => {
  t.equal(only([4, 5], 'asc', 'a.1'), 5)
  t.equal(only([4, 5], 'asc', 'a.2'), null)
  t.equal(only([4, { 2: 'x' }], 'desc', 'a.2'), 'x')
  t.equal(only([4, { b: [2, 1] }], 'asc', 'a.1.b'), 1)
  t.equal(only([[{ b: 3 }, { b: 2 }]], 'asc', 'a.0.b'), 2)
  t.throws(() => only([{ 0: 4 }, 5], 'asc', 'a.0'), { code: 'LK_QUERY' })
})

t.test('several keys take their values from one element', async (t) => {
  const a = [
    { b: 1, c: 9 },
    { b: 2, c: 8 },
  ]
  t.same(sortedBy({ a }, { 'a.b': 'asc', 'a.c': 'asc' }), [1, 9])
  t.same(sortedBy({ a }, { 'a.c': 'asc', 'a.b': 'asc' }), [8, 2])
  t.same(sortedBy({ a, x: 5 }, { x: 'asc', 'a.b': 'desc', 'a.c': 'asc' }), [5, 2, 8])
})

t.test('two arrays beside each other refuse a sort, with the object', async (t) => {
  const found = t.throws(() => sortedBy({ a: [1], b: [2] }, { a: 'asc', b: 'asc' }), {
    code: 'LK_QUERY',
  })
  t.match(String(found), /'a' and 'b'/)
  const inner = { a: [{ b: [1], c: [2] }] }
  t.throws(() => sortedBy(inner, { 'a.b': 'asc', 'a.c': 'asc' }), { code: 'LK_QUERY' })
  t.same(sortedBy({ a: [1], b: 2 }, { a: 'asc', b: 'asc' }), [1, 2])
  for (const [object, sort] of refusedSorts) {
    t.throws(() => sortedBy(object, sort), { code: 'LK_QUERY' }, JSON.stringify(sort))
  }
})

t.test('combinations of elements end at a million', async (t) => {
  const objectOf = (outer: number, inner: number) => ({
    a: Array.from({ length: outer }, () => ({
      b: Array.from({ length: inner }, (_, n) => n),
      c: 1,
    })),
  })
  const sort: Sort = { 'a.0.b': 'desc', 'a.c': 'asc' }
  t.same(sortedBy(objectOf(1000, 1000), sort), [999, 1])
  t.throws(() => sortedBy(objectOf(1001, 1000), sort), { code: 'LK_QUERY' })
  t.same(sortedBy(objectOf(1001, 1000), { 'a.0.b': 'desc' }), [999])
})

for (const { source, objects, answers } of sortFacts) {
  t.test(`objects are sorted as MongoDB sorts them: ${source}`, async (t) => {
    for (const [sort, ids] of answers) {
      const keys = keysOf(sort)
      const found = objects
        .map((object) => ({ id: object['id'], values: sortedBy(object, sort) }))
        .sort((a, b) => compareSorted(keys, a.values, b.values))
      t.equal(found.map(({ id }) => id).join(' '), ids, JSON.stringify(sort))
    }
  })
}

t.test(
  'sorting puts an empty array first, and objects and arrays between strings and booleans',
  async (t) => {
    const ordered: readonly JsonValue[] = [
      ...[[], null, 0, 'a', {}, { a: 1 }, { a: 1, b: 0 }, { a: 2, z: 1 }, { b: 1 }, { a: 'x' }],
      ...[[1], [1, 2], [2], [[]], false, true],
    ]
    const places = ordered.map((_, n) => n)
    const expected = [...places].sort((n, m) => n - m)
    t.same(
      places
        .toReversed()
        .sort((n, m) => compareSortValues(ordered[n] as JsonValue, ordered[m] as JsonValue)),
      expected,
    )
  },
)

t.test(
  `the order of sorting is total, and that of scalars for scalars (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    const values: JsonValue[] = Array.from({ length: 120 }, () => {
      const path = random.pick(oraclePaths)
      try {
        return sortedBy(randomObject(random), { [path]: random.pick(['asc', 'desc']) })[0] ?? null
      } catch (error) {
        // A place in an array that is the name of a field too.
        if ((error as { code?: unknown }).code !== 'LK_QUERY') throw error
        return null
      }
    })
    const sorted = values.toSorted(compareSortValues)
    let wrong = 0
    for (const [n, a] of sorted.entries()) {
      for (const [m, b] of sorted.entries()) {
        const order = Math.sign(compareSortValues(a, b))
        if (n < m ? order > 0 : n > m ? order < 0 : order !== 0) wrong++
        if (order !== -Math.sign(compareSortValues(b, a)) && order !== 0) wrong++
        if (isScalar(a) && isScalar(b) && order !== Math.sign(compareScalars(a, b))) wrong++
      }
    }
    t.equal(wrong, 0)
  },
)
