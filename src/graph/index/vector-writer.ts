import type { BlockStorage } from '../../block-writer.js'
import { VectorBlocksWriter } from '../vectors/blocks-writer.js'
import { normalizeInto } from '../vectors/normalized.js'
import { vectorKey } from './keys.js'

const firstRoom = 64

/** Vectors of one length: normalised into blocks of a file of their own, and whose each one is. */
export class VectorWriter {
  readonly dimensions: number
  count = 0
  /** By vector. */
  entities = new Uint32Array(firstRoom)
  collections = new Uint32Array(firstRoom)

  readonly #writer: VectorBlocksWriter
  readonly #one: Float32Array

  constructor(storage: BlockStorage, index: string, part: number, dimensions: number) {
    this.dimensions = dimensions
    this.#one = new Float32Array(dimensions)
    const keyOf = (block: number) => vectorKey(index, part, dimensions, block)
    this.#writer = new VectorBlocksWriter(storage, keyOf, dimensions)
  }

  add(components: Float64Array, entity: number, collection: number): void {
    normalizeInto(components, this.dimensions, this.#one, 0)
    this.#writer.add(this.#one, 0)
    if (this.count === this.entities.length) {
      this.entities = twice(this.entities)
      this.collections = twice(this.collections)
    }
    this.entities[this.count] = entity
    this.collections[this.count] = collection
    this.count++
  }

  async writeFull(): Promise<void> {
    await this.#writer.writeFull()
  }

  async finish(): Promise<void> {
    await this.#writer.finish()
  }

  async settle(): Promise<void> {
    await this.#writer.settle()
  }
}

function twice(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}
