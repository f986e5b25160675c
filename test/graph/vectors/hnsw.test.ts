import t from 'tap'
import { GraphBuilder } from '../../../src/graph/vectors/graph-builder.js'
import { linkVectors } from '../../../src/graph/vectors/hnsw.js'
import { readHeader } from '../../../src/graph/vectors/links.js'
import { VectorMemory } from '../../../src/graph/vectors/memory.js'
import { pack } from '../../../src/graph/vectors/packed.js'
import { nearest } from '../../../src/graph/vectors/nearest.js'
import { Walk } from '../../../src/graph/vectors/walk.js'
import type { NearEntity } from '../../../src/graph/types.js'
import type { VectorSet } from '../../../src/graph/vectors/types.js'
import type { Vector } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { clusters, cosine, expected, linkSet, makeSet, noise, termOf } from './sets.js'

const seed = pickSeed()

const memory = new VectorMemory(64 * 1024 * 1024)

function ask(set: VectorSet, query: Vector, k: number, exact = false, from = memory) {
  return nearest([set], query, { k, exact, memory: from, term: termOf })
}

const link = linkSet

function recallOf(found: readonly NearEntity[], wanted: readonly NearEntity[]): number {
  const names = new Set(found.map(({ entity }) => entity.v))
  const common = wanted.filter(({ entity }) => names.has(entity.v)).length
  return common === wanted.length ? 1 : common / wanted.length
}

async function meanRecall(set: VectorSet, queries: readonly Vector[], k: number): Promise<number> {
  let sum = 0
  for (const query of queries) {
    sum += recallOf(await ask(set, query, k), await ask(set, query, k, true))
  }
  return sum / queries.length
}

t.test(`links lead to the nearest, and are the same each time (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const next = clusters(random, 48, 60)
  const set = makeSet({ dimensions: 48, vectors: Array.from({ length: 5000 }, next) })
  t.equal(await link(set), true)
  const again = await linkVectors(set, {})
  t.equal(again.bytes, set.links)
  t.ok(set.linked.every((block, n) => Buffer.compare(block, pack(again.block(n))) === 0))

  const queries = Array.from({ length: 100 }, next)
  const ten = await meanRecall(set, queries, 10)
  const fifty = await meanRecall(set, queries, 50)
  t.comment(`recall@10 ${ten}, recall@50 ${fifty}`)
  t.ok(ten >= 0.95, 'recall@10')
  t.ok(fifty >= 0.95, 'recall@50')

  for (const query of queries.slice(0, 20)) {
    const exact = new Map((await ask(set, query, 50, true)).map((e) => [e.entity.v, e.score]))
    for (const { entity, score } of await ask(set, query, 10)) {
      if (exact.has(entity.v)) t.equal(score, exact.get(entity.v), 'the score is the exact one')
    }
  }
})

t.test(`what is far from all vectors is found as well (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const next = clusters(random, 48, 60)
  const set = makeSet({ dimensions: 48, vectors: Array.from({ length: 12_000 }, next) })
  t.equal(await link(set), true)
  const sum = (one: Float32Array, other: Float32Array) =>
    one.map((c, i) => c + (other[i] as number))
  const many = (make: () => Float32Array) => Array.from({ length: 100 }, make)
  for (const [name, queries] of Object.entries({
    'between two': many(() => sum(next(), next())),
    'beside a cluster': many(() => sum(next(), noise(random, 48))),
    nowhere: many(() => noise(random, 48)),
  })) {
    const recall = await meanRecall(set, queries, 10)
    t.ok(recall >= 0.93, `${name}: ${recall}`)
  }
})

