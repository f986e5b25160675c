import { BlockWriter, bytesTogether, type BlockStorage } from '../../block-writer.js'
import { align, blockBytes } from './layout.js'

/** Bytes that are handed on at once, so that blocks are written while others fill. */
const pieceBytes = 4 * blockBytes

type Words = Uint32Array | Int32Array | Float64Array | Uint8Array

/** Writes the sections of a main file one behind the other. */
export class SectionWriter {
  readonly #file: BlockWriter
  /** Bytes that add() took since it last handed any on. */
  #added = 0

  constructor(storage: BlockStorage, keyOf: (block: number) => Uint8Array) {
    this.#file = new BlockWriter({ storage, keyOf, blockBytes, writeBytes: bytesTogether })
  }

  /** A whole section. */
  async write(words: Words): Promise<void> {
    await this.append(words)
    this.end()
  }

  /** Some of a section, which the caller may change when this resolves. */
  async append({ buffer, byteOffset, byteLength }: Words): Promise<void> {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength)
    for (let at = 0; at < byteLength; at += pieceBytes) {
      this.#file.copy(bytes, at, Math.min(byteLength, at + pieceBytes))
      await this.#file.writeFull()
    }
  }

  /**
   * The same of few bytes, copied at once: what this gives is waited for before more comes, and is nothing most of
   * the time (of 330,000 words with their lists awaiting each piece took 0.5 of 2.6 s).
   */
  add(bytes: Uint8Array): Promise<void> | undefined {
    this.#file.copy(bytes, 0, bytes.length)
    this.#added += bytes.length
    if (this.#added < pieceBytes) return undefined
    this.#added = 0
    return this.#file.writeFull()
  }

  /** Ends the section. */
  end(): void {
    this.#file.copy(padding, 0, align(this.#file.bytes) - this.#file.bytes)
  }

  async finish(): Promise<void> {
    await this.#file.finish()
  }

  async settle(): Promise<void> {
    await this.#file.settle()
  }
}

const padding = new Uint8Array(8)
