// What LevelDB holds in a partition with value files: a tag, and the value or a pointer to it.

import { corrupt, unsealTagged } from './checksum.js'
import { pieces } from './piece-checksums.js'

export interface Pointer {
  /** The name of the value's file: 24 hexadecimal digits. */
  readonly name: string
  readonly length: number
  /** Where in the file the value begins. */
  readonly offset: number
  /** How many values were written into the file. */
  readonly values: number
  /** Of its pieces. */
  readonly checksums: Uint32Array
}

/** A pointer to a file of its own, and to one with other values in it. */
export const tags = { inline: 0, pointer: 1, part: 2 } as const

const nameBytes = 12
const headBytes = { [tags.pointer]: nameBytes + 4, [tags.part]: nameBytes + 12 } as const

/** Of the pointer to a value of this length, at most. */
export function pointerBytes(length: number): number {
  return headBytes[tags.part] + 4 * pieces(length)
}

export function tagOf({ values }: Pointer): typeof tags.pointer | typeof tags.part {
  return values === 1 ? tags.pointer : tags.part
}

export function encodePointer(pointer: Pointer): Uint8Array {
  const { name, length, offset, values, checksums } = pointer
  const tag = tagOf(pointer)
  const head = headBytes[tag]
  const bytes = Buffer.alloc(head + 4 * checksums.length)
  bytes.write(name, 'hex')
  bytes.writeUInt32LE(length, nameBytes)
  if (tag === tags.part) {
    bytes.writeUInt32LE(offset, nameBytes + 4)
    bytes.writeUInt32LE(values, nameBytes + 8)
  }
  for (const [n, checksum] of checksums.entries()) bytes.writeUInt32LE(checksum, head + 4 * n)
  return bytes
}

/** Takes apart what was stored: a value (a view) or a pointer. Throws `LK_STORAGE_CORRUPT`. */
export function decodeTagged(
  partition: string,
  key: Uint8Array,
  stored: Uint8Array,
): Uint8Array | Pointer {
  const content = unsealTagged(partition, key, stored)
  const [tag] = content
  if (tag === tags.inline) return content.subarray(1)
  const bytes = Buffer.from(content.buffer, content.byteOffset + 1, content.length - 1)
  if (tag !== tags.pointer && tag !== tags.part) throw corrupt(partition, key)
  const head = headBytes[tag]
  if (bytes.length < head) throw corrupt(partition, key)
  const length = bytes.readUInt32LE(nameBytes)
  if (bytes.length !== head + 4 * pieces(length)) throw corrupt(partition, key)
  const isPart = tag === tags.part
  const offset = isPart ? bytes.readUInt32LE(nameBytes + 4) : 0
  const values = isPart ? bytes.readUInt32LE(nameBytes + 8) : 1
  const checksums = new Uint32Array(pieces(length))
  for (let n = 0; n < checksums.length; n++) checksums[n] = bytes.readUInt32LE(head + 4 * n)
  return { name: bytes.toString('hex', 0, nameBytes), length, offset, values, checksums }
}
