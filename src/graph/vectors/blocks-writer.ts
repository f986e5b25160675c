// Writes vectors, and approximate indexes of them, in blocks that are packed where that pays.

import { BlockWriter, type BlockStorage } from '../../block-writer.js'
import { arenaBytes } from './arenas.js'
import type { MadeLinks } from './hnsw.js'
import { pack } from './packed.js'
import { vectorsPerBlock } from './types.js'

/** Blocks of vectors are small; so many bytes of them are written at once. */
const writeBytes = 1024 * 1024

/** Of one length, which are at length 1. */
export class VectorBlocksWriter {
  count = 0
  readonly #dimensions: number
  readonly #perBlock: number
  readonly #writer: BlockWriter
  /** What is not a whole block yet. It grows: most files are small, and thousands may be written. */
  #block = new Float32Array(0)
  #filled = 0

  constructor(storage: BlockStorage, keyOf: (block: number) => Uint8Array, dimensions: number) {
    this.#dimensions = dimensions
    this.#perBlock = vectorsPerBlock(dimensions)
    const blockBytes = this.#perBlock * 4 * dimensions
    this.#writer = new BlockWriter({ storage, keyOf, blockBytes, writeBytes })
  }

  /** The vector that begins at `from`. */
  add(vectors: Float32Array, from: number): void {
    const length = this.#dimensions
    const end = (this.#filled + 1) * length
    if (end > this.#block.length) {
      const larger = new Float32Array(Math.min(this.#perBlock, 2 * this.#filled + 1) * length)
      larger.set(this.#block)
      this.#block = larger
    }
    const at = this.#filled * length
    for (let n = 0; n < length; n++) this.#block[at + n] = vectors[from + n] as number
    this.count++
    if (++this.#filled === this.#perBlock) this.#end()
  }

  #end(): void {
    if (this.#filled === 0) return
    const vectors = this.#block.subarray(0, this.#filled * this.#dimensions)
    const block = pack(new Uint8Array(vectors.buffer, 0, vectors.byteLength))
    this.#writer.copy(block, 0, block.length)
    this.#writer.end()
    this.#filled = 0
  }

  async writeFull(): Promise<void> {
    await this.#writer.writeFull()
  }

  async finish(): Promise<void> {
    this.#end()
    await this.#writer.finish()
  }

  async settle(): Promise<void> {
    await this.#writer.settle()
  }
}

export async function writeMadeLinks(
  storage: BlockStorage,
  keyOf: (block: number) => Uint8Array,
  links: MadeLinks,
): Promise<void> {
  const writer = new BlockWriter({ storage, keyOf, blockBytes: arenaBytes })
  try {
    for (let n = 0; n < links.blocks; n++) {
      // Not the header: what is in an index should be told by its record.
      const block = n === 0 ? links.block(0) : pack(links.block(n))
      writer.copy(block, 0, block.length)
      writer.end()
      await writer.writeFull()
    }
    await writer.finish()
  } finally {
    await writer.settle()
  }
}
