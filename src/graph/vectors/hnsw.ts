// Builds the approximate index over the vectors of a file.

import { Turns } from '../../turns.js'
import { arenaBytes } from './arenas.js'
import { codeBytes } from './codes.js'
import { builderBytes, GraphBuilder, roomBelow } from './graph-builder.js'
import { adoptLinks, type Grown } from './growing.js'
import { maxMemoryBytes } from '../../web-assembly.js'
import { aboveBytes, LinksLayout, writeHeader } from './links.js'
import { mostCodes } from './memory.js'
import { mostVectors, Rows } from './rows.js'
import { farQueries, findNearest, sampleQueries, samples, type Sample } from './samples.js'
import { mostMet, mostMetEarly, sampleReach, sampleWidth } from './sampling.js'
import { vectorsPerBlock, type VectorFile, type LinksHeader } from './types.js'
import { floatsOf, readVectors } from './vector-question.js'
import { mostLinks } from './walk.js'

interface LinkingOptions {
  readonly signal?: AbortSignal | undefined
  /** Called now and then with how many vectors were linked. It may not throw. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** A file whose links are kept for those of its vectors that are in this one. */
  readonly grown?: Grown | undefined
}

/** An approximate index that was made: its blocks, not packed. */
export interface MadeLinks {
  readonly bytes: number
  readonly blocks: number
  block(n: number): Uint8Array
}

/** Where links do not help among so many vectors, they may not among all: see isHopeless(). */
const earlySample = 8192
/** So many times as many until that is asked again. */
const sampleStep = 4
/** Noise has nearest vectors that are this much nearer among a hundred times as many, and no more. */
const noiseGain = 1.5

/** How many vectors are looked at to find one that can lead to another that none leads to. */
const reachWidth = 100

/**
 * The approximate index of a file, which is the same for the same vectors. Holds their codes in
 * memory, and some 170 bytes more for each.
 */
export async function linkVectors(
  file: VectorFile,
  { signal, onProgress, grown }: LinkingOptions,
): Promise<MadeLinks> {
  const { dimensions, count } = file
  if (!canBeLinked(dimensions, count)) return nothing(file)

  const turns = new Turns(signal)
  const builder = new GraphBuilder(dimensions, count)
  const distinct = await read(file, builder, turns)

  // Those that are asked for before they are linked themselves: one in so many.
  const every = Math.max(2, Math.floor(distinct.length / samples))
  const held = distinct.filter((_, n) => n % every === every - 1).slice(0, samples)
  const isHeld = new Uint8Array(count)
  for (const node of held) isHeld[node] = 1
  const queries = await sampleQueries(file, held, turns)

  if (held.length === 0) return nothing(file)

  const isLinked = new Uint8Array(count)
  const adopted = grown && (await adoptLinks(builder, grown, isHeld, isLinked, turns))
  let linked = adopted?.linked ?? 0
  const link = async (node: number) => {
    builder.insert(node)
    isLinked[node] = 1
    linked++
    await turns.pass()
    if (linked % 1000 === 0) onProgress?.(linked, distinct.length)
  }
  const isAsked = new Uint8Array(count)
  for (const node of distinct) isAsked[node] = 1 - (isHeld[node] as number)
  const all = await findNearest(file, isAsked, queries, turns)
  let nextSample = linked === 0 ? earlySample : Infinity
  for (const node of distinct) {
    if (isHeld[node] === 1 || isLinked[node] === 1) continue
    await link(node)
    if (linked !== nextSample || distinct.length <= 2 * linked) continue
    nextSample *= sampleStep
    const some = await findNearest(file, isLinked, queries, turns)
    const width = await sampleWidth(builder, dimensions, linked, some, mostMetEarly, turns)
    if (width === 0 && isHopeless(some, all)) return nothing(file)
  }
  const settle = async () => {
    for (const node of distinct) {
      if (isLinked[node] === 1) builder.settle(node)
      await turns.pass()
    }
  }
  await settle()
  const width = await sampleWidth(builder, dimensions, linked, all, mostMet, turns)
  if (width === 0) return nothing(file)
  const far = await findNearest(file, isAsked, farQueries(queries, held.length), turns)
  const reach = await sampleReach(builder, dimensions, width, [...all, ...far], turns)
  for (const node of held) await link(node)
  await settle()
  await reachAll(builder, distinct, turns)
  onProgress?.(distinct.length, distinct.length)
  return made(builder, dimensions, { width, reach, dropped: adopted?.dropped ?? 0 })
}

/**
 * Whether vectors among which no walk pays have no nearer ones among the rest: topics of which there
 * are a few vectors each look like noise at first.
 */
function isHopeless(some: readonly Sample[], all: readonly Sample[]): boolean {
  const sum = (samples: readonly Sample[]) => samples.reduce((total, { least }) => total + least, 0)
  return sum(all) < noiseGain * sum(some)
}

function canBeLinked(dimensions: number, count: number): boolean {
  return (
    dimensions > 0 &&
    count > samples &&
    count <= mostVectors &&
    codeBytes(dimensions) <= mostCodes &&
    new Rows(dimensions, roomBelow).bytes <= arenaBytes &&
    builderBytes(dimensions, count) <= maxMemoryBytes
  )
}

