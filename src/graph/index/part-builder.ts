import type { BlockStorage } from '../../block-writer.js'
import { RepeatedTexts } from '../../codec/repeated-texts.js'
import { LANGUAGE, NOTHING, readNumbers } from '../../codec/walker.js'
import type { CoreVisitor, TriplePlaces } from '../../codec/walker.js'
import { xsdString } from '../../terms.js'
import * as encoded from './encoded-term.js'
import {
  ANNOTATED,
  COLLECTION,
  encodeInto,
  ENTITY,
  hashWords,
  knownNumber,
  LITERAL,
  wordsOf,
} from './encoded-term.js'
import { mainKey } from './keys.js'
import type { PartRecord } from './layout.js'
import { MOMENT, NUMBER } from '../value/literal-value.js'
import { PartValues } from './sorted-values.js'
import { sortByHash, sortTriples } from './permutations.js'
import { SectionWriter } from './section-writer.js'
import { maxAhead, TermTable } from './term-table.js'
import { VectorWriter } from './vector-writer.js'

/**
 * What a part holds at most, more or less: a slice of the core may go over it. They bound the memory
 * of indexing, some 150 MiB, and each part more is one more place for a question to look into.
 */
const maxTriples = 1 << 20
const maxTermBytes = 64 * 1024 * 1024
const maxVectors = 1 << 20
const maxLengths = 64

const firstRoom = 1 << 14

/** Their terms should fit the processor's first caches. */
const triplesAtOnce = maxAhead / 3

/** Collects what a core says, and writes it as a part of an index. Used for one part after another. */
export class PartBuilder implements CoreVisitor {
  readonly #terms = new TermTable()
  #columns = createColumns(firstRoom)
  #triples = 0
  /** Triples that wait for their terms to be looked up: these one behind the other, and their ends. */
  #words = new Int32Array(1 << 14)
  #wordsEnd = 0
  readonly #ends = new Int32Array(3 * triplesAtOnce)
  #waiting = 0
  readonly #hashes = new Uint32Array(3 * triplesAtOnce)
  /** By place of a waiting term: its language, where that is not in small letters. */
  readonly #spellings = new Map<number, Uint8Array>()

  /** The name of the collection that messages are of now, and its id in this part: -1 before it has one. */
  #collectionName = Buffer.alloc(0)
  #collection = -1
  #isMixed = false
  #firstCollection = -1

  /** Datatypes that were met, by their numbers in the index: `plain`, or another one below 0 where there is none. */
  readonly #datatypes = new RepeatedTexts<number>()

  /** Graphs that were met, by their names; those of waiting triples, where any has one. */
  readonly #graphs = new Map<string, GraphName>()
  #graph: GraphName | undefined
  readonly #waitingGraphs: (GraphName | undefined)[] = []
  #hasGraphs = false
  /** Undefined before there is a datatype. */
  #values: PartValues | undefined

  #entity = 0
  #components = new Float64Array(0)
  readonly #vectors = new Map<number, VectorWriter>()
  #vectorCount = 0

  readonly #storage: BlockStorage
  readonly #index: string
  #part = 0

  constructor(storage: BlockStorage, index: string) {
    this.#storage = storage
    this.#index = index
  }

  get isEmpty(): boolean {
    return this.#terms.count === 0
  }

  get isFull(): boolean {
    return (
      this.#triples >= maxTriples ||
      4 * this.#terms.wordLength >= maxTermBytes ||
      this.#vectorCount >= maxVectors ||
      this.#vectors.size >= maxLengths
    )
  }

  // What the walker tells

