import t from 'tap'
import { ColumnReader, ColumnWriter } from '../../../src/objects/engine/columns.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()

const kinds: readonly ((random: Random) => unknown)[] = [
  (random) => random.below(100) - 50,
  (random) => (random.next() - 0.5) * 10 ** random.below(300),
  (random) => random.pick(['', 'a', 'käse', '\u{1f600}', 'x'.repeat(300)]),
  (random) => 'é'.repeat(random.below(100)),
  (random) => random.pick(['cat', 'dog']),
  (random) => random.chance(0.5),
  (random) => random.pick([[1], { a: null }, 'x', 3, '\u0000']),
  () => null,
  () => undefined,
  () => -0,
]

t.test(`columns give back what was written, whole and row by row (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 2000; round++) {
    const rows = 1 + random.below(60)
    const [kind, other] = [random.pick(kinds), random.pick(kinds)]
    const share = random.pick([0, 0, 0.2])
    const values = Array.from({ length: rows }, () =>
      random.chance(share) ? other(random) : kind(random),
    )
    const writer = new ColumnWriter(rows)
    writer.add('before', [...values].reverse())
    writer.add('values', values)
    const bytes = writer.finish()
    const whole = Array.from(new ColumnReader(bytes).column('values'))
    const reader = new ColumnReader(bytes)
    const single = values.map((_, row) => reader.value('values', row))
    if (!isSame(whole, values)) t.strictSame(whole, values, `round ${round}, whole`)
    if (!isSame(single, values)) t.strictSame(single, values, `round ${round}, by row`)
  }
  t.pass('2000 columns')
})

t.test('few values that come again take a byte each, whatever they are', (t) => {
  for (const [few, most] of [
    [[{ flow: 'default', job: 'a long name of a job' }, { flow: 'default' }], 450],
    [[[0], [0, 1], 'x', 3, null], 700],
    [[undefined, [1], [2]], 700],
  ] as const) {
    const values = Array.from({ length: 256 }, (_, n) => structuredClone(few[n % few.length]))
    const writer = new ColumnWriter(values.length)
    writer.add('values', values)
    const bytes = writer.finish()
    t.ok(bytes.length < most, `${bytes.length} bytes`)
    t.strictSame(Array.from(new ColumnReader(bytes).column('values')), values)
  }
  t.end()
})

t.test('-0 is not 0 where both are beside each other', (t) => {
  for (const values of [
    [0, -0, 0],
    [-0, 0],
    [-0, -0],
    [null, -0, 0],
  ]) {
    const writer = new ColumnWriter(values.length)
    writer.add('values', values)
    const found = Array.from(new ColumnReader(writer.finish()).column('values'))
    t.ok(
      values.every((value, row) => Object.is(found[row], value)),
      found.join(),
    )
  }
  t.end()
})

t.test('a page that is none is damaged data', async (t) => {
  for (const bytes of [Buffer.alloc(0), Buffer.from([9, 0, 0, 0, 1]), Buffer.alloc(64, 0x7b)]) {
    t.throws(() => new ColumnReader(bytes), { code: 'LK_STORAGE_CORRUPT' })
  }
})

/** Undefined is missing, and -0 comes back as 0 beside what is no number. */
function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  const shown = (values: readonly unknown[]) =>
    JSON.stringify(values.map((value) => (value === undefined ? ['missing'] : { value })))
  return shown(a) === shown(b)
}
