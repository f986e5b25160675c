// Searches a set along its links, or where a filter leaves few of it, by codes: what is near by them is
// compared again as it is.

import type { Turns } from '../../turns.js'
import { arenaBytes } from './arenas.js'
import type { Candidates } from './candidates.js'
import { codeMargin } from './codes.js'
import { keptAbove } from './graph-builder.js'
import { aboveBytes, areFollowed, linkBlocks, LinksLayout, readHeader } from './links.js'
import { tableAt, walkRoom, type Blocks, type VectorMemory } from './memory.js'
import { equalBefore, factorBefore, none } from './rows.js'
import { vectorsPerBlock, type VectorSet, type LinksHeader } from './types.js'
import { vectorBlocks, type VectorQuestion } from './vector-question.js'
import { mostNumbers, mostWidth, sampleNearest, Walk } from './walk.js'

/** A search that keeps more than this part of the vectors in view meets most of them. */
const mostKept = 1 / 16

/** Blocks that are read at a time. */
const ahead = 4
const vectorsAhead = 15

/** What must be left of the memory for vectors that are compared as they are. */
const leastForVectors = 4 * arenaBytes

/** What a walk meets, about: so many, and so many for each vector in view. */
const metAtLeast = 300
const metForEach = 20

/** How many places more than were asked for the nearest may take: the next try costs as much again. */
const slack = 1.5

/** So few that pass a filter are compared as they are. */
const fewest = 64

interface Near {
  readonly index: number
  /** By codes. */
  readonly score: number
  /** What is further behind it than this by codes is further away. */
  readonly margin: number
  /** How many vectors in view were as near, or nearer. */
  readonly place: number
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
  if (!areFollowed(set.links) || k > mostKept * set.count) return false
  const accepted = set.accepts === undefined ? set.count : countAccepted(set.accepts)
  if (set.accepts !== undefined && accepted <= Math.max(fewest, 2 * k)) {
    await compareExactly(question, set, place, [...acceptedOf(set.accepts)], candidates, turns)
    return true
  }

  const header = memory.headers.get(set.id) ?? (await loadHeader(set, memory))
  if (header.width === 0) return false
  const layout = new LinksLayout(set.dimensions, header)
  const blocks = linkBlocks(set, layout)
  if (layout.bytes + leastForVectors > memory.capacity) return false

  const search = { question, set, header, layout, blocks }
  // Those that do not pass take places as well.
  const nearest = Math.ceil((k * set.count) / accepted)
  const met = metAtLeast + metForEach * widthFor(nearest, header.width)
  // All of few vectors, without a filter.
  if (set.accepts === undefined && accepted <= met) return false
  const chosen =
    accepted > met
      ? await walk(search, nearest, k, place, candidates, turns)
      : await compareAccepted(search, k, place, candidates, turns)
  if (chosen === undefined) return false
  await compareExactly(question, set, place, chosen, candidates, turns)
  return true
}

interface Search {
  readonly question: VectorQuestion
  readonly set: VectorSet
  readonly header: LinksHeader
  readonly layout: LinksLayout
  readonly blocks: Blocks
}

/** Undefined where a walk would meet most of the vectors, or its memory is not to be had. */
async function walk(
  search: Search,
  wanted: number,
  k: number,
  place: number,
  candidates: Candidates,
  turns: Turns,
): Promise<readonly number[] | undefined> {
  const { set, header } = search
  for (let nearest = wanted; ;) {
    const width = widthFor(nearest, header.width)
    if (width > Math.min(mostWidth, mostKept * set.count)) return undefined
    await bring(search, turns)
    // Nothing is awaited from here on until what was found is out of the kernel's memory.
    const walk = begin(search)
    if (walk === undefined) return undefined
    walk.search(header, width)
    const wider = width * widerFor(header, nearnessOf(search, walk))
    if (wider > mostKept * set.count) return undefined
    if (wider > width) walk.widen(header, Math.min(wider, mostWidth))
    const { chosen, places } = await choose(seen(search, walk, true), k, place, candidates)
    // The vectors of one entity may take several of the nearest places.
    if (places !== undefined && places <= slack * nearest) return chosen
    nearest = Math.max(places ?? 0, 2 * nearest)
  }
}

