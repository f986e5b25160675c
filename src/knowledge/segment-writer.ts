import { createHash } from 'node:crypto'
import { BlockWriter, bytesTogether, type BlockStorage } from '../block-writer.js'
import type { ScanSink } from '../codec/scanner.js'
import { keepShape } from '../kept-shapes.js'
import { sliceKey } from './records.js'

/** The most bytes of one stored value, and of one chunk of an export. */
export const sliceBytes = 1024 * 1024

/** Writes what a scanner lets through as the slices of a segment. */
export class SegmentWriter extends BlockWriter implements ScanSink {
  readonly #hash

  /** `onSlice` is told of each slice before it is written, and must be done with it when it returns. */
  constructor(storage: BlockStorage, segment: string, onSlice?: (slice: Uint8Array) => void) {
    const hash = createHash('sha256')
    super({
      storage,
      keyOf: (n) => sliceKey(segment, n),
      blockBytes: sliceBytes,
      writeBytes: bytesTogether,
      onBlock: (slice) => {
        hash.update(slice)
        onSlice?.(slice)
      },
    })
    this.#hash = hash
  }

  /** Closes the last slice and gives the SHA-256 of all bytes; nothing may be copied after it. */
  digest(): string {
    this.end()
    return this.#hash.digest('hex')
  }
}

keepShape(
  new SegmentWriter({ get: () => Promise.resolve(undefined), write: () => Promise.resolve() }, ''),
)
