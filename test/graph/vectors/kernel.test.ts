import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kernelBytes } from '../../../src/graph/vectors/kernel-bytes.js'
import { createKernel } from '../../../src/graph/vectors/kernel.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { noise } from './sets.js'

const seed = pickSeed()

interface Assembler {
  parseWat(
    name: string,
    source: string,
    features: object,
  ): { toBinary(options: object): { buffer: Uint8Array } }
}

// Not everybody who runs the tests has it; a name the compiler does not look for.
const assembler: string = 'wabt'
const wabt = await import(assembler).then(
  (module: { default: () => Promise<Assembler> }) => module.default(),
  () => undefined,
)
const skip = wabt === undefined && 'the package wabt is not installed'

t.test('the kernel is what its source assembles to', { skip }, (t) => {
  const source = readFileSync(join('src', 'graph', 'vectors', 'kernel.wat'), 'utf8')
  const module = wabt?.parseWat('kernel.wat', source, { simd: true })
  const bytes = module?.toBinary({}).buffer ?? []
  t.equal(Buffer.from(bytes).toString('base64'), kernelBytes)
  t.end()
})

t.test(`products and cosines are those of float64, up to rounding (SEED=${seed})`, (t) => {
  const random = new Random(seed)
  const kernel = createKernel(1 << 20, 1 << 20)
  const { buffer } = kernel.memory
  const [queryAt, numbersAt, tableAt, outAt] = [0, 8192, 12_288, 16_384]
  // Blocks that do not lie one after the other, at addresses that are no multiples of 16.
  const blocks = [100_004, 500_040]
  new Uint32Array(buffer, tableAt, 2).set(blocks)
  for (const dimensions of [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 384, 1023]) {
    const perBlock = 7
    const query = noise(random, dimensions)
    new Float32Array(buffer, queryAt, dimensions).set(query)
    const vectors = Array.from({ length: 2 * perBlock }, () => noise(random, dimensions))
    const addressOf = (n: number) =>
      (blocks[Math.floor(n / perBlock)] ?? NaN) + (n % perBlock) * 4 * dimensions
    vectors.forEach((vector, n) => new Float32Array(buffer, addressOf(n), dimensions).set(vector))
    const wanted = vectors.map((vector) => {
      const sum = (a: Float32Array, b: Float32Array) =>
        a.reduce((total, x, n) => total + x * (b[n] ?? NaN), 0)
      const length = Math.sqrt(sum(vector, vector)) * Math.sqrt(sum(query, query))
      return { product: sum(query, vector), length }
    })
    const isNear = (found: number | undefined, n: number, scale = 1) => {
      const { product, length } = wanted[n] ?? { product: NaN, length: NaN }
      return Math.abs((found ?? NaN) - product / scale) <= 1e-6 * (length / scale)
    }

    const out = new Float32Array(buffer, outAt, 32)
    for (const count of [0, 1, 2, 5, perBlock]) {
      out.fill(NaN)
      kernel.dots(queryAt, addressOf(0), count, dimensions, outAt)
      t.ok(out.subarray(0, count).every((found, n) => isNear(found, n)))
      t.ok(out.subarray(count).every(Number.isNaN))
    }
    const order = random.shuffle(vectors.map((_, n) => n))
    for (const count of [0, 1, 2, 3, 4, 5, 11]) {
      out.fill(NaN)
      new Uint32Array(buffer, numbersAt, 14).set(order)
      kernel.dotsAt(queryAt, numbersAt, count, tableAt, perBlock, dimensions, outAt)
      t.ok(out.subarray(0, count).every((found, n) => isNear(found, order[n] ?? NaN)))
      t.ok(out.subarray(count + 3).every(Number.isNaN), 'at most three more')
    }
    for (const [n, { product, length }] of wanted.entries()) {
      const found = kernel.cosine(queryAt, addressOf(n), dimensions)
      t.ok(Math.abs(found - product / length) < 1e-12)
    }
    const best = Math.max(...wanted.map(({ product }) => product))
    const isAbove = (limit: number) =>
      kernel.anyAbove(queryAt, numbersAt, 14, tableAt, perBlock, dimensions, limit)
    t.equal(isAbove(best - 1e-3 * Math.abs(best)), 1)
    t.equal(isAbove(best + 1e-3 * Math.abs(best)), 0)
  }
  t.end()
})

t.test('the cosine with a vector of zeros is not a number', (t) => {
  const kernel = createKernel(65_536, 65_536)
  t.ok(Number.isNaN(kernel.cosine(0, 4096, 5)))
  t.end()
})
