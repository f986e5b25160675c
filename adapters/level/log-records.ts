// LevelDB's log format, which its .log files and MANIFESTs have: blocks of 32 KiB with fragments of
// records, each behind a header of masked CRC-32C, length and type. LevelDB's own reader drops what
// does not fit and goes on, or ends as if the file did; this one says where and how much.

import { crc32c, differsByOneBit, unmask, wordsOf } from './crc32c.js'
import type { Words } from './crc32c.js'

/** A record whose fragments are all there with the right checksums. */
export interface LogRecord {
  readonly type: 'record'
  /** Where its first header begins. */
  readonly at: number
  /** Where its last fragment ends. */
  readonly end: number
  /** Views of the file's bytes; together they are the record. */
  readonly fragments: readonly Uint8Array[]
}

/** A stretch of the file that gives no record. */
interface LogDamage {
  readonly type: 'damage'
  readonly at: number
  /** Where reading goes on, or the end of the file. */
  readonly end: number
  /** For people. */
  readonly reason: string
  /**
   * One flipped bit explains it: one record is there but for that, from its beginning to its end.
   * Otherwise it may be the tail of a write that a crash cut short. True by accident for one torn
   * record in 16,000 at worst, however large: one bit damages no more than one fragment.
   */
  readonly flipped: boolean
}

type Fragment =
  | { readonly type: 'fragment'; readonly kind: number; readonly at: number; readonly end: number }
  | LogDamage

export const blockBytes = 32 * 1024
const headerBytes = 7
const full = 1
const first = 2
const middle = 3
const last = 4

/**
 * The records of a log and the damage between them, in the order of the file. Whatever comes after
 * damage was written later than what is missing there.
 */
export function* readLog(file: Uint8Array): Generator<LogRecord | LogDamage> {
  const source = wordsOf(file)
  const { bytes } = source
  let begun: { at: number; end: number; fragments: Uint8Array[] } | undefined
  let damage: LogDamage | undefined
  // Of the stretch that is damaged: the one fragment that is, as long as one bit may explain all.
  let suspect: Suspect | undefined
  const spoil = (at: number, end: number, reason: string) => {
    damage = damage ? { ...damage, end } : { type: 'damage', at, end, reason, flipped: false }
  }
  const told = () => {
    const whole = damage && { ...damage, flipped: suspect?.isComplete === true }
    damage = suspect = undefined
    return whole
  }
  const abandon = () => {
    // LevelDB's writer may leave the empty beginning of a record at the end of a block.
    if (begun && begun.fragments.some(({ length }) => length > 0)) {
      spoil(begun.at, begun.end, 'a record that does not end')
    }
    begun = undefined
  }
  for (const fragment of fragmentsOf(source)) {
    const { at, end } = fragment
    if (fragment.type === 'damage') {
      const mayBe = damage === undefined && fragment.flipped
      suspect = mayBe ? { isComplete: mayEnd(bytes[at + 6]!, begun !== undefined) } : undefined
      spoil(begun?.at ?? at, end, fragment.reason)
      begun = undefined
      continue
    }
    const content = bytes.subarray(at + headerBytes, end)
    if (fragment.kind === middle || fragment.kind === last) {
      if (begun === undefined) {
        spoil(at, end, 'a record that does not begin')
        if (suspect) suspect.isComplete = fragment.kind === last
        continue
      }
      begun.fragments.push(content)
      begun.end = end
      if (fragment.kind === middle) continue
    } else {
      abandon()
      // Here, not where the record ends: that a later one began is worth knowing, if it has an end
      // or not.
      const before = told()
      if (before) yield before
      begun = { at, end, fragments: [content] }
      if (fragment.kind === first) continue
    }
    yield { type: 'record', at: begun.at, end, fragments: begun.fragments }
    begun = undefined
  }
  if (begun) spoil(begun.at, bytes.length, 'a record that does not end')
  const rest = told()
  if (rest) yield rest
}

interface Suspect {
  /** Whether the record's last fragment is there, or may be the suspect itself. */
  isComplete: boolean
}

/** Whether a fragment ends a record, if what it says of itself is right but for one bit. */
function mayEnd(kind: number, hasBegun: boolean): boolean {
  const difference = kind ^ (hasBegun ? last : full)
  return (difference & (difference - 1)) === 0
}

function* fragmentsOf(source: Words): Generator<Fragment> {
  const { bytes } = source
  for (let at = 0; at < bytes.length;) {
    const blockEnd = at - (at % blockBytes) + blockBytes
    if (blockEnd - at < headerBytes) {
      // Too short for a header: filled with zeros, and read by nobody.
      at = blockEnd
      continue
    }
    const end = endOfFragment(source, at)
    if (end !== undefined) {
      yield { type: 'fragment', kind: bytes[at + 6]!, at, end }
      at = end
      continue
    }
    const next = nextFragment(source, at)
    yield {
      type: 'damage',
      at,
      end: next,
      reason: reasonOf(source, at),
      flipped: isFlipped(source, at),
    }
    at = next
  }
}

/** Where a valid fragment that begins here ends. */
function endOfFragment(source: Words, at: number): number | undefined {
  const { bytes } = source
  if (at + headerBytes > bytes.length) return undefined
  const kind = bytes[at + 6]!
  if (kind < full || kind > last) return undefined
  const end = at + headerBytes + lengthAt(bytes, at)
  if (end > limitOf(bytes, at)) return undefined
  return crc32c(source, at + 6, end) === unmask(storedAt(bytes, at)) ? end : undefined
}

/** Where to go on after damage: a valid fragment in the same block, or else the next block. */
function nextFragment(source: Words, damaged: number): number {
  const { bytes } = source
  const limit = limitOf(bytes, damaged)
  // Its length may be what is right about it.
  const behind = damaged + headerBytes + lengthAt(bytes, damaged)
  if (behind < limit && endOfFragment(source, behind) !== undefined) return behind
  for (let at = damaged + 1; at + headerBytes <= limit; at++) {
    if (lengthAt(bytes, at) > 0 && endOfFragment(source, at) !== undefined) return at
  }
  return limit
}

function isFlipped(source: Words, at: number): boolean {
  const { bytes } = source
  if (at + headerBytes > bytes.length) return false
  const limit = limitOf(bytes, at)
  const length = lengthAt(bytes, at)
  const stored = storedAt(bytes, at)
  // The checksum does not cover the length.
  for (let bit = 0; bit < 16; bit++) {
    const end = at + headerBytes + (length ^ (1 << bit))
    if (end <= limit && crc32c(source, at + 6, end) === unmask(stored)) return true
  }
  const end = at + headerBytes + length
  if (end > limit) return false
  return differsByOneBit(stored, crc32c(source, at + 6, end), end - at - 6)
}

function reasonOf({ bytes }: Words, at: number): string {
  if (at + headerBytes > bytes.length) return 'the file ends inside a header'
  const end = at + headerBytes + lengthAt(bytes, at)
  if (end > bytes.length && bytes.length === limitOf(bytes, at)) {
    return 'the file ends inside a record'
  }
  return end > limitOf(bytes, at) ? 'a length past its block' : 'a checksum that does not match'
}

/** The end of the block, or of the file. */
function limitOf(bytes: Uint8Array, at: number): number {
  return Math.min(at - (at % blockBytes) + blockBytes, bytes.length)
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return bytes[at + 4]! | (bytes[at + 5]! << 8)
}

function storedAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  )
}
