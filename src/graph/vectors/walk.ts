// Going from vector to vector along links towards a query. The kernel does it: kernel.wat.

import type { Kernel } from './kernel.js'

/** More links than any vector has. */
export const mostLinks = 125
/** How many vectors may be compared at once, from a list of their numbers. */
export const mostNumbers = 253

/** How many vectors are held while going down to level 0: one leads astray among clusters. */
export const descentWidth = 4

/** Of so many of the nearest it was measured how far a walk has to go. */
export const sampleNearest = 10

/** The most vectors that a walk keeps in view. */
export const mostWidth = 8192

/** Rows in a kernel's memory. */
export interface RowPlaces {
  /** The address of each block of rows. */
  readonly table: number
  readonly perBlock: number
  readonly rowBytes: number
  readonly codesAt: number
  readonly codes: number
  readonly links: number
  readonly aboveTable: number
  readonly abovePerBlock: number
  readonly aboveBytes: number
  readonly aboveLinks: number
  /** How many rows there are, and above level 0. */
  readonly vectors: number
  readonly above: number
}

/** Room that a walk needs: addresses. */
export interface WalkRoom {
  readonly frame: number
  /** The query, two bytes for each code. */
  readonly query: number
  /** `mostNumbers` numbers and three more. */
  readonly numbers: number
  /** Eight bytes for each vector that is kept in view. */
  readonly beam: number
  /** A bit for each vector, in whole words. */
  readonly visits: number
}

export const frameBytes = 88

/** What a walk has in hand. Not to be kept while a kernel's memory may grow. */
export class Walk {
  readonly kernel: Kernel
  readonly frame: number
  readonly query: Int16Array
  readonly numbers: Uint32Array
  readonly #words: Int32Array
  readonly #floats: Float32Array
  readonly #nodes: Int32Array
  readonly #scores: Float32Array

  constructor(kernel: Kernel, room: WalkRoom, rows: RowPlaces) {
    const { buffer } = kernel.memory
    this.kernel = kernel
    this.frame = room.frame
    this.query = new Int16Array(buffer, room.query, rows.codes)
    this.numbers = new Uint32Array(buffer, room.numbers, mostNumbers)
    this.#words = new Int32Array(buffer, room.frame, frameBytes / 4)
    this.#floats = new Float32Array(buffer, room.frame, frameBytes / 4)
    this.#nodes = new Int32Array(buffer, room.beam)
    this.#scores = new Float32Array(buffer, room.beam)
    const { table, perBlock, rowBytes, codesAt, codes, links } = rows
    this.#words.set([room.query, 0, table, perBlock, rowBytes, codesAt, codes, links])
    const { aboveTable, abovePerBlock, aboveBytes, aboveLinks } = rows
    this.#words.set([aboveTable, abovePerBlock, aboveBytes, aboveLinks], 8)
    this.#words.set([room.visits, room.beam, 0, 0, 0, 0, room.numbers, 0], 12)
    this.#words.set([rows.vectors, rows.above], 20)
  }

  /** What the query is multiplied by. */
  set factor(factor: number) {
    this.#floats[1] = factor
  }

  /** How many vectors are in view, best first. */
  get size(): number {
    return this.#words[15] as number
  }

  /** How many vectors were compared with the query, since the last time this was set. */
  get met(): number {
    return this.#words[19] as number
  }

  set met(met: number) {
    this.#words[19] = met
  }

  /** The score of the tenth, or of the last where fewer are in view. */
  get nearness(): number {
    return this.score(Math.min(sampleNearest, this.size) - 1)
  }

  score(n: number): number {
    return this.#scores[2 * n] as number
  }

  node(n: number): number {
    const node = this.#nodes[2 * n + 1] as number
    return node < 0 ? ~node : node
  }

  /** Begins with nothing in view. */
  clear(count: number, width: number): void {
    this.#words[15] = 0
    this.restart(count, width)
  }

  /** Starts again from what is in view, on another level. */
  restart(count: number, width: number): void {
    this.kernel.restart(this.frame, 4 * Math.ceil(count / 32), width)
  }

  /** Begins with nothing in view; vectors are only compared then. */
  compareOnly(width: number): void {
    this.#words.set([width, 0, 0], 14)
    this.#floats[17] = -Infinity
  }

  /** Keeps in view the best of the first `count` of `numbers`. */
  compare(count: number): void {
    this.kernel.compare(this.frame, count)
  }

  /** Keeps in view the vectors of level 0 that are nearest to the query, as far as it can tell. */
  search({ entry, top, vectors }: Entry, width: number): void {
    this.clear(vectors, top > 0 ? descentWidth : width)
    this.kernel.meet(this.frame, entry)
    for (let level = top; level > 0; level--) {
      this.kernel.follow(this.frame, level)
      this.restart(vectors, level > 1 ? descentWidth : width)
    }
    this.kernel.follow(this.frame, 0)
  }

  /** Goes on from what is in view, and keeps more. */
  widen({ vectors }: Entry, width: number): void {
    this.restart(vectors, width)
    this.kernel.follow(this.frame, 0)
  }
}

/** Where walks begin. */
export interface Entry {
  readonly entry: number
  /** The highest level. */
  readonly top: number
  readonly vectors: number
}
