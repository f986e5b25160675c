import t from 'tap'
import type { LorekeepError } from '../../src/errors.js'
import { locateFlaw } from '../../src/http/json-place.js'
import { countKeys, survey } from '../../src/http/json-scan.js'
import { Random, pickSeed } from '../fixtures/random.js'

function flawOf(text: string): LorekeepError | undefined {
  try {
    locateFlaw(Buffer.from(text), 0)
    return undefined
  } catch (error) {
    return error as LorekeepError
  }
}

t.test('a flaw is told with its byte and its path', async (t) => {
  const cases = [
    ["{'a':1}", 1, undefined],
    ['{a:1}', 1, undefined],
    ['{"a":1,}', 7, undefined],
    ['{"a":[1,]}', 8, 'a[1]'],
    ['{"a":[1 2]}', 8, 'a'],
    ['{"a":{"b":01}}', 11, 'a'],
    ['{"a":{"b":-}}', 11, 'a.b'],
    ['{"a":1.}', 7, 'a'],
    ['{"a":1e}', 7, 'a'],
    ['{"a":.5}', 5, 'a'],
    ['{"a":+1}', 5, 'a'],
    ['{"a":NaN}', 5, 'a'],
    ['{"a":undefined}', 5, 'a'],
    ['{"a":“x”}', 5, 'a'],
    ['{"a":"x\ny"}', 7, 'a'],
    ['{"a":"x\u001fy"}', 7, 'a'],
    ['{"a":"\\x"}', 7, 'a'],
    ['{"a":"\\u12g4"}', 10, 'a'],
    ['{"ü":"ü" 1}', 11, undefined],
    ['{} {}', 3, undefined],
    ['{"a" 1}', 5, 'a'],
    ['{"a":1 /* no */}', 7, undefined],
    ['{"a":\u00a01}', 5, 'a'],
  ] as const
  for (const [text, byteOffset, path] of cases) {
    const flaw = flawOf(text)
    t.equal(flaw?.code, 'LK_HTTP_JSON', text)
    t.match(flaw?.details, { byteOffset, errors: [{ path: path ?? '' }] }, text)
  }
})

const seed = pickSeed()
t.test(
  `it refuses what JSON.parse refuses, and what names a key twice (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    const alphabet = '{}[]:,"\\ \n\t\u0001-+.eE0159truefalsnabü/\u00a0'
    let flaws = 0
    let twice = 0
    let fine = 0
    for (let round = 0; round < 20_000; round++) {
      const text = mutate(random, randomText(random, 4), alphabet)
      const bytes = Buffer.from(text)
      const flaw = flawOf(text)
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch {
        flaws++
        if (flaw === undefined) t.fail(`JSON.parse refuses ${text}`)
        // What comes before the flaw could have gone on.
        const at = Number(flaw?.details['byteOffset'])
        const before = flawOf(bytes.toString('utf8', 0, at))
        if (before !== undefined && before.details['byteOffset'] !== at) t.fail(`${at} in ${text}`)
        continue
      }
      const keys = typeof value === 'object' && value !== null ? countKeys(value, 200) : 0
      const isTwice = keys !== survey(bytes, 0, 200).keys
      if (isTwice) twice++
      else fine++
      if ((flaw !== undefined) !== isTwice) t.fail(`${isTwice} of ${text}`)
    }
    t.ok(
      flaws > 1_000 && twice > 200 && fine > 1_000,
      `${flaws} flaws, ${twice} twice, ${fine} fine`,
    )
  },
)

/** JSON with few keys, so that some come twice, and some white space. */
function randomText(random: Random, depth: number): string {
  const space = () => random.pick(['', '', '', ' ', '\n\t'])
  const members = (make: () => string) =>
    Array.from({ length: random.below(4) }, () => space() + make() + space()).join(',')
  switch (depth === 0 ? random.below(4) : random.below(8)) {
    case 0:
      return random.pick(['0', '-1.5', '12e3', '1E-2', '0.0', '-0', '1e400'])
    case 1:
      return random.pick(['true', 'false', 'null'])
    case 2:
      return JSON.stringify(random.pick(['', 'a', 'ü"', '\n', '\ud800', 'a:b', '\\']))
    case 3:
      return random.pick(['"\\u0061"', '"\\/"', '"\\ud83d"', '"{["'])
    case 4:
    case 5:
      return `[${members(() => randomText(random, depth - 1))}]`
    default: {
      const key = () => random.pick(['"a"', '"b"', '"\\u0061"', '"__proto__"', '"c:d"', '"e"'])
      return `{${members(() => `${key()}${space()}:${randomText(random, depth - 1)}`)}}`
    }
  }
}

function mutate(random: Random, text: string, alphabet: string): string {
  for (let changes = random.below(3); changes > 0; changes--) {
    const at = random.below(text.length + 1)
    const removed = random.below(2)
    const added = random.chance(0.6) ? random.pick([...alphabet]) : ''
    text = text.slice(0, at) + added + text.slice(at + removed)
  }
  return text
}
