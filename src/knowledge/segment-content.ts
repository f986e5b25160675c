// What the slices of a segment come to, read one after the other: counts, and whether it is whole.

import { createHash } from 'node:crypto'
import { noLimits } from '../codec/limits.js'
import { CoreScanner } from '../codec/scanner.js'
import type { SegmentRecord } from './records.js'
import type { CoreCounts } from './types.js'

export class SegmentContent {
  readonly #segment: Pick<SegmentRecord, 'slices' | 'digest'>
  readonly #hash = createHash('sha256')
  readonly #scanner = new CoreScanner({ copy: () => undefined }, undefined, noLimits)
  #bytes = 0
  #failure: string | undefined

  constructor(segment: Pick<SegmentRecord, 'slices' | 'digest'>) {
    this.#segment = segment
  }

  push(n: number, slice: Uint8Array): void {
    this.#hash.update(slice)
    this.#bytes += slice.length
    if (this.#failure !== undefined) return
    try {
      this.#scanner.push(slice)
      if (n === this.#segment.slices - 1) this.#scanner.finish()
    } catch (error) {
      this.#failure = (error as Error).message
    }
  }

  /** Why it is not what was imported, `undefined` where it is; to be asked once, at the end. */
  damage(): string | undefined {
    if (this.#hash.digest('hex') === this.#segment.digest) return this.#failure
    return 'its slices are not those of its digest'
  }

  get counts(): CoreCounts {
    const { messages, triples, entities, vectors } = this.#scanner
    return { bytes: this.#bytes, messages, triples, entities, vectors }
  }
}
