// The MessagePack format, as much of it as framing needs.
// https://github.com/msgpack/msgpack/blob/master/spec.md

export const BAD = 0
export const NUMBER_CLASS = 1
export const STRING_CLASS = 2
export const ARRAY_CLASS = 3
export const MAP_CLASS = 4
export const BOOLEAN_CLASS = 5
const NIL_CLASS = 6
export const BINARY_CLASS = 7
export const EXTENSION_CLASS = 8

/** What a first byte announces. */
export const classOf = new Uint8Array(256)

/**
 * The bytes that a first byte announces before any content, itself included: for numbers the
 * whole value, for the others what tells the length.
 */
export const headerSizeOf = new Uint8Array(256).fill(1)

const formats: readonly (readonly [first: number, last: number, kind: number, size: number])[] = [
  [0x00, 0x7f, NUMBER_CLASS, 1],
  [0x80, 0x8f, MAP_CLASS, 1],
  [0x90, 0x9f, ARRAY_CLASS, 1],
  [0xa0, 0xbf, STRING_CLASS, 1],
  [0xc0, 0xc0, NIL_CLASS, 1],
  [0xc1, 0xc1, BAD, 1],
  [0xc2, 0xc3, BOOLEAN_CLASS, 1],
  [0xc4, 0xc4, BINARY_CLASS, 2],
  [0xc5, 0xc5, BINARY_CLASS, 3],
  [0xc6, 0xc6, BINARY_CLASS, 5],
  [0xc7, 0xc9, EXTENSION_CLASS, 1],
  [0xca, 0xca, NUMBER_CLASS, 5],
  [0xcb, 0xcb, NUMBER_CLASS, 9],
  [0xcc, 0xcc, NUMBER_CLASS, 2],
  [0xcd, 0xcd, NUMBER_CLASS, 3],
  [0xce, 0xce, NUMBER_CLASS, 5],
  [0xcf, 0xcf, NUMBER_CLASS, 9],
  [0xd0, 0xd0, NUMBER_CLASS, 2],
  [0xd1, 0xd1, NUMBER_CLASS, 3],
  [0xd2, 0xd2, NUMBER_CLASS, 5],
  [0xd3, 0xd3, NUMBER_CLASS, 9],
  [0xd4, 0xd8, EXTENSION_CLASS, 1],
  [0xd9, 0xd9, STRING_CLASS, 2],
  [0xda, 0xda, STRING_CLASS, 3],
  [0xdb, 0xdb, STRING_CLASS, 5],
  [0xdc, 0xdc, ARRAY_CLASS, 3],
  [0xdd, 0xdd, ARRAY_CLASS, 5],
  [0xde, 0xde, MAP_CLASS, 3],
  [0xdf, 0xdf, MAP_CLASS, 5],
  [0xe0, 0xff, NUMBER_CLASS, 1],
]
for (const [first, last, kind, size] of formats) {
  classOf.fill(kind, first, last + 1)
  headerSizeOf.fill(size, first, last + 1)
}

/** The length in the header at `at`: bytes of a string or binary, entries of an array or map. */
export function readLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  switch (headerSizeOf[first]) {
    case 1:
      return first & (first < 0xa0 ? 0x0f : 0x1f)
    case 2:
      return bytes[at + 1] as number
    case 3:
      return ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)
    default:
      return (
        (bytes[at + 1] as number) * 0x1000000 +
        (((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 8) |
          (bytes[at + 4] as number))
      )
  }
}

/** The header of a string of so many UTF-8 bytes, as short as can be. */
export function stringHeader(length: number): Uint8Array {
  if (length < 0x20) return Uint8Array.of(0xa0 | length)
  if (length < 0x100) return Uint8Array.of(0xd9, length)
  if (length < 0x10000) return Uint8Array.of(0xda, length >> 8, length & 0xff)
  return Uint8Array.of(
    0xdb,
    length >>> 24,
    (length >> 16) & 0xff,
    (length >> 8) & 0xff,
    length & 0xff,
  )
}

/** A first byte in words, for errors. */
export function describeByte(byte: number): string {
  switch (classOf[byte]) {
    case NUMBER_CLASS:
      if (byte > 0x20 && byte < 0x7f) {
        return `the integer ${byte} (as text: '${String.fromCharCode(byte)}')`
      }
      return byte === 0xca || byte === 0xcb ? 'a float' : 'an integer'
    case STRING_CLASS:
      return 'a string'
    case ARRAY_CLASS:
      return 'an array'
    case MAP_CLASS:
      return 'a map'
    case BOOLEAN_CLASS:
      return 'a boolean'
    case NIL_CLASS:
      return 'nil'
    case BINARY_CLASS:
      return 'binary data'
    default:
      return `the byte 0x${byte.toString(16)}`
  }
}
