import t from 'tap'
import { BrokenInput, JsonSplitter } from '../../src/cli/input/json-splitter.js'
import type { RawValue } from '../../src/cli/input/json-splitter.js'
import { parseJson } from '../../src/json-text.js'
import { pickSeed, Random } from '../fixtures/random.js'

interface Split {
  readonly values: readonly RawValue[]
  readonly request: unknown
}

/** Pushed in chunks of as many bytes. */
function split(input: string | Uint8Array, size = Infinity): Split {
  const bytes = Buffer.from(input)
  const splitter = new JsonSplitter()
  const values: RawValue[] = []
  for (let at = 0; at < bytes.length; at += size) {
    values.push(...splitter.push(bytes.subarray(at, at + size)))
  }
  values.push(...splitter.end())
  return { values, request: splitter.request }
}

const texts = (input: string, size?: number) =>
  split(input, size).values.map(({ bytes }) => bytes.toString())

/** The line that is complained about. */
function brokenLine(input: string | Uint8Array, size?: number): number {
  try {
    split(input, size)
  } catch (error) {
    if (!(error instanceof BrokenInput)) throw error
    return error.line
  }
  return 0
}

t.test('the first byte tells an array from values in a row', async (t) => {
  t.same(texts('{"a":1}\n{"b":2}\n'), ['{"a":1}', '{"b":2}'])
  t.same(texts('{"a":1}\r\n\r\n  {"b":2}'), ['{"a":1}', '{"b":2}'])
  t.same(texts('{"a":1}{"b":2}'), ['{"a":1}', '{"b":2}'])
  t.same(texts('{\n "a": 1\n}\n{\n "b": 2\n}\n'), ['{\n "a": 1\n}', '{\n "b": 2\n}'])
  t.same(texts(' \n[{"a":1}, {"b":[2,[3]]} ,{}]\n'), ['{"a":1}', '{"b":[2,[3]]}', '{}'])
  t.same(texts('[]'), [])
  t.same(texts('\ufeff[{"a":1}]'), ['{"a":1}'])
  t.same(texts('\ufeff{"a":1}\n'), ['{"a":1}'])
})

t.test('values that are no objects are values', async (t) => {
  t.same(texts('["a,]\\"",1,-2.5e3,null,[],true]'), [
    '"a,]\\""',
    '1',
    '-2.5e3',
    'null',
    '[]',
    'true',
  ])
  t.same(texts('1\n"a b"\nnull'), ['1', '"a b"', 'null'])
})

t.test('brackets and quotes in strings are part of them', async (t) => {
  const text = JSON.stringify({ 'k"[{': '}]\\"', b: '\\' })
  t.same(texts(`${text}\n${text}`), [text, text])
  t.same(texts(`[${text},${text}]`), [text, text])
})

t.test('an import request is told by its members, the last of them values', async (t) => {
  const head = { metadata: { id: 'b', values: [1] }, schema_name: 'a' }
  const request = JSON.stringify({ ...head, values: [{ a: 1 }, { b: [2] }] }, null, 2)
  for (const size of [1, 2, 7, Infinity]) {
    const found = split(request, size)
    t.match(found.request, head)
    t.same(
      found.values.map(({ bytes }) => parseJson(bytes.toString())),
      [{ a: 1 }, { b: [2] }],
    )
    t.same(
      found.values.map(({ line }) => line),
      [10, 13],
    )
  }
  t.same(texts('{"schema_name":"a","metadata":{},"values":[]}'), [])
})

t.test('an object that has the members of a request among others is an object', async (t) => {
  for (const text of [
    '{"values":[1],"metadata":{},"schema_name":"a"}',
    '{"metadata":{},"values":[{"a":1}]}',
    '{"metadata":{},"schema_name":"a","values":{"b":[1]}}',
    '{"metadata":{},"schema_name":"a","more":1,"values":[1]}',
    '{"metadata":{},"schema_name":"a","x":"\\"values\\":","y":[1]}',
  ]) {
    t.same(texts(`${text}\n${text}`), [text, text])
    t.equal(split(text).request, undefined)
  }
  const second = '{"metadata":{},"schema_name":"a","values":[1]}'
  t.same(texts(`{}\n${second}`), ['{}', second])
})

