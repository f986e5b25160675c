import { setImmediate as turn } from 'node:timers/promises'
import type { BlockStorage } from '../../block-writer.js'
import { RepeatedTexts } from '../../codec/repeated-texts.js'
import { LANGUAGE, NOTHING, readNumbers } from '../../codec/walker.js'
import type { CoreVisitor, TriplePlaces, TripleTaker } from '../../codec/walker.js'
import { xsdString } from '../../terms.js'
import { Turns } from '../../turns.js'
import { encodeBytes, ENTITY, knownNumber } from './encoded-term.js'
import type { PartRecord } from './layout.js'
import { PartWriter } from './part-writer.js'
import { PassagePart, type UnreadPassages } from './passage-part.js'
import { passagesIn } from './said-passages.js'
import { PredicateRoles } from './passage-roles.js'
import { OrdersHere, rowsOf, type Columns, type Orders } from './orders.js'
import type { OrdersThread } from './orders-thread.js'
import { RowTable } from './permutations.js'
import { Origin, PlaceTable } from './place-table.js'
import type { SourceName } from './places.js'
import { ranksOf, sortTerms } from './term-order.js'
import { maxAhead, TermTable } from './term-table.js'
import { noMore, unlisted, type TermsKernel } from './terms-kernel.js'
import { writeTerms } from './terms-writer.js'
import { VectorPart, type EncodedEntity } from './vector-part.js'
import { WaitingTerms } from './waiting-terms.js'

/**
 * What a part holds at most, more or less: a slice of the core may go over it. They bound the memory
 * of indexing, some 200 MiB, and each part more is one more place for a question to look into.
 */
const maxTriples = 1 << 20
const maxTermBytes = 64 * 1024 * 1024
const maxVectors = 1 << 20
const maxLengths = 64

/** Their terms should fit the processor's first caches. */
const triplesAtOnce = maxAhead / 3

/** Fewer triples are put in order here: telling another thread takes a millisecond, and starting it 40. */
const fewestBeside = 1 << 17

/** Where many triples may come: what takes them, and what puts them in order. */
export interface Many {
  readonly kernel: TermsKernel
  readonly orders: OrdersThread
  /** Of the index before: such memory is no sooner gone than the collector comes. */
  columns?: Columns
}

/**
 * Collects what cores say, and writes it as parts: one of triples after another, and beside them parts
 * of vectors, one for each length, and of passages.
 */
export class PartBuilder implements CoreVisitor, TripleTaker {
  /** Whose the messages are. */
  readonly #origin: Origin
  readonly #terms: TermTable
  /** Where many triples come. */
  readonly #many: Many | undefined
  readonly #kernel: TermsKernel | undefined
  readonly taker: TripleTaker | undefined
  taken = 0
  #places: PlaceTable
  /** Of the part of triples that is under way; -1 before it has any. */
  #number = -1
  #columns: Columns
  #triples = 0
  /** Triples that were looked through for passages. */
  #looked = 0
  readonly #roles: PredicateRoles
  #passages: PassagePart | undefined
  /** Of triples that wait for their terms to be looked up, three of each: the names that `#waiting` gave. */
  readonly #waiting = new WaitingTerms()
  readonly #names = new Int32Array(3 * triplesAtOnce)
  #waitingCount = 0

  /** Datatypes that were met, by their numbers in the index: `plain`, or another one below 0 where there is none. */
  readonly #datatypes = new RepeatedTexts<number>()

  /** Graphs that were met, by their names; those of waiting triples, where any has one. */
  readonly #graphs = new Map<string, GraphName>()
  #graph: GraphName | undefined
  readonly #waitingGraphs: (GraphName | undefined)[] = []
  #hasGraphs = false

  #entity: EncodedEntity | undefined
  #components = new Float64Array(0)
  /** By length. */
  readonly #vectors = new Map<number, VectorPart>()

  readonly #storage: BlockStorage
  readonly #id: string
  /** Parts that were begun. */
  #begun = 0

  /**
   * All parts are stored under keys that begin with `id`. `room`: terms and triples that fit before it
   * grows, a power of two; thousands of parts of a few triples may be built. `many`: for many triples.
   */
  constructor(
    storage: BlockStorage,
    id: string,
    source: SourceName,
    room: number,
    many: Many | undefined,
  ) {
    this.#storage = storage
    this.#id = id
    this.#origin = new Origin(source)
    const kernel = many?.kernel
    this.#many = many
    this.#kernel = kernel
    this.taker = kernel && this
    this.#terms = new TermTable(room, kernel)
    kernel?.forget()
    this.#places = new PlaceTable(this.#terms)
    const columns = many?.columns ?? createColumns(room)
    this.#columns = { ...columns, places: undefined }
    this.#roles = new PredicateRoles(this.#terms)
  }

