// A hierarchical navigable small world: Malkov & Yashunin, "Efficient and robust approximate nearest
// neighbor search using hierarchical navigable small world graphs", 2018. By codes alone.

import { encodeInto } from './codes.js'
import { createKernel, type Kernel } from './kernel.js'
import {
  aboveBefore,
  equalBefore,
  factorBefore,
  none,
  readLinks,
  Rows,
  writeLink,
  writeLinks,
} from './rows.js'
import {
  descentWidth,
  frameBytes,
  mostLinks,
  mostNumbers,
  mostWidth,
  Walk,
  type Entry,
  type RowPlaces,
} from './walk.js'

/** How many links a vector gets when it comes; later ones link back to it. */
const newLinks = 16
/** How many it keeps on level 0, and above it. */
const keptBelow = 26
export const keptAbove = 16
/** How many links there is room for on level 0 in the end: some lead to what nothing leads to. */
export const roomBelow = 28
/** How many links wait for the choice of which to keep, which costs much. */
const waiting = 16
/** How many vectors are looked at for each that is linked. */
const buildWidth = 64
export const topmost = 15
const aboveLinks = keptAbove + waiting
const aboveBytes = 3 * aboveLinks

/** Vectors in memory, linked one after the other. */
export class GraphBuilder implements Entry {
  entry = 0
  /** -1 while there is no vector. */
  top = -1
  readonly vectors: number
  /** How many rows there are above level 0. */
  above = 0
  readonly kernel: Kernel
  readonly rows: Rows
  /** For searches: by vectors that are no part of it, too. */
  readonly walk: Walk
  readonly #bytes: Uint8Array
  readonly #words: DataView
  readonly #levels: Uint8Array
  /** By vector, and by row above level 0: how many links there are. */
  readonly #degrees: Uint8Array
  readonly #aboveDegrees: Uint8Array
  readonly #layout: BuilderLayout
  /** For choosing among the links of a vector. */
  readonly #chooser: Walk
  readonly #chosen = new Uint32Array(mostLinks)
  readonly #numbers = new Uint32Array(mostLinks)

  constructor(dimensions: number, count: number) {
    const layout = new BuilderLayout(dimensions, count)
    this.vectors = count
    this.rows = layout.rows
    this.#layout = layout
    this.#levels = new Uint8Array(count)
    this.#degrees = new Uint8Array(count)
    this.#aboveDegrees = new Uint8Array(layout.mostAbove)
    this.kernel = createKernel(layout.end, layout.end)
    const { buffer } = this.kernel.memory
    this.#bytes = new Uint8Array(buffer)
    this.#words = new DataView(buffer)
    new Uint32Array(buffer, layout.tables, 2).set([layout.vectors, layout.above])
    const places: RowPlaces = {
      table: layout.tables,
      perBlock: count,
      rowBytes: this.rows.bytes,
      codesAt: this.rows.codesAt,
      codes: this.rows.codes,
      links: this.rows.links,
      aboveTable: layout.tables + 4,
      abovePerBlock: layout.mostAbove,
      aboveBytes,
      aboveLinks,
      vectors: count,
      above: layout.mostAbove,
    }
    this.walk = new Walk(this.kernel, layout.room, places)
    this.#chooser = new Walk(this.kernel, layout.chooserRoom, places)
  }

  /** Puts a vector into its row; they come in their order. It is not linked by that. */
  add(node: number, vectors: Float32Array, from: number, dimensions: number): void {
    const row = this.rowOf(node)
    this.#bytes.fill(0xff, row, row + 3 * this.rows.links)
    const codes = this.#codesAt(node)
    const factor = encodeInto(vectors, from, dimensions, this.codesOf(node), 0)
    this.#words.setFloat32(codes - factorBefore, factor, true)
    this.#words.setUint32(codes - equalBefore, none, true)
    this.#words.setUint32(codes - aboveBefore, this.above, true)
  }

