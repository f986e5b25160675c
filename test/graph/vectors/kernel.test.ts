import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kernelBytes } from '../../../src/graph/vectors/kernel-bytes.js'
import { encodeInto, queryInto } from '../../../src/graph/vectors/codes.js'
import { createKernel } from '../../../src/graph/vectors/kernel.js'
import { factorBefore, Rows, writeLinks } from '../../../src/graph/vectors/rows.js'
import { Walk } from '../../../src/graph/vectors/walk.js'
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
  const module = wabt?.parseWat('kernel.wat', source, { simd: true, bulk_memory: true })
  const bytes = module?.toBinary({}).buffer ?? []
  t.equal(Buffer.from(bytes).toString('base64'), kernelBytes)
  t.end()
})

t.test(`products and cosines are those of float64, up to rounding (SEED=${seed})`, (t) => {
  const random = new Random(seed)
  const kernel = createKernel(1 << 20, 1 << 20)
  const { buffer } = kernel.memory
  // At an address that is no multiple of 16.
  const [queryAt, vectorsAt, outAt] = [0, 100_004, 16_384]
  for (const dimensions of [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 384, 1023]) {
    const query = noise(random, dimensions)
    new Float32Array(buffer, queryAt, dimensions).set(query)
    const vectors = Array.from({ length: 7 }, () => noise(random, dimensions))
    const addressOf = (n: number) => vectorsAt + n * 4 * dimensions
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
    for (const count of [0, 1, 2, 5, 7]) {
      out.fill(NaN)
      kernel.dots(queryAt, addressOf(0), count, dimensions, outAt)
      t.ok(out.subarray(0, count).every((found, n) => isNear(found, n)))
      t.ok(out.subarray(count).every(Number.isNaN))
    }
    for (const [n, { product, length }] of wanted.entries()) {
      const found = kernel.cosine(queryAt, addressOf(n), dimensions)
      t.ok(Math.abs(found - product / length) < 1e-12)
    }
  }
  t.end()
})

t.test('the cosine with a vector of zeros is not a number', (t) => {
  const kernel = createKernel(65_536, 65_536)
  t.ok(Number.isNaN(kernel.cosine(0, 4096, 5)))
  t.end()
})

t.test(`a walk keeps the best by codes, wherever they lie (SEED=${seed})`, (t) => {
  const random = new Random(seed + 1)
  for (const dimensions of [3, 48, 100]) {
    const rows = new Rows(dimensions, 5)
    const kernel = createKernel(1 << 20, 1 << 20)
    const { buffer } = kernel.memory
    const perBlock = 7
    const blocks = [100_016, 500_048]
    new Uint32Array(buffer, 512, 2).set(blocks)
    const room = { frame: 0, query: 1024, numbers: 4096, beam: 8192, visits: 16_384 }
    const walk = new Walk(kernel, room, {
      table: 512,
      perBlock,
      rowBytes: rows.bytes,
      codesAt: rows.codesAt,
      codes: rows.codes,
      links: 5,
      aboveTable: 0,
      abovePerBlock: 1,
      aboveBytes: 0,
      aboveLinks: 0,
      vectors: 14,
      above: 0,
    })
    const vectors = Array.from({ length: 2 * perBlock }, () => noise(random, dimensions))
    const bytes = new Uint8Array(buffer)
    const words = new DataView(buffer)
    const wanted: { node: number; score: number }[] = []
    walk.factor = queryInto(noise(random, dimensions), walk.query)
    for (const [node, vector] of vectors.entries()) {
      const row = (blocks[Math.floor(node / perBlock)] ?? NaN) + (node % perBlock) * rows.bytes
      const codes = new Int8Array(buffer, row + rows.codesAt, rows.codes)
      const factor = encodeInto(vector, 0, dimensions, codes, 0)
      words.setFloat32(row + rows.codesAt - factorBefore, factor, true)
      // A ring: each leads to the two behind it.
      writeLinks(bytes, row, 5, [(node + 1) % 14, (node + 2) % 14], 2)
      const product = codes.reduce((sum, code, n) => sum + code * (walk.query[n] ?? NaN), 0)
      wanted.push({ node, score: product * factor })
    }
    wanted.sort((a, b) => b.score - a.score)
    const found = () => Array.from({ length: walk.size }, (_, n) => walk.node(n))
    for (const width of [1, 3, 14, 20]) {
      const best = wanted.slice(0, width).map(({ node }) => node)
      for (const count of [0, 1, 2, 3, 4, 5, 13, 14]) {
        walk.numbers.set(Array.from({ length: count }, (_, n) => n))
        walk.compareOnly(width)
        walk.compare(count)
        const among = wanted.filter(({ node }) => node < count).slice(0, width)
        t.strictSame(
          found(),
          among.map(({ node }) => node),
        )
      }
      walk.met = 0
      walk.search({ entry: 5, top: 0, vectors: 14 }, width)
      if (width >= 14) {
        t.strictSame(found(), best)
        t.equal(walk.met, 14, 'each is met once')
      }
      t.equal(walk.size, Math.min(width, 14))
    }
  }
  t.end()
})
