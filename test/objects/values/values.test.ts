import fc from 'fast-check'
import t from 'tap'
import '../../fixtures/regex-engine.js'
import type { ParsedCondition, Test } from '../../../src/objects/filter/condition.js'
import type { Path } from '../../../src/objects/values/path.js'
import { parseFilter } from '../../../src/objects/filter/filter.js'
import { rangesOf } from '../../../src/objects/filter/ranges.js'
import {
  bracketOf,
  compareScalars,
  compareValues,
  irregularKeys,
  listNames,
  regularKey,
  type KeyRange,
  type Scalar,
} from '../../../src/objects/values/values.js'
import type { JsonObject, JsonValue } from '../../../src/types.js'
import { Random, pickSeed } from '../../fixtures/random.js'
import { oraclePaths, randomFilter, randomObject } from '../filter/oracle.js'
import { areSame, jsonValue } from './json-values.js'

const seed = pickSeed()

t.test('scalars have an order: null, numbers, strings, booleans', async (t) => {
  const ordered: readonly Scalar[] = [
    ...[null, -Number.MAX_VALUE, -1, -Number.MIN_VALUE, 0, 0.5, 1, Number.MAX_VALUE],
    // By UTF-16 units: the second comes before the last, though its code point is the higher.
    ...['', 'B', 'a', 'ab', 'b', '\u{1f600}', '\uffff'],
    ...[false, true],
  ]
  for (const [n, a] of ordered.entries()) {
    for (const [m, b] of ordered.entries()) {
      t.equal(Math.sign(compareScalars(a, b)), Math.sign(n - m), `${String(a)} ${String(b)}`)
    }
  }
  t.equal(compareScalars(-0, 0), 0)
})

t.test('values are equal by all they hold', async (t) => {
  const isEqual = (a: JsonValue, b: JsonValue) => compareValues(a, b) === 0
  t.ok(isEqual({ a: [1, { b: null }] }, { a: [1, { b: null }] }))
  t.notOk(isEqual({ a: 1 }, { a: 1, b: 2 }))
  t.notOk(isEqual({ a: 1, b: 2 }, { b: 2, a: 1 }), 'and by the order of fields')
  t.notOk(isEqual([], {}))
  t.notOk(isEqual({}, []))
  t.notOk(isEqual([1], [1, 2]))
  t.notOk(isEqual({ a: 1 }, null))
  t.notOk(isEqual({ toString: 1 }, { valueOf: 1 }))
  t.ok(isEqual([-0], [0]))
})

t.test(
  `all values have an order, in which the same ones alone are equal (seed ${seed})`,
  async () => {
    const property = fc.property(jsonValue, jsonValue, jsonValue, (...values) => {
      const listed = listNames(values)
      for (const a of values) {
        for (const b of [...values, structuredClone(a)]) {
          const order = compareValues(a, b)
          if ((order === 0) !== areSame(a, b)) return false
          if (Math.sign(compareValues(b, a)) + Math.sign(order) !== 0) return false
          if (compareValues(a, b, listed) !== order) return false
          for (const c of values) {
            if (order <= 0 && compareValues(b, c) <= 0 && compareValues(a, c) > 0) return false
          }
        }
      }
      return true
    })
    fc.assert(property, { seed, numRuns: 5000 })
  },
)

t.test(
  'a row is regular where its path leads to one scalar or nowhere, past no array',
  async (t) => {
    t.equal(regularKey(5, []), 5)
    t.equal(regularKey(undefined, []), null)
    t.equal(regularKey({ b: { c: 'x' } }, ['b', 'c']), 'x')
    t.equal(regularKey({ b: 5 }, ['b', 'c']), null)
    t.equal(regularKey(null, ['b']), null)
    t.equal(regularKey('text', ['length']), null)
    t.equal(regularKey({}, ['constructor']), null)
    t.equal(regularKey([5], []), undefined)
    t.equal(regularKey([5], ['0']), undefined)
    t.equal(regularKey({ b: [] }, ['b', 'c']), undefined)
    t.equal(regularKey({}, []), undefined)
  },
)

