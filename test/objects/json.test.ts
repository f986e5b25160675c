import assert from 'node:assert/strict'
import vm from 'node:vm'
import t from 'tap'
import { checkJson, formatPath, type JsonCheckOptions } from '../../src/door/json.js'
import { pickSeed, Random } from '../fixtures/random.js'

/** The paths that are reported. */
function refused(value: unknown, options?: JsonCheckOptions): string[] {
  const paths: string[] = []
  const ok = checkJson(
    value,
    (path, reason) => {
      assert.ok(reason)
      paths.push(path)
    },
    options,
  )
  assert.equal(ok, paths.length === 0)
  return paths
}

/** Arrays within each other, `levels` of them. */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

t.test('what JSON can say is plain JSON', async (t) => {
  const bare = Object.assign(Object.create(null), { a: 1 }) as object
  const values = [null, true, false, 0, -0, 1.5, -1e308, '', 'é😀', [], {}, [[], {}], bare]
  for (const value of values) t.strictSame(refused(value), [])
  const text = '{"constructor":1,"prototype":{"toString":[null]},"hasOwnProperty":"","":{"":0}}'
  t.strictSame(refused(JSON.parse(text)), [])
})

t.test('what is too long for sure is not read to its end, and what fits is', async (t) => {
  const fits = [
    {},
    [],
    '',
    0,
    null,
    [0],
    [0, ''],
    { '': 0 },
    { a: [], b: {} },
    [{ é: 'é😀', b: [1, [2, 'c']] }, -0, [[]], ''],
  ]
  for (const value of fits) {
    const maxBytes = Buffer.byteLength(JSON.stringify(value))
    t.strictSame(refused(value, { maxBytes }), [], JSON.stringify(value))
  }
  const names = Array.from({ length: 1000 }, (_, n) => [`f${n}`, n] as const)
  const wide = { ...Object.fromEntries(names), end: undefined }
  const long = [...Array<number>(1000).fill(0), undefined]
  for (const value of [wide, long, { wide }, [[long]], { a: 'x'.repeat(1000), b: undefined }]) {
    t.strictSame(refused(value, { maxBytes: 1000 }), [''])
    t.not(refused(value)[0], '')
  }
})

t.test('what JSON cannot say is refused, with its path', async (t) => {
  class Point {
    x = 1
  }
  const wrong: unknown[] = [
    undefined,
    NaN,
    Infinity,
    JSON.parse('1e400'),
    10n,
    Symbol('s'),
    () => 1,
    new Date(),
    new Map(),
    new Set(),
    Buffer.from('a'),
    /a/,
    new Point(),
    Object.create({ inherited: 1 }),
    new String('a'),
    'half \ud800',
    '\udc00',
    { [Symbol('s')]: 1 },
  ]
  for (const value of wrong) {
    t.strictSame(refused(value), [''])
    t.strictSame(refused({ tags: ['a', value] }), ['tags[1]'])
    t.strictSame(refused([{ 'odd key': value }]), ['[0]["odd key"]'])
  }
})

t.test('names that no field can have are refused, however they came', async (t) => {
  t.strictSame(refused(JSON.parse('{"a":{"__proto__":{"x":1}}}')), ['a.__proto__'])
  t.strictSame(refused(JSON.parse('{"__proto__":null}')), ['__proto__'])
  t.strictSame(refused({ 'a\ud800': 1 }), ['["a\\ud800"]'])
})

t.test('accessors are refused without being run', async (t) => {
  const object = {
    a: 1,
    get price(): number {
      throw new Error('run')
    },
  }
  t.strictSame(refused({ object }), ['object.price'])
})

t.test('an array has no holes and does not say itself what it is as JSON', async (t) => {
  const holes = [1, 2, 3]
  delete holes[1]
  t.strictSame(refused({ holes }), ['holes[1]'])
  t.strictSame(refused(new Array(2)), ['[0]', '[1]'])
  class Odd extends Array<number> {
    toJSON() {
      return 1
    }
  }
  t.strictSame(refused({ odd: Odd.from([1]) }), ['odd'])
})

t.test('what Object.prototype was given by somebody is no field of an object', async (t) => {
  const prototype = Object.prototype as unknown as Record<string, unknown>
  t.teardown(() => delete prototype['polluted'])
  prototype['polluted'] = undefined
  t.strictSame(refused({ a: 1 }), [])
})

