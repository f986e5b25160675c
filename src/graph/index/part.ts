import type { Term } from '../../types.js'
import type { VectorFile } from '../vectors/types.js'
import { ANY, DEFAULT, NAMED, NONE, UNION } from '../view.js'
import type { IndexBlock, BlockCache, BlockFile } from './block-cache.js'
import { linksKey, mainKey, vectorKey } from './keys.js'
import { blockBytes, layoutOf, type Layout, type PartRecord, type VectorRecord } from './layout.js'
import {
  ANNOTATED,
  byteLengthOf,
  encodeTerm,
  ENTITY,
  entryWords,
  hashWords,
  kindOf,
  KNOWN,
  knownDatatypes,
  LANGUAGE,
  LITERAL,
  wordsOf,
} from './encoded-term.js'

/** The three orders of triples; which of a triple's places comes first, second and third in each. */
export const SPO = 0
export const POS = 1
export const OSP = 2

const blockShift = Math.log2(blockBytes)

/** Decoded terms that are kept at hand, by the low bits of their ids. */
const decodedTerms = 1 << 12

/** Triples of a part that lie next to each other in one of its orders: rows [from, to). */
export interface RowRange {
  order: number
  from: number
  to: number
}

/**
 * One part of an index, to be read: terms by ids of its own, and ranges of triples. Every method is
 * synchronous and throws a Miss where a block is not in memory.
 */
export class Part {
  readonly record: PartRecord
  readonly #index: string
  readonly #number: number
  readonly #layout: Layout
  readonly #cache: BlockCache
  readonly #file: BlockFile
  readonly #starts: readonly number[]
  readonly #pairs: readonly number[]
  readonly #decodedIds = new Int32Array(decodedTerms).fill(-1)
  readonly #decoded = new Array<Term | undefined>(decodedTerms)

  constructor(cache: BlockCache, index: string, number: number, record: PartRecord) {
    this.record = record
    this.#index = index
    this.#number = number
    this.#layout = layoutOf(record)
    this.#cache = cache
    this.#file = cache.file((block) => mainKey(index, number, block))
    const { spoStarts, spo, posStarts, pos, ospStarts, osp } = this.#layout
    this.#starts = [spoStarts, posStarts, ospStarts]
    this.#pairs = [spo, pos, osp]
  }

  // Terms

