// What JSON.parse does not tell of a text: how deep it nests, and how many keys it writes down.

const quote = 0x22
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

interface Survey {
  /** Colons outside strings: in a valid text, the keys it writes down. */
  readonly keys: number
  /** Where nesting passes the limit; what comes after was not looked at. */
  readonly tooDeepAt: number | undefined
}

/** One pass over the bytes of a text, valid or not. Offsets count from the start of the bytes. */
export function survey(bytes: Uint8Array, start: number, maxDepth: number): Survey {
  let depth = 0
  let keys = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
    } else if (byte === colon) {
      keys++
    } else if (byte === openObject || byte === openArray) {
      if (++depth > maxDepth) return { keys, tooDeepAt: at }
    } else if (byte === closeObject || byte === closeArray) {
      depth--
    }
  }
  return { keys, tooDeepAt: undefined }
}

/**
 * The keys a parsed value has, over all depths; `undefined` where it nests past `maxDepth`. Fewer
 * than its text writes down: one is there twice, and JSON.parse has kept the last without a word.
 */
export function countKeys(value: object, maxDepth: number): number | undefined {
  if (maxDepth === 0) return undefined
  const isArray = Array.isArray(value)
  const members: readonly unknown[] = isArray ? value : Object.values(value)
  let keys = isArray ? 0 : members.length
  for (const member of members) {
    if (typeof member !== 'object' || member === null) continue
    const inside = countKeys(member, maxDepth - 1)
    if (inside === undefined) return undefined
    keys += inside
  }
  return keys
}