  collection(bytes: Uint8Array, view: DataView, from: number, to: number): void {
    const name = bytes.subarray(from, to)
    if (this.#collectionName.equals(name)) return
    this.chunkEnd(bytes, view)
    this.#collectionName = Buffer.from(name)
    this.#collection = -1
  }

  triple(bytes: Uint8Array, view: DataView, places: TriplePlaces): void {
    const { sFrom, sTo, sE, pFrom, pTo, pE, oFrom, oTo, oE } = places
    const n = 3 * this.#waiting
    this.#needWords(sTo - sFrom + pTo - pFrom + oTo - oFrom)
    const words = this.#words
    const ends = this.#ends
    ends[n] = encodeInto(words, this.#wordsEnd, view, sFrom, sTo, sE)
    ends[n + 1] = encodeInto(words, ends[n] as number, view, pFrom, pTo, pE)
    ends[n + 2] = encodeInto(words, ends[n + 1] as number, view, oFrom, oTo, oE)
    this.#wordsEnd = ends[n + 2] as number
    if (!places.isPlain) this.#annotate(bytes, view, places)
    if (++this.#waiting === triplesAtOnce) this.chunkEnd(bytes, view)
  }

  /** Encodes what the triple that was encoded last has beside its texts. */
  #annotate(bytes: Uint8Array, view: DataView, places: TriplePlaces): void {
    const { sMore, pMore, oMore, oMoreFrom, oMoreTo, gFrom, gTo } = places
    if (sMore !== NOTHING || pMore !== NOTHING) this.#annotateOthers(view, places)
    if (oMore !== NOTHING) {
      this.#encodeMore(view, oMore, oMoreFrom, oMoreTo, 3 * this.#waiting + 2)
    }
    if (gFrom < gTo) {
      this.#hasGraphs = true
      this.#waitingGraphs[this.#waiting] = this.#graphOf(bytes, gFrom, gTo)
    }
  }

  /** Of a subject and a predicate, which hardly ever are literals: what lies behind is encoded again. */
  #annotateOthers(view: DataView, places: TriplePlaces): void {
    const { pFrom, pTo, pE, oFrom, oTo, oE } = places
    const { sMore, sMoreFrom, sMoreTo, pMore, pMoreFrom, pMoreTo } = places
    const n = 3 * this.#waiting
    this.#wordsEnd = this.#ends[n] as number
    if (sMore !== NOTHING) this.#encodeMore(view, sMore, sMoreFrom, sMoreTo, n)
    this.#encode(view, pFrom, pTo, pE, n + 1)
    if (pMore !== NOTHING) this.#encodeMore(view, pMore, pMoreFrom, pMoreTo, n + 1)
    this.#encode(view, oFrom, oTo, oE, n + 2)
  }

  /** `place` is that of the waiting term. */
  #encode(view: DataView, from: number, to: number, kind: number, place: number): void {
    this.#needWords(to - from)
    this.#wordsEnd = encodeInto(this.#words, this.#wordsEnd, view, from, to, kind)
    this.#ends[place] = this.#wordsEnd
  }

  /** Encodes what a literal has beside its text, which was the last to be encoded. */
  #encodeMore(view: DataView, more: number, from: number, to: number, place: number): void {
    const start = place === 0 ? 0 : (this.#ends[place - 1] as number)
    if (more === LANGUAGE) this.#encodeLanguage(view, from, to, place)
    else {
      const datatype = this.#datatypeOf(view, from, to)
      if (datatype === plain) return
      this.#values ??= new PartValues()
      if (datatype < 0) this.#encode(view, from, to, encoded.DATATYPE, place)
      else {
        this.#words[this.#wordsEnd++] = datatype * 4 + encoded.KNOWN
        this.#ends[place] = this.#wordsEnd
      }
    }
    const words = this.#words
    words[start] = (words[start] as number) + ANNOTATED - LITERAL
  }

