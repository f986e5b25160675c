// Builds the approximate index over the vectors of a file.

import { arenaBytes } from './arenas.js'
import { Beam } from './beam.js'
import { builderBytes, GraphBuilder, levelOf } from './graph-builder.js'
import { maxKernelBytes } from './kernel.js'
import { createLinks, linksFrom, none, rowLength } from './links.js'
import { mostMet, mostMetEarly, samples, sampleWidth } from './sampling.js'
import { Turns } from '../../turns.js'
import { vectorsPerBlock, type VectorFile } from './types.js'
import { mostLinks, search } from './walk.js'

interface LinkingOptions {
  readonly signal?: AbortSignal | undefined
  /** Called now and then with how many vectors were linked. It may not throw. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** Where links do not help among so many vectors, they do not among all. */
const earlySample = 8192

/** How many vectors are looked at to find one that can lead to another that none leads to. */
const reachWidth = 100

/**
 * The approximate index of a file, which is the same bytes for the same vectors. Holds the vectors
 * in memory, and about 450 bytes more for each.
 */
export async function linkVectors(
  file: VectorFile,
  { signal, onProgress }: LinkingOptions,
): Promise<Uint8Array> {
  const { dimensions, count } = file
  const nothing = { vectors: count, entry: 0, top: 0, width: 0, rows: 0 }
  const isTooLarge =
    4 * dimensions > arenaBytes || builderBytes(dimensions, count + samples) > maxKernelBytes
  if (isTooLarge || dimensions === 0 || count <= samples) return bytesOf(createLinks(nothing))

  const turns = new Turns(signal)
  const builder = new GraphBuilder(dimensions, count, samples)
  const words = await read(file, builder, turns)
  const { equals, distinct } = await groupEqual(words, dimensions, count, turns)

  // Those that are asked for before they are linked themselves: one in so many.
  const every = Math.max(2, Math.floor(distinct.length / samples))
  const held = distinct.filter((_, n) => n % every === every - 1).slice(0, samples)
  const isHeld = new Set(held)
  const linked: number[] = []
  const link = async (node: number) => {
    builder.insert(node)
    linked.push(node)
    await turns.pass()
    if (linked.length % 1000 === 0) onProgress?.(linked.length, distinct.length)
  }
  const settle = async () => {
    for (const node of linked) {
      builder.settle(node)
      await turns.pass()
    }
  }
  let width = 0
  for (const node of distinct) {
    if (isHeld.has(node)) continue
    await link(node)
    if (linked.length === earlySample && distinct.length > 2 * earlySample) {
      width = await sampleWidth(builder, linked, held, mostMetEarly, turns)
      if (width === 0) return bytesOf(createLinks(nothing))
    }
  }
  await settle()
  width = held.length === 0 ? 0 : await sampleWidth(builder, linked, held, mostMet, turns)
  if (width === 0) return bytesOf(createLinks(nothing))
  for (const node of held) await link(node)
  await settle()
  await reachAll(builder, linked, turns)
  onProgress?.(distinct.length, distinct.length)
  return bytesOf(write(builder, equals, distinct, width))
}

async function read(file: VectorFile, builder: GraphBuilder, turns: Turns): Promise<Uint32Array> {
  const { dimensions, count } = file
  const from = builder.addressOf(0)
  const { buffer } = builder.kernel.memory
  const bytes = new Uint8Array(buffer, from)
  const perBlock = vectorsPerBlock(dimensions)
  for (let first = 0; first < count; first += perBlock) {
    bytes.set(await file.block(first / perBlock), first * 4 * dimensions)
    await turns.pass()
  }
  return new Uint32Array(buffer, from, count * dimensions)
}

/**
 * One of each group of vectors that are the same bits, and for each vector the next of its group or
 * `none`: among equal ones no link leads on.
 */
async function groupEqual(words: Uint32Array, dimensions: number, count: number, turns: Turns) {
  const equals = new Uint32Array(count).fill(none)
  const distinct: number[] = []
  const byHash = new Map<number, number[]>()
  for (let node = 0; node < count; node++) {
    const start = node * dimensions
    let hash = 0
    for (let n = start; n < start + dimensions; n++) {
      hash = Math.imul(hash ^ (words[n] as number), 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    const others = byHash.get(hash)
    const equal = others?.find((other) => isEqual(words, other * dimensions, start, dimensions))
    if (equal !== undefined) {
      equals[node] = equals[equal] as number
      equals[equal] = node
    } else {
      distinct.push(node)
      if (others === undefined) byHash.set(hash, [node])
      else others.push(node)
    }
    await turns.pass()
  }
  return { equals, distinct }
}

function isEqual(words: Uint32Array, a: number, b: number, length: number): boolean {
  for (let n = 0; n < length; n++) if (words[a + n] !== words[b + n]) return false
  return true
}

/** Sees to it that links lead from the entry to every vector, by the two that rows have room for. */
async function reachAll(
  builder: GraphBuilder,
  linked: readonly number[],
  turns: Turns,
): Promise<void> {
  const { kernel, place, visits, count } = builder
  const reached = new Uint8Array(count)
  const numbers = new Uint32Array(mostLinks)
  const spread = async (from: number) => {
    const waiting = [from]
    reached[from] = 1
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      const links = builder.read(node, 0, numbers)
      for (let n = 0; n < links; n++) {
        const next = numbers[n] as number
        if (reached[next] === 1) continue
        reached[next] = 1
        waiting.push(next)
      }
      await turns.pass()
    }
  }
  await spread(builder.entry)
  const beam = new Beam(reachWidth)
  for (const node of linked) {
    for (let width = reachWidth; reached[node] === 0 && width <= 2 * count; width *= 2) {
      await turns.pass()
      search(kernel, place, builder, visits, count, builder.addressOf(node), beam, width)
      for (let n = 0; n < beam.size && reached[node] === 0; n++) {
        const from = beam.node(n)
        if (reached[from] === 1 && builder.connect(from, node, rowLength - linksFrom)) {
          await spread(node)
        }
      }
    }
  }
}

function write(
  builder: GraphBuilder,
  equals: Uint32Array,
  distinct: readonly number[],
  width: number,
): Uint32Array<ArrayBuffer> {
  const { count: vectors, entry, top } = builder
  const rows = distinct.reduce((sum, node) => sum + levelOf(node), 0)
  const words = createLinks({ vectors, entry, top, width, rows })
  const numbers = new Uint32Array(mostLinks)
  const copy = (node: number, level: number, at: number) => {
    words.set(numbers.subarray(0, builder.read(node, level, numbers)), at)
  }
  for (let node = 0; node < vectors; node++) words[(1 + node) * rowLength] = equals[node] as number
  let above = 0
  for (const node of distinct) {
    const row = (1 + node) * rowLength
    words[row + 1] = above
    copy(node, 0, row + linksFrom)
    for (let level = 1; level <= levelOf(node); level++, above++) {
      copy(node, level, (1 + vectors + above) * rowLength)
    }
  }
  return words
}

function bytesOf(words: Uint32Array<ArrayBuffer>): Uint8Array {
  return new Uint8Array(words.buffer)
}