/**
 * Puts all vectors into the builder. Returns one of each group of vectors that are the same: among
 * equal ones no link leads on, and the others are found by it.
 */
async function read(file: VectorFile, builder: GraphBuilder, turns: Turns): Promise<number[]> {
  const { dimensions, count } = file
  const perBlock = vectorsPerBlock(dimensions)
  const distinct: number[] = []
  const known = new KnownVectors(builder)
  for (let first = 0; first < count; first += perBlock) {
    const vectors = floatsOf(await readVectors(file, first / perBlock))
    const words = new Uint32Array(vectors.buffer, vectors.byteOffset, vectors.length)
    for (let from = 0; from < vectors.length; from += dimensions) {
      const node = first + from / dimensions
      builder.add(node, vectors, from, dimensions)
      const digest = digestOf(words, from, dimensions)
      if (!known.isKnown(node, digest)) {
        builder.raise(node, digest)
        distinct.push(node)
      }
    }
    await turns.pass()
  }
  return distinct
}

function digestOf(words: Uint32Array, from: number, length: number): number {
  let hash = 0
  for (let n = from; n < from + length; n++) {
    hash = Math.imul(hash ^ (words[n] as number), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

/** Of one digest there are several by chance; whoever makes many has them linked one by one. */
const mostAlike = 64

/**
 * Vectors by what they are. Those of which digest, codes and factor are the same count as equal: it
 * decides about links alone, and each is compared with a question by itself.
 */
class KnownVectors {
  readonly #builder: GraphBuilder
  readonly #digests: Uint32Array
  readonly #last: Uint32Array
  /** By digest, the first vector that has it, and 1. */
  readonly #slots: Uint32Array

  constructor(builder: GraphBuilder) {
    this.#builder = builder
    this.#digests = new Uint32Array(builder.vectors)
    this.#last = new Uint32Array(builder.vectors)
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * builder.vectors)))
  }

  isKnown(node: number, digest: number): boolean {
    const mask = this.#slots.length - 1
    this.#digests[node] = digest
    this.#last[node] = node
    let alike = 0
    for (let at = Math.imul(digest, 0x85eb_ca6b) & mask; ; at = (at + 1) & mask) {
      const slot = this.#slots[at] as number
      if (slot === 0) {
        this.#slots[at] = node + 1
        return false
      }
      const first = slot - 1
      if (this.#digests[first] !== digest) continue
      if (!this.#builder.equals(first, node)) {
        if (++alike === mostAlike) return false
        continue
      }
      this.#builder.setEqual(this.#last[first] as number, node)
      this.#last[first] = node
      return true
    }
  }
}

/** Sees to it that links lead from the entry to every vector, by the two that rows have room for. */
async function reachAll(
  builder: GraphBuilder,
  linked: readonly number[],
  turns: Turns,
): Promise<void> {
  const { kernel, walk, vectors } = builder
  const reached = new Uint8Array(vectors)
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
  for (const node of linked) {
    if (reached[node] === 1) continue
    for (let width = reachWidth; reached[node] === 0 && width <= mostReach; width *= 4) {
      await turns.pass()
      walk.factor = kernel.widen(walk.frame, node, walk.query.byteOffset)
      walk.search(builder, width)
      for (let n = 0; n < walk.size && reached[node] === 0; n++) {
        const from = walk.node(n)
        if (reached[from] === 1 && builder.connect(from, node)) await spread(node)
      }
    }
  }
}

const mostReach = 8192

function nothing({ dimensions, count }: VectorFile): MadeLinks {
  const header = { vectors: count, entry: 0, top: 0, width: 0, reach: [], above: 0, dropped: 0 }
  const bytes = writeHeader(dimensions, header)
  return { bytes: bytes.length, blocks: 1, block: () => bytes }
}

function made(
  builder: GraphBuilder,
  dimensions: number,
  measured: Pick<LinksHeader, 'width' | 'reach' | 'dropped'>,
): MadeLinks {
  const { vectors, entry, top, above } = builder
  const header: LinksHeader = { vectors, entry, top, above, ...measured }
  const layout = new LinksLayout(dimensions, header)
  return {
    bytes: layout.bytes,
    blocks: layout.blocks,
    block(n) {
      if (n === 0) return writeHeader(dimensions, header)
      const bytes = new Uint8Array(layout.bytesOf(n))
      if (n - 1 < layout.aboveBlocks) {
        const first = (n - 1) * layout.abovePerBlock
        for (let row = 0; row * aboveBytes < bytes.length; row++) {
          builder.copyAbove(first + row, aboveBytes, bytes, row * aboveBytes)
        }
      } else {
        const first = (n - 1 - layout.aboveBlocks) * layout.perBlock
        for (let row = 0; row * layout.rows.bytes < bytes.length; row++) {
          builder.copyRow(first + row, layout.rows, bytes, row * layout.rows.bytes)
        }
      }
      return bytes
    },
  }
}
