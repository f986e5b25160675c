// How far a search has to look, found by asking: vectors that are not linked yet are questions whose
// answers are known. It depends on the vectors. Where they are spread like noise there are no paths
// that lead to the nearest, and comparing with all is faster.

import type { Turns } from '../../turns.js'
import { codeMargin, queryInto } from './codes.js'
import type { GraphBuilder } from './graph-builder.js'
import { createKernel } from './kernel.js'
import { readVectors } from './vector-question.js'
import { vectorsPerBlock, type VectorFile } from './types.js'

/** How many of the nearest are looked for. */
export const sampleNearest = 10
/**
 * Which part of them has to be found: more than the 97 % that are promised, as the first width that
 * does it among several was lucky, too.
 */
const recall = 0.98

/** The least width is more than most vectors need: questions are not always like them. */
const widths = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512, 768, 1024]

/** Beyond this part of the vectors, met in no order, a search gains little over comparing with all. */
export const mostMet = 0.5
/** The same where many more are still to come: the part shrinks as they grow. */
export const mostMetEarly = 0.5

export const samples = 128

/** A question of a sample, and its answer. */
export interface Sample {
  readonly query: Float32Array
  readonly nearest: ReadonlySet<number>
  /** The product with the last of these. */
  readonly least: number
}

/** The width for searches among the linked, 0 where they had better not follow links. */
export async function sampleWidth(
  builder: GraphBuilder,
  dimensions: number,
  linked: number,
  all: readonly Sample[],
  mostPart: number,
  turns: Turns,
): Promise<number> {
  const wanted = all.reduce((sum, { nearest }) => sum + nearest.size, 0)
  const { walk } = builder
  for (const width of widths) {
    let found = 0
    walk.met = 0
    for (const { query, nearest } of all) {
      await turns.pass()
      walk.factor = queryInto(query, walk.query)
      walk.search(builder, width)
      found += countFound(builder, dimensions, nearest)
    }
    if (walk.met > mostPart * linked * all.length) return 0
    if (found >= recall * wanted) return width
  }
  return 0
}

/** How many are among those that are compared exactly, by which the nearest of them come first. */
function countFound(
  builder: GraphBuilder,
  dimensions: number,
  nearest: ReadonlySet<number>,
): number {
  const { walk } = builder
  const last = Math.min(sampleNearest, walk.size) - 1
  const least = walk.score(last) - codeMargin(dimensions, builder.factorOf(walk.node(last)))
  let found = 0
  for (let n = 0; n < walk.size && walk.score(n) >= least; n++) {
    if (nearest.has(walk.node(n))) found++
  }
  return found
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
  const mixed = own.map((first, n) => {
    const second = own[(n + 1) % own.length] as Float32Array
    return first.map((component, i) => component + (second[i] as number) / 2)
  })
  return [...own, ...mixed]
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

/** The components of a block, which may lie at any byte. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Float32Array(buffer, byteOffset, length / 4)
}
