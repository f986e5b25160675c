import t from 'tap'
import { EntryPage, sortEntries } from '../../../src/objects/engine/entries.js'
import { tableSpan } from '../../../src/objects/engine/ref.js'
import { orderOf } from '../../../src/radix-sort.js'
import { compareScalars, type Scalar } from '../../../src/objects/values/values.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()

t.test(
  `numbers are ordered as by comparison, equal ones in their places (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    for (let round = 0; round < 1000; round++) {
      const numbers = Float64Array.from({ length: 1 + random.below(300) }, () =>
        random.pick([0, -0, random.below(10) - 5, (random.next() - 0.5) * 10 ** random.below(300)]),
      )
      const expected = Array.from(numbers.keys()).sort(
        (a, b) => (numbers[a] as number) - (numbers[b] as number) || a - b,
      )
      const order = [...orderOf(numbers)]
      if (String(order) !== String(expected)) t.strictSame(order, expected, `round ${round}`)
    }
    t.pass('1000 orders')
  },
)

t.test('references come back, however far apart, and take four bytes where they can', (t) => {
  const most = Number.MAX_SAFE_INTEGER
  for (const [refs, perEntry] of [
    [[], 0],
    [[5], 0],
    [Array.from({ length: 1000 }, (_, n) => ((n * 7919) % 1000) * tableSpan + 3), 4],
    [Array.from({ length: 1000 }, (_, n) => most - (1000 - n) * tableSpan), 4],
    [Array.from({ length: 1000 }, (_, n) => n * (tableSpan + 1)), 4],
    [[0, (2 ** 31 - 1) * tableSpan, 5 * tableSpan], 4],
    [[0, 2 ** 31 * tableSpan], 8],
    [[3, most, 17, 2 ** 32], 8],
  ] as const) {
    const entries = { keys: refs.map(() => 'same'), refs: Float64Array.from(refs) }
    const bytes = EntryPage.encode(entries)
    t.strictSame([...EntryPage.decode(bytes).refs], refs)
    t.ok(bytes.length - refs.length * perEntry < 300, `${refs.length}: ${bytes.length} bytes`)
  }
  t.end()
})

t.test(
  `a bound stands behind all that is less, in memory and read again (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    for (let round = 0; round < 1000; round++) {
      const isNumeric = random.chance(0.6)
      const domain = random.pick([8, 1000])
      const isFar = random.chance(0.2)
      const key = (): Scalar =>
        isFar
          ? random.pick([-1, 0, 1]) * random.pick([Number.MAX_VALUE, 1.5e308, 1e308, 1])
          : isNumeric
            ? Math.floor(random.next() ** 3 * domain)
            : random.pick([null, `s${random.below(domain)}`, random.below(5), random.chance(0.5)])
      const keys = Array.from({ length: 1 + random.below(80) }, key)
      const entries = sortEntries(
        keys,
        keys.map((_, n) => n + 1),
      )
      const pages = [new EntryPage(entries), EntryPage.decode(EntryPage.encode(entries))]
      for (let query = 0; query < 10; query++) {
        const [bound, ref] = [key(), random.pick([-Infinity, Infinity, random.below(90)])]
        let less = 0
        for (let n = 0; n < keys.length; n++) {
          const order = compareScalars(entries.keys[n] as Scalar, bound)
          if (order < 0 || (order === 0 && (entries.refs[n] as number) < ref)) less++
        }
        for (const page of pages) {
          if (page.lowerBound(bound, ref) !== less) t.equal(page.lowerBound(bound, ref), less)
        }
      }
    }
    t.pass('20,000 bounds')
  },
)
