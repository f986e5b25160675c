import { readFileSync } from 'node:fs'
import t from 'tap'
import '../../fixtures/regex-engine.js'
import type { ParsedCondition, Test } from '../../../src/objects/filter/condition.js'
import { LorekeepError } from '../../../src/errors.js'
import { groups, parseFilter } from '../../../src/objects/filter/filter.js'
import { operators } from '../../../src/objects/filter/operators.js'
import type { JsonObject } from '../../../src/types.js'
import { Random, pickSeed } from '../../fixtures/random.js'
import {
  matches,
  mingoErrs,
  mingoQuery,
  randomFilter,
  randomObject,
  type Filter,
} from './oracle.js'

const anyField = () => undefined

t.test('docs/objects.md names the operators that there are', async (t) => {
  const [, listed = ''] =
    /There are `([$\w ]+)` and `\$comment`/.exec(readFileSync('docs/objects.md', 'utf8')) ?? []
  // That of another operator.
  const there = [...operators, ...groups].filter((name) => name !== '$options')
  t.strictSame(listed.split(' ').sort(), there.sort())
})

function isMatch(filter: unknown, object: JsonObject): boolean {
  return matches(parseFilter(filter, anyField), object)
}

interface Problem {
  readonly path: string
  readonly message: string
}

function problemsOf(filter: unknown, checkField: Parameters<typeof parseFilter>[1] = anyField) {
  try {
    parseFilter(filter, checkField)
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'LK_QUERY') throw error
    return error.details['errors'] as readonly Problem[]
  }
  return []
}

function pathsOf(filter: unknown): readonly string[] {
  return problemsOf(filter).map(({ path }) => path)
}

const seed = pickSeed()

