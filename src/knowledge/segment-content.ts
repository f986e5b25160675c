// What the slices of a segment come to, read one after the other: counts, and whether it is whole.

import { createHash } from 'node:crypto'
import { noLimits } from '../codec/limits.js'
import { CoreScanner } from '../codec/scanner.js'
import type { SegmentRecord } from './records.js'
import type { CoreCounts } from './types.js'

export class SegmentContent {
  readonly #digest: string
  readonly #hash = createHash('sha256')
  readonly #scanner = new CoreScanner({ copy: () => undefined }, undefined, noLimits)
  #bytes = 0
  #failure: string | undefined

  constructor({ digest }: Pick<SegmentRecord, 'digest'>) {
    this.#digest = digest
  }

  push(slice: Uint8Array): void {
    this.#hash.update(slice)
    this.#bytes += slice.length
    this.#attempt(() => this.#scanner.push(slice))
  }

  /** Why it is not what was imported, `undefined` where it is; to be asked once, at the end. */
  damage(): string | undefined {
    if (this.#hash.digest('hex') !== this.#digest) return 'its bytes are not those of its digest'
    this.#attempt(() => this.#scanner.finish())
    return this.#failure
  }

  #attempt(work: () => void): void {
    if (this.#failure !== undefined) return
    try {
      work()
    } catch (error) {
      this.#failure = (error as Error).message
    }
  }

  get counts(): CoreCounts {
    const { messages, triples, entities, vectors } = this.#scanner
    return { bytes: this.#bytes, messages, triples, entities, vectors }
  }
}
