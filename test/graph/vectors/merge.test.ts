import t from 'tap'
import type { BlockStorage } from '../../../src/block-writer.js'
import { areFollowed, readHeader } from '../../../src/graph/vectors/links.js'
import { VectorMemory } from '../../../src/graph/vectors/memory.js'
import { mergeVectors, type MergeInput } from '../../../src/graph/vectors/merge.js'
import { nearest } from '../../../src/graph/vectors/nearest.js'
import { storedFile } from '../../../src/graph/vectors/stored-file.js'
import { vectorsPerBlock, type LinkedFile } from '../../../src/graph/vectors/types.js'
import { readVectors } from '../../../src/graph/vectors/vector-question.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { clusters, linkSet, makeSet, noise, termOf } from './sets.js'

const seed = pickSeed()

const memory = new VectorMemory(64 * 1024 * 1024)

class Blocks implements BlockStorage {
  readonly values = new Map<string, Uint8Array>()

  get(key: Uint8Array) {
    const value = this.values.get(Buffer.from(key).toString())
    // At an odd byte, as a database may have it.
    return Promise.resolve(value && Buffer.concat([Buffer.alloc(1), value]).subarray(1))
  }

  write(operations: Parameters<BlockStorage['write']>[0]) {
    for (const operation of operations) {
      if (operation.type !== 'put') continue
      this.values.set(Buffer.from(operation.key).toString(), Uint8Array.from(operation.value))
    }
    return Promise.resolve()
  }
}

let files = 0

async function merge(inputs: readonly MergeInput[], minLinked: number): Promise<LinkedFile> {
  const storage = new Blocks()
  const id = `merged ${files++}`
  const keys = {
    vectorKey: (block: number) => Buffer.from(`vectors ${block}`),
    linksKey: (block: number) => Buffer.from(`links ${block}`),
  }
  const dimensions = inputs[0]?.file.dimensions ?? 0
  const made = await mergeVectors(inputs, { storage, id, dimensions, ...keys }, { minLinked })
  return storedFile(storage, keys, { id, dimensions, ...made })
}

const all = (file: LinkedFile): MergeInput => ({ file, stays: undefined })

async function vectorsOf(file: LinkedFile): Promise<Float32Array[]> {
  const vectors: Float32Array[] = []
  const stride = 4 * file.dimensions
  for (let first = 0; first < file.count; first += vectorsPerBlock(file.dimensions)) {
    const block = await readVectors(file, first / vectorsPerBlock(file.dimensions))
    for (let at = 0; at < block.length; at += stride) {
      vectors.push(new Float32Array(Uint8Array.prototype.slice.call(block, at, at + stride).buffer))
    }
  }
  return vectors
}

async function meanRecall(file: LinkedFile, queries: readonly Float32Array[]): Promise<number> {
  const set = { ...file, core: () => 'c', accepts: undefined, entity: (index: number) => index }
  let found = 0
  for (const query of queries) {
    const ask = (exact: boolean) => nearest([set], query, { k: 10, exact, memory, term: termOf })
    const wanted = new Set((await ask(true)).map(({ entity }) => entity.v))
    found += (await ask(false)).filter(({ entity }) => wanted.has(entity.v)).length
  }
  memory.forget(file.id)
  return found / (10 * queries.length)
}

