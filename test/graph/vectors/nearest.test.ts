import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { VectorMemory } from '../../../src/graph/vectors/memory.js'
import { Miss } from '../../../src/graph/miss.js'
import { nearest } from '../../../src/graph/vectors/nearest.js'
import type { VectorSet } from '../../../src/graph/vectors/types.js'
import type { Vector } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { cosine, expected, makeSet, noise, termOf, type TestSet } from './sets.js'

const seed = pickSeed()

const memory = new VectorMemory(64 * 1024 * 1024)

async function ask(sets: readonly VectorSet[], query: Vector, k: number, from = memory) {
  const found = await nearest(sets, query, { k, memory: from, term: termOf })
  return found.map(({ score, ...rest }) => ({ ...rest, score: Math.round(score * 1e6) / 1e6 + 0 }))
}

/** Sets of small whole numbers: most of what can be equal is. */
function tied(random: Random): { sets: TestSet[]; query: number[] } {
  const dimensions = 1 + random.below(4)
  const entities = 1 + random.below(30)
  const sets = Array.from({ length: random.below(4) }, (_, n) => {
    const length = random.chance(0.2) ? dimensions + 1 : dimensions
    const vectors = Array.from({ length: random.below(300) }, () =>
      Array.from({ length }, () => random.below(3) - 1),
    )
    return {
      core: `core ${n}`,
      dimensions: length,
      vectors,
      entities: vectors.map(() => random.below(entities)),
      ...(random.chance(0.4) && {
        accepts: Uint8Array.from(vectors, () => Number(random.chance(0.3))),
      }),
    }
  })
  return { sets, query: Array.from({ length: dimensions }, () => random.below(3) - 1) }
}

