import type { BlockStorage } from '../../block-writer.js'
import { Turns } from '../../turns.js'
import { VectorBlocksWriter } from '../vectors/blocks-writer.js'
import { normalizeInto } from '../vectors/normalized.js'
import { vectorKey, type PartName } from './keys.js'
import type { PartRecord } from './layout.js'
import { PartWriter } from './part-writer.js'
import { PlaceTable, type Origin } from './place-table.js'
import { ranksOf, sortTerms } from './term-order.js'
import { TermTable } from './term-table.js'
import { writeTerms } from './terms-writer.js'

const firstRoom = 64

/** Small: there may be a part for each of many lengths, and most have few entities. */
const firstTerms = 1 << 8

/** An entity as a core has it. */
export interface EncodedEntity {
  readonly words: Int32Array
  readonly hash: number
  /** How its language is spelled, where it has one with capitals. */
  readonly spelling: Uint8Array | undefined
}

/** A part of vectors of one length while it is built: they are written as they come, at length 1. */
export class VectorPart {
  count = 0
  readonly #storage: BlockStorage
  readonly #name: PartName
  readonly #dimensions: number
  readonly #terms = new TermTable(firstTerms)
  readonly #places = new PlaceTable(this.#terms)
  /** By vector. */
  #entities = new Uint32Array(firstRoom)
  #vectorPlaces = new Uint32Array(firstRoom)
  readonly #writer: VectorBlocksWriter
  readonly #one: Float32Array

  constructor(storage: BlockStorage, name: PartName, dimensions: number) {
    this.#storage = storage
    this.#name = name
    this.#dimensions = dimensions
    this.#one = new Float32Array(dimensions)
    this.#writer = new VectorBlocksWriter(storage, (block) => vectorKey(name, block), dimensions)
  }

  /** Of its terms. */
  get words(): number {
    return this.#terms.wordLength
  }

  add(components: Float64Array, entity: EncodedEntity, origin: Origin): void {
    normalizeInto(components, this.#dimensions, this.#one, 0)
    this.#writer.add(this.#one, 0)
    if (this.count === this.#entities.length) {
      this.#entities = twice(this.#entities)
      this.#vectorPlaces = twice(this.#vectorPlaces)
    }
    this.#entities[this.count] = this.#idOf(entity)
    this.#vectorPlaces[this.count] = this.#places.at(origin, 0)
    this.count++
  }

  #idOf({ words, hash, spelling }: EncodedEntity): number {
    const terms = this.#terms
    const known = terms.count
    const id = terms.addHashed(words, 0, words.length, hash)
    if (spelling !== undefined && id === known) terms.spell(spelling)
    return id
  }

  /** Starts to write vectors that fill a block; waits while too many are under way. */
  async writeFull(): Promise<void> {
    await this.#writer.writeFull()
  }

  /** Writes all that is left, durably. */
  async finish(): Promise<PartRecord> {
    const terms = this.#terms
    const turns = new Turns(undefined)
    const writer = new PartWriter(this.#storage, this.#name, terms.count, turns)
    try {
      const order = sortTerms(terms)
      await writeTerms(terms, order, writer.dictionary, turns)
      const ranks = ranksOf(order, terms.count)
      const where = this.#places.sorted(ranks)
      await writer.places(where)
      const entities = this.#entities.subarray(0, this.count)
      const vectorPlaces = this.#vectorPlaces.subarray(0, this.count)
      replaceAll(entities, ranks)
      replaceAll(vectorPlaces, where.numbers)
      await this.#writer.finish()
      const { count } = this
      const vectors = { dimensions: this.#dimensions, count, links: 0 }
      return await writer.vectors(where, entities, vectorPlaces, vectors)
    } finally {
      await writer.settle()
    }
  }

  /** Resolves when none of its vectors is being written. */
  async settle(): Promise<void> {
    await this.#writer.settle()
  }
}

function replaceAll(numbers: Uint32Array, by: Uint32Array): void {
  for (let i = 0; i < numbers.length; i++) numbers[i] = by[numbers[i] as number] as number
}

function twice(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}