t.test(`only what is far from all vectors is looked for further (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const next = clusters(random, 48, 60)
  const set = makeSet({ dimensions: 48, vectors: Array.from({ length: 12_000 }, next) })
  t.equal(await link(set), true)
  const widened = t.capture(Walk.prototype, 'widen', Walk.prototype.widen)
  const timesOf = async (make: () => Float32Array) => {
    for (let n = 0; n < 100; n++) await ask(set, make(), 10)
    return widened().length
  }
  const [like, far] = [await timesOf(next), await timesOf(() => noise(random, 48))]
  t.ok(like <= 30, `${like} of 100 like the vectors`)
  t.ok(far >= 50, `${far} of 100 in any direction`)
})

t.test('links are followed, and not where all vectors have to be compared', async (t) => {
  const random = new Random(3)
  const next = clusters(random, 16, 30)
  const set = makeSet({ dimensions: 16, vectors: Array.from({ length: 3000 }, next) })
  await link(set)
  let loads = 0
  const counting = (part: Partial<VectorSet>): VectorSet => ({
    ...set,
    id: `counting ${loads}`,
    linksBlock: (n) => {
      loads++
      return set.linksBlock(n)
    },
    ...part,
  })
  const query = next()
  const loadsOf = async (part: Partial<VectorSet>, k: number, exact = false) => {
    loads = 0
    const asked = counting(part)
    t.equal((await ask(asked, query, k, exact)).length, k)
    memory.forget(asked.id)
    return loads
  }
  t.equal(await loadsOf({}, 10), set.linked.length)
  t.equal(await loadsOf({}, 10, true), 0)
  t.equal(await loadsOf({}, 1000), 0)
  const half = Uint8Array.from({ length: set.count }, (_, n) => n % 2)
  t.equal(await loadsOf({ accepts: half }, 10), set.linked.length)
  const few = Uint8Array.from({ length: set.count }, (_, n) => Number(n % 60 === 0))
  t.equal(await loadsOf({ accepts: few }, 10), 0)
})

t.test(`with a filter the nearest of those that pass are found (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const next = clusters(random, 48, 60)
  const vectors = Array.from({ length: 6003 }, next)
  const set = makeSet({ dimensions: 48, vectors, entities: vectors.map((_, n) => n >> 1) })
  t.equal(await link(set), true)
  const queries = Array.from({ length: 40 }, next)
  for (const part of [0.9, 0.5, 0.2, 0.05, 0.01, 0.001, 0]) {
    // At any byte, and of any length.
    const accepts = new Uint8Array(vectors.length + 3).subarray(3)
    accepts.set(vectors.map(() => Number(random.chance(part))))
    const filtered = { ...set, accepts }
    for (const k of [1, 10, 40]) {
      let found = 0
      let wanted = 0
      for (const query of queries) {
        const exact = await ask(filtered, query, k, true)
        const near = await ask(filtered, query, k)
        t.equal(near.length, exact.length)
        found += exact.length * recallOf(near, exact)
        wanted += exact.length
      }
      if (wanted > 0) t.ok(found / wanted >= 0.95, `${part}, ${k}: ${found / wanted}`)
    }
  }
  // What passes is nowhere near.
  const far = next()
  const scores = vectors.map((vector) => cosine(vector, far))
  const [least = 0] = [...scores].sort((a, b) => a - b).slice(2000)
  const accepts = Uint8Array.from(scores, (score) => Number(score < least))
  const filtered = { ...set, accepts }
  const exact = await ask(filtered, far, 10, true)
  t.ok(recallOf(await ask(filtered, far, 10), exact) >= 0.9)
})

t.test(`what passes is found where all that is near does not (SEED=${seed})`, async (t) => {
  const random = new Random(seed + 7)
  const centers = Array.from({ length: 60 }, () => noise(random, 64))
  const near = (n: number) => {
    const center = centers[n % centers.length] as Float32Array
    return noise(random, 64).map((x, i) => 0.6 * x + (center[i] as number))
  }
  const vectors = Array.from({ length: 12_000 }, (_, n) => near(n))
  const set = makeSet({ dimensions: 64, vectors })
  t.equal(await link(set), true)
  // Clusters pass as wholes, as do things of one type.
  const filtered = { ...set, accepts: Uint8Array.from(vectors, (_, n) => n % 2) }
  for (const [first, name] of ['does not pass', 'passes'].entries()) {
    const queries = Array.from({ length: 30 }, (_, n) => near(2 * n + first))
    const recall = await meanRecall(filtered, queries, 10)
    t.ok(recall >= 0.95, `a cluster that ${name}: ${recall}`)
  }
})

t.test('vectors that are spread like noise are all compared', async (t) => {
  const random = new Random(4)
  const vectors = Array.from({ length: 2000 }, () => noise(random, 200))
  const set = makeSet({ dimensions: 200, vectors })
  t.equal(await link(set), false)
  t.ok(set.links < 1000)
  t.equal(await meanRecall(set, [noise(random, 200)], 10), 1)
})

