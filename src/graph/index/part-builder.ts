import { readNumbers, type CoreVisitor, type TriplePlaces } from '../../codec/walker.js'
import type { Storage } from '../../storage.js'
import { mainKey } from './keys.js'
import type { PartRecord } from './layout.js'
import { Columns, sortByHash, sortTriples } from './permutations.js'
import { SectionWriter } from './section-writer.js'
import { COLLECTION, TermTable } from './term-table.js'
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

/** Collects what a core says, and writes it as a part of an index. Used for one part after another. */
export class PartBuilder implements CoreVisitor {
  readonly #terms = new TermTable()
  #columns = new Columns(firstRoom, false)
  #triples = 0

  /** The name of the collection that messages are of now, and its id in this part: -1 before it has one. */
  #collectionName = Buffer.alloc(0)
  #collection = -1
  #isMixed = false
  #firstCollection = -1

  #entity = 0
  #components = new Float64Array(0)
  readonly #vectors = new Map<number, VectorWriter>()
  #vectorCount = 0

  readonly #storage: Storage
  readonly #index: string
  #part = 0

  constructor(storage: Storage, index: string) {
    this.#storage = storage
    this.#index = index
  }

  get isEmpty(): boolean {
    return this.#terms.count === 0
  }

  get isFull(): boolean {
    return (
      this.#triples >= maxTriples ||
      this.#terms.byteLength >= maxTermBytes ||
      this.#vectorCount >= maxVectors ||
      this.#vectors.size >= maxLengths
    )
  }

  // What the walker tells

  collection(bytes: Uint8Array, from: number, to: number): void {
    const name = bytes.subarray(from, to)
    if (this.#collection >= 0 && this.#collectionName.equals(name)) return
    this.#collectionName = Buffer.from(name)
    this.#collection = -1
  }

  triple(bytes: Uint8Array, view: DataView, places: TriplePlaces): void {
    if (this.#collection < 0) this.#enterCollection()
    const terms = this.#terms
    const n = this.#triples
    if (n === this.#columns.s.length) this.#grow()
    const columns = this.#columns
    const { sFrom, sTo, sE, pFrom, pTo, pE, oFrom, oTo, oE } = places
    // Subjects and predicates come in runs: a comparison costs less than a look-up.
    let s = n === 0 ? -1 : (columns.s[n - 1] as number)
    if (!terms.is(s, view, sFrom, sTo, sE)) s = terms.add(bytes, view, sFrom, sTo, sE)
    let p = n === 0 ? -1 : (columns.p[n - 1] as number)
    if (!terms.is(p, view, pFrom, pTo, pE)) p = terms.add(bytes, view, pFrom, pTo, pE)
    columns.s[n] = s
    columns.p[n] = p
    columns.o[n] = terms.add(bytes, view, oFrom, oTo, oE)
    if (columns.c !== undefined) columns.c[n] = this.#collection
    this.#triples = n + 1
  }

  entity(bytes: Uint8Array, view: DataView, from: number, to: number, isEntity: number): void {
    if (this.#collection < 0) this.#enterCollection()
    this.#entity = this.#terms.add(bytes, view, from, to, isEntity)
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
      await file.write(terms.bytes.subarray(0, terms.byteLength))
      await file.write(sortByHash(terms.hashes, terms.count))
      const orders = sortTriples(this.#columns, this.#triples, terms.count)
      let triples = 0
      let next = await orders.next()
      for (; next.done !== true; next = await orders.next()) {
        const { starts, second, third, count } = next.value
        await file.write(starts)
        await file.writePairs(second, third, count)
        triples = count
      }
      const memberships = next.value
      if (memberships !== undefined) {
        await file.write(memberships.starts)
        await file.write(memberships.collections)
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
        termBytes: terms.byteLength,
        triples,
        collection: this.#isMixed ? -1 : this.#firstCollection,
        memberships: memberships?.collections.length ?? 0,
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
    this.#isMixed = false
    this.#firstCollection = -1
    this.#collection = -1
    this.#vectors.clear()
    this.#vectorCount = 0
  }

  /** The first thing that is said in a collection gives it an id. */
  #enterCollection(): void {
    const name = this.#collectionName
    const view = new DataView(name.buffer, name.byteOffset, name.length)
    this.#collection = this.#terms.add(name, view, 0, name.length, COLLECTION)
    if (this.#firstCollection < 0) this.#firstCollection = this.#collection
    else if (this.#collection !== this.#firstCollection && !this.#isMixed) {
      this.#isMixed = true
      const { length } = this.#columns.s
      this.#columns.c = new Uint32Array(length).fill(this.#firstCollection, 0, this.#triples)
    }
  }

  #grow(): void {
    const { s, p, o, c } = this.#columns
    this.#columns = new Columns(2 * s.length, c !== undefined)
    this.#columns.s.set(s)
    this.#columns.p.set(p)
    this.#columns.o.set(o)
    if (c !== undefined) this.#columns.c?.set(c)
  }
}
