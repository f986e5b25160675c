// Searches a set along its links.

import { LorekeepError } from '../../errors.js'
import { arenaBytes } from './arenas.js'
import type { Candidates } from './candidates.js'
import { linkBlocks, LocatedLinks, none, readLinksHeader } from './links.js'
import { queryAt, walkAt, type Blocks, type VectorMemory } from './memory.js'
import { sampleNearest } from './sampling.js'
import type { Turns } from '../../turns.js'
import { vectorsPerBlock, type LinksHeader, type VectorSet } from './types.js'
import { vectorBlocks, type VectorQuestion } from './vector-question.js'
import { mostLinks, search } from './walk.js'

/** A search that keeps more than this part of the vectors in view meets most of them. */
const mostKept = 1 / 16

/** Blocks that are read at a time. */
const ahead = 4

// What lies where in the memory for walks.
const numbersAt = walkAt
const productsAt = numbersAt + 4 * (mostLinks + 3)
const tableAt = productsAt + 4 * (mostLinks + 3)

interface Scored {
  readonly index: number
  readonly score: number
}

/** False, and no candidates, where it cannot be done: then all vectors are to be compared. */
export async function searchLinks(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  k: number,
  candidates: Candidates,
  turns: Turns,
): Promise<boolean> {
  const { memory } = question
  if (set.accepts !== undefined || k > mostKept * set.count) return false
  let links: Promise<Uint8Array | undefined> | undefined
  const load = () => (links ??= set.links())
  const header = memory.headers.get(set.id) ?? (await readHeader(set, memory, await load()))
  if (header === undefined || header.width === 0) return false

  const vectors = vectorBlocks(set)
  const rows = linkBlocks(set, header, async () => {
    const bytes = await load()
    if (bytes !== undefined) return bytes
    throw new LorekeepError('LK_STORAGE_CORRUPT', 'the links of an index are gone')
  })
  if ((vectors.count + rows.count) * arenaBytes > memory.capacity) return false
  // The vectors of one entity may take several of the nearest places.
  for (let nearest = k; ;) {
    const width = widthFor(nearest, header.width)
    if (width > mostKept * set.count) return false
    const found = await follow(question, set, header, vectors, rows, width, turns)
    if (found === undefined) return false
    const { chosen, places } = await choose(found, k, place, candidates)
    if (widthFor(places, header.width) <= width) {
      for (const { index, score } of chosen) candidates.add(place, index, score)
      return true
    }
    nearest = places
  }
}

/** How many vectors to keep in view so that so many of them are the nearest. */
function widthFor(nearest: number, width: number): number {
  return Math.max(width, Math.ceil(width * (nearest / sampleNearest) ** 0.5), 2 * nearest)
}

async function readHeader(
  set: VectorSet,
  memory: VectorMemory,
  bytes: Uint8Array | undefined,
): Promise<LinksHeader | undefined> {
  if (bytes === undefined) return undefined
  const header = readLinksHeader(bytes, set.count)
  memory.headers.set(set.id, header)
  return header
}

/** Best first; undefined where other questions push blocks out before all are there. */
async function follow(
  question: VectorQuestion,
  set: VectorSet,
  header: LinksHeader,
  vectors: Blocks,
  rows: Blocks,
  width: number,
  turns: Turns,
): Promise<Scored[] | undefined> {
  const { memory } = question
  const { kernel, beam } = memory
  await bring(memory, vectors, turns)
  await bring(memory, rows, turns)
  const { buffer } = kernel.memory
  const table = new Uint32Array(buffer, tableAt, vectors.count)
  const rowTable = new Uint32Array(buffer, tableAt + 4 * vectors.count, rows.count)
  if (!memory.locate(vectors, table) || !memory.locate(rows, rowTable)) return undefined

  question.ask()
  const { dimensions, count } = set
  const perBlock = vectorsPerBlock(dimensions)
  const links = new LocatedLinks(header, buffer, rowTable)
  const place = { numbers: numbersAt, products: productsAt, table: tableAt, perBlock, dimensions }
  search(kernel, place, links, memory.visits, count, queryAt, beam, width)
  const found: Scored[] = []
  for (let n = 0; n < beam.size; n++) {
    const node = beam.node(n)
    const block = table[Math.floor(node / perBlock)] as number
    const score = question.score(block + (node % perBlock) * 4 * dimensions)
    for (let index = node; index !== none; index = links.equal(index)) found.push({ index, score })
  }
  return found.sort((a, b) => b.score - a.score || a.index - b.index)
}

async function bring(memory: VectorMemory, blocks: Blocks, turns: Turns): Promise<void> {
  for (let n = 0; n < blocks.count; n++) {
    if (memory.isLoaded(blocks, n)) continue
    for (let next = n + 1; next <= n + ahead && next < blocks.count; next++) {
      memory.prefetch(blocks, next)
    }
    await memory.use(blocks, n, () => {})
    await turns.pass()
  }
}

/**
 * The vectors down to the k-th entity and those that are as near as its, and how many places they
 * take; or twice as many as were found, where there are fewer entities.
 */
async function choose(found: readonly Scored[], k: number, place: number, candidates: Candidates) {
  const entities = new Set<number>()
  const chosen: Scored[] = []
  let last = -Infinity
  let places = 0
  for (const near of found) {
    if (entities.size >= k && near.score < last) return { chosen, places }
    chosen.push(near)
    const before = entities.size
    if (before < k) places++
    entities.add(await candidates.entity(place, near.index))
    if (before < k && entities.size === k) last = near.score
  }
  return { chosen, places: entities.size >= k ? places : 2 * Math.max(k, found.length) }
}
