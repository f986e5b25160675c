import { BlockWriter, bytesTogether, type BlockStorage } from '../block-writer.js'
import type { ScanSink } from '../codec/scanner.js'
import { keepShape } from '../kept-shapes.js'
import { sliceKey } from './records.js'

/** The most bytes of one stored value, and of one chunk of an export. */
export const sliceBytes = 1024 * 1024

/** Writes what a scanner lets through as the slices of a segment. */
export class SegmentWriter extends BlockWriter implements ScanSink {
  /** `onSlice` is told of each slice before it is written, and must be done with it when it returns. */
  constructor(storage: BlockStorage, segment: string, onSlice: (slice: Uint8Array) => void) {
    super({
      storage,
      keyOf: (n) => sliceKey(segment, n),
      blockBytes: sliceBytes,
      writeBytes: bytesTogether,
      onBlock: onSlice,
    })
  }
}

keepShape(
  new SegmentWriter(
    { get: () => Promise.resolve(undefined), write: () => Promise.resolve() },
    '',
    () => undefined,
  ),
)
