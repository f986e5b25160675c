// Key layout: tuples of strings, bytes and whole numbers, encoded so that the order of the bytes
// is the order of the tuples and no tuple's key is the beginning of another's (other than its own
// leading elements'). The encoding is FoundationDB's tuple layer, of which these three types are
// a part: https://github.com/apple/foundationdb/blob/main/design/tuple.md

export type KeyElement = string | Uint8Array | number

const bytesTag = 0x01
const stringTag = 0x02
const zeroTag = 0x14

/**
 * The key of a tuple. Strings order by their UTF-8 bytes, numbers by value.
 * @throws TypeError for a lone surrogate, a negative number or one past 2^53 - 1
 */
export function encodeKey(...elements: readonly KeyElement[]): Uint8Array {
  const parts = elements.map(encodeElement)
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** The bounds of all keys that begin with these elements and have more. */
export function keyPrefix(...elements: readonly KeyElement[]): { gt: Uint8Array; lt: Uint8Array } {
  const prefix = encodeKey(...elements)
  return { gt: prefix, lt: Buffer.concat([prefix, Uint8Array.of(0xff)]) }
}

/** The elements of a key that encodeKey() made. @throws TypeError for any other bytes */
export function decodeKey(key: Uint8Array): KeyElement[] {
  const elements: KeyElement[] = []
  let at = 0
  while (at < key.length) {
    const tag = key[at++] as number
    if (tag === bytesTag || tag === stringTag) {
      const raw: number[] = []
      for (;;) {
        if (at >= key.length) throw new TypeError('not a key: it ends inside an element')
        const byte = key[at++] as number
        if (byte === 0) {
          if (key[at] !== 0xff) break
          at++
        }
        raw.push(byte)
      }
      const bytes = Buffer.from(raw)
      elements.push(tag === stringTag ? bytes.toString('utf8') : bytes)
    } else if (tag >= zeroTag && tag <= zeroTag + 7 && at + tag - zeroTag <= key.length) {
      let value = 0
      for (let left = tag - zeroTag; left > 0; left--) value = value * 256 + (key[at++] as number)
      elements.push(value)
    } else {
      throw new TypeError(`not a key: byte ${tag} at ${at - 1}`)
    }
  }
  return elements
}

function encodeElement(element: KeyElement): Uint8Array {
  if (typeof element === 'number') return encodeNumber(element)
  if (typeof element === 'string') {
    if (!element.isWellFormed()) throw new TypeError('a key string holds a lone surrogate')
    return terminate(stringTag, Buffer.from(element, 'utf8'))
  }
  return terminate(bytesTag, element)
}

/** The tag, the bytes with each zero followed by 0xff, and a zero. */
function terminate(tag: number, bytes: Uint8Array): Uint8Array {
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros++
  const key = Buffer.allocUnsafe(bytes.length + zeros + 2)
  let at = 0
  key[at++] = tag
  for (const byte of bytes) {
    key[at++] = byte
    if (byte === 0) key[at++] = 0xff
  }
  key[at] = 0
  return key
}

/** The tag tells how many bytes follow: as few as hold the number, the highest first. */
function encodeNumber(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new TypeError(`a key number must be a whole number from 0 to 2^53 - 1, not ${value}`)
  }
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([zeroTag + bytes.length, ...bytes])
}
