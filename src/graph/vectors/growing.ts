// Links that are taken over from a file, of which some vectors may be gone.

import type { Turns } from '../../turns.js'
import type { GraphBuilder } from './graph-builder.js'
import { keptAbove } from './graph-builder.js'
import { aboveBytes, areFollowed, LinksLayout, readHeader, readLinksBlock } from './links.js'
import { aboveBefore, readLinks } from './rows.js'
import type { LinkedFile, LinksHeader } from './types.js'
import { mostLinks, mostNumbers } from './walk.js'

/** A file whose vectors come again in another one. */
export interface Grown {
  readonly file: LinkedFile
  /** By vector: its number in the other file, -1 where it is not there. */
  readonly numbers: Int32Array
}

/**
 * Where more than this part of the vectors went since links were made, they are made anew: links
 * around holes lead to less, and have to be followed further.
 */
const mostDropped = 0.3

/** Of a vector that is gone, so many links are offered to each that linked to it. */
const offered = 8

export interface Adopted {
  readonly linked: number
  /** How many vectors went since the links were made. */
  readonly dropped: number
}

/**
 * Gives the vectors of a builder the links they had, and marks them as linked. Who linked to a vector
 * that is gone, or is held, is linked to some that it led to. Nothing is done where too many are gone.
 */
export async function adoptLinks(
  builder: GraphBuilder,
  { file, numbers }: Grown,
  isHeld: Uint8Array,
  isLinked: Uint8Array,
  turns: Turns,
): Promise<Adopted> {
  const none = { linked: 0, dropped: 0 }
  if (!areFollowed(file.links)) return none
  const header = await readHeader(file)
  const kept = numbers.reduce((sum, number) => sum + Number(number >= 0), 0)
  const dropped = header.dropped + file.count - kept
  if (dropped > mostDropped * kept) return none

  const old = new OldLinks(file, header)
  await old.readAbove(turns)
  // By vector of the file: its number here, where it can be linked to.
  const targets = numbers.map((number) => (number >= 0 && isHeld[number] === 0 ? number : -1))
  const lost = await old.linksOf((node) => (targets[node] as number) < 0, turns)

  let linked = 0
  const links = new Uint32Array(mostLinks)
  await old.each(turns, (node, level) => {
    const own = targets[node] as number
    if (own < 0 || level > builder.levelOf(own)) return
    const count = old.read(node, level, links)
    const candidates = new Set<number>()
    const offer = (other: number) => {
      const target = targets[other] as number
      const isThere = target >= 0 && builder.levelOf(target) >= level
      if (isThere && target !== own && candidates.size < mostNumbers) candidates.add(target)
      return isThere
    }
    const holes = links.slice(0, count).filter((other) => !offer(other))
    for (const hole of holes) lost.get(hole)?.[level]?.subarray(0, offered).forEach(offer)
    const chosen = Uint32Array.from(candidates)
    if (holes.length === 0) builder.adopt(own, level, chosen, chosen.length)
    else builder.choose(own, level, chosen)
    // Without links it is linked as those that are new.
    if (level > 0 || chosen.length === 0) return
    isLinked[own] = 1
    builder.enter(own)
    linked++
  })
  return { linked, dropped }
}

/** The stored links of a file, read block by block. */
class OldLinks {
  readonly #file: LinkedFile
  readonly #header: LinksHeader
  readonly #layout: LinksLayout
  #above = new Uint8Array(0)
  /** What each() is at. */
  #block: Uint8Array = new Uint8Array(0)
  #first = 0
  #levels = 0
  #aboveRow = 0

  constructor(file: LinkedFile, header: LinksHeader) {
    this.#file = file
    this.#header = header
    this.#layout = new LinksLayout(file.dimensions, header)
  }

  async readAbove(turns: Turns): Promise<void> {
    this.#above = new Uint8Array(this.#header.above * aboveBytes)
    for (let n = 0; n < this.#layout.aboveBlocks; n++) {
      const block = await readLinksBlock(this.#file, this.#layout, 1 + n)
      this.#above.set(block, n * this.#layout.abovePerBlock * aboveBytes)
      await turns.pass()
    }
  }

  /** Calls with each vector, and each of its levels, from 0 on; read() is about it meanwhile. */
  async each(turns: Turns, see: (node: number, level: number) => void): Promise<void> {
    const { perBlock, rows, aboveBlocks, rowBlocks } = this.#layout
    for (let n = 0; n < rowBlocks; n++) {
      this.#block = await readLinksBlock(this.#file, this.#layout, 1 + aboveBlocks + n)
      const { buffer, byteOffset, length } = this.#block
      const words = new DataView(buffer, byteOffset, length)
      this.#first = n * perBlock
      const above = (row: number) =>
        words.getUint32(row * rows.bytes + rows.codesAt - aboveBefore, true)
      const count = length / rows.bytes
      for (let row = 0; row < count; row++) {
        this.#aboveRow = above(row)
        // The first vector of the next block says where the rows of this one's last vector end.
        const end = row + 1 < count ? above(row + 1) : await this.#aboveOf(n + 1)
        this.#levels = end - this.#aboveRow
        for (let level = 0; level <= this.#levels; level++) see(this.#first + row, level)
        await turns.pass()
      }
    }
  }

  /** The links of a vector that each() is at. */
  read(node: number, level: number, numbers: Uint32Array): number {
    const { rows } = this.#layout
    if (level === 0) {
      return readLinks(this.#block, (node - this.#first) * rows.bytes, rows.links, numbers)
    }
    const row = this.#aboveRow + level - 1
    return readLinks(this.#above, row * aboveBytes, keptAbove, numbers)
  }

  /** By level, the links of some vectors. */
  async linksOf(isWanted: (node: number) => boolean, turns: Turns) {
    const found = new Map<number, Uint32Array[]>()
    const links = new Uint32Array(mostLinks)
    await this.each(turns, (node, level) => {
      if (!isWanted(node)) return
      const own = links.slice(0, this.read(node, level, links))
      if (level === 0) found.set(node, [own])
      else found.get(node)?.push(own)
    })
    return found
  }

  async #aboveOf(rowBlock: number): Promise<number> {
    const { rowBlocks, aboveBlocks, rows } = this.#layout
    if (rowBlock >= rowBlocks) return this.#header.above
    const block = await readLinksBlock(this.#file, this.#layout, 1 + aboveBlocks + rowBlock)
    const { buffer, byteOffset, length } = block
    return new DataView(buffer, byteOffset, length).getUint32(rows.codesAt - aboveBefore, true)
  }
}
