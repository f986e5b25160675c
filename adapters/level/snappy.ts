// Snappy, for the indexes of tables: they say where the blocks are. The blocks themselves are
// checked as they lie there.

import { VarintReader } from './varints.js'

/** Throws a RangeError where the bytes are not Snappy's. */
export function unpack(packed: Uint8Array): Uint8Array {
  const reader = new VarintReader(packed)
  const bytes = new Uint8Array(reader.number())
  let length = 0
  while (!reader.done) {
    const tag = reader.take(1)[0]!
    const kind = tag & 3
    if (kind === 0) {
      // Up to 60 bytes; above, their number takes one to four bytes.
      const short = tag >>> 2
      const literal = reader.take(1 + (short < 60 ? short : littleEndian(reader.take(short - 59))))
      bytes.set(literal, length)
      length += literal.length
      continue
    }
    const count = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
    const back =
      kind === 1
        ? ((tag >>> 5) << 8) | reader.take(1)[0]!
        : littleEndian(reader.take(kind === 2 ? 2 : 4))
    if (back === 0 || back > length || length + count > bytes.length) {
      throw new RangeError('a copy from outside')
    }
    // Byte for byte: what is copied may be what the copy makes.
    for (const end = length + count; length < end; length++) bytes[length] = bytes[length - back]!
  }
  if (length !== bytes.length) throw new RangeError(`${length} bytes, not ${bytes.length}`)
  return bytes
}

function littleEndian(bytes: Uint8Array): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0)
}