t.test('equal vectors and zeros do not cut links off', async (t) => {
  const random = new Random(7)
  const next = clusters(random, 24, 40)
  const equal = next()
  const others = Array.from({ length: 4000 }, next)
  const vectors = [
    ...others.slice(0, 2000),
    ...Array.from({ length: 10_000 }, () => equal),
    ...Array.from({ length: 500 }, () => new Float32Array(24)),
    ...others.slice(2000),
  ]
  const made = { dimensions: 24, vectors }
  const set = makeSet(made)
  t.equal(await link(set), true)
  t.ok((await meanRecall(set, Array.from({ length: 40 }, next), 10)) >= 0.95)

  // All ten thousand are as near, and the first by name are found.
  const wanted = expected([made], equal, 20).map(({ entity }) => entity)
  t.strictSame(
    (await ask(set, equal, 20)).map(({ entity }) => entity),
    wanted,
  )
  // They do not all wait to be named, though all of them are in memory.
  let waiting = 0
  let most = 0
  const counted: VectorSet = { ...set, entity: (index) => (waiting++, set.entity(index)) }
  const term = (id: number) => {
    most = Math.max(most, waiting)
    waiting = 0
    return termOf(id)
  }
  await nearest([counted], equal, { k: 20, memory, term })
  t.ok(most < 1000, `${most} wait at once`)

  // Nothing is nearer than anything else to what points nowhere.
  const nowhere = new Float32Array(24)
  t.strictSame(
    (await ask(set, nowhere, 20)).map(({ entity }) => entity),
    expected([made], nowhere, 20).map(({ entity }) => entity),
  )
})

t.test('groups of vectors far from all others are found', async (t) => {
  const random = new Random(8)
  const next = clusters(random, 32, 100, 0.02)
  // In the order of their groups, as texts that are indexed one after the other come.
  const groups = Array.from({ length: 40 }, () => clusters(random, 32, 1, 0.02))
  const vectors = groups.flatMap((of) => Array.from({ length: 100 }, of))
  const set = makeSet({
    dimensions: 32,
    vectors: [...vectors, ...Array.from({ length: 400 }, next)],
  })
  if (!(await link(set))) t.comment('all are compared')
  const queries = groups.map((of) => of())
  t.ok((await meanRecall(set, queries, 10)) >= 0.95)
})

t.test('an entity with many vectors takes one place', async (t) => {
  const random = new Random(9)
  const next = clusters(random, 24, 40)
  const vectors = Array.from({ length: 4000 }, next)
  const set = makeSet({ dimensions: 24, vectors, entities: vectors.map((_, n) => n % 131) })
  t.equal(await link(set), true)
  for (let round = 0; round < 10; round++) {
    const query = next()
    const found = await ask(set, query, 10)
    t.equal(new Set(found.map(({ entity }) => entity.v)).size, 10)
    t.ok(recallOf(found, await ask(set, query, 10, true)) >= 0.8)
  }
})

t.test('questions side by side in little memory find the same', async (t) => {
  const random = new Random(10)
  const next = clusters(random, 128, 40)
  const sets = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const set = makeSet({ dimensions: 128, vectors: Array.from({ length: 4000 }, next) })
      t.equal(await link(set), true)
      return set
    }),
  )
  const small = new VectorMemory(0)
  const queries = Array.from({ length: 12 }, next)
  const answer = (query: Vector, from: VectorMemory) =>
    nearest(sets, query, { k: 5, memory: from, term: termOf, exact: true })
  const wanted = await Promise.all(queries.map((query) => answer(query, memory)))
  const found = await Promise.all(queries.map((query) => answer(query, small)))
  t.strictSame(found, wanted)

  // By links as long as they fit, and they do not always.
  for (const set of sets) {
    const near = await Promise.all(queries.map((query) => ask(set, query, 10, false, small)))
    const exact = await Promise.all(queries.map((query) => ask(set, query, 10, true)))
    const recalls = near.map((results, n) => recallOf(results, exact[n] ?? []))
    t.ok(recalls.reduce((a, b) => a + b) / recalls.length >= 0.95)
  }
})

t.test('linking ends where its signal says so, and tells how far it is', async (t) => {
  const random = new Random(11)
  const next = clusters(random, 16, 30)
  const set = makeSet({ dimensions: 16, vectors: Array.from({ length: 3000 }, next) })
  const stop = new AbortController()
  const seen: number[] = []
  const onProgress = (done: number, total: number) => {
    seen.push(done)
    t.equal(total, 3000)
    if (done === 2000) stop.abort(new Error('enough'))
  }
  await t.rejects(linkVectors(set, { signal: stop.signal, onProgress }), { message: 'enough' })
  t.strictSame(seen, [1000, 2000])
})