t.test('the keys of other rows are the scalars that a test may find', async (t) => {
  t.same(irregularKeys([1, 'a', 1, null, [2], { b: 3 }], []), [1, 'a', null])
  t.same(irregularKeys([{ b: 1 }, { b: [2, [3]] }, {}, 4, [{ b: 5 }]], ['b']), [1, 2, null])
  t.same(irregularKeys([{ b: 1 }, 7], ['1']), [null, 7])
  t.same(irregularKeys([{ 1: 'a' }, 7], ['1']), ['a', 7])
  t.same(irregularKeys([1, [2]], ['1']), [])
  t.same(irregularKeys([], ['0']), [])
  t.same(irregularKeys([], []), [])
  t.same(irregularKeys({ b: {} }, ['b']), [])
})

function testsIn(condition: ParsedCondition): readonly Test[] {
  if (condition.type === 'test') return [condition]
  if (condition.type === 'not') return testsIn(condition.condition)
  return condition.conditions.flatMap(testsIn)
}

function lies(key: Scalar, { bracket, gt, gte, lt, lte }: KeyRange): boolean {
  return (
    bracketOf(key) === bracket &&
    (gt === undefined || compareScalars(key, gt) > 0) &&
    (gte === undefined || compareScalars(key, gte) >= 0) &&
    (lt === undefined || compareScalars(key, lt) < 0) &&
    (lte === undefined || compareScalars(key, lte) <= 0)
  )
}

function fieldAt(object: JsonObject, path: Path): { readonly field: unknown; readonly rest: Path } {
  const [name = '', ...rest] = path
  return { field: Object.hasOwn(object, name) ? object[name] : undefined, rest }
}

function keysOf(field: unknown, rest: Path): readonly Scalar[] {
  const key = regularKey(field, rest)
  return key === undefined ? irregularKeys(field, rest) : [key]
}

t.test(`what matches has a key in a range of the test (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const counts = { exact: 0, inexact: 0, regular: 0, irregular: 0, matched: 0 }
  for (let n = 0; n < 20_000; n++) {
    const objects = Array.from({ length: 4 }, () => randomObject(random))
    for (const test of testsIn(parseFilter(randomFilter(random), () => undefined))) {
      const found = rangesOf(test)
      if (found === undefined) continue
      counts[found.exact ? 'exact' : 'inexact']++
      for (const object of objects) {
        const { field, rest } = fieldAt(object, test.path)
        const inRange = keysOf(field, rest).some((key) =>
          found.ranges.some((range) => lies(key, range)),
        )
        const matched = test.matches(field)
        counts[regularKey(field, rest) === undefined ? 'irregular' : 'regular']++
        if (matched) counts.matched++
        if (found.exact ? matched !== inRange : matched && !inRange) {
          t.fail(`the index says otherwise: ${JSON.stringify({ object, test, found, matched })}`)
          return
        }
      }
    }
  }
  for (const [name, count] of Object.entries(counts)) t.ok(count > 300, `${name}: ${count}`)
})

t.test(`a regular row has one key, however it is asked for (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let n = 0; n < 20_000; n++) {
    const { field, rest } = fieldAt(randomObject(random), random.pick(oraclePaths).split('.'))
    const key = regularKey(field, rest)
    const keys = irregularKeys(field, rest)
    const ok = key === undefined ? new Set(keys).size === keys.length : keys.length === 1
    if (ok && (key === undefined || key === keys[0])) continue
    t.fail(`keys differ: ${JSON.stringify({ field, rest, key, keys })}`)
    return
  }
})

function rangesFor(filter: unknown) {
  return rangesOf(parseFilter(filter, () => undefined) as Test)
}