t.test(`nearest is what brute force finds, ties and zeros too (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 300; round++) {
    const { sets, query } = tied(random)
    const k = random.below(35)
    t.strictSame(await ask(sets.map(makeSet), query, k), expected(sets, query, k), `round ${round}`)
  }
})

t.test(`nearest finds the best of each entity in any dimension (SEED=${seed})`, async (t) => {
  const random = new Random(seed + 1)
  for (const dimensions of [1, 2, 3, 7, 15, 16, 17, 33, 384, 65_536]) {
    const count = dimensions > 1000 ? 20 : 1500
    const vectors = Array.from({ length: count }, () => noise(random, dimensions))
    const set = { dimensions, vectors, entities: vectors.map((_, n) => n >> 2) }
    const query = noise(random, dimensions)
    const found = await ask([makeSet(set)], query, 20)
    const wanted = expected([set], query, 20)
    t.equal(found.length, wanted.length)
    t.equal(new Set(found.map(({ entity }) => entity.v)).size, found.length)
    for (const [n, { score, entity }] of found.entries()) {
      t.ok(Math.abs(score - (wanted[n]?.score ?? NaN)) < 3e-6, `${dimensions}: score ${n}`)
      const own = vectors.filter((_, i) => termOf(i >> 2).v === entity.v)
      const best = Math.max(...own.map((vector) => cosine(query, vector)))
      t.ok(Math.abs(score - best) < 3e-6, `${dimensions}: the best vector of its entity`)
    }
  }
})

t.test('nearest compares a vector that is longer than a block', async (t) => {
  const dimensions = 300_000
  const vector = (at: number) =>
    Float32Array.from({ length: dimensions }, (_, n) => +(n % 7 === at))
  const set = { dimensions, vectors: [vector(1), vector(2), vector(3)] }
  const found = await ask([makeSet(set)], vector(2), 2)
  t.strictSame(found[0], { entity: termOf(1), core: 'c', score: 1 })
  t.equal(found[1]?.score, 0)
})

t.test(`nearest streams vectors that memory has no room for (SEED=${seed})`, async (t) => {
  const random = new Random(seed + 2)
  const small = new VectorMemory(1)
  const vectors = Array.from({ length: 40 }, () => noise(random, 65_536))
  const sets = [
    { core: 'a', dimensions: 65_536, vectors },
    { core: 'b', dimensions: 65_536, vectors: vectors.slice(0, 10) },
  ]
  const made = sets.map(makeSet)
  const [first] = made
  t.ok((first?.count ?? 0) * 65_536 * 4 > small.capacity)
  const queries = vectors.slice(3, 9)
  const answers = await Promise.all(queries.map((query) => ask(made, query, 3, small)))
  for (const [n, answer] of answers.entries()) {
    t.strictSame(answer[0], { entity: termOf(n + 3), core: 'a', score: 1 })
    t.equal(answer.length, 3)
  }
  t.ok(small.kernel.memory.buffer.byteLength <= small.capacity + 3 * 1024 * 1024)
})

t.test('the same vectors have the same score wherever they lie', async (t) => {
  const random = new Random(5)
  const vector = noise(random, 37)
  const others = Array.from({ length: 5000 }, () => noise(random, 37))
  const vectors = [...others.slice(0, 1777), vector, ...others.slice(1777), vector]
  const sets = [
    makeSet({ core: 'x', dimensions: 37, vectors }),
    makeSet({ core: 'y', dimensions: 37, vectors: [vector], entities: [9999] }),
  ]
  const found = await nearest(sets, noise(random, 37), { k: 5002, memory, term: termOf })
  const equal = found.filter(({ entity }) =>
    [1777, 5001, 9999].some((id) => termOf(id).v === entity.v),
  )
  t.equal(equal.length, 3)
  t.equal(new Set(equal.map(({ score }) => score)).size, 1)
})

t.test('scores are between -1 and 1, and opposite vectors are at -1', async (t) => {
  const vector = noise(new Random(6), 384)
  const set = makeSet({ dimensions: 384, vectors: [vector, vector.map((x) => -x)] })
  const found = await nearest([set], vector, { k: 2, memory, term: termOf })
  t.strictSame(
    found.map(({ score }) => score),
    [1, -1],
  )
})

t.test('a set of another dimension is not looked at, nor what is not accepted', async (t) => {
  const other = makeSet({ dimensions: 3, vectors: [[1, 0, 0]] })
  const hidden = makeSet({ dimensions: 2, vectors: [[1, 0]], accepts: new Uint8Array(1) })
  t.strictSame(await ask([other, hidden], [1, 0], 5), [])
  t.equal(other.reads + hidden.reads, 0)
  t.strictSame(await ask([], [1, 0], 5), [])
})

t.test('entities and terms may have to be read first', async (t) => {
  const set = makeSet({ dimensions: 1, vectors: [[1], [1], [-1]] })
  const there = new Set<string>()
  const needing = <T>(name: string, value: T): T => {
    if (there.has(name)) return value
    throw new Miss(() => turn().then(() => void there.add(name)))
  }
  const found = await nearest(
    [{ ...set, entity: (index) => needing(`entity ${index}`, index) }],
    [2],
    { k: 1, memory, term: (id) => needing(`term ${id}`, termOf(id)) },
  )
  t.equal(found.length, 1)
  t.equal(found[0]?.score, 1)
})

t.test('none are none', async (t) => {
  const set = makeSet({ dimensions: 2, vectors: [[1, 0]] })
  t.strictSame(await ask([set], [1, 0], 0), [])
})

t.test('a question ends where its signal says so', async (t) => {
  const set = makeSet({ dimensions: 2, vectors: [[1, 0]] })
  const options = { memory, term: termOf }
  const before = AbortSignal.abort(new Error('before'))
  await t.rejects(nearest([set], [1, 0], { ...options, signal: before }), { message: 'before' })

  const stop = new AbortController()
  const stopping: VectorSet = {
    ...set,
    id: 'stopping',
    block: async (n) => {
      stop.abort(new Error('while reading'))
      return set.block(n)
    },
  }
  const question = nearest([stopping, set], [1, 0], { ...options, signal: stop.signal })
  await t.rejects(question, { message: 'while reading' })
})

t.test(
  'a block that cannot be read fails the question, and is read anew by the next',
  async (t) => {
    const set = makeSet({ dimensions: 2, vectors: [[1, 0]] })
    let isBroken = true
    const failing: VectorSet = {
      ...set,
      id: 'failing',
      block: (n) => (isBroken ? Promise.reject(new Error('disk')) : set.block(n)),
    }
    await t.rejects(ask([failing], [1, 0], 1), { message: 'disk' })
    isBroken = false
    t.equal((await ask([failing], [1, 0], 1)).length, 1)
    const cut: VectorSet = { ...set, id: 'cut', block: () => Promise.resolve(new Uint8Array(7)) }
    await t.rejects(ask([cut], [1, 0], 1), { code: 'LK_STORAGE_CORRUPT' })
  },
)
