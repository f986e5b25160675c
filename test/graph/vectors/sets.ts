// Vectors in memory as the searches take them, and what the searches have to find.

import { LorekeepError } from '../../../src/errors.js'
import type { Grown } from '../../../src/graph/vectors/growing.js'
import { linkVectors } from '../../../src/graph/vectors/hnsw.js'
import { areFollowed } from '../../../src/graph/vectors/links.js'
import { normalizeInto } from '../../../src/graph/vectors/normalized.js'
import { pack } from '../../../src/graph/vectors/packed.js'
import { vectorsPerBlock, type VectorSet } from '../../../src/graph/vectors/types.js'
import type { Term } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

export interface TestSet {
  readonly core?: string
  readonly vectors: readonly (readonly number[] | Float32Array)[]
  readonly dimensions: number
  /** By vector; its own number by default. */
  readonly entities?: readonly number[]
  readonly accepts?: Uint8Array
}

let files = 0

/** Gives a set its approximate index, and says whether searches follow it. */
export async function linkSet(set: MadeSet, grown?: Grown): Promise<boolean> {
  const made = await linkVectors(set, { grown })
  set.links = made.bytes
  set.linked = Array.from({ length: made.blocks }, (_, n) => pack(made.block(n)))
  return areFollowed(set.links)
}

export interface MadeSet extends VectorSet {
  links: number
  /** The blocks of the approximate index, as stored. */
  linked: readonly Uint8Array[]
  /** How many blocks were read. */
  reads: number
}

export function makeSet({ core = 'c', vectors, dimensions, entities, accepts }: TestSet): MadeSet {
  const all = new Float32Array(vectors.length * dimensions)
  vectors.forEach((vector, n) => {
    normalizeInto(Float64Array.from(vector), dimensions, all, n * dimensions)
  })
  const bytes = new Uint8Array(all.buffer)
  const size = vectorsPerBlock(dimensions) * 4 * dimensions
  return {
    id: `file ${files++}`,
    core: () => core,
    dimensions,
    count: vectors.length,
    accepts,
    links: 0,
    linked: [],
    reads: 0,
    block(n) {
      this.reads++
      return Promise.resolve(pack(bytes.subarray(n * size, (n + 1) * size)))
    },
    linksBlock(n) {
      const block = this.linked[n]
      if (block !== undefined) return Promise.resolve(block)
      return Promise.reject(new LorekeepError('LK_STORAGE_CORRUPT', 'a block is missing'))
    },
    entity: (index) => entities?.[index] ?? index,
  }
}

/** Terms whose order is not that of their numbers, literals among them. */
export const termOf = (id: number): Term => ({
  v: `${((id * 7919) % 1000).toString(36)} \u{1F600} ${id >> 1}`,
  e: id % 2 === 0,
})

/** Rounded to what float32 is good for, so that equal cosines are equal. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let product = 0
  let squares = 0
  let others = 0
  for (let n = 0; n < a.length; n++) {
    const x = a[n] as number
    const y = b[n] as number
    product += x * y
    squares += x * x
    others += y * y
  }
  const length = Math.sqrt(squares) * Math.sqrt(others)
  return length === 0 ? 0 : Math.round((product / length) * 1e6) / 1e6 + 0
}

/** By brute force in float64: entities, scores and cores, in the order that results have. */
export function expected(sets: readonly TestSet[], query: ArrayLike<number>, k: number) {
  const best = new Map<number, { entity: Term; score: number; core: string }>()
  for (const { core = 'c', vectors, dimensions, entities, accepts } of sets) {
    if (dimensions !== query.length) continue
    vectors.forEach((vector, n) => {
      if (accepts?.[n] === 0) return
      const id = entities?.[n] ?? n
      const score = cosine(query, vector)
      const known = best.get(id)
      if (known === undefined || known.score < score) {
        best.set(id, { entity: termOf(id), score, core })
      }
    })
  }
  return [...best.values()]
    .sort(
      (a, b) =>
        b.score - a.score ||
        Buffer.compare(Buffer.from(a.entity.v), Buffer.from(b.entity.v)) ||
        Number(a.entity.e) - Number(b.entity.e),
    )
    .slice(0, k)
}

function gaussian(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()))
  return radius * Math.cos(2 * Math.PI * random.next())
}

export function noise(random: Random, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => gaussian(random))
}

/** Makes vectors around so many centres, as embeddings of texts on so many topics are. */
export function clusters(random: Random, dimensions: number, topics: number, spread = 1) {
  const centres = Array.from({ length: topics }, () => noise(random, dimensions))
  return () => {
    const centre = random.pick(centres)
    return centre.map((component) => component + spread * gaussian(random))
  }
}
