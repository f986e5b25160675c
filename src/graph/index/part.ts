import type { VectorFile } from '../vectors/types.js'
import { ANY, DEFAULT, NAMED, NONE } from '../view.js'
import type { BlockCache, BlockFile } from './block-cache.js'
import { linksKey, mainKey, vectorKey } from './keys.js'
import {
  IS_LIST,
  layoutOf,
  placeWords,
  sourceWords,
  type Layout,
  type PartRecord,
} from './layout.js'
import { PartFile } from './part-file.js'
import { PartPassages } from './part-passages.js'
import { PartTerms } from './part-terms.js'

/** The three orders of triples; which of a triple's places comes first, second and third in each. */
export const SPO = 0
export const POS = 1
export const OSP = 2

/** Triples of a part that lie next to each other in one of its orders: rows [from, to). */
export interface RowRange {
  order: number
  from: number
  to: number
}

/** Which places of a part count: of [from, to) those that are 1 in `accepts`, all of them where there is none. */
export interface PlaceRange {
  readonly from: number
  readonly to: number
  readonly accepts: Uint8Array | undefined
}

/** The order of the rows of a pattern. */
export function orderOf(s: number, p: number, o: number): number {
  if (s === ANY) {
    if (p !== ANY) return POS
    return o === ANY ? SPO : OSP
  }
  return p === ANY && o !== ANY ? OSP : SPO
}

/**
 * One part of an index, to be read: terms by ids of its own, ranges of triples, and who says them. Every
 * method is synchronous and throws a Miss where a block is not in memory.
 */
export class Part {
  readonly record: PartRecord
  readonly terms: PartTerms
  /** Undefined where the part has none. */
  readonly passages: PartPassages | undefined
  readonly #layout: Layout
  readonly #cache: BlockCache
  readonly #blocks: BlockFile
  readonly #file: PartFile
  readonly #starts: readonly number[]
  readonly #pairs: readonly number[]

