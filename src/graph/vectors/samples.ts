// Questions that are asked of vectors to find out how to search them, and what has to be found.

import type { Turns } from '../../turns.js'
import { createKernel } from './kernel.js'
import { floatsOf, readVectors } from './vector-question.js'
import { vectorsPerBlock, type VectorFile } from './types.js'
import { sampleNearest } from './walk.js'

export const samples = 128

/** A question of a sample, and its answer. */
export interface Sample {
  readonly query: Float32Array
  readonly nearest: ReadonlySet<number>
  /** The product with the last of these. */
  readonly least: number
}

/** Some vectors, and what is between two of them: questions are not about one thing alone. */
export async function sampleQueries(
  file: VectorFile,
  nodes: readonly number[],
  turns: Turns,
): Promise<Float32Array[]> {
  const perBlock = vectorsPerBlock(file.dimensions)
  const own: Float32Array[] = []
  for (const node of nodes) {
    const block = floatsOf(await readVectors(file, Math.floor(node / perBlock)))
    const from = (node % perBlock) * file.dimensions
    own.push(block.slice(from, from + file.dimensions))
    await turns.pass()
  }
  const mixed = own.map((first, n) =>
    unit(sum(first, own[(n + 1) % own.length] as Float32Array, 1 / 2)),
  )
  return [...own, ...mixed]
}

/**
 * As many as there are vectors of the sample, at the front of its queries: from between two of them, further and
 * further towards where nothing is, the same each time.
 */
export function farQueries(queries: readonly Float32Array[], own: number): Float32Array[] {
  let state = 1
  const uniform = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0) / 2 ** 31
  return Array.from({ length: own }, (_, n) => {
    const between = unit(sum(queries[n] as Float32Array, queries[(n + 1) % own] as Float32Array, 1))
    // The sum of three is close to a normal distribution: every direction is as likely.
    const nowhere = unit(between.map(() => uniform() + uniform() + uniform()))
    const way = ((n + 1) / (own + 1)) ** 2
    return unit(sum(between, nowhere, way / (1 - way)))
  })
}

function sum(one: Float32Array, other: Float32Array, share: number): Float32Array {
  return one.map((component, i) => component + share * (other[i] as number))
}

/** At length 1, as questions are. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, component) => sum + component * component, 0))
  return length === 0 ? vector : vector.map((component) => component / length)
}

/** For each query the nearest of those that are marked with 1, by comparing with all. */
export async function findNearest(
  file: VectorFile,
  isMarked: Uint8Array,
  queries: readonly Float32Array[],
  turns: Turns,
): Promise<Sample[]> {
  const { dimensions, count } = file
  const perBlock = vectorsPerBlock(dimensions)
  const blockAt = 4 * dimensions * queries.length
  const outAt = blockAt + 4 * dimensions * perBlock
  const kernel = createKernel(outAt + 4 * perBlock, outAt + 4 * perBlock)
  const { buffer } = kernel.memory
  queries.forEach((query, n) => new Float32Array(buffer, 4 * dimensions * n).set(query))
  const products = new Float32Array(buffer, outAt, perBlock)
  const best = queries.map(() => new Best())
  for (let first = 0; first < count; first += perBlock) {
    const end = Math.min(first + perBlock, count)
    if (!isMarked.subarray(first, end).includes(1)) continue
    new Uint8Array(buffer, blockAt).set(await readVectors(file, first / perBlock))
    for (const [n, nearest] of best.entries()) {
      kernel.dots(4 * dimensions * n, blockAt, end - first, dimensions, outAt)
      for (let at = 0; at < end - first; at++) {
        const product = products[at] as number
        if (product > nearest.least && isMarked[first + at] === 1) nearest.add(first + at, product)
      }
    }
    await turns.pass()
  }
  return queries.map((query, n) => {
    const { nodes, least } = best[n] as Best
    return { query, nearest: new Set(nodes), least }
  })
}

class Best {
  readonly nodes: number[] = []
  least = -Infinity
  readonly #products: number[] = []

  add(node: number, product: number): void {
    let at = this.nodes.length
    while (at > 0 && (this.#products[at - 1] as number) < product) at--
    this.nodes.splice(at, 0, node)
    this.#products.splice(at, 0, product)
    if (this.nodes.length > sampleNearest) {
      this.nodes.pop()
      this.#products.pop()
    }
    if (this.nodes.length === sampleNearest) {
      this.least = this.#products[sampleNearest - 1] as number
    }
  }
}