t.test(`the vectors that stay come in their order, and no others (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  for (const dimensions of [1, 100, 20_000]) {
    const most = dimensions > 1000 ? 6 : 900
    const sets = Array.from({ length: random.below(5) }, () => {
      const vectors = Array.from({ length: random.below(most) }, () => noise(random, dimensions))
      return makeSet({ dimensions, vectors })
    })
    const inputs = sets.map((file) => {
      const part = random.pick([0, 0.05, 0.5, 1])
      const stays = Uint8Array.from({ length: file.count }, () => Number(random.chance(part)))
      return { file, stays: random.chance(0.3) ? undefined : stays }
    })
    const wanted: Float32Array[] = []
    for (const { file, stays } of inputs) {
      wanted.push(...(await vectorsOf(file)).filter((_, n) => stays?.[n] !== 0))
    }
    const merged = await merge(inputs, 1e9)
    t.equal(merged.count, wanted.length)
    t.equal(merged.links, 0)
    t.strictSame(await vectorsOf(merged), wanted)
  }
})

t.test('a file that grew in ten steps is searched as well as one made at once', async (t) => {
  const next = clusters(new Random(21), 48, 60)
  const parts = Array.from({ length: 10 }, () =>
    makeSet({ dimensions: 48, vectors: Array.from({ length: 500 }, next) }),
  )
  let grown = await merge([all(parts[0] as LinkedFile)], 1e9)
  for (const part of parts.slice(1)) grown = await merge([all(grown), all(part)], 1000)
  const whole = await merge(parts.map(all), 1000)
  t.strictSame(await vectorsOf(grown), await vectorsOf(whole))
  t.ok(areFollowed(grown.links))
  t.ok(areFollowed(whole.links))
  const queries = Array.from({ length: 60 }, next)
  t.ok((await meanRecall(whole, queries)) >= 0.96)
  t.ok((await meanRecall(grown, queries)) >= 0.96)
})

t.test('links are mended around vectors that went, until too many did', async (t) => {
  const random = new Random(22)
  const next = clusters(random, 48, 40)
  const set = makeSet({ dimensions: 48, vectors: Array.from({ length: 4000 }, next) })
  t.equal(await linkSet(set), true)
  const queries = Array.from({ length: 60 }, next)
  const without = async (file: LinkedFile, part: number) => {
    const stays = Uint8Array.from({ length: file.count }, () => Number(!random.chance(part)))
    const left = await merge([{ file, stays }], 1000)
    t.equal(
      left.count,
      stays.reduce((a, b) => a + b, 0),
    )
    t.ok(areFollowed(left.links))
    t.ok((await meanRecall(left, queries)) >= 0.96)
    return left
  }
  const fewer = await without(set, 0.1)
  t.equal((await readHeader(fewer)).dropped, 4000 - fewer.count)
  const fewest = await without(fewer, 0.1)
  t.equal((await readHeader(fewest)).dropped, 4000 - fewest.count)
  const anew = await without(fewest, 0.2)
  t.equal((await readHeader(anew)).dropped, 0)
})

t.test('of equal vectors any may go', async (t) => {
  const next = clusters(new Random(23), 24, 30)
  const others = Array.from({ length: 2000 }, next)
  const equal = next()
  const vectors = [...others.slice(0, 500), equal, equal, equal, ...others.slice(500)]
  const set = makeSet({ dimensions: 24, vectors })
  t.equal(await linkSet(set), true)
  for (const gone of [[500], [501], [500, 502]]) {
    const stays = Uint8Array.from(vectors, (_, n) => Number(!gone.includes(n)))
    const left = await merge([{ file: set, stays }], 1000)
    t.ok(areFollowed(left.links))
    const file = { ...left, core: () => 'c', accepts: undefined, entity: (index: number) => index }
    const found = await nearest([file], equal, { k: 5, memory, term: termOf })
    t.equal(found.filter(({ score }) => score === 1).length, 3 - gone.length)
  }
})

t.test('a merge ends where its signal says so, and tells how far it is', async (t) => {
  const next = clusters(new Random(24), 16, 30)
  const file = makeSet({ dimensions: 16, vectors: Array.from({ length: 3000 }, next) })
  const output = {
    storage: new Blocks(),
    id: 'out',
    dimensions: 16,
    vectorKey: (block: number) => Buffer.from(`vectors ${block}`),
    linksKey: (block: number) => Buffer.from(`links ${block}`),
  }
  const stop = new AbortController()
  const seen: number[] = []
  const onProgress = (done: number) => {
    seen.push(done)
    if (done === 2000) stop.abort(new Error('enough'))
  }
  const merging = mergeVectors([all(file)], output, {
    minLinked: 1000,
    signal: stop.signal,
    onProgress,
  })
  await t.rejects(merging, { message: 'enough' })
  t.strictSame(seen, [1000, 2000])
  const before = AbortSignal.abort(new Error('before'))
  await t.rejects(mergeVectors([all(file)], output, { minLinked: 1000, signal: before }), {
    message: 'before',
  })
})