t.test(`random filters match what mingo matches (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const pairs = 25_000
  const seen = new Map<string, number>()
  let compared = 0
  let leftOut = 0
  let subsets = 0
  let objects: JsonObject[] = []
  for (let n = 0; n < pairs; n++) {
    if (n % 4 === 0) objects = Array.from({ length: 8 }, () => randomObject(random))
    const filter = randomFilter(random)
    const condition = parseFilter(filter, anyField)
    const oracle = mingoQuery(filter)
    let matched = 0
    for (const object of objects) {
      const found = matches(condition, object)
      if (found) matched++
      if (mingoErrs(filter, object)) leftOut++
      else if (found === oracle(object)) compared++
      else {
        t.fail(`mingo says otherwise: ${JSON.stringify({ filter, object, found })}`)
        return
      }
    }
    if (matched > 0 && matched < objects.length) subsets++
    for (const operator of operatorsOf(filter)) seen.set(operator, (seen.get(operator) ?? 0) + 1)
  }
  t.equal(compared + leftOut, 8 * pairs)
  t.ok(leftOut < 0.2 * 8 * pairs, `left out: ${leftOut}`)
  t.ok(subsets > 0.2 * pairs, `filters that match some and not all: ${subsets}`)
  const operators = [
    ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$and', '$or'],
    ...['$nor', '$not', '$all', '$size', '$elemMatch', '$regex', '$options', '$type', '$mod'],
  ]
  for (const operator of operators) t.ok((seen.get(operator) ?? 0) > 500, operator)
})

function operatorsOf(filter: Filter): ReadonlySet<string> {
  return new Set(
    Array.from(JSON.stringify(filter).matchAll(/"(\$\w+)":/g), ([, name]) => name ?? ''),
  )
}

// By MongoDB's manual; mingo 7.2 has it otherwise, and oracle.ts leaves such pairs out.
const departures: readonly (readonly [string, Filter, JsonObject, boolean])[] = [
  [
    'an object equals one with its fields in that order',
    { a: { x: 1, y: 2 } },
    { a: { y: 2, x: 1 } },
    false,
  ],
  ['$all asks a scalar too', { a: { $all: [1] } }, { a: 1 }, true],
  ['$all asks for an array as a whole', { a: { $all: [[1, 2]] } }, { a: [1, 2] }, true],
  ['$in asks for an array as a whole', { a: { $in: [[1, 2], 3] } }, { a: [1, 2] }, true],
  ['the elements of elements are not asked', { 'a.b': 1 }, { a: { b: [[1]] } }, false],
  ['nor by $regex', { a: { $regex: 'x' } }, { a: [['x']] }, false],
  ['values behind an array are no array', { 'a.b': [1, 2] }, { a: [{ b: 1 }, { b: 2 }] }, false],
  ['nor have they a size', { 'a.b': { $size: 2 } }, { a: [{ b: 1 }, { b: 2 }] }, false],
  [
    'an array behind an array has one',
    { 'a.b': { $size: 1 } },
    { a: [{ b: [1] }, { b: [1, 2] }] },
    true,
  ],
  ['nor are they elements', { 'a.b': { $elemMatch: { $gt: 1 } } }, { a: [{ b: 2 }] }, false],
  [
    'elements behind an array are found by ranges',
    { 'a.b': { $gt: 2 } },
    { a: [{ b: [1] }, { b: [3] }] },
    true,
  ],
  ['and by $in', { 'a.b': { $in: [3, 4] } }, { a: [{ b: [1] }, { b: [3] }] }, true],
  [
    'values behind two arrays are found by ranges',
    { 'a.b.c': { $gt: 2 } },
    { a: [{ b: [{ c: 3 }] }, { b: [{ c: 1 }] }] },
    true,
  ],
  [
    'an array in an array is not entered by a name',
    { 'a.b': { b: 1 } },
    { a: [[{ b: 1 }]] },
    false,
  ],
  ['a scalar element has no fields', { a: { $elemMatch: { b: 5 } } }, { a: [5] }, false],
  [
    'an empty array behind an array holds no field',
    { 'a.b.c': { $exists: true } },
    { a: [{ b: [] }] },
    false,
  ],
  ['nor an element of that number', { 'a.b.0': { $exists: true } }, { a: [{ b: [] }] }, false],
  ['an array is more than one that begins it', { a: { $gt: [1, 2] } }, { a: [1, 2, 0] }, true],
  [
    'an object is more by its fields in their order',
    { a: { $gt: { x: 1, b: 5 } } },
    { a: { x: 2, a: 0 } },
    true,
  ],
]

for (const [name, filter, object, expected] of departures) {
  t.test(`${name}: ${JSON.stringify(filter)}`, async (t) => {
    t.equal(isMatch(filter, object), expected)
    t.not(
      mingoQuery(filter)(object),
      expected,
      'or mingo has come round, and can be compared again',
    )
  })
}

const rules: readonly (readonly [Filter, JsonObject, boolean])[] = [
  [{}, {}, true],
  [{ a: 1 }, { a: [2, 1] }, true],
  [{ a: [2, 1] }, { a: [2, 1] }, true],
  [{ a: {} }, { a: {} }, true],
  [{ a: {} }, { a: { b: 1 } }, false],
  [{ a: null }, {}, true],
  [{ 'a.b': null }, { a: 5 }, true],
  [{ 'a.b': null }, { a: [] }, false],
  [{ 'a.b': null }, { a: [{ b: null }] }, true],
  [{ a: { $ne: null } }, {}, false],
  [{ a: { $gt: 5 } }, { a: '6' }, false],
  [{ a: { $lt: 'b' } }, { a: 1 }, false],
  [{ a: { $gte: null } }, { a: null }, true],
  [{ a: { $gt: false } }, { a: true }, true],
  [{ a: { $gt: 1, $lt: 3 } }, { a: [0, 4] }, true],
  [{ a: { $elemMatch: { $gt: 1, $lt: 3 } } }, { a: [0, 4] }, false],
  [{ a: { $elemMatch: {} } }, { a: [{}] }, true],
  [{ a: { $not: { $gt: 1, $lt: 3 } } }, { a: 2 }, false],
  [{ a: { $in: [] } }, { a: 1 }, false],
  [{ a: { $nin: [] } }, {}, true],
  [{ a: { $all: [] } }, { a: [] }, false],
  [{ 'a.1': 'y' }, { a: ['x', 'y'] }, true],
  [{ 'a.01': 'y' }, { a: ['x', 'y'] }, false],
  [{ 'a.01': 'y' }, { a: [{ '01': 'y' }] }, true],
  [{ 'a.1.b': 2 }, { a: [{ b: 2 }, { b: 1 }] }, false],
  [{ 'name.length': 3 }, { name: 'abc' }, false],
  [{ 'tags.length': 3 }, { tags: [1, 2, 3] }, false],
  [{ constructor: { $exists: true } }, {}, false],
  [{ 'a.toString.name': { $exists: true } }, { a: {} }, false],
  [{ 'a.constructor': 'x' }, { a: { constructor: 'x' } }, true],
  [{ a: -0 }, { a: 0 }, true],
  [{ a: { $regex: '^A', $options: 'i' } }, { a: ['b', 'ab'] }, true],
  [{ a: { $regex: '^b$', $options: 'm' } }, { a: 'a\nb' }, true],
  [{ a: { $regex: 'a.b', $options: 's' } }, { a: 'a\nb' }, true],
  [{ a: { $regex: '1' } }, { a: 1 }, false],
]

for (const [filter, object, expected] of rules) {
  const name = `${JSON.stringify(filter)} ${expected ? 'matches' : 'does not match'}`
  t.test(`${name} ${JSON.stringify(object)}`, async (t) => {
    t.equal(isMatch(filter, object), expected)
  })
}

/** Without the functions. */
function shapeOf(condition: ParsedCondition): unknown {
  if (condition.type === 'not') return { not: shapeOf(condition.condition) }
  if (condition.type !== 'test') return { [condition.type]: condition.conditions.map(shapeOf) }
  return [condition.path.join('.'), condition.operator, condition.operand]
}

t.test('conditions come in their simplest form', async (t) => {
  const shape = (filter: unknown) => shapeOf(parseFilter(filter, anyField))
  t.same(shape(undefined), { and: [] })
  t.same(shape({}), { and: [] })
  t.same(shape({ a: 1 }), ['a', '$eq', 1])
  t.same(shape({ 'a.b': { $gt: 1, $lt: 5 } }), {
    and: [
      ['a.b', '$gt', 1],
      ['a.b', '$lt', 5],
    ],
  })
  t.same(shape({ a: 1, $and: [{ b: 2, $and: [{ c: 3 }] }] }), {
    and: [
      ['a', '$eq', 1],
      ['b', '$eq', 2],
      ['c', '$eq', 3],
    ],
  })
  t.same(shape({ $or: [{ $and: [{ a: 1 }] }] }), ['a', '$eq', 1])
  t.same(shape({ $nor: [{ a: 1 }, { b: 2 }] }), {
    not: {
      or: [
        ['a', '$eq', 1],
        ['b', '$eq', 2],
      ],
    },
  })
  t.same(shape({ a: { $in: [1] } }), ['a', '$eq', 1])
  t.same(shape({ a: { $nin: [1] } }), ['a', '$ne', 1])
  t.same(shape({ a: { $in: [] } }), { or: [] })
  t.same(shape({ a: { $nin: [] } }), { and: [] })
  t.same(shape({ a: { $all: [1, 2] } }), {
    and: [
      ['a', '$eq', 1],
      ['a', '$eq', 2],
    ],
  })
  t.same(shape({ a: { $not: { $gt: 1 } } }), { not: ['a', '$gt', 1] })
})

t.test('a filter that is changed while it runs goes on as it was', async (t) => {
  const operand = { x: [1] }
  const condition = parseFilter({ a: operand }, anyField)
  operand.x.push(2)
  t.ok(matches(condition, { a: { x: [1] } }))
})

t.test('a test gets the value of its first field', async (t) => {
  const test = parseFilter({ 'a.b': 1 }, anyField) as Test
  t.ok(test.matches({ b: 1 }))
  t.notOk(test.matches(undefined))
})

const refused: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['no object', 5, ['filters']],
  ['null', null, ['filters']],
  ['an array', [{ a: 1 }], ['filters']],
  ['an unknown operator', { a: { $foo: 1 } }, ['filters.a.$foo']],
  ['an operator of code', { $where: 'true' }, ['filters.$where']],
  ['$comment in a field', { a: { $comment: 'x' } }, ['filters.a.$comment']],
  ['an operator that is no own key', { a: { $toString: 1 } }, ['filters.a.$toString']],
  ['an operator at the root', { $gt: 5 }, ['filters.$gt']],
  ['a group inside a field', { a: { $and: [{ b: 1 }] } }, ['filters.a.$and']],
  ['$and of no array', { $and: { a: 1 } }, ['filters.$and']],
  ['$or of nothing', { $or: [] }, ['filters.$or']],
  ['$nor of no filters', { $nor: [5, 'x'] }, ['filters.$nor[0]', 'filters.$nor[1]']],
  ['fields beside operators', { a: { $gt: 1, b: 2 } }, ['filters.a.b']],
  ['$in of no array', { a: { $in: 1 } }, ['filters.a.$in']],
  ['$nin of no array', { a: { $nin: { 0: 1 } } }, ['filters.a.$nin']],
  ['$all of no array', { a: { $all: 1 } }, ['filters.a.$all']],
  ['$size of no number', { a: { $size: '1' } }, ['filters.a.$size']],
  ['$size of a fraction', { a: { $size: 1.5 } }, ['filters.a.$size']],
  ['$size below 0', { a: { $size: -1 } }, ['filters.a.$size']],
  ['$exists of no boolean', { a: { $exists: 'yes' } }, ['filters.a.$exists']],
  ['$type of no type', { a: { $type: [2, 'text'] } }, ['filters.a.$type[1]']],
  ['$type that is no type', { a: { $type: 'text' } }, ['filters.a.$type']],
  ['$type of none', { a: { $type: [] } }, ['filters.a.$type']],
  ['$mod by 0', { a: { $mod: [0.5, 0] } }, ['filters.a.$mod[0]']],
  ['$mod of no pair', { a: { $mod: [4, 0, 0] } }, ['filters.a.$mod']],
  [
    'values beside $elemMatch in $all',
    { a: { $all: [{ $elemMatch: {} }, 1] } },
    ['filters.a.$all[1]'],
  ],
  [
    '$elemMatch beside values in $all',
    { a: { $all: [1, { $elemMatch: {} }] } },
    ['filters.a.$all[1]'],
  ],
  ['other operators in $all', { a: { $all: [{ $gt: 1 }] } }, ['filters.a.$all[0]']],
  ['$not of a value', { a: { $not: 5 } }, ['filters.a.$not']],
  ['$not of nothing', { a: { $not: {} } }, ['filters.a.$not']],
  ['$not of fields', { a: { $not: { b: 1 } } }, ['filters.a.$not']],
  ['$not at the root', { $not: { a: 1 } }, ['filters.$not']],
  ['$elemMatch of a value', { a: { $elemMatch: 5 } }, ['filters.a.$elemMatch']],
  ['a wrong $elemMatch', { a: { $elemMatch: { b: { $x: 1 } } } }, ['filters.a.$elemMatch.b.$x']],
  ['an empty path', { '': 1 }, ['filters[""]']],
  ['an empty part', { 'a..b': 1 }, ['filters["a..b"]']],
  ['a part __proto__', { 'a.__proto__.b': 1 }, ['filters["a.__proto__.b"]']],
  ['a field __proto__', JSON.parse('{"__proto__":{"a":1}}'), ['filters.__proto__']],
  ['an operator in a path', { 'a.$gt': 5 }, ['filters["a.$gt"]']],
  ['an operator in a value', { a: { b: { $gt: 5 } } }, ['filters.a']],
  ['an operator in $in', { a: { $in: [{ $gt: 5 }] } }, ['filters.a.$in']],
  ['NaN', { a: NaN }, ['filters.a']],
  ['an infinite number', { a: { $in: [1, JSON.parse('1e400')] } }, ['filters.a.$in[1]']],
  ['undefined', { a: undefined }, ['filters.a']],
  ['a function', { a: { b: { c: () => 1 } } }, ['filters.a.b.c']],
  ['a date', { a: { $gt: new Date(0) } }, ['filters.a.$gt']],
  ['a regular expression of the language', { a: /x/ }, ['filters.a']],
  ['half of a surrogate pair', { a: '\ud800' }, ['filters.a']],
  ['half of one in a path', { 'a\ud800': 1 }, ['filters["a\\ud800"]']],
  ['__proto__ in a value', { a: JSON.parse('{"__proto__":1}') }, ['filters.a.__proto__']],
  ['$regex of no string', { a: { $regex: 5 } }, ['filters.a.$regex']],
  ['$regex that is not one', { a: { $regex: '[' } }, ['filters.a.$regex']],
  ['$regex that looks back', { a: { $regex: '(a)\\1' } }, ['filters.a.$regex']],
  ['$options alone', { a: { $options: 'i' } }, ['filters.a.$options']],
  ['unknown $options', { a: { $regex: 'a', $options: 'g' } }, ['filters.a.$options']],
  ['$options of no string', { a: { $regex: 'a', $options: 1 } }, ['filters.a.$options']],
  [
    'all of it at once',
    { a: { $x: 1, $in: 2 }, $gt: 1, 'b.': 3 },
    ['filters.a.$x', 'filters.a.$in', 'filters.$gt', 'filters["b."]'],
  ],
]

for (const [name, filter, paths] of refused) {
  t.test(`refused, and told where: ${name}`, async (t) => {
    t.same(pathsOf(filter), paths)
  })
}

t.test('what MongoDB has and is not supported is said to be so', async (t) => {
  const names = ['$where', '$expr', '$jsonSchema', '$sampleRate']
  for (const name of names) {
    t.match(problemsOf({ [name]: {} }), [{ path: `filters.${name}`, message: /not supported/ }])
  }
  for (const name of ['$bitsAllSet', '$near', '$geoWithin']) {
    t.match(problemsOf({ a: { [name]: 1 } }), [
      { path: `filters.a.${name}`, message: /not supported/ },
    ])
  }
  t.match(problemsOf({ a: { $foo: 1 } }), [{ message: /is not an operator/ }])
})

t.test('types end at 100', async (t) => {
  const types = Array.from({ length: 100 }, () => 'string')
  t.same(pathsOf({ a: { $type: types } }), [])
  t.same(pathsOf({ a: { $type: [...types, 'string'] } }), ['filters.a.$type'])
})

t.test('numbers are of the types that JSON has where it is read into BSON', async (t) => {
  const types = ['int', 'long', 'double', 'number', 16, 18, 1] as const
  const typesOf = (a: number) => types.filter((type) => isMatch({ a: { $type: type } }, { a }))
  for (const a of [0, -1, 2 ** 31 - 1, -(2 ** 31)]) t.same(typesOf(a), ['int', 'number', 16])
  for (const a of [2 ** 31, -(2 ** 31) - 1, 2 ** 53, -(2 ** 63)]) {
    t.same(typesOf(a), ['long', 'number', 18])
  }
  for (const a of [0.5, 2 ** 63, -1e300]) t.same(typesOf(a), ['double', 'number', 1])
})

t.test('a $comment says nothing', async (t) => {
  t.ok(isMatch({ $comment: 'why', a: 1 }, { a: 1 }))
  t.notOk(isMatch({ $comment: { b: [] }, $or: [{ $comment: 1, a: 2 }] }, { a: 1 }))
})

t.test('the option x takes out spaces and comments', async (t) => {
  const patterns: readonly (readonly [string, string, boolean])[] = [
    ['a b\n\tc', 'abc', true],
    ['a b', 'a b', false],
    ['a\\ b', 'a b', true],
    ['a[ ]b', 'a b', true],
    ['a[] ]b', 'a b', true],
    ['a[^] ]b', 'axb', true],
    ['a[[:space:] ]b', 'a b', true],
    ['a[\\] ]b', 'a b', true],
    ['\\Qa b\\E c', 'a bc', true],
    ['a # all of it ]\nb', 'ab', true],
    ['a#', 'a', true],
    ['a\\#b', 'a#b', true],
    ['a +', 'aaa', true],
    ['^a b$', 'ab', true],
  ]
  for (const [pattern, text, expected] of patterns) {
    t.equal(isMatch({ a: { $regex: pattern, $options: 'x' } }, { a: text }), expected, pattern)
  }
  t.ok(isMatch({ a: { $regex: 'A B', $options: 'xixu' } }, { a: 'ab' }))
})

t.test('a field that may not be asked about is refused with the reason', async (t) => {
  const check = (path: readonly string[]) => (path[1] === 'x' ? 'is not declared' : undefined)
  t.same(problemsOf({ 'a.x': 1, 'b.y': 2 }, check), [
    { path: 'filters["a.x"]', message: 'is not declared' },
  ])
  t.same(problemsOf({ a: { $elemMatch: { x: { $gt: 1 } } } }, check), [
    { path: 'filters.a.$elemMatch.x', message: 'is not declared' },
  ])
})

function nested(levels: number): unknown {
  let filter: unknown = { a: 1 }
  for (let n = 1; n < levels; n += 2) filter = { $and: [filter] }
  return filter
}

t.test('nesting ends at 100 levels', async (t) => {
  t.same(pathsOf(nested(99)), [])
  t.equal(pathsOf(nested(101)).length, 1)
  const value = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
  t.same(pathsOf({ a: value(98) }), [])
  t.equal(pathsOf({ a: value(99) }).length, 1)
  const not = (levels: number) => `${'{"$not":'.repeat(levels)}{"$gt":1}${'}'.repeat(levels)}`
  t.same(pathsOf({ a: JSON.parse(not(98)) }), [])
  t.equal(pathsOf({ a: JSON.parse(not(99)) }).length, 1)
  t.equal(pathsOf(nested(100_000)).length, 1)
})

t.test('a filter that holds itself is refused', async (t) => {
  const filter: Record<string, unknown> = {}
  filter['$and'] = [filter, filter]
  t.ok(pathsOf(filter).length > 0)
})

t.test('tests end at 1,000', async (t) => {
  const ors = (tests: number) => ({ $or: Array.from({ length: tests }, (_, n) => ({ a: n })) })
  t.same(pathsOf(ors(1000)), [])
  t.same(pathsOf(ors(1001)), ['filters'])
  t.same(pathsOf({ $or: Array.from({ length: 100_000 }, () => ({})) }), ['filters'])
  t.same(pathsOf({ $or: Array.from({ length: 1001 }, () => ({ $comment: 1 })) }), ['filters'])
})

t.test('values of $in end at 10,000', async (t) => {
  const values = Array.from({ length: 10_000 }, (_, n) => n)
  t.same(pathsOf({ a: { $in: values } }), [])
  t.same(pathsOf({ a: { $in: [...values, 0] } }), ['filters.a.$in'])
})

t.test('parts of a path end at 32', async (t) => {
  const path = (parts: number) => Array.from({ length: parts }, () => 'a').join('.')
  t.same(pathsOf({ [path(32)]: 1 }), [])
  t.equal(pathsOf({ [path(33)]: 1 }).length, 1)
})

t.test('numbers of a path end at 8, since each is a place and a name', async (t) => {
  const path = (numbers: number) => `a${'.0'.repeat(numbers)}`
  t.same(pathsOf({ [path(8)]: 1 }), [])
  t.equal(pathsOf({ [path(9)]: 1 }).length, 1)
  t.same(pathsOf({ [path(4)]: { $elemMatch: { 0: { $elemMatch: { '0.b.0.0': 1 } } } } }), [])
  const inner = { $elemMatch: { '0.b.0.0.0': 1 } }
  t.equal(pathsOf({ [path(4)]: { $elemMatch: { 0: inner } } }).length, 1)
  t.same(pathsOf({ $or: [{ [path(8)]: 1 }, { [path(8)]: 2 }] }), [], 'others count anew')
  // 32 of them would have taken two million steps in these 400 bytes.
  let deep: JsonObject = { b: 1 }
  for (let n = 0; n < 60; n++) deep = { 0: [deep] }
  t.notOk(isMatch({ [path(8)]: 1 }, { a: [deep] }))
})

t.test('characters of a $regex end at 1,000', async (t) => {
  t.same(pathsOf({ a: { $regex: 'x'.repeat(1000) } }), [])
  t.same(pathsOf({ a: { $regex: 'x'.repeat(1001) } }), ['filters.a.$regex'])
})

t.test('of very many problems the first 100 are told', async (t) => {
  const filter = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`$x${n}`, 1]))
  t.equal(pathsOf(filter).length, 100)
})

t.test('steps of a $regex end at 3,000, those of all at 30,000', async (t) => {
  t.same(pathsOf({ a: { $regex: '^.{0,1000}x' } }), [])
  t.same(pathsOf({ a: { $regex: '.{1000}'.repeat(3) } }), ['filters.a.$regex'])
  const many = (count: number) => ({
    $or: Array.from({ length: count }, () => ({ a: { $regex: 'x{1000}'.repeat(2) } })),
  })
  t.same(pathsOf(many(14)), [])
  t.same(pathsOf(many(15)), ['filters'])
  const largest = {
    $or: Array.from({ length: 900 }, () => ({ a: { $regex: '.{1000}'.repeat(142) } })),
  }
  t.same(pathsOf(largest), ['filters.$or[0].a.$regex', 'filters'])
})

// A backtracking engine would not come back from these before the test runs out of time.
t.test('a $regex that would hang another engine is decided', async (t) => {
  const text = 'a'.repeat(50_000)
  for (const pattern of [
    '(a+)+$',
    '(a|aa)+$',
    '(a|a?)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*)*x',
  ]) {
    t.equal(isMatch({ a: { $regex: `^${pattern}` } }, { a: `${text}!` }), false, pattern)
  }
})

t.test('a filter changes nothing outside of it', async (t) => {
  problemsOf(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'))
  t.notOk('polluted' in {})
})