  /** Gives the vector that came last a level above 0, by what it is. */
  raise(node: number, digest: number): void {
    // Who makes vectors for high levels gets no more rows than there is room for.
    const level = Math.min(levelOf(digest), this.#layout.mostAbove - this.above)
    this.#levels[node] = level
    const from = this.#layout.above + this.above * aboveBytes
    this.above += level
    this.#bytes.fill(0xff, from, from + level * aboveBytes)
  }

  equals(a: number, b: number): boolean {
    const at = this.#codesAt(a)
    const other = this.#codesAt(b)
    for (let n = 0; n < this.rows.codes; n++) {
      if (this.#bytes[at + n] !== this.#bytes[other + n]) return false
    }
    return this.factorOf(a) === this.factorOf(b)
  }

  factorOf(node: number): number {
    return this.#words.getFloat32(this.#codesAt(node) - factorBefore, true)
  }

  codesOf(node: number): Int8Array {
    const at = this.rowOf(node) + this.rows.codesAt
    return new Int8Array(this.kernel.memory.buffer, at, this.rows.codes)
  }

  setEqual(node: number, equal: number): void {
    this.#words.setUint32(this.#codesAt(node) - equalBefore, equal, true)
  }

  /** Where its row begins, links first. */
  rowOf(node: number): number {
    return this.#layout.vectors + node * this.rows.bytes
  }

  levelOf(node: number): number {
    return this.#levels[node] as number
  }

  read(node: number, level: number, numbers: Uint32Array): number {
    const { at } = this.#row(node, level)
    return readLinks(this.#bytes, at, level === 0 ? this.rows.links : aboveLinks, numbers)
  }

  /** Writes a row as it is stored, with room for fewer links. */
  copyRow(node: number, rows: Rows, target: Uint8Array, to: number): void {
    const from = this.rowOf(node)
    const facts = this.#codesAt(node) - factorBefore
    target.set(this.#bytes.subarray(from, from + 3 * rows.links), to)
    target.set(
      this.#bytes.subarray(facts, from + this.rows.bytes),
      to + rows.codesAt - factorBefore,
    )
  }

  /** Writes a row above level 0 as it is stored. */
  copyAbove(row: number, bytes: number, target: Uint8Array, to: number): void {
    const from = this.#layout.above + row * aboveBytes
    target.set(this.#bytes.subarray(from, from + bytes), to)
  }

  /** Makes links to and from a vector. */
  insert(node: number): void {
    const own = this.levelOf(node)
    const { walk } = this
    if (this.top >= 0) {
      walk.factor = this.kernel.widen(walk.frame, node, this.#layout.room.query)
      const widthAt = (level: number) => (level > own ? descentWidth : buildWidth)
      walk.clear(this.vectors, widthAt(this.top))
      this.kernel.meet(walk.frame, this.entry)
      for (let level = this.top; level >= 0; level--) {
        this.kernel.follow(walk.frame, level)
        if (level <= own) this.#link(node, level)
        if (level > 0) walk.restart(this.vectors, widthAt(level - 1))
      }
    }
    this.enter(node)
  }

  /** Walks may begin at this vector from now on. */
  enter(node: number): void {
    const own = this.levelOf(node)
    if (own <= this.top) return
    this.top = own
    this.entry = node
  }

  /** Drops the links of a vector that it does not keep in the end. */
  settle(node: number): void {
    for (let level = this.levelOf(node); level >= 0; level--) {
      const { degrees, row } = this.#row(node, level)
      if ((degrees[row] as number) > keptAt(level)) this.#shrink(node, level)
    }
  }

  /** Adds a link on level 0, where there is room for it in the end. */
  connect(from: number, to: number): boolean {
    const degree = this.#degrees[from] as number
    if (degree >= roomBelow) return false
    writeLink(this.#bytes, this.rowOf(from), degree, to)
    this.#degrees[from] = degree + 1
    return true
  }

  /** Gives a vector the links that it had elsewhere. */
  adopt(node: number, level: number, links: Uint32Array, count: number): void {
    const { at, degrees, row } = this.#row(node, level)
    degrees[row] = count
    writeLinks(this.#bytes, at, roomAt(level, this.rows), links, count)
  }

  /** Links a vector anew, to the best of these, and them not to it. */
  choose(node: number, level: number, candidates: ArrayLike<number>): void {
    this.#weigh(node, candidates)
    this.#write(
      node,
      level,
      this.#choose(this.#chooser, this.#layout.chooserRoom.beam, keptAt(level)),
    )
  }

  #link(node: number, level: number): void {
    const chosen = this.#choose(this.walk, this.#layout.room.beam, newLinks)
    this.#write(node, level, chosen)
    // Shrinking others chooses among others.
    const links = this.#chosen.slice(0, chosen)
    for (const other of links) this.#linkBack(other, node, level)
  }

  #linkBack(from: number, to: number, level: number): void {
    const { at, degrees, row } = this.#row(from, level)
    if (degrees[row] === roomAt(level, this.rows)) this.#shrink(from, level)
    const degree = degrees[row] as number
    writeLink(this.#bytes, at, degree, to)
    degrees[row] = degree + 1
  }

  #shrink(node: number, level: number): void {
    const count = this.read(node, level, this.#numbers)
    this.choose(node, level, this.#numbers.subarray(0, count))
  }

  /** Sorts vectors by how near they are to one. */
  #weigh(node: number, others: ArrayLike<number>): void {
    const chooser = this.#chooser
    chooser.factor = this.kernel.widen(chooser.frame, node, this.#layout.chooserRoom.query)
    chooser.compareOnly(buildWidth)
    chooser.numbers.set(others)
    chooser.compare(others.length)
  }

  /** Into `#chosen`; how many. */
  #choose(walk: Walk, pairs: number, keep: number): number {
    const { chosen: out, addresses, wide } = this.#layout
    const { size, frame } = walk
    const chosen = this.kernel.choose(frame, pairs, size, keep, out, addresses, wide)
    for (let n = 0; n < chosen; n++) {
      this.#chosen[n] = this.#words.getUint32(out + 8 * n + 4, true)
    }
    return chosen
  }

  #write(node: number, level: number, chosen: number): void {
    this.adopt(node, level, this.#chosen, chosen)
  }

  #row(node: number, level: number) {
    if (level === 0) return { at: this.rowOf(node), degrees: this.#degrees, row: node }
    const above = this.#words.getUint32(this.#codesAt(node) - aboveBefore, true)
    const row = above + level - 1
    return { at: this.#layout.above + row * aboveBytes, degrees: this.#aboveDegrees, row }
  }

  #codesAt(node: number): number {
    return this.rowOf(node) + this.rows.codesAt
  }
}

/** What lies where in a builder's memory. */
class BuilderLayout {
  readonly rows: Rows
  readonly room
  readonly chooserRoom
  readonly chosen: number
  readonly addresses: number
  readonly wide: number
  readonly tables: number
  /** Fifteen vectors have about one row above level 0: this is twice as many. */
  readonly mostAbove: number
  readonly above: number
  readonly vectors: number
  readonly end: number

  constructor(dimensions: number, count: number) {
    this.mostAbove = Math.ceil(count / 7) + 1000
    this.rows = new Rows(dimensions, keptBelow + waiting)
    let end = 0
    const take = (bytes: number) => {
      const at = end
      end += Math.ceil(bytes / 64) * 64
      return at
    }
    const room = (width: number, visits: number) => ({
      frame: take(frameBytes),
      query: take(2 * this.rows.codes),
      numbers: take(4 * (mostNumbers + 3)),
      beam: take(8 * width),
      visits: take(visits),
    })
    this.room = room(mostWidth, 4 * Math.ceil(count / 32))
    this.chooserRoom = room(buildWidth, 0)
    this.chosen = take(8 * mostLinks)
    this.addresses = take(4 * mostLinks)
    this.wide = take(2 * this.rows.codes)
    this.tables = take(8)
    this.above = take(aboveBytes * this.mostAbove)
    this.vectors = take(this.rows.bytes * count)
    this.end = end
  }
}

/** What a builder holds in the kernel's memory. */
export function builderBytes(dimensions: number, count: number): number {
  return new BuilderLayout(dimensions, count).end
}

function keptAt(level: number): number {
  return level === 0 ? keptBelow : keptAbove
}

function roomAt(level: number, rows: Rows): number {
  return level === 0 ? rows.links : aboveLinks
}

/** Of what a vector is, so that the same vectors get the same links. */
function levelOf(digest: number): number {
  let hash = Math.imul(digest + 1, 0x9e37_79b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  // A level has a sixteenth of the vectors of the one below it: four bits each.
  return Math.min(topmost, Math.floor(Math.clz32(hash) / 4))
}
