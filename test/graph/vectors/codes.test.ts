import t from 'tap'
import { codeBytes, codeMargin, encodeInto, queryInto } from '../../../src/graph/vectors/codes.js'
import { normalizeInto } from '../../../src/graph/vectors/normalized.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { noise } from './sets.js'

const seed = pickSeed()

function unit(vector: Float32Array): Float32Array {
  const own = new Float32Array(vector.length)
  normalizeInto(Float64Array.from(vector), vector.length, own, 0)
  return own
}

const product = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, x, n) => sum + x * (b[n] ?? NaN), 0)

t.test(`products by codes are those of the vectors, but for little (SEED=${seed})`, (t) => {
  const random = new Random(seed)
  for (const dimensions of [1, 2, 3, 15, 16, 17, 47, 48, 49, 384, 1000]) {
    const codes = new Int8Array(codeBytes(dimensions))
    const query = new Int16Array(codes.length)
    for (let round = 0; round < 50; round++) {
      const [a, b] = [unit(noise(random, dimensions)), unit(noise(random, dimensions))]
      const factor = encodeInto(a, 0, dimensions, codes, 0)
      const scale = queryInto(b, query)
      const difference = Math.abs(product(codes, query) * factor * scale - product(a, b))
      t.ok(difference <= codeMargin(dimensions, factor), `${dimensions}: ${difference}`)
    }
  }
  t.end()
})

t.test('no sum leaves 32 bits, whatever the vectors', (t) => {
  for (const dimensions of [1, 47, 48, 384, 4096, 32_768]) {
    const codes = new Int8Array(codeBytes(dimensions))
    const query = new Int16Array(codes.length)
    const equal = unit(new Float32Array(dimensions).fill(1))
    encodeInto(equal, 0, dimensions, codes, 0)
    queryInto(equal, query)
    t.ok(product(codes, query) < 2 ** 31)
    // That it is the whole range is what makes the query exact.
    t.ok(product(codes, query) > 2 ** 20)
  }
  t.end()
})

t.test('zeros stay zeros', (t) => {
  const vector = new Float32Array(100)
  vector[7] = 1
  const codes = new Int8Array(codeBytes(100)).fill(9)
  t.equal(encodeInto(vector, 0, 100, codes, 0), Math.fround(1) / 127)
  t.strictSame(
    [...codes.entries()].filter(([, code]) => code !== 0),
    [[7, 127]],
  )
  t.equal(encodeInto(new Float32Array(100), 0, 100, codes, 0), 0)
  t.ok(codes.every((code) => code === 0))
  const query = new Int16Array(codes.length).fill(9)
  t.equal(queryInto(new Float32Array(100), query), 0)
  t.ok(query.every((code) => code === 0))
  t.end()
})
