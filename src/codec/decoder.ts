// Core messages from bytes to objects: msgpackr for whole messages that the scanner has passed.

import { Unpackr } from 'msgpackr'
import type { CoreMessage } from '../types.js'
import { noLimits } from './limits.js'
import { CoreScanner, type ScanSink } from './scanner.js'

// int64 as number: a component may be any MessagePack number, and a vector holds no BigInt.
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/** Cuts a core stream into messages, whatever its chunks, and decodes each when it is whole. */
export class MessageDecoder {
  readonly #parts = new MessageParts()
  readonly #scanner: CoreScanner

  constructor() {
    this.#scanner = new CoreScanner(this.#parts, undefined, noLimits)
  }

  /** The messages that this chunk completes. @throws LorekeepError as CoreScanner does */
  push(chunk: Uint8Array): CoreMessage[] {
    this.#scanner.push(chunk)
    return this.#parts.takeWhole().map((bytes) => unpackr.unpack(bytes) as CoreMessage)
  }

  finish(): void {
    this.#scanner.finish()
  }
}

/** Holds the parts of the message under way, and the messages that are whole. */
class MessageParts implements ScanSink {
  #parts: Uint8Array[] = []
  #whole: Uint8Array[] = []

  // A part of a message that is not whole yet outlives its chunk, so it is copied.
  copy(chunk: Uint8Array, from: number, to: number): void {
    this.#parts.push(Buffer.from(chunk.subarray(from, to)))
  }

  messageEnd(): void {
    this.#whole.push(
      this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts),
    )
    this.#parts = []
  }

  takeWhole(): Uint8Array[] {
    const whole = this.#whole
    this.#whole = []
    return whole
  }
}
