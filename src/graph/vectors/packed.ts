// Blocks in less room where most of a block is zeros, as vectors are that count words: a bit for each
// word of 32 bits that is not zero, and those words. A block that has the length it should have is not
// packed. Numbers that are no zeros look like noise: nothing that was tried makes them much smaller.

import { LorekeepError } from '../../errors.js'

/** A block is packed where it takes less than this part of its bytes. */
const worthwhile = 7 / 8

/** Bytes to be stored for a block, of whole words: its own, or fewer. */
export function pack(block: Uint8Array): Uint8Array {
  const words = wordsOf(block)
  const most = worthwhile * words.length - Math.ceil(words.length / 32)
  let used = 0
  for (let n = 0; n < words.length && used < most; n++) if (words[n] !== 0) used++
  if (used >= most) return block
  const bits = Math.ceil(words.length / 32)
  const packed = new Uint32Array(bits + used)
  let at = bits
  for (let n = 0; n < words.length; n++) {
    const word = words[n] as number
    if (word === 0) continue
    packed[n >>> 5] = (packed[n >>> 5] as number) | (1 << (n & 31))
    packed[at++] = word
  }
  return new Uint8Array(packed.buffer)
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` where they are not those of so many bytes */
export function unpack(stored: Uint8Array, bytes: number, name: string): Uint8Array {
  if (stored.length === bytes) return stored
  const block = stored.length < bytes && stored.length % 4 === 0 ? spread(stored, bytes) : undefined
  if (block !== undefined) return block
  const detail = `${name} has ${stored.length} bytes in place of ${bytes}`
  throw new LorekeepError('LK_STORAGE_CORRUPT', detail)
}

/** Undefined where there are more words than bits, or fewer. */
function spread(stored: Uint8Array, bytes: number): Uint8Array | undefined {
  const packed = wordsOf(stored)
  const words = new Uint32Array(bytes / 4)
  let at = Math.ceil(words.length / 32)
  for (let first = 0; first < words.length; first += 32) {
    let bits = packed[first >>> 5] as number
    while (bits !== 0) {
      const lowest = 31 - Math.clz32(bits & -bits)
      bits &= bits - 1
      if (first + lowest >= words.length || at >= packed.length) return undefined
      words[first + lowest] = packed[at++] as number
    }
  }
  return at === packed.length ? new Uint8Array(words.buffer) : undefined
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Uint32Array(buffer, byteOffset, length / 4)
}
