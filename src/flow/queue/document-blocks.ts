import type { DocumentBlock } from './block.js'

/** The blocks read or written last. They never change, and no number is given twice. */
export class DocumentBlocks {
  readonly #blocks = new Map<number, DocumentBlock>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(number: number): DocumentBlock | undefined {
    const block = this.#blocks.get(number)
    if (block === undefined) return undefined
    this.#blocks.delete(number)
    this.#blocks.set(number, block)
    return block
  }

  keep(number: number, block: DocumentBlock): void {
    this.forget(number)
    this.#blocks.set(number, block)
    this.#bytes += block.byteLength
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.forget(oldest)
    }
  }

  forget(number: number): void {
    const block = this.#blocks.get(number)
    if (block === undefined) return
    this.#blocks.delete(number)
    this.#bytes -= block.byteLength
  }
}