/** By codes with all that pass. */
async function compareAccepted(
  search: Search,
  k: number,
  place: number,
  candidates: Candidates,
  turns: Turns,
): Promise<readonly number[] | undefined> {
  const accepts = search.set.accepts as Uint8Array
  for (let width = Math.max(search.header.width, 2 * k); width <= mostWidth; width *= 4) {
    await bring(search, turns)
    const walk = begin(search)
    if (walk === undefined) return undefined
    walk.compareOnly(width)
    let waiting = 0
    for (const index of acceptedOf(accepts)) {
      walk.numbers[waiting++] = index
      if (waiting < mostNumbers) continue
      walk.compare(waiting)
      waiting = 0
    }
    walk.compare(waiting)
    const found = seen(search, walk, false)
    const { chosen, places } = await choose(found, k, place, candidates)
    if (found.length < width) return chosen
    if (places !== undefined && chosen.length < found.length) return chosen
  }
  return undefined
}

/**
 * Of the tenth that passes. Where all that is near does not, those that do are as far as from a question that is
 * far from everything: of 8,000 vectors in clusters, half of which passed, by cluster, 88 % were found before.
 */
function nearnessOf({ set: { accepts } }: Search, walk: Walk): number {
  if (accepts === undefined) return walk.nearness
  let nearness = -1
  let passing = 0
  for (let n = 0; n < walk.size && passing < sampleNearest; n++) {
    if (accepts[walk.node(n)] === 0) continue
    nearness = walk.score(n)
    passing++
  }
  return nearness
}

/** How many times as wide a walk is to be that had its tenth so near. */
function widerFor({ reach }: LinksHeader, nearness: number): number {
  const enough = reach.findIndex((least) => nearness >= least)
  return 2 ** (enough < 0 ? reach.length : enough)
}

/** How many vectors to keep in view so that so many of them are the nearest. */
function widthFor(nearest: number, width: number): number {
  const more = Math.ceil(width * (nearest / sampleNearest) ** 0.75)
  return Math.max(width, more, Math.ceil(1.5 * nearest))
}

async function loadHeader(set: VectorSet, memory: VectorMemory): Promise<LinksHeader> {
  const header = await readHeader(set)
  memory.headers.set(set.id, header)
  return header
}

async function bring({ question: { memory }, blocks }: Search, turns: Turns): Promise<void> {
  if (memory.areLoaded(blocks)) return
  for (let n = 0; n < blocks.count; n++) {
    if (memory.isLoaded(blocks, n)) continue
    for (let next = n + 1; next <= n + ahead && next < blocks.count; next++) {
      memory.prefetch(blocks, next)
    }
    await memory.use(blocks, n, () => {})
    await turns.pass()
  }
}

/** Undefined where other questions push blocks out before all are there. */
function begin({ question, blocks, header, layout }: Search): Walk | undefined {
  const { memory } = question
  const addresses = memory.addresses(blocks)
  if (addresses === undefined) return undefined
  new Uint32Array(memory.kernel.memory.buffer, tableAt, blocks.count).set(addresses)
  const { rows, perBlock, abovePerBlock, aboveBlocks } = layout
  const walk = new Walk(memory.kernel, walkRoom, {
    table: tableAt + 4 * aboveBlocks,
    perBlock,
    rowBytes: rows.bytes,
    codesAt: rows.codesAt,
    codes: rows.codes,
    links: rows.links,
    aboveTable: tableAt,
    abovePerBlock,
    aboveBytes,
    aboveLinks: keptAbove,
    vectors: header.vectors,
    above: header.above,
  })
  question.askCodes(walk)
  return walk
}