t.test('links of other vectors are refused', async (t) => {
  const random = new Random(12)
  const next = clusters(random, 3, 30)
  const set = makeSet({ dimensions: 3, vectors: Array.from({ length: 1200 }, next) })
  t.equal(await link(set), true)
  const fewer = makeSet({ dimensions: 3, vectors: Array.from({ length: 1199 }, next) })
  const [header = new Uint8Array(0), ...rest] = set.linked
  const refused = async (linked: Uint8Array[], links = set.links) => {
    const wrong = { ...set, id: `wrong ${linked.length} ${links}`, linked, links }
    await t.rejects(ask(wrong, next(), 3), { code: 'LK_STORAGE_CORRUPT' })
    memory.forget(wrong.id)
  }
  fewer.links = set.links
  fewer.linked = set.linked
  await t.rejects(ask(fewer, next(), 3), { code: 'LK_STORAGE_CORRUPT' })
  await refused([header])
  await refused([new Uint8Array(64), ...rest])
  await refused([header.subarray(0, header.length - 4), ...rest])
  await refused([header, ...rest], set.links - 1)
  await refused([header, ...rest.map((block) => block.subarray(0, block.length - 1))])
  await refused([header, ...rest.map((block) => new Uint8Array(block.length + 16))])
})

t.test(`damage that no length tells harms nothing else (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const next = clusters(random, 16, 30)
  const set = makeSet({ dimensions: 16, vectors: Array.from({ length: 5000 }, next) })
  t.equal(await link(set), true)
  const other = makeSet({ dimensions: 16, vectors: Array.from({ length: 1000 }, next) })
  const queries = Array.from({ length: 10 }, next)
  const exact = (of: VectorSet) => Promise.all(queries.map((query) => ask(of, query, 3, true)))
  const wanted = [await exact(set), await exact(other)]
  for (let round = 0; round < 10; round++) {
    const [header = new Uint8Array(0), ...rest] = set.linked
    const linked = rest.map((block) => {
      const damaged = Uint8Array.from(block)
      for (let n = 0; n < damaged.length; n++) {
        if (random.chance(0.3)) damaged[n] = random.below(256)
      }
      return damaged
    })
    const wrong = { ...set, id: `damaged ${round}`, linked: [header, ...linked] }
    for (const query of queries) await ask(wrong, query, 3)
    memory.forget(wrong.id)
  }
  t.strictSame([await exact(set), await exact(other)], wanted)
})

t.test('a few vectors, or none, need no links', async (t) => {
  for (const count of [0, 1, 64, 65, 100]) {
    const vectors = Array.from({ length: count }, (_, n) => [n, 1])
    const set = makeSet({ dimensions: 2, vectors })
    await link(set)
    t.equal((await ask(set, [1, 0], 3)).length, Math.min(3, count))
  }
})

t.test('links that went missing after they were seen are an error', async (t) => {
  const next = clusters(new Random(5), 3, 30)
  const set = makeSet({ dimensions: 3, vectors: Array.from({ length: 1200 }, next) })
  t.equal(await link(set), true)
  const links = set.linked
  const other = new VectorMemory(16 * 1024 * 1024)
  other.headers.set(set.id, await readHeader(set))
  set.linked = []
  await t.rejects(ask(set, next(), 3, false, other), { code: 'LK_STORAGE_CORRUPT' })
  set.linked = links
  t.equal((await ask(set, next(), 3, false, other)).length, 3)
})

t.test(`vectors of one digest are compared with a few of them (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const [count, dimensions] = [1000, 8]
  const vectors = new Float32Array(count * dimensions)
  for (let n = 0; n < count; n++) {
    const vector = vectors.subarray(n * dimensions, (n + 1) * dimensions)
    do {
      vector.set(noise(random, dimensions))
      completeTo(0x1234_5678, vector)
      // Nothing that would change its length, or is none.
    } while (!(Math.abs(vector[dimensions - 1] as number) < 1e-6))
  }
  const bytes = Buffer.from(vectors.buffer)
  const empty = makeSet({ dimensions, vectors: [] })
  const set = { ...empty, count, block: () => Promise.resolve(pack(bytes)) }
  let compared = 0
  const { equals } = GraphBuilder.prototype
  GraphBuilder.prototype.equals = function (a, b) {
    compared++
    return equals.call(this, a, b)
  }
  t.teardown(() => (GraphBuilder.prototype.equals = equals))
  await link(set)
  t.ok(compared > 64 * 900 && compared <= 64 * count, `${compared} comparisons`)
  t.equal((await ask(set, vectors.subarray(0, dimensions), 10)).length, 10)
})

/** Writes the last component so that the digest of the vector, as links have it, is that one. */
function completeTo(digest: number, vector: Float32Array): void {
  const words = new Uint32Array(vector.buffer, vector.byteOffset, vector.length)
  let hash = 0
  for (const word of words.subarray(0, -1)) {
    hash = Math.imul(hash ^ word, 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  const last = digest ^ (digest >>> 15) ^ (digest >>> 30)
  // The inverse of the factor, modulo 2^32.
  words[words.length - 1] = hash ^ Math.imul(last, 0x0e8b_2f51)
}