  /** Whose the messages are that follow. Between whole segments only. */
  source(next: SourceName): void {
    this.#endPassages()
    this.#origin.source = next
  }

  // What the walker tells

  collection(bytes: Uint8Array, _view: DataView, from: number, to: number): void {
    const name = bytes.subarray(from, to)
    if (Buffer.compare(this.#origin.collection, name) === 0) return
    this.#endWaiting()
    this.#endPassages()
    this.#origin.collection = Uint8Array.from(name)
  }

  triple(bytes: Uint8Array, view: DataView, places: TriplePlaces): void {
    if (places.isPlain) this.#addPlain(view, places)
    else this.#addAnnotated(bytes, view, places)
    if (++this.#waitingCount === triplesAtOnce) this.#endWaiting()
  }

  #addPlain(
    view: DataView,
    { sFrom, sTo, sE, pFrom, pTo, pE, oFrom, oTo, oE }: TriplePlaces,
  ): void {
    const waiting = this.#waiting
    const names = this.#names
    const n = 3 * this.#waitingCount
    names[n] = waiting.addOfRun(view, sFrom, sTo, sE)
    names[n + 1] = waiting.addOfFew(view, pFrom, pTo, pE)
    names[n + 2] = waiting.add(view, oFrom, oTo, oE)
  }

  /** Some of its terms have more than their text, or it is in a graph. */
  #addAnnotated(bytes: Uint8Array, view: DataView, places: TriplePlaces): void {
    const { sFrom, sTo, sE, sMore, pFrom, pTo, pE, pMore, oFrom, oTo, oE } = places
    const waiting = this.#waiting
    const names = this.#names
    const n = 3 * this.#waitingCount
    if (sMore === NOTHING) names[n] = waiting.addOfRun(view, sFrom, sTo, sE)
    else {
      names[n] = waiting.add(view, sFrom, sTo, sE)
      this.#addMore(view, sMore, places.sMoreFrom, places.sMoreTo)
    }
    if (pMore === NOTHING) names[n + 1] = waiting.addOfFew(view, pFrom, pTo, pE)
    else {
      names[n + 1] = waiting.add(view, pFrom, pTo, pE)
      this.#addMore(view, pMore, places.pMoreFrom, places.pMoreTo)
    }
    names[n + 2] = waiting.add(view, oFrom, oTo, oE)
    this.#addMore(view, places.oMore, places.oMoreFrom, places.oMoreTo)
    const { gFrom, gTo } = places
    if (gFrom < gTo) {
      this.#hasGraphs = true
      this.#waitingGraphs[this.#waitingCount] = this.#graphOf(bytes, gFrom, gTo)
    }
  }

  /** What the literal that was added last has beside its text. */
  #addMore(view: DataView, more: number, from: number, to: number): void {
    if (more === NOTHING) return
    if (more === LANGUAGE) this.#waiting.addLanguage(view, from, to)
    else {
      const datatype = this.#datatypeOf(view, from, to)
      if (datatype !== plain) this.#waiting.addDatatype(view, from, to, datatype)
    }
  }