t.test('each test that an index serves has its ranges', async (t) => {
  const exact = (...ranges: readonly KeyRange[]) => ({ ranges, exact: true })
  t.same(rangesFor({ a: 1 }), exact({ bracket: 1, gte: 1, lte: 1 }))
  t.same(rangesFor({ a: null }), exact({ bracket: 0 }))
  t.same(rangesFor({ a: { $gt: 1 } }), exact({ bracket: 1, gt: 1 }))
  t.same(rangesFor({ a: { $gte: 'x' } }), exact({ bracket: 2, gte: 'x' }))
  t.same(rangesFor({ a: { $lt: true } }), exact({ bracket: 3, lt: true }))
  t.same(rangesFor({ a: { $lte: 1 } }), exact({ bracket: 1, lte: 1 }))
  t.same(rangesFor({ a: { $lt: null } }), exact())
  t.same(rangesFor({ a: { $gte: null } }), exact({ bracket: 0 }))
  t.same(
    rangesFor({ a: { $in: ['x', 2, null, 1, 2] } }),
    exact(
      { bracket: 0 },
      { bracket: 1, gte: 1, lte: 1 },
      { bracket: 1, gte: 2, lte: 2 },
      { bracket: 2, gte: 'x', lte: 'x' },
    ),
  )
})

t.test('types have the ranges of their brackets', async (t) => {
  const ranges = (type: unknown) => rangesFor({ a: { $type: type } })
  t.same(ranges('number'), { ranges: [{ bracket: 1 }], exact: true })
  t.same(ranges(['string', 'bool']), { ranges: [{ bracket: 2 }, { bracket: 3 }], exact: true })
  t.same(ranges(['string', 'int']), { ranges: [{ bracket: 1 }, { bracket: 2 }], exact: false })
  t.same(ranges(10), { ranges: [{ bracket: 0 }], exact: false }, 'what is missing has that key')
  t.same(ranges('date'), { ranges: [], exact: true }, 'nothing is of that type')
  t.equal(ranges(['string', 'object']), undefined)
  t.equal(ranges('array'), undefined)
  t.same(rangesFor({ a: { $mod: [4, 0] } }), { ranges: [{ bracket: 1 }], exact: false })
})

t.test('other tests have none', async (t) => {
  const filters = [
    ...[{ a: { $ne: 1 } }, { a: { $nin: [1, 2] } }, { a: { $exists: false } }, { a: { $size: 1 } }],
    ...[
      { a: [1] },
      { a: { $gt: {} } },
      { a: { $in: [1, [2]] } },
      { a: { $elemMatch: { $gt: 1 } } },
    ],
  ]
  for (const filter of filters) t.equal(rangesFor(filter), undefined, JSON.stringify(filter))
})

t.test('a $regex has the range of what it begins with', async (t) => {
  const prefixes: readonly (readonly [string, string | undefined, string?])[] = [
    ['^abc', 'abc', 'abd'],
    ['^abc$', 'abc', 'abd'],
    ['^ab*', 'a', 'b'],
    ['^ab?c', 'a', 'b'],
    ['^ab{0,2}', 'a', 'b'],
    ['^ab+', 'ab', 'ac'],
    ['^a\\.b', 'a.b', 'a.c'],
    ['^a\\d', 'a', 'b'],
    ['^a(b|c)', undefined],
    ['^a[bc]', 'a', 'b'],
    ['^a|b', undefined],
    ['^a*', undefined],
    ['^', undefined],
    ['abc', undefined],
    ['^\u{1f600}*', undefined],
    ['^a\uffff', 'a\uffff', 'b'],
  ]
  for (const [pattern, gte, lt] of prefixes) {
    const expected =
      gte === undefined ? undefined : { ranges: [{ bracket: 2, gte, lt }], exact: false }
    t.same(rangesFor({ a: { $regex: pattern } }), expected, pattern)
  }
  t.same(rangesFor({ a: { $regex: '^\uffff' } })?.ranges, [{ bracket: 2, gte: '\uffff' }])
  t.equal(rangesFor({ a: { $regex: '^ab', $options: 'i' } }), undefined)
  t.equal(rangesFor({ a: { $regex: '^ab', $options: 'm' } }), undefined)
  t.ok(rangesFor({ a: { $regex: '^ab', $options: 's' } }))
})
