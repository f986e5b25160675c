import { COLLECTION, encodeBytes } from './encoded-term.js'
import {
  PlaceList,
  sortPlaces,
  type PartSource,
  type SortedPlaces,
  type SourceName,
} from './places.js'
import type { TermTable } from './term-table.js'

/** Whose the messages are that come now, and of which collection. */
export class Origin {
  #source: SourceName
  /** The UTF-8 of its name. */
  #collection: Uint8Array = new Uint8Array(0)
  /** How often it has changed. */
  changes = 0

  constructor(source: SourceName) {
    this.#source = source
  }

  /** As it is now, for the tables that this one is for. */
  copy(): Origin {
    const copy = new Origin(this.#source)
    copy.#collection = this.#collection
    copy.changes = this.changes
    return copy
  }

  get source(): SourceName {
    return this.#source
  }

  set source(next: SourceName) {
    this.#source = next
    this.changes++
  }

  get collection(): Uint8Array {
    return this.#collection
  }

  set collection(next: Uint8Array) {
    this.#collection = next
    this.changes++
  }
}

/** Two numbers as one: a part has fewer than 2^26 terms, and places. */
const shift = 2 ** 26

/** The places of a part while it is built, numbered as they come. */
export class PlaceTable {
  readonly #terms: TermTable
  readonly #list = new PlaceList()
  readonly #byKey = new Map<number, number>()
  readonly #sources: PartSource[] = []
  readonly #bySource = new Map<string, number>()
  /** Of the origin that was met last. */
  #changes = -1
  #source = 0
  #collection = 0
  /** Combinations of source and collection, and that of the origin. */
  readonly #scopes = new Map<number, number>()
  #scope = 0
  /** In the default graph; -1 before there is one. */
  #plain = -1

  constructor(terms: TermTable) {
    this.#terms = terms
  }

  get count(): number {
    return this.#list.count
  }

  /** The place of what an origin says in a graph: 0, or its name's id + 1. */
  at(origin: Origin, graph: number): number {
    if (origin.changes !== this.#changes) this.#enter(origin)
    if (graph === 0 && this.#plain >= 0) return this.#plain
    const key = graph * shift + this.#scope
    let place = this.#byKey.get(key)
    if (place === undefined) {
      place = this.#list.add(graph, this.#source, this.#collection)
      this.#byKey.set(key, place)
    }
    if (graph === 0) this.#plain = place
    return place
  }

  #enter({ source, collection, changes }: Origin): void {
    this.#changes = changes
    this.#plain = -1
    let number = this.#bySource.get(source.generation)
    if (number === undefined) {
      const { generation, core } = source
      number = this.#sources.push({ generation, core: this.#name(Buffer.from(core)) }) - 1
      this.#bySource.set(generation, number)
    }
    this.#source = number
    this.#collection = this.#name(collection)
    const key = this.#source * shift + this.#collection
    this.#scope = this.#scopes.get(key) ?? this.#scopes.size
    this.#scopes.set(key, this.#scope)
  }

  #name(bytes: Uint8Array): number {
    const words = encodeBytes(bytes, COLLECTION)
    return this.#terms.add(words, 0, words.length)
  }

  /** As sections. `ranks`: by id of a term its number in their order. */
  sorted(ranks: Uint32Array): SortedPlaces {
    const { count, graphs, collections } = this.#list
    for (let n = 0; n < count; n++) {
      const graph = graphs[n] as number
      if (graph > 0) graphs[n] = (ranks[graph - 1] as number) + 1
      collections[n] = ranks[collections[n] as number] as number
    }
    const sources = this.#sources.map(({ generation, core }) => ({
      generation,
      core: ranks[core] as number,
    }))
    return sortPlaces(sources, this.#list)
  }
}