  #datatypeOf(view: DataView, from: number, to: number): number {
    const met = this.#datatypes.get(view, from, to)
    if (met !== undefined) return met
    const text = Buffer.from(bytesOf(view, from, to)).toString()
    const number = text === xsdString ? plain : knownNumber(text)
    this.#datatypes.set(view, from, to, number)
    const known = number === plain ? noMore : number < 0 ? unlisted : number
    this.#kernel?.learn(bytesOf(view, from, to), known)
    return number
  }

  #graphOf(bytes: Uint8Array, from: number, to: number): GraphName {
    const last = this.#graph
    // Graphs come in runs: a comparison costs less than a look-up.
    if (last !== undefined && isBytes(last.bytes, bytes, from, to)) return last
    const name = Uint8Array.from(bytes.subarray(from, to))
    const key = Buffer.from(name.buffer).toString('latin1')
    let graph = this.#graphs.get(key)
    if (graph === undefined) {
      graph = { bytes: name, id: -1 }
      this.#graphs.set(key, graph)
    }
    this.#graph = graph
    return graph
  }

  chunkEnd(_bytes: Uint8Array, _view: DataView): void {
    this.#kernel?.leave()
    this.#endWaiting()
  }

  take(bytes: Uint8Array, at: number, end: number, most: number): number {
    this.#endWaiting()
    const kernel = this.#kernel as TermsKernel
    this.taken = 0
    while (this.taken < most) {
      at = kernel.take(this.#terms, bytes, at, end, most - this.taken)
      const { count } = kernel
      if (count === 0) break
      this.#needColumns(count)
      const first = this.#triples
      this.#enterPlace(first, first + count, this.#places.at(this.#origin, 0))
      const { s, p, o } = this.#columns
      s.set(kernel.s.subarray(0, count), first)
      p.set(kernel.p.subarray(0, count), first)
      o.set(kernel.o.subarray(0, count), first)
      this.#triples += count
      this.taken += count
    }
    if (this.#triples >= fewestBeside) this.#many?.orders.start()
    return at
  }

  // Looking up the terms of many triples in a row costs less than doing it between the others' parsing.
  #endWaiting(): void {
    const count = this.#waitingCount
    if (count === 0) return
    this.#waitingCount = 0
    this.#needColumns(count)
    if (this.#hasGraphs) this.#enterGraphs(count)
    else this.#enterPlace(this.#triples, this.#triples + count, this.#places.at(this.#origin, 0))
    const ids = this.#waiting.lookUp(this.#terms)
    const names = this.#names
    const { s, p, o } = this.#columns
    for (let i = 0, n = this.#triples; i < 3 * count; i += 3, n++) {
      const subject = names[i] as number
      const predicate = names[i + 1] as number
      const object = names[i + 2] as number
      s[n] = subject < 0 ? ~subject : (ids[subject] as number)
      p[n] = predicate < 0 ? ~predicate : (ids[predicate] as number)
      o[n] = object < 0 ? ~object : (ids[object] as number)
    }
    this.#triples += count
    this.#waitingGraphs.length = 0
  }

  /** Takes the passages of what one origin has said. */
  #endPassages(): void {
    const from = this.#looked
    const to = (this.#looked = this.#triples)
    const said = passagesIn(this.#columns, from, to, this.#terms, this.#roles)
    if (said === undefined) return
    this.#passages ??= this.#beginPassages()
    this.#passages.add(this.#columns, said, this.#origin)
  }

  #beginPassages(unread?: UnreadPassages[]): PassagePart {
    return new PassagePart(this.#storage, { id: this.#id, number: this.#begun++ }, unread)
  }

  /** The places of waiting triples of which some are in named graphs. */
  #enterGraphs(count: number): void {
    for (let i = 0, n = this.#triples; i < count; i++, n++) {
      const graph = this.#waitingGraphs[i]
      if (graph !== undefined && graph.id < 0) {
        const words = encodeBytes(graph.bytes, ENTITY)
        graph.id = this.#terms.add(words, 0, words.length)
      }
      const name = graph === undefined ? 0 : graph.id + 1
      this.#enterPlace(n, n + 1, this.#places.at(this.#origin, name))
    }
  }

  /** The triples [from, to) are in this place. There is a column once there are two places. */
  #enterPlace(from: number, to: number, place: number): void {
    const columns = this.#columns
    if (columns.places === undefined) {
      if (place === 0) return
      columns.places = new Uint32Array(columns.s.length)
    }
    columns.places.fill(place, from, to)
  }

  entity(_bytes: Uint8Array, view: DataView, terms: TriplePlaces): void {
    this.#endWaiting()
    const { sFrom, sTo, sE, sMore, sMoreFrom, sMoreTo, isPlain } = terms
    this.#waiting.add(view, sFrom, sTo, sE)
    if (!isPlain) this.#addMore(view, sMore, sMoreFrom, sMoreTo)
    this.#entity = this.#waiting.takeOne()
  }

  vector(view: DataView, at: number, count: number): void {
    // Nothing has an angle to a vector without components.
    if (count === 0 || this.#entity === undefined) return
    if (count > this.#components.length) this.#components = new Float64Array(2 * count)
    readNumbers(view, at, count, this.#components)
    let part = this.#vectors.get(count)
    if (part === undefined) {
      part = new VectorPart(this.#storage, { id: this.#id, number: this.#begun++ }, count)
      this.#vectors.set(count, part)
    }
    part.add(this.#components, this.#entity, this.#origin)
  }

  // Writing

  /** Writes what has to be written before more comes; gives parts that were full, all durable. */
  async writeFull(): Promise<PartRecord[]> {
    for (const part of this.#vectors.values()) await part.writeFull()
    const parts = await this.#readTexts()
    if (this.#triples >= maxTriples || 4 * this.#terms.wordLength >= maxTermBytes) {
      parts.push(...(await this.#finishTriples()))
    }
    if (this.#areVectorsFull) parts.push(...(await this.#finishVectors()))
    return parts
  }

  /** Gives the parts of passages that were full. */
  async #readTexts(): Promise<PartRecord[]> {
    const turns = new Turns(undefined)
    const parts: PartRecord[] = []
    for (let unread; (unread = await this.#passages?.readTexts(turns)) !== undefined;) {
      parts.push(...(await this.#finishPassages()))
      if (unread.length > 0) this.#passages = this.#beginPassages(unread)
    }
    return parts
  }

  /** Writes all that was collected; gives the parts, all durable. */
  async finish(): Promise<PartRecord[]> {
    return [
      ...(await this.#finishTriples()),
      ...(await this.#finishVectors()),
      ...(await this.#finishPassages()),
    ]
  }

  get #areVectorsFull(): boolean {
    if (this.#vectors.size >= maxLengths) return true
    let count = 0
    let words = 0
    for (const part of this.#vectors.values()) {
      count += part.count
      words += part.words
    }
    return count >= maxVectors || 4 * words >= maxTermBytes
  }

  async #finishTriples(): Promise<PartRecord[]> {
    if (this.#triples === 0) return []
    this.#endPassages()
    const parts = await this.#readTexts()
    const terms = this.#terms
    const name = { id: this.#id, number: this.#number }
    const turns = new Turns(undefined)
    const writer = new PartWriter(this.#storage, name, terms.count, turns)
    try {
      const order = sortTerms(terms)
      const ranks = ranksOf(order, terms.count)
      const where = this.#places.sorted(ranks)
      const orders = this.#order(ranks, where.numbers, turns)
      await writeTerms(terms, order, writer.dictionary, turns, this.#kernel)
      await writer.places(where)
      // However small: where the storage is in memory, nothing else lets others run between many parts.
      await turn()
      parts.push(await writer.triples(where, orders))
      this.#begin()
      return parts
    } finally {
      await writer.settle()
    }
  }

  #order(ranks: Uint32Array, numbers: Uint32Array, turns: Turns): Orders {
    const unsorted = { columns: this.#columns, count: this.#triples, ranks, numbers }
    const beside = this.#many?.orders
    return this.#triples >= fewestBeside && beside?.isReady === true
      ? beside.order(unsorted)
      : new OrdersHere(() => new RowTable(rowsOf(unsorted)), turns)
  }

  async #finishVectors(): Promise<PartRecord[]> {
    const parts: PartRecord[] = []
    for (const [dimensions, part] of this.#vectors) {
      parts.push(await part.finish())
      this.#vectors.delete(dimensions)
    }
    return parts
  }

  async #finishPassages(): Promise<PartRecord[]> {
    const passages = this.#passages
    if (passages === undefined) return []
    const part = await passages.finish()
    this.#passages = undefined
    return [part]
  }

  /** Resolves when no write is under way. */
  async settle(): Promise<void> {
    for (const part of this.#vectors.values()) await part.settle()
  }

  #begin(): void {
    this.#number = -1
    this.#terms.clear()
    this.#waiting.forget()
    this.#kernel?.forget()
    this.#places = new PlaceTable(this.#terms)
    this.#triples = 0
    this.#looked = 0
    this.#roles.clear()
    this.#columns.places = undefined
    this.#hasGraphs = false
    this.#graphs.clear()
    this.#graph = undefined
  }

  /** For so many triples more of a part. */
  #needColumns(count: number): void {
    if (this.#number < 0) this.#number = this.#begun++
    while (this.#triples + count > this.#columns.s.length) {
      const { s, p, o, places } = this.#columns
      this.#columns = { s: twice(s), p: twice(p), o: twice(o), places: places && twice(places) }
      if (this.#many !== undefined) this.#many.columns = this.#columns
    }
  }
}

function twice(column: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * column.length)
  larger.set(column)
  return larger
}

/** A literal of xsd:string has nothing more. */
const plain = -2

function isBytes(expected: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== expected.length) return false
  for (let i = 0; i < expected.length; i++) if (bytes[from + i] !== expected[i]) return false
  return true
}

function createColumns(room: number): Columns {
  const column = () => new Uint32Array(room)
  return { s: column(), p: column(), o: column(), places: undefined }
}

interface GraphName {
  readonly bytes: Uint8Array
  /** In this part; -1 before it has one. */
  id: number
}

function bytesOf(view: DataView, from: number, to: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + from, to - from)
}