t.test('a plain object of another realm is one, and an instance is not', async (t) => {
  t.strictSame(refused(vm.runInNewContext('({ a: 1, b: [{}] })')), [])
  t.strictSame(refused(vm.runInNewContext('new Map()')), [''])
  t.strictSame(refused(vm.runInNewContext('new (class { a = 1 })()')), [''])
  t.strictSame(refused(vm.runInNewContext('Object.create({ a: 1 })')), [''])
})

t.test('nesting ends at 64 levels, or where it is told to', async (t) => {
  t.strictSame(refused(nested(64)), [])
  t.equal(refused(nested(65)).length, 1)
  t.strictSame(refused(nested(3), { maxDepth: 3 }), [])
  t.strictSame(refused([{ a: [{}] }], { maxDepth: 3 }), ['[0].a[0]'])
  t.equal(refused(nested(100_000)).length, 1)
})

t.test('a cycle ends, also one that branches', async (t) => {
  const one: Record<string, unknown> = {}
  one['self'] = one
  t.equal(refused(one).length, 1)
  const many: Record<string, unknown> = {}
  for (let i = 0; i < 10; i++) many[`self${i}`] = [many, many]
  t.equal(refused(many).length, 20)
})

t.test('every problem is reported, up to a limit', async (t) => {
  t.strictSame(refused({ a: NaN, b: { c: undefined, d: 1 }, e: [1n] }), ['a', 'b.c', 'e[0]'])
  const bad = Array<unknown>(50).fill(undefined)
  t.equal(refused(bad).length, 20)
  t.equal(refused({ bad, more: { bad } }).length, 20)
  t.equal(refused(bad, { maxReports: 50 }).length, 50)
  t.equal(refused(bad, { maxReports: 3 }).length, 3)
})

t.test('paths read like JavaScript, and stay short', async (t) => {
  t.equal(formatPath([]), '')
  t.equal(formatPath(['details', 'brand']), 'details.brand')
  t.equal(formatPath(['tags', 2]), 'tags[2]')
  t.equal(formatPath(['tags', '2']), 'tags["2"]')
  t.equal(formatPath([0, 'größe', '$x', '_y']), '[0].größe.$x._y')
  t.equal(formatPath(['odd key', 'a.b', '', 'q"\n']), '["odd key"]["a.b"][""]["q\\"\\n"]')
  t.ok(formatPath(['\ud800']).isWellFormed())
  t.equal(formatPath(['x'.repeat(64)]), 'x'.repeat(64))
  t.equal(formatPath(['x'.repeat(65)]), `["${'x'.repeat(64)}…"]`)
  t.ok(formatPath(['x'.repeat(63) + '😀' + 'y']).isWellFormed())
})

const seed = pickSeed()
t.test(
  `a value is plain JSON exactly if it comes back from JSON the same (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    let plain = 0
    for (let i = 0; i < 20_000; i++) {
      const value = randomValue(random, 4)
      const ok = refused(value).length === 0
      if (ok !== survives(value)) t.fail('not as JSON says', { value })
      if (ok) plain++
    }
    t.ok(plain > 4_000 && plain < 16_000, `${plain} of 20,000 are plain`)
  },
)

function randomValue(random: Random, depth: number): unknown {
  if (depth > 0 && random.chance(0.6)) {
    const length = random.below(4)
    return random.chance(0.5)
      ? Array.from({ length }, () => randomValue(random, depth - 1))
      : Object.fromEntries(
          Array.from({ length }, () => [
            random.chance(0.05) ? '\udc00' : random.pick(['a', 'b', 'toString', 'constructor']),
            randomValue(random, depth - 1),
          ]),
        )
  }
  const odd = [undefined, NaN, -Infinity, '\ud83d', new Date(0), new Map(), () => 1]
  return random.chance(0.2) ? random.pick(odd) : random.pick([null, true, 0, 1.5, '', 'a', '😀'])
}

/** The slow way to tell: through UTF-8 and back, with nothing lost. */
function survives(value: unknown): boolean {
  const text = JSON.stringify(value)
  if (text === undefined || /\\ud[89a-f]/.test(text)) return false
  return equal(value, JSON.parse(text))
}

function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  const keys = Object.keys(a)
  const pick = (of: object, key: string) => (of as Record<string, unknown>)[key]
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(pick(a, key), pick(b, key)))
  )
}
