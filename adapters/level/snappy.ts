// Snappy, for the indexes of tables: they say where the blocks are. The blocks themselves are
// checked as they lie there.

import { VarintReader } from './varints.js'

/** Throws a RangeError where the bytes are not Snappy's. */
export function unpack(packed: Uint8Array): Uint8Array {
  const reader = new VarintReader(packed)
  const bytes = new Uint8Array(reader.number())
  let length = 0
  // By places: a view of each byte would take ten times as long.
  let { at } = reader
  const littleEndian = (count: number) => {
    let value = 0
    for (let n = count - 1; n >= 0; n--) value = value * 256 + byteAt(packed, at + n)
    at += count
    return value
  }
  while (at < packed.length) {
    const tag = littleEndian(1)
    const kind = tag & 3
    if (kind === 0) {
      // Up to 60 bytes; above, their number takes one to four bytes.
      const short = tag >>> 2
      const count = 1 + (short < 60 ? short : littleEndian(short - 59))
      if (at + count > packed.length) throw new RangeError('a length past the end')
      bytes.set(packed.subarray(at, at + count), length)
      at += count
      length += count
      continue
    }
    const count = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
    const back =
      kind === 1 ? ((tag >>> 5) << 8) | littleEndian(1) : littleEndian(kind === 2 ? 2 : 4)
    if (back === 0 || back > length || length + count > bytes.length) {
      throw new RangeError('a copy from outside')
    }
    // Byte for byte: what is copied may be what the copy makes.
    for (const end = length + count; length < end; length++) bytes[length] = bytes[length - back]!
  }
  if (length !== bytes.length) throw new RangeError(`${length} bytes, not ${bytes.length}`)
  return bytes
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new RangeError('a length past the end')
  return byte
}