/** What a walk has in view, best first; with `isLinked`, and those that equal one of these. */
function seen({ question, set, layout }: Search, walk: Walk, isLinked: boolean): Near[] {
  const { accepts, dimensions } = set
  const { buffer } = question.memory.kernel.memory
  const table = new Uint32Array(buffer, tableAt + 4 * layout.aboveBlocks, layout.rowBlocks)
  const words = new DataView(buffer)
  const { perBlock, rows } = layout
  const codesOf = (node: number) => {
    const block = Math.floor(node / perBlock)
    return (table[block] as number) + (node - block * perBlock) * rows.bytes + rows.codesAt
  }
  const found: Near[] = []
  for (let n = 0; n < walk.size; n++) {
    const node = walk.node(n)
    const score = walk.score(n)
    const codes = codesOf(node)
    const margin = codeMargin(dimensions, words.getFloat32(codes - factorBefore, true))
    let index = node
    for (;;) {
      if (accepts?.[index] !== 0) found.push({ index, score, margin, place: n + 1 })
      const next = isLinked ? words.getUint32(codesOf(index) - equalBefore, true) : none
      // They ascend, but where there is damage.
      if (next <= index || next >= set.count) break
      index = next
    }
  }
  return found
}

/**
 * The vectors down to the k-th entity and those that may be as near as its, and how many places
 * they take: undefined where there are fewer entities.
 */
async function choose(found: readonly Near[], k: number, place: number, candidates: Candidates) {
  const entities = new Set<number>()
  const chosen: number[] = []
  let least = -Infinity
  let places: number | undefined
  for (const near of found) {
    if (near.score < least) break
    chosen.push(near.index)
    if (places !== undefined) continue
    const entity = candidates.entity(place, near.index)
    // Not awaited where it is there.
    entities.add(typeof entity === 'number' ? entity : await entity)
    if (entities.size < k) continue
    places = near.place
    least = near.score - near.margin
  }
  return { chosen, places }
}

async function compareExactly(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  chosen: readonly number[],
  candidates: Candidates,
  turns: Turns,
): Promise<void> {
  const { memory } = question
  const vectors = vectorBlocks(set)
  const perBlock = vectorsPerBlock(set.dimensions)
  const missing: number[] = []
  const compare = (index: number, address: number) => {
    question.ask()
    const at = address + (index % perBlock) * 4 * set.dimensions
    candidates.add(place, index, question.score(at))
  }
  for (const index of chosen) {
    const address = memory.addressOf(vectors, Math.floor(index / perBlock))
    if (address === undefined) missing.push(index)
    else compare(index, address)
    // Any number of equal ones may be chosen. Others may move in memory meanwhile: each is looked for anew.
    if (candidates.isFull) await candidates.settle()
    if (turns.isLong) await turns.pass()
  }
  missing.sort((a, b) => a - b)
  for (const [n, index] of missing.entries()) {
    for (const next of missing.slice(n + 1, n + 1 + vectorsAhead)) {
      memory.prefetch(vectors, Math.floor(next / perBlock))
    }
    await memory.use(vectors, Math.floor(index / perBlock), (address) => {
      compare(index, address)
    })
    if (candidates.isFull) await candidates.settle()
  }
}

function* acceptedOf(accepts: Uint8Array): Generator<number> {
  for (let index = accepts.indexOf(1); index >= 0; index = accepts.indexOf(1, index + 1)) {
    yield index
  }
}

/** Four at a time: each byte of a word counts for itself, and has room for 255. */
function countAccepted(accepts: Uint8Array): number {
  const { buffer, byteOffset, length } =
    accepts.byteOffset % 4 === 0 ? accepts : new Uint8Array(accepts)
  const words = new Uint32Array(buffer, byteOffset, length >>> 2)
  let count = 0
  for (let from = 0; from < words.length; from += 255) {
    let sum = 0
    const end = Math.min(words.length, from + 255)
    for (let n = from; n < end; n++) sum = (sum + (words[n] as number)) | 0
    count += (sum & 255) + ((sum >>> 8) & 255) + ((sum >>> 16) & 255) + (sum >>> 24)
  }
  for (let n = 4 * words.length; n < length; n++) count += accepts[n] as number
  return count
}