  /** The id of an encoded term in this part, or `NONE`. */
  find(term: Int32Array): number {
    const { terms } = this.record
    const hash = hashWords(term, 0, term.length)
    for (let at = this.#firstOfHash(hash); at < terms; at++) {
      const pair = this.#layout.hashes + 8 * at
      if (this.#word(pair) !== hash) break
      const id = this.#word(pair + 4)
      if (this.#equals(id, term)) return id
    }
    return NONE
  }

  /** The ids of all literals with this text. */
  findText(text: string): number[] {
    const term = encodeTerm({ v: text, e: false })
    const { terms } = this.record
    const hash = hashWords(term, 0, term.length)
    const found: number[] = []
    for (let at = this.#firstOfHash(hash); at < terms; at++) {
      const pair = this.#layout.hashes + 8 * at
      if (this.#word(pair) !== hash) break
      const id = this.#word(pair + 4)
      if (this.#hasText(id, term)) found.push(id)
    }
    return found
  }

  term(id: number): Term {
    const slot = id & (decodedTerms - 1)
    if (this.#decodedIds[slot] === id) return this.#decoded[slot] as Term
    const start = this.#entryOf(id)
    const header = this.#word(start)
    const { source, from, to } = this.#bytes(start + 4, start + 4 + byteLengthOf(header))
    const kind = kindOf(header)
    const v = from === to ? '' : source.toString('utf8', from, to)
    const term: Term =
      kind === ANNOTATED ? this.#annotated(v, id, start) : { v, e: kind === ENTITY }
    this.#decodedIds[slot] = id
    this.#decoded[slot] = term
    return term
  }

  /** A term as find() takes it. Not to be changed: it may be the block's own. */
  encoded(id: number): Int32Array {
    const start = this.#entryOf(id)
    const end = start + 4 * entryWords(this.#word(start), (place) => this.#word(start + 4 * place))
    const { source, from, to } = this.#bytes(start, end)
    return new Int32Array(source.buffer, source.byteOffset + from, (to - from) / 4)
  }

  #annotated(v: string, id: number, start: number): Term {
    const more = start + 4 * wordsOf(byteLengthOf(this.#word(start)))
    const header = this.#word(more)
    const length = byteLengthOf(header)
    if (kindOf(header) === KNOWN) return { v, e: false, dt: knownDatatypes[length] as string }
    if (kindOf(header) !== LANGUAGE) return { v, e: false, dt: this.#text(more + 4, length) }
    // As it was spelled, where that is not in small letters.
    const end = more + 4 * wordsOf(length)
    const isSpelled = end < this.#entryOf(id + 1)
    return { v, e: false, ln: this.#text(isSpelled ? end : more + 4, length) }
  }

  #text(start: number, length: number): string {
    const { source, from, to } = this.#bytes(start, start + length)
    return source.toString('utf8', from, to)
  }

  #entryOf(id: number): number {
    return this.#layout.termWords + 4 * this.#word(this.#layout.termStarts + 4 * id)
  }

  #firstOfHash(hash: number): number {
    // Hashes are spread evenly, so the place of one is known but for the square root of their number.
    const { terms } = this.record
    const guess = Math.floor((hash / 0x1_0000_0000) * terms)
    let step = 16
    let low = guess
    while (low > 0 && this.#hashAt(low - 1) >= hash) {
      low = Math.max(0, low - step)
      step *= 4
    }
    step = 16
    let high = Math.max(low, guess)
    while (high < terms && this.#hashAt(high) < hash) {
      low = high + 1
      high = Math.min(terms, high + step)
      step *= 4
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#hashAt(middle) < hash) low = middle + 1
      else high = middle
    }
    return low
  }

  #hashAt(place: number): number {
    return this.#word(this.#layout.hashes + 8 * place)
  }

  #equals(id: number, term: Int32Array): boolean {
    const start = this.#entryOf(id)
    for (let i = 0; i < term.length; i++) {
      if ((this.#word(start + 4 * i) | 0) !== term[i]) return false
    }
    return true
  }

  /** Whether it is this literal, or one of the same text that has more. */
  #hasText(id: number, literal: Int32Array): boolean {
    const start = this.#entryOf(id)
    const header = this.#word(start)
    const kind = kindOf(header)
    if (kind !== LITERAL && kind !== ANNOTATED) return false
    if (byteLengthOf(header) !== byteLengthOf(literal[0] as number)) return false
    for (let i = 1; i < literal.length; i++) {
      if ((this.#word(start + 4 * i) | 0) !== literal[i]) return false
    }
    return true
  }

  // Triples

  /** The rows of a pattern with at least one open place. `range` is filled in. */
  rangeOf(s: number, p: number, o: number, range: RowRange): void {
    let order = SPO
    let first = s
    let second = p
    if (s === ANY) {
      if (p !== ANY) {
        order = POS
        first = p
        second = o
      } else if (o !== ANY) {
        order = OSP
        first = o
        second = ANY
      }
    } else if (p === ANY && o !== ANY) {
      order = OSP
      first = o
      second = s
    }
    range.order = order
    if (first === ANY) {
      range.from = 0
      range.to = this.record.triples
      return
    }
    const from = this.startOf(order, first)
    const to = this.startOf(order, first + 1)
    if (second === ANY) {
      range.from = from
      range.to = to
      return
    }
    range.from = this.#lowerBound(order, from, to, second, 0)
    range.to = this.#lowerBound(order, range.from, to, second + 1, 0)
  }

  /** The place of a triple in the order of `SPO`, or `NONE`. */
  rowOf(s: number, p: number, o: number): number {
    const to = this.startOf(SPO, s + 1)
    const row = this.#lowerBound(SPO, this.startOf(SPO, s), to, p, o)
    if (row === to) return NONE
    const pair = (this.#pairs[SPO] as number) + 8 * row
    return this.#word(pair) === p && this.#word(pair + 4) === o ? row : NONE
  }

  /** The first row of those whose triples begin with this id in an order. */
  startOf(order: number, id: number): number {
    return this.#word((this.#starts[order] as number) + 4 * id)
  }

  /** The first row in [from, to) at or behind this pair. */
  #lowerBound(order: number, from: number, to: number, second: number, third: number): number {
    const pairs = this.#pairs[order] as number
    let low = from
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      const pair = pairs + 8 * middle
      const found = this.#word(pair)
      const isBefore = found < second || (found === second && this.#word(pair + 4) < third)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Where a row's pair lies in the file. A pair is never cut between two blocks. */
  pairPlace(order: number, row: number): number {
    return (this.#pairs[order] as number) + 8 * row
  }

  block(offset: number): IndexBlock {
    return this.#file.block(offset >>> blockShift)
  }

  get hasGraphs(): boolean {
    return this.record.graphs !== undefined
  }

  /** True where a triple of that row in `SPO` is of a collection; of any, where that is below 0. */
  isIn(row: number, collection: number, g: number): boolean {
    const to = this.membershipsOf(row + 1)
    return this.nextMembership(this.membershipsOf(row), to, collection, g) < to
  }

  /** Where the memberships of a row in `SPO` begin, and those of the row before it end. */
  membershipsOf(row: number): number {
    return this.#word(this.#layout.membershipStarts + 4 * row)
  }

  /**
   * The first membership of a row in [from, to) of a graph that `g` may be, in the collection (in any,
   * where that is below 0); `to` where there is none. They are in the order of their graphs' ids, the
   * default graph first: of one graph the first is looked for, as a triple may be in thousands.
   */
  nextMembership(from: number, to: number, collection: number, g: number): number {
    let at = from
    if (this.hasGraphs && (g >= 0 || g === DEFAULT)) {
      const name = g === DEFAULT ? 0 : g + 1
      at = this.#firstOfGraph(from, to, name)
      for (; at < to && this.#graphWord(at) === name; at++)
        if (this.#isOf(at, collection)) return at
      return to
    }
    for (; at < to; at++) if (fits(this.graphAt(at), g) && this.#isOf(at, collection)) return at
    return to
  }

  /** The first membership behind `from` of another graph than that of `from`. */
  afterGraph(from: number, to: number): number {
    return this.#firstOfGraph(from, to, this.#graphWord(from) + 1)
  }

  /** The graph of a membership. */
  graphAt(membership: number): number {
    return this.hasGraphs ? graphAt(this.#graphWord(membership)) : DEFAULT
  }

  #graphWord(membership: number): number {
    return this.#word(this.#layout.memberships + 8 * membership)
  }

  #firstOfGraph(from: number, to: number, name: number): number {
    let low = from
    // Most have few: the first is nearly always the one.
    for (const end = Math.min(to, from + 4); low < end; low++) {
      if (this.#graphWord(low) >= name) return low
    }
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#graphWord(middle) < name) low = middle + 1
      else high = middle
    }
    return low
  }

  #isOf(membership: number, collection: number): boolean {
    if (collection < 0) return true
    const width = this.hasGraphs ? 8 : 4
    return this.#word(this.#layout.memberships + width * membership + width - 4) === collection
  }

  /** The rows of a graph in `SPO`, as places of a list: [from, to). */
  graphRange(g: number, range: RowRange): void {
    const { graphs } = this.record
    const { graphNames, graphStarts } = this.#layout
    const name = g === DEFAULT ? 0 : g + 1
    let low = 0
    let high = graphs?.names ?? 0
    const end = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#word(graphNames + 4 * middle) < name) low = middle + 1
      else high = middle
    }
    const isThere = low < end && this.#word(graphNames + 4 * low) === name
    range.order = SPO
    range.from = isThere ? this.#word(graphStarts + 4 * low) : 0
    range.to = isThere ? this.#word(graphStarts + 4 * low + 4) : 0
  }

  // Values

  /** The values of a family with keys from `low` to `high`, as places: [from, to). */
  valueRange(family: number, low: number, high: number): readonly [from: number, to: number] {
    return [
      this.#firstValue(family, (key) => key >= low),
      this.#firstValue(family, (key) => key > high),
    ]
  }

  valueKey(family: number, place: number): number {
    const { keys } = this.#values(family)
    keyWords[0] = this.#word(keys + 8 * place)
    keyWords[1] = this.#word(keys + 8 * place + 4)
    return key[0] as number
  }

  valueId(family: number, place: number): number {
    return this.#word(this.#values(family).ids + 4 * place)
  }

  #firstValue(family: number, isBehind: (key: number) => boolean): number {
    let low = 0
    let high = this.#values(family).count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBehind(this.valueKey(family, middle))) high = middle
      else low = middle + 1
    }
    return low
  }

  #values(family: number): Layout['values'][number] {
    return this.#layout.values[family] as Layout['values'][number]
  }

  // Graphs

  /** The n-th of the graphs, in the order of their ids; `NONE` behind the last. */
  graph(n: number): number {
    if (n >= (this.record.graphs?.names ?? 0)) return NONE
    return graphAt(this.#word(this.#layout.graphNames + 4 * n))
  }

  graphRow(place: number): number {
    return this.#word(this.#layout.graphRows + 4 * place)
  }

  /** The subject of a row in `SPO`. */
  subjectOf(row: number): number {
    let low = 0
    let high = this.record.terms
    // The last id whose rows begin at or before this one.
    while (low + 1 < high) {
      const middle = (low + high) >>> 1
      if (this.startOf(SPO, middle) <= row) low = middle
      else high = middle
    }
    return low
  }

  // Vectors

  /** The entity of a vector; `file` is a place in `record.vectors`. */
  entityOf(file: number, vector: number): number {
    return this.#word((this.#layout.entities[file] as number) + 4 * vector)
  }

  collectionOf(file: number, vector: number): number {
    return this.#word((this.#layout.vectorCollections[file] as number) + 4 * vector)
  }

  async vectorBlock(dimensions: number, block: number): Promise<Uint8Array> {
    return this.#cache.read(vectorKey(this.#index, this.#number, dimensions, block))
  }

  async linksBlock(dimensions: number, block: number): Promise<Uint8Array> {
    return this.#cache.read(linksKey(this.#index, this.#number, dimensions, block))
  }

  vectorFileId({ dimensions }: VectorRecord): VectorFile['id'] {
    return `${this.#index}/${this.#number}/${dimensions}`
  }

  // Bytes

  /** Offsets are multiples of 4. */
  #word(offset: number): number {
    const { words } = this.#file.block(offset >>> blockShift)
    return words[(offset & (blockBytes - 1)) >>> 2] as number
  }

  #bytes(start: number, end: number): { source: Buffer; from: number; to: number } {
    const first = start >>> blockShift
    const last = Math.max(start, end - 1) >>> blockShift
    if (first === last) {
      const offset = first * blockBytes
      return { source: this.#file.block(first).bytes, from: start - offset, to: end - offset }
    }
    const pieces: Buffer[] = []
    for (let n = first; n <= last; n++) {
      const offset = n * blockBytes
      pieces.push(this.#file.block(n).bytes.subarray(Math.max(0, start - offset), end - offset))
    }
    // Aligned, as parts of Node's pool are not.
    const whole = Buffer.from(new ArrayBuffer(end - start))
    let at = 0
    for (const piece of pieces) at += piece.copy(whole, at)
    return { source: whole, from: 0, to: end - start }
  }
}

const key = new Float64Array(1)
const keyWords = new Uint32Array(key.buffer)

/** As lists of places have it: counted from 1. */
function graphAt(word: number): number {
  return word === 0 ? DEFAULT : word - 1
}

function fits(graph: number, g: number): boolean {
  return g === ANY || g === UNION || (g === NAMED ? graph !== DEFAULT : graph === g)
}

/** The index of a run of segments: its parts. */
export interface IndexParts {
  readonly id: string
  readonly parts: readonly Part[]
}
