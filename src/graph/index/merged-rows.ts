// Rows of several parts that come in one order, as one stream of them in that order.

import { ANY, NAMED, NONE, type Rows } from '../view.js'
import type { PartTerms } from './part-terms.js'

/** Gives the ids of the graph for those of a part. */
interface GraphIds {
  graphId(n: number, id: number): number
}

type Pattern = readonly [s: number, p: number, o: number, g: number]

/** By order: which place of a triple comes first, second and third. */
const places = [
  [0, 1, 2],
  [1, 2, 0],
  [2, 0, 1],
]
const graphPlace = 3

/** Terms of streams that were found to be one have one number. */
let numbers = 1

/** A place of the row that a stream is at, as it is compared with that of other streams. */
class Key {
  readonly place: number
  readonly #terms: PartTerms
  id: number = NONE
  isRead = false
  /** Once it is read: so that it orders as a signed number, as those are cheaper. */
  hash = 0
  /** 0 before it has one. */
  #number = 0

  constructor(place: number, terms: PartTerms) {
    this.place = place
    this.#terms = terms
  }

  read(): void {
    this.hash = this.id < 0 ? -0x8000_0000 : this.#terms.hashOf(this.id) ^ 0x8000_0000
    this.#number = 0
    this.isRead = true
  }

  /** Below 0 where it comes before one of the same hash, 0 where it is the same term. */
  compare(other: Key): number {
    // Most come again and again, and looking at their entries takes long.
    if (other.#number === 0) other.#number = numbers++
    if (this.#number === other.#number) return 0
    // The default graph is before all others.
    if (this.id < 0 || other.id < 0) return Math.min(this.id, 0) - Math.min(other.id, 0)
    const order = this.#terms.compare(this.id, other.#terms, other.id)
    if (order === 0) this.#number = other.#number
    return order
  }
}

/** The rows of one part, with ids of its own. */
export class PartStream {
  readonly n: number
  readonly terms: PartTerms
  /** What its ids are counted on from. */
  readonly base: number
  readonly rows: Rows
  /** The open places, in the order that the rows have. */
  keys: readonly Key[] = []
  /** How often it went on. */
  #moves = 0
  // What it was found to be before by the first place alone: so are all its rows that have the same there.
  #followed: PartStream | undefined
  #followedMoves = 0
  #leading: number = NONE

  constructor(n: number, terms: PartTerms, base: number, rows: Rows) {
    this.n = n
    this.terms = terms
    this.base = base
    this.rows = rows
  }

  next(): boolean {
    const { rows } = this
    if (!rows.next()) return false
    this.#moves++
    for (const key of this.keys) {
      const { place } = key
      const id = place === 0 ? rows.s : place === 1 ? rows.p : place === 2 ? rows.o : rows.g
      if (id === key.id) continue
      key.id = id
      key.isRead = false
    }
    return true
  }

  /** True where compare() has told so of this and all other rows up to here. */
  stillLeads(other: PartStream | undefined): boolean {
    return (
      other !== undefined &&
      this.#followed === other &&
      this.#followedMoves === other.#moves &&
      this.keys[0]?.id === this.#leading
    )
  }

  /** Below 0 where its row comes before that of another stream, 0 where it is the same. */
  compare(other: PartStream): number {
    for (let n = 0; n < this.keys.length; n++) {
      const a = this.keys[n] as Key
      const b = other.keys[n] as Key
      if (!a.isRead) a.read()
      if (!b.isRead) b.read()
      if (a.hash !== b.hash) {
        if (a.hash > b.hash) return 1
        if (n === 0) {
          this.#followed = other
          this.#followedMoves = other.#moves
          this.#leading = a.id
        }
        return -1
      }
      const order = a.compare(b)
      if (order !== 0) return order
    }
    return 0
  }
}

/** What several parts say of a pattern, each row once. */
export class MergedRows implements Rows {
  s: number
  p: number
  o: number
  g: number
  readonly #pattern: Pattern
  readonly #ids: GraphIds | undefined
  /** By their rows, the first one last; of the same row, the first part last. */
  readonly #heads: PartStream[] = []
  /** Those whose rows were told: they go on to their next ones, and take their places. */
  readonly #told: PartStream[]
  /** Where there is no other: its rows are only told by other ids. */
  readonly #only: PartStream | undefined
  /** The last of them has its next row. */
  #isReady = false

  /**
   * `order` is that of all streams. Without `ids` a term has any of the ids of the parts, and not one
   * for all of them.
   */
  constructor(
    streams: readonly PartStream[],
    order: number,
    pattern: Pattern,
    ids: GraphIds | undefined,
  ) {
    const [s, p, o, g] = pattern
    this.s = s
    this.p = p
    this.o = o
    this.g = g
    this.#pattern = pattern
    this.#ids = ids
    this.#only = streams.length === 1 ? streams[0] : undefined
    this.#told = [...streams]
    if (this.#only !== undefined) return
    const open = (places[order] as readonly number[]).filter((place) => pattern[place] === ANY)
    if (g === ANY || g === NAMED) open.push(graphPlace)
    for (const stream of streams) stream.keys = open.map((place) => new Key(place, stream.terms))
  }

  next(): boolean {
    if (this.#only !== undefined) return this.#nextOf(this.#only)
    const told = this.#told
    const heads = this.#heads
    // Rows of one part often come in a run: most are compared with nothing.
    if (told.length === 1 && !this.#isReady) {
      const only = told[0] as PartStream
      if (!only.next()) told.pop()
      else {
        // Before anything else may miss a block: the next call would pass this row over.
        this.#isReady = true
        if (only.stillLeads(heads[heads.length - 1])) {
          this.#take(only)
          this.#isReady = false
          return true
        }
      }
    }
    for (let last = told.at(-1); last !== undefined; last = told.at(-1)) {
      if (!this.#isReady && !last.next()) {
        told.pop()
        continue
      }
      this.#isReady = true
      this.#enter(last)
      told.pop()
      this.#isReady = false
    }
    const first = heads.at(-1)
    if (first === undefined) return false
    let others = heads.length - 1
    while (others > 0 && (heads[others - 1] as PartStream).compare(first) === 0) others--
    this.#take(first)
    while (heads.length > others) told.push(heads.pop() as PartStream)
    return true
  }

  #nextOf(only: PartStream): boolean {
    if (!this.#isReady && !only.next()) return false
    // Before anything else may miss a block: the next call would pass this row over.
    this.#isReady = true
    this.#take(only)
    this.#isReady = false
    return true
  }

  #enter(stream: PartStream): void {
    const heads = this.#heads
    let high = heads.length
    if (high === 0 || isBefore(stream, heads[high - 1] as PartStream)) {
      heads.push(stream)
      return
    }
    let low = 0
    high--
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(stream, heads[middle] as PartStream)) low = middle + 1
      else high = middle
    }
    heads.push(stream)
    heads.copyWithin(low + 1, low, heads.length - 1)
    heads[low] = stream
  }

  #take(stream: PartStream): void {
    const { rows } = stream
    const pattern = this.#pattern
    if (pattern[0] === ANY) this.s = this.#idOf(stream, rows.s)
    if (pattern[1] === ANY) this.p = this.#idOf(stream, rows.p)
    if (pattern[2] === ANY) this.o = this.#idOf(stream, rows.o)
    const g = pattern[3]
    if (g === ANY || g === NAMED) this.g = rows.g < 0 ? rows.g : this.#idOf(stream, rows.g)
  }

  #idOf({ n, base }: PartStream, id: number): number {
    return this.#ids === undefined ? base + id : this.#ids.graphId(n, id)
  }
}

function isBefore(stream: PartStream, other: PartStream): boolean {
  const order = stream.compare(other)
  return order < 0 || (order === 0 && stream.n < other.n)
}