  #encodeLanguage(view: DataView, from: number, to: number, place: number): void {
    if (!hasCapitals(view, from, to)) return this.#encode(view, from, to, encoded.LANGUAGE, place)
    const tag = bytesOf(view, from, to).slice()
    this.#spellings.set(place, tag)
    const small = tag.map((byte) => (isCapital(byte) ? byte | 0x20 : byte))
    this.#encode(viewOf(small), 0, small.length, encoded.LANGUAGE, place)
  }

  #datatypeOf(view: DataView, from: number, to: number): number {
    const met = this.#datatypes.get(view, from, to)
    if (met !== undefined) return met
    const text = Buffer.from(bytesOf(view, from, to)).toString()
    const number = text === xsdString ? plain : knownNumber(text)
    this.#datatypes.set(view, from, to, number)
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

  // Looking up the terms of many triples in a row costs less than doing it between the others' parsing.
  chunkEnd(_bytes: Uint8Array, _view: DataView): void {
    const count = this.#waiting
    if (count === 0) return
    if (this.#collection < 0) this.#enterCollection()
    this.#waiting = 0
    this.#wordsEnd = 0
    while (this.#triples + count > this.#columns.s.length) this.#grow()
    if (this.#hasGraphs) this.#needPlaces()
    const terms = this.#terms
    const { s, p, o, c, g } = this.#columns
    const words = this.#words
    const ends = this.#ends
    const hashes = this.#hashes
    let at = 0
    for (let i = 0; i < 3 * count; i++) {
      const end = ends[i] as number
      hashes[i] = hashWords(words, at, end)
      at = end
    }
    terms.readAhead(hashes, 3 * count)
    const spellings = this.#spellings
    const isSpelled = spellings.size > 0
    let known = terms.count
    let from = 0
    let subject = -1
    let subjectFrom = 0
    let subjectTo = 0
    for (let i = 0, n = this.#triples; i < count; i++, n++) {
      const pFrom = ends[3 * i] as number
      const oFrom = ends[3 * i + 1] as number
      const end = ends[3 * i + 2] as number
      // Subjects come in runs: a comparison costs less than a look-up.
      if (subject < 0 || !isSame(words, subjectFrom, subjectTo, from, pFrom)) {
        subject = terms.addHashed(words, from, pFrom, hashes[3 * i] as number)
        if (isSpelled) known = this.#spell(subject, 3 * i, known)
      }
      subjectFrom = from
      subjectTo = pFrom
      s[n] = subject
      const predicate = terms.addHashed(words, pFrom, oFrom, hashes[3 * i + 1] as number)
      p[n] = predicate
      if (isSpelled) known = this.#spell(predicate, 3 * i + 1, known)
      const object = terms.addHashed(words, oFrom, end, hashes[3 * i + 2] as number)
      o[n] = object
      if (isSpelled) known = this.#spell(object, 3 * i + 2, known)
      if (c !== undefined) c[n] = this.#collection
      if (g !== undefined) {
        const graph = this.#waitingGraphs[i]
        if (graph !== undefined) {
          if (graph.id < 0) graph.id = this.#add(viewOf(graph.bytes), 0, graph.bytes.length, ENTITY)
          g[n] = graph.id + 1
          known = terms.count
        }
      }
      from = end
    }
    this.#triples += count
    if (isSpelled) spellings.clear()
    this.#waitingGraphs.length = 0
    this.#values?.read(terms)
  }

  /** Notes how a term is spelled where it is new: not one of the first `known`. Returns how many are known now. */
  #spell(id: number, place: number, known: number): number {
    const tag = this.#spellings.get(place)
    if (tag !== undefined && id === known) this.#terms.spell(tag)
    return this.#terms.count
  }

  entity(bytes: Uint8Array, view: DataView, terms: TriplePlaces): void {
    this.chunkEnd(bytes, view)
    if (this.#collection < 0) this.#enterCollection()
    const { sFrom, sTo, sE, isPlain } = terms
    if (isPlain) {
      this.#entity = this.#add(view, sFrom, sTo, sE)
      return
    }
    const { sMore, sMoreFrom, sMoreTo } = terms
    this.#encode(view, sFrom, sTo, sE, 0)
    if (sMore !== NOTHING) this.#encodeMore(view, sMore, sMoreFrom, sMoreTo, 0)
    const known = this.#terms.count
    this.#entity = this.#terms.add(this.#words, 0, this.#wordsEnd)
    this.#spell(this.#entity, 0, known)
    this.#spellings.clear()
    this.#wordsEnd = 0
  }

  vector(view: DataView, at: number, count: number): void {
    // Nothing has an angle to a vector without components.
    if (count === 0) return
    if (count > this.#components.length) this.#components = new Float64Array(2 * count)
    readNumbers(view, at, count, this.#components)
    let writer = this.#vectors.get(count)
    if (writer === undefined) {
      writer = new VectorWriter(this.#storage, this.#index, this.#part, count)
      this.#vectors.set(count, writer)
    }
    writer.add(this.#components, this.#entity, this.#collection)
    this.#vectorCount++
  }

  // Writing

  /** Starts to write vectors that fill a block; waits while too many are under way. */
  async writeFull(): Promise<void> {
    for (const writer of this.#vectors.values()) await writer.writeFull()
  }

  /** Writes what was collected, durably, and begins anew. The part is whole when this resolves. */
  async finishPart(): Promise<PartRecord> {
    const terms = this.#terms
    const index = this.#index
    const number = this.#part
    const file = new SectionWriter(this.#storage, (block) => mainKey(index, number, block))
    const vectors = [...this.#vectors.values()].sort((a, b) => a.dimensions - b.dimensions)
    try {
      await file.write(terms.starts.subarray(0, terms.count + 1))
      await file.write(terms.words.subarray(0, terms.wordLength))
      await file.write(sortByHash(terms.hashes, terms.count))
      const columns = { ...this.#columns, count: this.#triples }
      const { spo, osp, pos, memberships, graphs } = await sortTriples(columns, terms.count)
      for (const { starts, pairs } of [spo, osp, pos]) {
        await file.write(starts)
        await file.write(pairs)
      }
      if (memberships !== undefined) {
        await file.write(memberships.starts)
        await file.write(memberships.places)
      }
      if (graphs !== undefined) {
        await file.write(graphs.names)
        await file.write(graphs.starts)
        await file.write(graphs.rows)
      }
      this.#values?.read(terms)
      const values = this.#values?.sorted() ?? []
      for (const { keys, ids } of values) {
        await file.write(keys)
        await file.write(ids)
      }
      for (const { entities, count } of vectors) await file.write(entities.subarray(0, count))
      if (this.#isMixed) {
        for (const { collections, count } of vectors)
          await file.write(collections.subarray(0, count))
      }
      await file.finish()
      for (const writer of vectors) await writer.finish()
      const part: PartRecord = {
        terms: terms.count,
        termWords: terms.wordLength,
        triples: spo.pairs.length / 2,
        collection: this.#isMixed ? -1 : this.#firstCollection,
        memberships: memberships?.starts.at(-1) ?? 0,
        ...(graphs && { graphs: { names: graphs.names.length, rows: graphs.rows.length } }),
        ...(values.some(({ ids }) => ids.length > 0) && {
          values: {
            numbers: values[NUMBER]?.ids.length ?? 0,
            moments: values[MOMENT]?.ids.length ?? 0,
          },
        }),
        vectors: vectors.map(({ dimensions, count }) => ({ dimensions, count, links: 0 })),
      }
      this.#begin(number + 1)
      return part
    } finally {
      await file.settle()
    }
  }

  /** Resolves when no write is under way. */
  async settle(): Promise<void> {
    for (const writer of this.#vectors.values()) await writer.settle()
  }

  #begin(part: number): void {
    this.#part = part
    this.#terms.clear()
    this.#triples = 0
    this.#columns.c = undefined
    this.#columns.g = undefined
    this.#isMixed = false
    this.#values = undefined
    this.#hasGraphs = false
    this.#graphs.clear()
    this.#graph = undefined
    this.#firstCollection = -1
    this.#collection = -1
    this.#vectors.clear()
    this.#vectorCount = 0
  }

  /** The first thing that is said in a collection gives it an id. */
  #enterCollection(): void {
    const name = this.#collectionName
    this.#collection = this.#add(viewOf(name), 0, name.length, COLLECTION)
    if (this.#firstCollection < 0) this.#firstCollection = this.#collection
    else if (this.#collection !== this.#firstCollection && !this.#isMixed) {
      this.#isMixed = true
      this.#needCollections()
    }
  }

  #needCollections(): void {
    const { length } = this.#columns.s
    this.#columns.c ??= new Uint32Array(length).fill(this.#firstCollection, 0, this.#triples)
  }

  /** Triples so far are in the default graph, which is 0. */
  #needPlaces(): void {
    this.#needCollections()
    this.#columns.g ??= new Uint32Array(this.#columns.s.length)
  }

  #add(view: DataView, from: number, to: number, kind: number): number {
    const words = new Int32Array(wordsOf(to - from))
    encodeInto(words, 0, view, from, to, kind)
    return this.#terms.add(words, 0, words.length)
  }

  /** Room for so many bytes, of three terms at most. */
  #needWords(bytes: number): void {
    if (this.#wordsEnd + bytes / 4 + 9 > this.#words.length) this.#growWords(bytes)
  }

  #growWords(bytes: number): void {
    const larger = new Int32Array(2 * this.#words.length + bytes)
    larger.set(this.#words)
    this.#words = larger
  }

  #grow(): void {
    const { s, p, o, c, g } = this.#columns
    const room = 2 * s.length
    const grown = (column: Uint32Array) => {
      const larger = new Uint32Array(room)
      larger.set(column)
      return larger
    }
    const [cs, gs] = [c && grown(c), g && grown(g)]
    this.#columns = { s: grown(s), p: grown(p), o: grown(o), c: cs, g: gs }
  }
}

/** A literal of xsd:string has nothing more. */
const plain = -2

function isBytes(expected: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== expected.length) return false
  for (let i = 0; i < expected.length; i++) if (bytes[from + i] !== expected[i]) return false
  return true
}

function isCapital(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

function hasCapitals(view: DataView, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (isCapital(view.getUint8(i))) return true
  return false
}

interface BuilderColumns {
  readonly s: Uint32Array
  readonly p: Uint32Array
  readonly o: Uint32Array
  c: Uint32Array | undefined
  g: Uint32Array | undefined
}

function createColumns(room: number): BuilderColumns {
  const [s, p, o] = [new Uint32Array(room), new Uint32Array(room), new Uint32Array(room)]
  return { s, p, o, c: undefined, g: undefined }
}

interface GraphName {
  readonly bytes: Uint8Array
  /** In this part; -1 before it has one. */
  id: number
}

function bytesOf(view: DataView, from: number, to: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + from, to - from)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function isSame(words: Int32Array, from: number, to: number, other: number, end: number): boolean {
  if (end - other !== to - from) return false
  for (let i = from, at = other; i < to; i++, at++) if (words[i] !== words[at]) return false
  return true
}