  constructor(cache: BlockCache, record: PartRecord) {
    this.record = record
    this.#layout = layoutOf(record)
    this.#cache = cache
    this.#blocks = cache.file((block) => mainKey(record, block), this.#layout.end)
    this.#file = new PartFile(this.#blocks)
    this.terms = new PartTerms(this.#file, this.#layout, record)
    const { passages } = record
    this.passages = passages && new PartPassages(this.#file, this.#layout, passages)
    const { spoStarts, spo, posStarts, pos, ospStarts, osp } = this.#layout
    this.#starts = [spoStarts, posStarts, ospStarts]
    this.#pairs = [spo, pos, osp]
  }

  /** The same terms, for who reads them in their order, each once. */
  termsInOrder(): PartTerms {
    const blocks = this.#cache
      .fleeting()
      .file((block) => mainKey(this.record, block), this.#layout.end)
    return new PartTerms(new PartFile(blocks), this.#layout, this.record)
  }

  /** How much of the memory for blocks its terms alone would take. */
  get termsShare(): number {
    return this.terms.bytes / this.#cache.maxBytes
  }

  /** Of its main file. */
  get bytes(): number {
    return this.#layout.end
  }

  /** Whether there is much room for so many bytes where its blocks are kept. */
  hasRoom(bytes: number): boolean {
    return this.#cache.hasRoom(bytes)
  }

  /** Begins to read its main file, but for who says which triple: where all of it is seen nobody asks that. */
  bring(): void {
    const { rowPlaces, ospStarts, end } = this.#layout
    this.#file.bring(0, rowPlaces)
    this.#file.bring(ospStarts, end)
  }

  // Triples

  /** The rows of a pattern with at least one open place. `range` is filled in. */
  rangeOf(s: number, p: number, o: number, range: RowRange): void {
    const order = orderOf(s, p, o)
    const first = order === SPO ? s : order === POS ? p : o
    const second = order === SPO ? p : order === POS ? o : s
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
    return this.#file.word(pair) === p && this.#file.word(pair + 4) === o ? row : NONE
  }

  /** The first row of those whose triples begin with this id in an order. */
  startOf(order: number, id: number): number {
    return this.#file.word((this.#starts[order] as number) + 4 * id)
  }

  /** Of a row in `SPO`. */
  predicateOf(row: number): number {
    return this.#file.word(this.pairPlace(SPO, row))
  }

  /** Of rows [from, to) in `SPO` of one subject, the first behind those with a predicate, which the first one has. */
  behind(predicate: number, from: number, to: number): number {
    let low = from + 1
    for (let step = 1; low < to && this.predicateOf(low) === predicate; step *= 2) {
      if (low + step >= to) return this.#lowerBound(SPO, low, to, predicate + 1, 0)
      low += step
    }
    return this.#lowerBound(SPO, from + 1, Math.min(low, to), predicate + 1, 0)
  }

  /** The first row in [from, to) at or behind this pair. */
  #lowerBound(order: number, from: number, to: number, second: number, third: number): number {
    const pairs = this.#pairs[order] as number
    let low = from
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      const pair = pairs + 8 * middle
      const found = this.#file.word(pair)
      const isBefore = found < second || (found === second && this.#file.word(pair + 4) < third)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Where a row's pair lies in the file. A pair is never cut between two pieces. */
  pairPlace(order: number, row: number): number {
    return (this.#pairs[order] as number) + 8 * row
  }

  /** The whole numbers of the piece that this is in. */
  piece(offset: number): Uint32Array {
    return this.#file.piece(offset)
  }

  /** The subject of a row in `SPO`, which is `from` or one behind it. */
  subjectOf(row: number, from: number): number {
    // The last id whose rows begin at or before this one: the next ones are looked at first.
    const { terms } = this.record
    let low = from
    let step = 1
    while (low + step < terms && this.startOf(SPO, low + step) <= row) {
      low += step
      step *= 2
    }
    const end = Math.min(terms, low + step)
    return this.#file.first(low + 1, end, (id) => this.startOf(SPO, id) > row) - 1
  }

  // Sources and places

  get hasGraphs(): boolean {
    return this.record.hasGraphs
  }

  /** The four numbers of the n-th source's generation, the highest first. */
  generationWord(source: number, n: number): number {
    return this.#file.word(this.#layout.sources + 4 * (sourceWords * source + n))
  }

  /** The generation of a source. */
  generationOf(source: number): string {
    let generation = ''
    for (let n = 0; n < 4; n++) {
      generation += this.generationWord(source, n).toString(16).padStart(8, '0')
    }
    return generation
  }

  /** The name of the core that a source is one of. */
  coreOf(source: number): string {
    return this.#nameOf(this.coreIdOf(source))
  }

  /** The id of that name. */
  coreIdOf(source: number): number {
    return this.#file.word(this.#layout.sources + 4 * (sourceWords * source + 4))
  }

  #nameOf(id: number): string {
    // It is no term, but it lies there as one.
    return this.terms.term(id).v
  }

  /** The graph of a place: 0, or its name's id + 1. */
  graphWord(place: number): number {
    return this.#placeWord(place, 0)
  }

  graphOf(place: number): number {
    const word = this.graphWord(place)
    return word === 0 ? DEFAULT : word - 1
  }

  sourceOf(place: number): number {
    return this.#placeWord(place, 1)
  }

  collectionOf(place: number): number {
    return this.#placeWord(place, 2)
  }

  #placeWord(place: number, n: number): number {
    return this.#file.word(this.#layout.places + 4 * (placeWords * place + n))
  }

  /** The places of a graph as rows are asked for: of `NAMED` all that are in one. `range` is filled in. */
  placesOfGraph(g: number, range: { from: number; to: number }): void {
    const { places } = this.record
    range.from = 0
    range.to = places
    if (!this.hasGraphs) {
      if (g >= 0 || g === NAMED) range.to = 0
      return
    }
    if (g === NAMED) range.from = this.#firstOfGraph(0, 1)
    if (g < 0 && g !== DEFAULT) return
    const word = g === DEFAULT ? 0 : g + 1
    range.from = this.#firstOfGraph(0, word)
    range.to = this.#firstOfGraph(range.from, word + 1)
  }

  /** The first place of another graph than that of `place`, behind it. */
  afterGraph(place: number): number {
    return this.#firstOfGraph(place, this.graphWord(place) + 1)
  }

  #firstOfGraph(from: number, word: number): number {
    return this.#file.first(from, this.record.places, (place) => this.graphWord(place) >= word)
  }

  /** The first place that counts of a row in `SPO`, or `NONE`. */
  placeOf(row: number, { from, to, accepts }: PlaceRange, least = from): number {
    if (this.record.places <= 1) return least === 0 && to > 0 ? 0 : NONE
    const word = this.#file.word(this.#layout.rowPlaces + 4 * row)
    if (word < IS_LIST) {
      const counts = word >= least && word < to && (accepts === undefined || accepts[word] === 1)
      return counts ? word : NONE
    }
    const list = this.#layout.lists + 4 * (word - IS_LIST)
    const count = this.#file.word(list)
    const placeAt = (n: number) => this.#file.word(list + 4 + 4 * n)
    // A triple may be in thousands.
    let at = least === 0 ? 0 : this.#file.first(0, count, (n) => placeAt(n) >= least)
    for (; at < count; at++) {
      const place = placeAt(at)
      if (place >= to) return NONE
      if (accepts === undefined || accepts[place] === 1) return place
    }
    return NONE
  }

  /** Rows of the places [from, to), counted in each: where there are several places. */
  rowsOfPlaces(from: number, to: number): number {
    return this.placeStart(to) - this.placeStart(from)
  }

  /** Where the rows of a place begin. */
  placeStart(place: number): number {
    return this.#file.word(this.#layout.placeStarts + 4 * place)
  }

  /** A row in `SPO`. */
  placeRow(n: number): number {
    return this.#file.word(this.#layout.placeRows + 4 * n)
  }

  // Values

  /** The values of a family with keys from `low` to `high`, as places: [from, to). */
  valueRange(family: number, low: number, high: number): readonly [from: number, to: number] {
    const { count } = this.#values(family)
    return [
      this.#file.first(0, count, (n) => this.valueKey(family, n) >= low),
      this.#file.first(0, count, (n) => this.valueKey(family, n) > high),
    ]
  }

  valueKey(family: number, place: number): number {
    const { keys } = this.#values(family)
    keyWords[0] = this.#file.word(keys + 8 * place)
    keyWords[1] = this.#file.word(keys + 8 * place + 4)
    return key[0] as number
  }

  valueId(family: number, place: number): number {
    return this.#file.word(this.#values(family).ids + 4 * place)
  }

  #values(family: number): Layout['values'][number] {
    return this.#layout.values[family] as Layout['values'][number]
  }

  // Vectors

  entityOf(vector: number): number {
    return this.#file.word(this.#layout.entities + 4 * vector)
  }

  placeOfVector(vector: number): number {
    if (this.record.places <= 1) return 0
    return this.#file.word(this.#layout.vectorPlaces + 4 * vector)
  }

  async vectorBlock(block: number): Promise<Uint8Array> {
    return this.#cache.read(vectorKey(this.record, block))
  }

  async linksBlock(block: number): Promise<Uint8Array> {
    return this.#cache.read(linksKey(this.record, block))
  }

  get vectorFileId(): VectorFile['id'] {
    return `${this.record.id}/${this.record.number}`
  }

  /** Lets go of its blocks, which nobody is going to ask for. They are read again where somebody does. */
  forget(): void {
    this.#cache.forget(this.#blocks)
  }
}

const key = new Float64Array(1)
const keyWords = new Uint32Array(key.buffer)
