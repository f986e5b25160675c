// What LevelDB holds in a partition with value files: a tag, and the value or a pointer to it.

import { corrupt, pieces, unsealTagged } from './checksum.js'

export interface Pointer {
  /** The name of the value's file: 24 hexadecimal digits. */
  readonly name: string
  readonly length: number
  /** Of its pieces. */
  readonly checksums: Uint32Array
}

export const tags = { inline: 0, pointer: 1 } as const

const nameBytes = 12
const headBytes = nameBytes + 4

/** Of the pointer to a value of this length. */
export function pointerBytes(length: number): number {
  return headBytes + 4 * pieces(length)
}

export function encodePointer({ name, length, checksums }: Pointer): Uint8Array {
  const bytes = Buffer.alloc(pointerBytes(length))
  bytes.write(name, 'hex')
  bytes.writeUInt32LE(length, nameBytes)
  for (const [n, checksum] of checksums.entries()) bytes.writeUInt32LE(checksum, headBytes + 4 * n)
  return bytes
}

/** Takes apart what was stored: a value (a view) or a pointer. Throws `LK_STORAGE_CORRUPT`. */
export function decodeTagged(
  partition: string,
  key: Uint8Array,
  stored: Uint8Array,
): Uint8Array | Pointer {
  const content = unsealTagged(partition, key, stored)
  if (content[0] === tags.inline) return content.subarray(1)
  const bytes = Buffer.from(content.buffer, content.byteOffset + 1, content.length - 1)
  if (content[0] !== tags.pointer || bytes.length < headBytes) throw corrupt(partition, key)
  const length = bytes.readUInt32LE(nameBytes)
  if (bytes.length !== pointerBytes(length)) throw corrupt(partition, key)
  const checksums = new Uint32Array(pieces(length))
  for (let n = 0; n < checksums.length; n++) checksums[n] = bytes.readUInt32LE(headBytes + 4 * n)
  return { name: bytes.toString('hex', 0, nameBytes), length, checksums }
}
