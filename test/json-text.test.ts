import fc from 'fast-check'
import t from 'tap'
import { parseEscapedKeys, parseJson } from '../src/json-text.js'
import { pickSeed } from './fixtures/random.js'

// What Node 24 confuses: keys that end with a backslash, and keys that have an escape in that place.
const key = fc.constantFrom('', 'h', '\\', '\n', '"', 'a\\', 'a\n', 'a', '\u2028', '__proto__', '7')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.integer(), key, fc.array(tie('value')), tie('object')),
  object: fc.dictionary(key, tie('value')),
}))

const seed = pickSeed()

t.test(`every key is the one that was written (SEED=${seed})`, async (t) => {
  const text = fc.tuple(value, fc.constantFrom(undefined, 1, '\t')).map(([written, space]) => ({
    written,
    json: JSON.stringify(written, null, space),
  }))
  for (const [name, parse] of Object.entries({ parseJson, parseEscapedKeys })) {
    fc.assert(
      fc.property(text, ({ written, json }) => {
        const read = parse(json)
        // Both were written by JSON.stringify, which is not in doubt.
        return JSON.stringify(read) === JSON.stringify(written)
      }),
      { seed, numRuns: 2000 },
    )
    t.pass(name)
  }
})

t.test('a key like the escape of another one stays itself', async (t) => {
  for (const parse of [parseJson, parseEscapedKeys]) {
    t.strictSame(parse('{"h":[],"\\\\":0}'), { h: [], '\\': 0 })
    t.strictSame(parse('{"h":1,"\\n":2}'), { h: 1, '\n': 2 })
    t.strictSame(parse('{"h":1,"\\"" : 2}'), { h: 1, '"': 2 })
    t.strictSame(parse('{"a\\\\":1}'), { 'a\\': 1 })
    t.strictSame(parse('{"a\\n":1}'), { 'a\n': 1 })
  }
})

t.test('it is JSON.parse in everything else', async (t) => {
  // Written down, as JSON.parse is what is in doubt.
  const texts: readonly (readonly [text: string, parsed: string])[] = [
    ['{"\\u0061":1,"a":2,"b":3}', '{"a":2,"b":3}'],
    ['{"b":1,"\\u0061":2,"b":3}', '{"b":3,"a":2}'],
    ['{"2":0,"\\n":0,"1":0}', '{"1":0,"2":0,"\\n":0}'],
    ['{"__proto__":{"\\n":1},"\\u005f_proto__":2}', '{"__proto__":2}'],
    ['{"\ue0000":1,"\\n":"\ue000"}', '{"\ue0000":1,"\\n":"\ue000"}'],
    [
      '{"\ue0000\ue000":1,"\ue0001\ue0002\ue000":2,"\\n":3}',
      '{"\ue0000\ue000":1,"\ue0001\ue0002\ue000":2,"\\n":3}',
    ],
    ['{"\\ue0000":1}', '{"\ue0000":1}'],
    ['["a\\":",{"\\t":[{"\\r":"\\":"}]}]', '["a\\":",{"\\t":[{"\\r":"\\":"}]}]'],
    [' "\\n" ', '"\\n"'],
  ]
  for (const [text, parsed] of texts) {
    t.equal(JSON.stringify(parseEscapedKeys(text)), parsed, text)
  }
  const own = parseEscapedKeys('{"__proto__":1,"\\n":2}') as object
  t.ok(Object.hasOwn(own, '__proto__'))
  for (const text of ['', '{', '{"\\n":1', '{"\\x":1}', '{"\\n":1,}', '{"\n\\n":1}', '"\\']) {
    t.equal(messageOf(parseEscapedKeys, text), messageOf(JSON.parse, text), text)
  }
})

t.test('what is nested deeper than any stack is no trouble', async (t) => {
  const depth = 100_000
  let value = parseEscapedKeys(`${'['.repeat(depth)}{"\\n":1}${']'.repeat(depth)}`)
  for (let n = 0; n < depth; n++) [value] = value as unknown[]
  t.strictSame(value, { '\n': 1 })
})

t.test('long strings are no trouble', async (t) => {
  // Of each length that a mark might have: where each was looked for in turn, 240 kB took 15 s.
  const marks =
    '\ue000'.repeat(1_000_000) + Array.from({ length: 200_000 }, (_, n) => `\ue000${n}`).join('')
  t.strictSame(parseEscapedKeys(JSON.stringify({ '\n': marks })), { '\n': marks })
  const value = { '\n': 'x\r\n'.repeat(4_000_000), y: '"\\'.repeat(1000) }
  t.ok(JSON.stringify(parseEscapedKeys(JSON.stringify(value))) === JSON.stringify(value))
})

function messageOf(parse: (text: string) => unknown, text: string): string {
  try {
    parse(text)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`${text} was parsed`)
}
