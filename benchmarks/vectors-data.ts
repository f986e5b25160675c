// Vectors for the scenarios about them, and sets of them as questions search them.

import type { BlockStorage } from '../src/block-writer.js'
import { encodeMessage } from '../src/codec/encoder.js'
import type { VectorMemory } from '../src/graph/vectors/memory.js'
import { mergeVectors } from '../src/graph/vectors/merge.js'
import { nearest } from '../src/graph/vectors/nearest.js'
import { storedFile } from '../src/graph/vectors/stored-file.js'
import { vectorsPerBlock, type LinkedFile, type VectorSet } from '../src/graph/vectors/types.js'
import { Random } from '../test/fixtures/random.js'
import { ref } from './graph-data.js'

export const dimensions = 384
export const k = 10
const perMessage = 64

/** Makes one vector more, into its argument. */
export type Source = (into: Float32Array, random: Random) => void

/** Vectors about so many centres, the distance from which is 0.8 of the centre's length. */
export function createClusters(clusters: number): Source {
  const spread = 0.8
  const random = new Random(1)
  const centres = new Float32Array(clusters * dimensions).map(() => normal(random))
  return (into, random) => {
    const at = random.below(clusters) * dimensions
    for (let i = 0; i < dimensions; i++) {
      into[i] = (centres[at + i] as number) + spread * normal(random)
    }
  }
}

/** At length 1, the same each time. */
export function draw(source: Source, length: number, seed: number): Float32Array[] {
  const random = new Random(seed)
  return Array.from({ length }, () => {
    const vector = new Float32Array(dimensions)
    source(vector, random)
    const size = Math.hypot(...vector)
    return vector.map((component) => component / size)
  })
}

/** Vectors that are made when they are read. */
export function madeFile(source: Source, count: number): LinkedFile {
  const perBlock = vectorsPerBlock(dimensions)
  return {
    id: 'made',
    dimensions,
    count,
    links: 0,
    block: (n) => {
      const vectors = draw(source, Math.min(perBlock, count - n * perBlock), 1000 + n)
      return Promise.resolve(Buffer.concat(vectors.map(({ buffer }) => Buffer.from(buffer))))
    },
    linksBlock: () => Promise.reject(new Error('there are none')),
  }
}

/** Vectors that are there. */
export function heldFile(vectors: readonly Float32Array[]): LinkedFile {
  const perBlock = vectorsPerBlock(dimensions)
  const blocks: Uint8Array[] = []
  for (let from = 0; from < vectors.length; from += perBlock) {
    const some = vectors.slice(from, from + perBlock)
    blocks.push(Buffer.concat(some.map(({ buffer }) => Buffer.from(buffer))))
  }
  return {
    id: 'held',
    dimensions,
    count: vectors.length,
    links: 0,
    block: (n) => Promise.resolve(blocks[n] as Uint8Array),
    linksBlock: () => Promise.reject(new Error('there are none')),
  }
}

/** Writes a file with its approximate index. */
export async function writeFile(storage: BlockStorage, from: LinkedFile): Promise<LinkedFile> {
  const keys = {
    vectorKey: (block: number) => Buffer.from(`vectors ${block}`),
    linksKey: (block: number) => Buffer.from(`links ${block}`),
  }
  const id = 'file'
  const inputs = [{ file: from, stays: undefined }]
  const output = { storage, id, dimensions, ...keys }
  const made = await mergeVectors(inputs, output, { minLinked: 1 })
  return storedFile(storage, keys, { id, dimensions, ...made })
}

export function setOf(file: LinkedFile, accepts?: Uint8Array): VectorSet {
  return { ...file, core: () => 'core', accepts, entity: (index) => index }
}

/** The numbers of the nearest vectors. */
export async function ask(
  set: VectorSet,
  question: Float32Array,
  memory: VectorMemory,
  exact = false,
): Promise<number[]> {
  const term = (id: number) => ({ v: `${id}`, e: true })
  const found = await nearest([set], question, { k, exact, memory, term })
  return found.map(({ entity }) => Number(entity.v))
}

/** Which part of the first is in the second. */
export function recallOf(wanted: readonly number[], found: readonly number[]): number {
  const all = new Set(found)
  return wanted.length === 0 ? 1 : wanted.filter((n) => all.has(n)).length / wanted.length
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function entityOf(n: number) {
  return { v: `https://data.example.org/resource/${n}`, e: true }
}

export function* encodeVectors(vectors: readonly Float32Array[]): Generator<Uint8Array> {
  const metadata = { i: ref.id, m: [], u: ref.user, c: 'default' }
  for (let from = 0; from < vectors.length; from += perMessage) {
    const some = vectors.slice(from, from + perMessage)
    const e = some.map((vector, n) => ({ e: entityOf(from + n), v: [vector] }))
    yield encodeMessage(['ge', { m: metadata, e }])
  }
}

let spare: number | undefined

/** Of a normal distribution, by Box and Muller's method. */
function normal(random: Random): number {
  if (spare !== undefined) {
    const one = spare
    spare = undefined
    return one
  }
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()))
  const angle = 2 * Math.PI * random.next()
  spare = radius * Math.sin(angle)
  return radius * Math.cos(angle)
}
