// MessagePack that is written piece by piece into one buffer that grows.

import { defaultLimits } from '../limits.js'
import { stringHeader } from '../messagepack.js'

const firstBytes = 4096
/** One large message does not keep its size for ever. */
export const maxKeptBytes = 4 * 1024 * 1024
/**
 * What is longer gets room for the longest message at once, which takes memory only as it is written
 * to: to double it would be to copy up to 32 MiB in one turn.
 */
const longBytes = defaultLimits.maxMessageBytes

/** How large a buffer is that has to hold `bytes`, and takes the place of one of `before`. */
export function roomFor(bytes: number, before: number): number {
  return Math.max(bytes > maxKeptBytes ? longBytes : firstBytes, 2 * before, bytes)
}

export class ByteWriter {
  length = 0
  #buffer = Buffer.allocUnsafeSlow(firstBytes)

  /** What was written; the same memory is written again after clear(). */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
    if (this.#buffer.length > maxKeptBytes) this.#buffer = Buffer.allocUnsafeSlow(firstBytes)
  }

  /** Lets go of the first `count` bytes. */
  drop(count: number): void {
    this.#buffer.copyWithin(0, count, this.length)
    this.length -= count
  }

  byte(byte: number): void {
    this.#reserve(1)
    this.#buffer[this.length++] = byte
  }

  copy(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.#reserve(to - from)
    // Mostly a key or a short text: a loop costs less than a subarray to copy from.
    if (to - from < 32) {
      for (let at = from; at < to; at++) this.#buffer[this.length++] = bytes[at] as number
      return
    }
    this.#buffer.set(bytes.subarray(from, to), this.length)
    this.length += to - from
  }

  stringHeader(length: number): void {
    // Most texts are short: their headers are written as they are.
    if (length < 0x20) this.byte(0xa0 | length)
    else if (length < 0x100) {
      this.byte(0xd9)
      this.byte(length)
    } else this.copy(stringHeader(length))
  }

  arrayHeader(count: number): void {
    this.copy(arrayHeader(count))
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(roomFor(needed, this.#buffer.length))
    larger.set(this.#buffer.subarray(0, this.length))
    this.#buffer = larger
  }
}

/** As short as can be. */
function arrayHeader(count: number): Uint8Array {
  if (count < 0x10) return Uint8Array.of(0x90 | count)
  if (count < 0x10000) return Uint8Array.of(0xdc, count >> 8, count & 0xff)
  const [a, b, c] = [count >>> 24, (count >> 16) & 0xff, (count >> 8) & 0xff]
  return Uint8Array.of(0xdd, a, b, c, count & 0xff)
}
