// A vector and what it is compared with.

import { codeBytes, queryInto } from './codes.js'
import { queryAt, type Blocks, type VectorMemory } from './memory.js'
import { unpack } from './packed.js'
import { blocksOf, vectorBlockBytes, type VectorFile } from './types.js'
import type { Walk } from './walk.js'

export class VectorQuestion {
  readonly vector: Float32Array
  readonly memory: VectorMemory
  /** By how much a product in float32 may differ from the cosine. */
  readonly margin: number

  /** `vector` has length 1, or is all zeros. */
  constructor(vector: Float32Array, memory: VectorMemory) {
    this.vector = vector
    this.memory = memory
    // Each sum has a sixteenth of the products; twice what their rounding can be.
    this.margin = (vector.length / 16 + 32) * 2 ** -23
  }

  #codes: Int16Array | undefined
  #factor = 0

  get dimensions(): number {
    return this.vector.length
  }

  /** Puts the vector where the kernel reads it, once more after each await. */
  ask(): void {
    if (this.memory.asker === this) return
    new Float32Array(this.memory.kernel.memory.buffer, queryAt, this.dimensions).set(this.vector)
    this.memory.asker = this
  }

  /** Puts the vector where a walk reads it. */
  askCodes(walk: Walk): void {
    if (this.#codes === undefined) {
      this.#codes = new Int16Array(codeBytes(this.dimensions))
      this.#factor = queryInto(this.vector, this.#codes)
    }
    walk.query.set(this.#codes)
    walk.factor = this.#factor
  }

  /**
   * The cosine with the vector at an address. Rounded to float32, which is as much as the vectors
   * are good for, so that those of one direction have one score.
   */
  score(address: number): number {
    return rounded(this.memory.kernel.cosine(queryAt, address, this.dimensions))
  }
}

/** NaN, where a vector has no direction, is 0. */
export function rounded(cosine: number): number {
  return Number.isNaN(cosine) ? 0 : Math.fround(cosine) + 0
}

export function vectorBlocks(file: VectorFile): Blocks {
  return {
    file: file.id,
    name: 'vectors ',
    count: blocksOf(file.dimensions, file.count),
    bytes: (n) => vectorBlockBytes(file, n),
    read: (n) => readVectors(file, n),
  }
}

export async function readVectors(file: VectorFile, n: number): Promise<Uint8Array> {
  const name = `block ${n} of vectors ${file.id}`
  return unpack(await file.block(n), vectorBlockBytes(file, n), name)
}

/** The components of a block, which may lie at any byte. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Float32Array(buffer, byteOffset, length / 4)
}
