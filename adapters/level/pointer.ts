// What LevelDB holds in a partition with value files: a tag, and the value or a pointer to it.

import { corrupt, unsealTagged } from './checksum.js'

export interface Pointer {
  /** The name of the value's file: 24 hexadecimal digits. */
  readonly name: string
  readonly length: number
  /** CRC-32 of key and value. */
  readonly checksum: number
}

export const tags = { inline: 0, pointer: 1 } as const

const nameBytes = 12
export const pointerBytes = nameBytes + 4 + 4

export function encodePointer({ name, length, checksum }: Pointer): Uint8Array {
  const bytes = Buffer.alloc(pointerBytes)
  bytes.write(name, 'hex')
  bytes.writeUInt32LE(length, nameBytes)
  bytes.writeUInt32LE(checksum, nameBytes + 4)
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
  if (content[0] !== tags.pointer || content.length !== 1 + pointerBytes) {
    throw corrupt(partition, key)
  }
  const bytes = Buffer.from(content.buffer, content.byteOffset + 1, pointerBytes)
  return {
    name: bytes.toString('hex', 0, nameBytes),
    length: bytes.readUInt32LE(nameBytes),
    checksum: bytes.readUInt32LE(nameBytes + 4),
  }
}