t.test('what is broken is told with its line', async (t) => {
  const request = '{"metadata":{},"schema_name":"a",\n"values":[{}'
  const wrong: readonly (readonly [string, number])[] = [
    ['{"a":1}\n{"b":', 2],
    ['{"a":1}\n{"b":"x\n{"c":1}\n', 2],
    ['{"a":1}\n,{"b":1}', 2],
    ['{"a":1},\n{"b":1}', 1],
    ['[{"a":1}\n{"b":1}]', 2],
    ['[{"a":1},\n\n]', 3],
    ['[\n,{}]', 2],
    ['[{"a":1},\n{"b":1}\n', 3],
    ['[{"a":1}]\n[]', 2],
    ['[{}]]', 1],
    [`${request}`, 2],
    [`${request}]`, 2],
    [`${request}]}\n{}`, 3],
    [`${request}],\n"metadata":{}}`, 2],
    [`${request}]\n]`, 3],
  ]
  for (const [input, line] of wrong) {
    for (const size of [1, 3, Infinity]) t.equal(brokenLine(input, size), line, input)
  }
})

t.test('nothing, or white space alone, is no input', async (t) => {
  t.throws(() => split(''))
  t.throws(() => split(' \n'))
})

t.test('a value is bounded, and one at the bound is taken', async (t) => {
  const bound = 64 * 1024 * 1024
  const most = Buffer.from(`"${'x'.repeat(bound - 2)}"`)
  t.equal(split(most, 1024 * 1024).values[0]?.bytes.length, bound)
  const more = Buffer.concat([Buffer.from('["y'), most.subarray(1)])
  t.equal(brokenLine(more, 1024 * 1024), 1)
})

const seed = pickSeed()

t.test(`any values, cut anywhere, are found again (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 300; round++) {
    const values = Array.from({ length: random.below(6) + 1 }, () => anObject(random))
    const space = random.pick([undefined, 1, '\t'])
    const inputs = [
      values
        .map((value) => JSON.stringify(value, null, space))
        .join(random.pick(['\n', '\r\n', ' '])),
      JSON.stringify(values, null, space),
      JSON.stringify({ metadata: {}, schema_name: 'a', values }, null, space),
    ]
    const size = random.below(9) + 1
    for (const input of inputs) {
      const found = split(input, size).values
      t.same(
        found.map(({ bytes }) => parseJson(bytes.toString())),
        values,
      )
      const isRight = found.every(({ bytes, keys, depth, line }) => {
        const value: unknown = parseJson(bytes.toString())
        const before = input.slice(0, input.indexOf(bytes.toString())).split('\n').length
        return keys === keysIn(value) && depth === depthOf(value) && line >= before
      })
      t.ok(isRight, 'keys, depth and line')
    }
  }
})

function anObject(random: Random, depth = 0): Record<string, unknown> {
  const keys = Array.from({ length: random.below(4) }, () => aString(random))
  return Object.fromEntries(keys.map((key) => [key, aValue(random, depth + 1)]))
}

function aValue(random: Random, depth: number): unknown {
  const kind = depth > 4 ? random.below(4) : random.below(6)
  if (kind === 0) return random.pick([null, true, false])
  if (kind === 1) return (random.next() - 0.5) * 10 ** random.below(12)
  if (kind <= 3) return aString(random)
  if (kind === 4) return anObject(random, depth)
  return Array.from({ length: random.below(4) }, () => aValue(random, depth + 1))
}

function aString(random: Random): string {
  const parts = [
    'a',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '\n',
    'ä',
    '€',
    '\u{1F600}',
    '"values":',
  ]
  return Array.from({ length: random.below(5) }, () => random.pick(parts)).join('')
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, member) => sum + keysIn(member), own)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
