import { PageCache } from '../../page-cache.js'
import type { Reading } from '../../verify/reading.js'
import { DocumentBlock } from '../queue/block.js'
import { blockKey } from '../queue/records.js'

const cacheBytes = 32 * 1024 * 1024

/** Blocks of documents as they lie in a storage that may be damaged; a few of them are held. */
export class StoredBlocks {
  /** Blocks of which something was told: they cannot be read, or are not there, or nobody needs them. */
  readonly told = new Set<number>()
  readonly #reading: Reading
  readonly #check: (block: DocumentBlock) => void
  readonly #held = new PageCache<DocumentBlock>(cacheBytes)

  /** `check` throws where a block is none. */
  constructor(reading: Reading, check: (block: DocumentBlock) => void) {
    this.#reading = reading
    this.#check = check
  }

  /** `undefined` where it is not there, or cannot be read, which is told. */
  async get(number: number): Promise<DocumentBlock | undefined> {
    if (this.told.has(number)) return undefined
    const held = this.#held.peek(number)
    if (held !== undefined) return held
    const bytes = await this.#reading.get(blockKey(number))
    if (bytes === undefined) return undefined
    try {
      const block = new DocumentBlock(bytes)
      this.#check(block)
      this.#held.keep(number, block)
      return block
    } catch (error) {
      this.told.add(number)
      this.#reading.damaged(blockKey(number), (error as Error).message)
      return undefined
    }
  }
}
