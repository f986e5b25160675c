import { createHash } from 'node:crypto'
import t from 'tap'
import { hashingEmbedder } from '../../../src/flow/steps/hashing-embedder.js'
import type { HashingEmbedderOptions } from '../../../src/flow/steps/hashing-embedder.js'
import { Random, pickSeed } from '../../fixtures/random.js'

const { signal } = new AbortController()

function vectorsOf(texts: readonly string[], options?: HashingEmbedderOptions): Float64Array[] {
  return hashingEmbedder(options)(texts, { signal }) as Float64Array[]
}

function vectorOf(text: string): Float64Array {
  return vectorsOf([text])[0] as Float64Array
}

function likeness(a: string, b: string): number {
  const [v, w] = [vectorOf(a), vectorOf(b)]
  return v.reduce((sum, component, i) => sum + component * (w[i] as number), 0)
}

const sampleOf = (random: Random, words: number) =>
  Array.from({ length: words }, () => random.below(1e6).toString(36)).join(' ')

t.test('vectors have the dimensions asked for, 384 by default, and length 1', async (t) => {
  const texts = ['The river ran past Hammersmith.', 'a', '水は流れる', '']
  for (const [options, length] of [[{}, 384] as const, [{ dimensions: 7 }, 7] as const]) {
    for (const vector of vectorsOf(texts, options)) {
      t.equal(vector.length, length)
      t.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-3)
    }
  }
  for (const dimensions of [0, 1.5, NaN]) t.throws(() => hashingEmbedder({ dimensions }), TypeError)
})

t.test('vectors are the same bits on every machine and in every version', async (t) => {
  const digest = createHash('sha256')
  const texts = [
    'The river ran past Hammersmith. THE RIVER',
    'Größe, 水は流れる 😀',
    'x'.repeat(50),
  ]
  texts.push(sampleOf(new Random(1), 3000))
  for (const vector of vectorsOf(texts)) digest.update(new Uint8Array(vector.buffer))
  t.equal(digest.digest('hex'), '0eb187230777592df1cfed4eedc6237b03689c2bbae1cd1a68adf79c51a5bf7c')
})

t.test('components have twelve binary digits at most, whatever the dimensions', (t) => {
  const texts = ['The river ran past Hammersmith.', 'a', '', sampleOf(new Random(2), 3000)]
  for (const dimensions of [1, 7, 384, 65_536]) {
    for (const vector of vectorsOf(texts, { dimensions })) {
      const largest = Math.max(...vector.map(Math.abs))
      t.ok(largest > 0)
      const step = 2 ** (Math.floor(Math.log2(largest)) - 11)
      t.ok(vector.every((component) => Number.isInteger(component / step)))
      t.notOk(vector.some((component) => Object.is(component, -0)))
    }
  }
  t.end()
})

t.test('texts that share words, or parts of them, are nearer than others', async (t) => {
  const text = 'The boats went up the river in the morning'
  const shared = likeness(text, 'In the evening a boat came down the river')
  t.ok(shared > likeness(text, 'Parliament is used as a market for dung') + 0.1)
  t.ok(likeness('extraction', 'extractions') > likeness('extraction', 'weather') + 0.3)
  t.ok(likeness('水は流れる', '水は高い') > likeness('水は流れる', '山の上') + 0.1)
  // Pairs: the order of words counts for something.
  t.ok(likeness('old new house', 'house old new') < 0.99)
})

t.test('case, width, punctuation and white space do not count', async (t) => {
  const same = [
    'The old house',
    'THE  OLD\r\nHOUSE!',
    '“the” (old) house…',
    'Ｔｈｅ old\u3000house',
  ]
  const [first, ...others] = vectorsOf(same)
  for (const other of others) t.strictSame(other, first)
})

t.test('a text without words gets the direction of the first axis', async (t) => {
  for (const vector of vectorsOf(['', ' \n', '?! —', '\0'])) {
    t.equal(vector[0], 1)
    t.equal(vector.indexOf(1), vector.findLastIndex(Boolean))
  }
})

t.test('a word that is said again weighs more, but not as much more', async (t) => {
  const [one, nine] = ['tide dock oar', 'tide '.repeat(9) + 'dock oar']
  const [once, often] = [likeness(one, 'tide'), likeness(nine, 'tide')]
  t.ok(often > once)
  t.ok(often < 0.97)
})

const seed = pickSeed()
t.test(`what was embedded before leaves no trace (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  // Long enough for the table of features to grow, more than once.
  const texts = Array.from({ length: 30 }, () => sampleOf(random, random.pick([1, 300, 5000])))
  vectorsOf(texts).forEach((vector, i) => t.strictSame(vector, vectorOf(texts[i] as string)))
})

t.test('features of a long text are all counted', async (t) => {
  const text = sampleOf(new Random(2), 6000)
  t.ok(likeness(text, `${text} ${text}`) > 0.99)
})

t.test('of a long run of combining marks the first ones count', async (t) => {
  // To bring all of them into their order takes the square of their number.
  const marks = '\u0301\u0316'.repeat(10_000)
  const text = (run: string) => `${'river '.repeat(3000)}a${run} tide`
  const [short, long] = vectorsOf([text(marks.slice(0, 64)), text(marks)])
  t.strictSame(long, short)
  // Wherever in a text it is, and in a short one, too.
  for (let place = 0; place < 64; place++) {
    const before = `${'x'.repeat(place)} a`
    const bounded = vectorOf(`${before}${marks.slice(0, 64)} tide`)
    t.strictSame(vectorOf(`${before}${marks.slice(0, 128)} tide`), bounded)
    t.notSame(vectorOf(`${before}${marks.slice(0, 63)} tide`), bounded)
  }
  const far = '\u{1e000}'.repeat(200)
  t.strictSame(vectorOf(`a${far}`), vectorOf(`a${far.slice(0, 128)}`))
})
