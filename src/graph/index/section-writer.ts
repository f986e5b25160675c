import { BlockWriter } from '../../block-writer.js'
import type { Storage } from '../../storage.js'
import { align, blockBytes } from './layout.js'

/** Bytes that are handed on at once, so that blocks are written while others fill. */
const pieceBytes = 4 * blockBytes

/** Writes the sections of a main file one behind the other. */
export class SectionWriter {
  readonly #file: BlockWriter
  readonly #pairs = new Uint32Array(pieceBytes / 4)

  constructor(storage: Storage, keyOf: (block: number) => Uint8Array) {
    this.#file = new BlockWriter({ storage, keyOf, blockBytes })
  }

  async write(section: Uint32Array | Uint8Array): Promise<void> {
    await this.#copy(section)
    this.#pad()
  }

  /** Two columns as one section of pairs. */
  async writePairs(first: Uint32Array, second: Uint32Array, count: number): Promise<void> {
    const pairs = this.#pairs
    const most = pairs.length / 2
    for (let from = 0; from < count; from += most) {
      const rows = Math.min(most, count - from)
      for (let i = 0; i < rows; i++) {
        pairs[2 * i] = first[from + i] as number
        pairs[2 * i + 1] = second[from + i] as number
      }
      await this.#copy(pairs.subarray(0, 2 * rows))
    }
  }

  async finish(): Promise<void> {
    await this.#file.finish()
  }

  async settle(): Promise<void> {
    await this.#file.settle()
  }

  async #copy({ buffer, byteOffset, byteLength }: Uint32Array | Uint8Array): Promise<void> {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength)
    for (let at = 0; at < byteLength; at += pieceBytes) {
      this.#file.copy(bytes, at, Math.min(byteLength, at + pieceBytes))
      await this.#file.writeFull()
    }
  }

  #pad(): void {
    this.#file.copy(padding, 0, align(this.#file.bytes) - this.#file.bytes)
  }
}

const padding = new Uint8Array(8)
