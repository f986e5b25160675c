// A CRC-32 of key and value lies after each value. LevelDB's own table checksums are not checked
// on read: of 60 flipped bits, 52 came back as wrong data without an error. The key is part of
// it, so that a value cannot turn up under another key.
//
// Where values begin with a tag the CRC starts at 1 instead of 0: a partition that is opened with
// the wrong idea of that fails its checksums and never gives a tag or a pointer for a value.

import { crc32 } from 'node:zlib'
import { LorekeepError } from '../../src/errors.js'

export const checksumBytes = 4

const taggedSeed = 1

/** Writes the value and its checksum at an offset; returns the two as a view of the buffer. */
export function seal(
  target: Buffer,
  offset: number,
  key: Uint8Array,
  value: Uint8Array,
): Uint8Array {
  target.set(value, offset)
  const { length } = value
  // Of the copy: where an empty value has no address, crc32() forgets the key.
  return sealed(target, offset, length, crc32(target.subarray(offset, offset + length), crc32(key)))
}

/** As seal(), with a tag byte before the value. */
export function sealTagged(
  target: Buffer,
  offset: number,
  key: Uint8Array,
  tag: number,
  value: Uint8Array,
): Uint8Array {
  target[offset] = tag
  target.set(value, offset + 1)
  const length = value.length + 1
  const content = target.subarray(offset, offset + length)
  return sealed(target, offset, length, crc32(content, crc32(key, taggedSeed)))
}

function sealed(target: Buffer, offset: number, length: number, checksum: number): Uint8Array {
  target.writeUInt32LE(checksum, offset + length)
  return new Uint8Array(target.buffer, target.byteOffset + offset, length + checksumBytes)
}

/** The value inside what was stored, a view of it. Throws `LK_STORAGE_CORRUPT`. */
export function unseal(partition: string, key: Uint8Array, stored: Uint8Array): Uint8Array {
  return unsealFrom(0, partition, key, stored)
}

/** As unseal(): the tag and what follows it. */
export function unsealTagged(partition: string, key: Uint8Array, stored: Uint8Array): Uint8Array {
  return unsealFrom(taggedSeed, partition, key, stored)
}

function unsealFrom(
  seed: number,
  partition: string,
  key: Uint8Array,
  stored: Uint8Array,
): Uint8Array {
  const end = stored.length - checksumBytes
  if (end >= 0) {
    const value = stored.subarray(0, end)
    const { buffer, byteOffset } = stored
    const expected = new DataView(buffer, byteOffset).getUint32(end, true)
    if (crc32(value, crc32(key, seed)) === expected) return value
  }
  throw corrupt(partition, key)
}

export function corrupt(partition: string, key: Uint8Array, cause?: unknown): LorekeepError {
  const hex = Buffer.from(key).toString('hex')
  return new LorekeepError('LK_STORAGE_CORRUPT', `the value under key ${hex} in '${partition}'`, {
    details: { partition, key: hex },
    ...(cause !== undefined && { cause }),
  })
}
