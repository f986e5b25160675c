// A page of words: each key once, with the rows that have it, how long they are, and where in them it
// is. In memory it stays as it lies on disk, some seven bytes an entry: what was a column for each
// filled the memory for pages with a text of 20 MB. docs/format.md describes the bytes.

import { LorekeepError } from '../../errors.js'
import { keepShape } from '../../kept-shapes.js'
import { tableSpan } from './ref.js'
import { countIn, formEndIn } from './word-keys.js'

/** In order of keys, then references. */
export interface WordEntries {
  readonly keys: readonly string[]
  readonly refs: Float64Array
  readonly places: readonly string[]
  readonly lengths: ArrayLike<number>
}

/** The header of columns is never so long. */
const mark = 0xffff_ffff
const headerBytes = 40

type Numbers = Uint8Array | Uint16Array | Uint32Array

export class WordPage {
  /** How many entries it has. */
  readonly length: number
  /** How many keys. */
  readonly groups: number
  readonly bytes: Buffer
  readonly size: number
  readonly base: number
  readonly unit: number
  /** Of each key: where its entries end, their references, their places, and its text. */
  readonly #ends: Numbers
  readonly #refEnds: Numbers
  readonly #placeEnds: Numbers
  readonly #keyEnds: Numbers
  readonly #keys: readonly string[] | undefined
  readonly #keysAt: number
  readonly #refsAt: number
  /** By entry: how long its row is, and how many bytes its places take. */
  readonly lengths: Numbers
  readonly placeBytes: Numbers
  readonly #placesAt: number

  static isOne(bytes: Uint8Array): boolean {
    return (
      bytes.length >= headerBytes && bytes[0] === 255 && bufferOf(bytes).readUInt32LE(0) === mark
    )
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` */
  constructor(from: Uint8Array) {
    const bytes = bufferOf(from)
    const [length, groups, keyBytes, refBytes, placeBytes] = [4, 8, 12, 16, 20].map((at) =>
      bytes.readUInt32LE(at),
    ) as [number, number, number, number, number]
    this.length = length
    this.groups = groups
    this.base = bytes.readDoubleLE(24)
    this.unit = bytes.readUInt32LE(32)
    const [groupWidth, lengthWidth, placeWidth, isAscii] = bytes.subarray(36, 40) as unknown as [
      number,
      number,
      number,
      number,
    ]
    let at = headerBytes
    const numbers = (width: number, count: number): Numbers => {
      const end = at + width * count
      if (end > bytes.length) throw notWords()
      const found = numbersOf(width, bytes.subarray(at, end))
      at = end
      return found
    }
    this.#ends = numbers(groupWidth, groups)
    this.#refEnds = numbers(groupWidth, groups)
    this.#placeEnds = numbers(groupWidth, groups)
    this.#keyEnds = numbers(groupWidth, groups)
    this.lengths = numbers(lengthWidth, length)
    this.placeBytes = numbers(placeWidth, length)
    this.#keysAt = at
    this.#refsAt = at + keyBytes
    this.#placesAt = this.#refsAt + refBytes
    const isWhole =
      groups > 0 &&
      (isAscii === 0 || isAscii === 1) &&
      this.#placesAt + placeBytes === bytes.length &&
      areGrowing(this.#ends, length) &&
      areGrowing(this.#refEnds, refBytes) &&
      areGrowing(this.#placeEnds, placeBytes) &&
      areGrowing(this.#keyEnds, keyBytes)
    if (!isWhole) throw notWords()
    this.bytes = bytes
    this.size = 512 + bytes.length + 4 * groupWidth * groups
    if (isAscii !== 1) {
      this.#keys = Array.from(this.#keyEnds, (end, n) =>
        bytes.toString('utf8', at + this.#keyStart(n), at + end),
      )
      this.size += 40 * groups + 2 * keyBytes
    }
  }

  /** Where the entries of a key begin; that of one more is where the last one's end. */
  start(group: number): number {
    return group === 0 ? 0 : (this.#ends[group - 1] as number)
  }

  /** Where its references begin, in the bytes of the page. */
  refStart(group: number): number {
    return this.#refsAt + (group === 0 ? 0 : (this.#refEnds[group - 1] as number))
  }

  /** Where the places of its first entry begin, in the bytes of the page. */
  placeStart(group: number): number {
    return this.#placesAt + (group === 0 ? 0 : (this.#placeEnds[group - 1] as number))
  }

  keyOf(group: number): string {
    const known = this.#keys?.[group]
    if (known !== undefined) return known
    const from = this.#keysAt + this.#keyStart(group)
    return this.bytes.toString('latin1', from, this.#keysAt + (this.#keyEnds[group] as number))
  }

  /** Without the count. */
  formOf(group: number): string {
    const from = this.#keyAt(group)
    const to = this.#formEnd(group)
    return this.bytes.toString(this.#keys === undefined ? 'latin1' : 'utf8', from, to)
  }

  /** How often the rows of a key have its form. */
  countOf(group: number): number {
    return countIn(this.bytes, this.#formEnd(group), this.#keyAt(group + 1))
  }

  /** Whether the key of the group before that one is of the same form. */
  isOfFormBefore(group: number): boolean {
    const { bytes } = this
    const [from, before] = [this.#keyAt(group), this.#keyAt(group - 1)]
    const length = this.#formEnd(group) - from
    if (this.#formEnd(group - 1) - before !== length) return false
    for (let n = 0; n < length; n++) if (bytes[from + n] !== bytes[before + n]) return false
    return true
  }

  /** The key that an entry has. */
  groupOf(n: number): number {
    let low = 0
    let high = this.groups - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ends[middle] as number) <= n) low = middle + 1
      else high = middle
    }
    return low
  }

  /** How many keys are less; those in front of the first one are. */
  lowerGroup(key: string, first = 0): number {
    let low = first
    let high = this.groups
    // Most of what is looked for behind something is near it.
    for (let step = 1; first > 0 && low + step < high; step *= 2) {
      if (this.#compare(low + step - 1, key) < 0) low += step
      else high = low + step - 1
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(middle, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** How many entries come before that one. */
  lowerBound(key: string, ref: number): number {
    const group = this.lowerGroup(key)
    const from = this.start(group)
    if (ref === -Infinity || group === this.groups || this.#compare(group, key) !== 0) return from
    const to = this.start(group + 1)
    if (ref === Infinity) return to
    const refs = this.#refsOf(group)
    let at = 0
    while (at < refs.length && (refs[at] as number) < ref) at++
    return from + at
  }

  /** All of it, for a merge. @throws LorekeepError `LK_STORAGE_CORRUPT` */
  entries(): WordEntries {
    const { bytes, base, unit, placeBytes } = this
    const keys: string[] = []
    const refs = new Float64Array(this.length)
    const places: string[] = []
    const text = bytes.toString('latin1', this.#placesAt)
    const next = { at: this.#refsAt }
    let at = 0
    for (let group = 0; group < this.groups; group++) {
      const key = this.keyOf(group)
      let ref = base
      for (let n = this.start(group); n < this.start(group + 1); n++) {
        keys.push(key)
        ref += unit * readNumber(bytes, next)
        refs[n] = ref
        const end = at + (placeBytes[n] as number)
        places.push(text.substring(at, end))
        at = end
      }
      const isWhole =
        next.at === this.refStart(group + 1) && this.#placesAt + at === this.placeStart(group + 1)
      if (!isWhole) throw notWords()
    }
    return { keys, refs, places, lengths: this.lengths }
  }

  #refsOf(group: number): Float64Array {
    const refs = new Float64Array(this.start(group + 1) - this.start(group))
    const next = { at: this.refStart(group) }
    let ref = this.base
    for (let n = 0; n < refs.length; n++) {
      ref += this.unit * readNumber(this.bytes, next)
      refs[n] = ref
    }
    return refs
  }

  /** Where a key begins, in the bytes of the page. */
  #keyAt(group: number): number {
    return this.#keysAt + this.#keyStart(group)
  }

  #formEnd(group: number): number {
    const from = this.#keyAt(group)
    const end = formEndIn(this.bytes, from, this.#keyAt(group + 1))
    if (end < from) throw notWords()
    return end
  }

  #keyStart(group: number): number {
    return group === 0 ? 0 : (this.#keyEnds[group - 1] as number)
  }

  /** By UTF-16 units, of which those of a page without others are its bytes. */
  #compare(group: number, other: string): number {
    const known = this.#keys?.[group]
    if (known !== undefined) return known < other ? -1 : known > other ? 1 : 0
    const { bytes } = this
    const from = this.#keysAt + this.#keyStart(group)
    const length = this.#keysAt + (this.#keyEnds[group] as number) - from
    const least = Math.min(length, other.length)
    for (let n = 0; n < least; n++) {
      const order = (bytes[from + n] as number) - other.charCodeAt(n)
      if (order !== 0) return order
    }
    return length - other.length
  }
}

/** Walks the entries of one key, those of some rows at a time: one by one they took three times as long. */
export class WordCursor {
  readonly page: WordPage
  /** The number of the row that is next; Infinity behind the last one, and first, so that it never is an integer to V8. */
  row = Infinity
  /** Its entry. */
  n: number
  readonly #end: number
  #at: number
  /** An entry, and where its places begin in the bytes of the page. */
  #placesOf: number
  #placesAt: number

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` */
  constructor(page: WordPage, group: number) {
    if (page.unit !== tableSpan) throw notWords()
    this.page = page
    this.n = page.start(group)
    this.#end = page.start(group + 1)
    this.#at = page.refStart(group)
    this.#placesOf = this.n
    this.#placesAt = page.placeStart(group)
    if (this.n < this.#end) this.row = Math.floor(page.base / tableSpan) + this.#distance()
  }

  /**
   * Passes all rows in front of `end`, and writes of those from `base` on how far they lie behind it.
   * Gives how many these are: the last ones in front of the entry that is next then.
   */
  take(base: number, end: number, rows: Uint16Array): number {
    if (this.row >= end) return 0
    const { bytes } = this.page
    const last = this.#end - 1
    const span = end - base
    let behind = this.row - base
    let [n, at, count] = [this.n, this.#at, 0]
    for (;;) {
      if (behind >= 0) rows[count++] = behind
      if (n++ === last) {
        this.row = Infinity
        break
      }
      const byte = bytes[at++] as number
      if (byte < 128) behind += byte
      else {
        this.#at = at - 1
        behind += this.#distance()
        at = this.#at
      }
      if (behind < span) continue
      this.row = base + behind
      break
    }
    this.n = n
    this.#at = at
    return count
  }

  /** To the next row. */
  #distance(): number {
    const { bytes } = this.page
    let distance = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[this.#at++] ?? 0
      if (byte < 128) return distance + byte * unit
      distance += (byte - 128) * unit
    }
  }

  /** Where the places of an entry begin. Not of one in front of the one that was asked about before. */
  placesAt(n: number): number {
    const { placeBytes } = this.page
    let at = this.#placesAt
    for (let entry = this.#placesOf; entry < n; entry++) at += placeBytes[entry] as number
    this.#placesOf = n
    this.#placesAt = at
    return at
  }
}

keepShape(
  new WordCursor(
    new WordPage(
      encodeWords({ keys: ['\0'], refs: new Float64Array(1), places: [''], lengths: [0] }),
    ),
    0,
  ),
)

export function encodeWords({ keys, refs, places, lengths }: WordEntries): Buffer {
  const { length } = keys
  const ends: number[] = []
  const refEnds: number[] = []
  const placeEnds: number[] = []
  const keyEnds: number[] = []
  const { base, unit } = spanOf(refs)
  const deltas: number[] = []
  let text = ''
  let [keyBytes, placeBytes, longest, longestPlaces] = [0, 0, 0, 0]
  for (let n = 0; n < length;) {
    const key = keys[n] as string
    text += key
    keyBytes += Buffer.byteLength(key, 'utf8')
    keyEnds.push(keyBytes)
    let before = base
    for (; n < length && keys[n] === key; n++) {
      const ref = refs[n] as number
      writeNumber(deltas, (ref - before) / unit)
      before = ref
      longest = Math.max(longest, lengths[n] as number)
      longestPlaces = Math.max(longestPlaces, (places[n] as string).length)
      placeBytes += (places[n] as string).length
    }
    ends.push(n)
    placeEnds.push(placeBytes)
    refEnds.push(deltas.length)
  }
  const groupWidth = widthOf(Math.max(length, deltas.length, placeBytes, keyBytes))
  const lengthWidth = widthOf(longest)
  const placeWidth = widthOf(longestPlaces)
  const keyText = Buffer.from(text, 'utf8')
  const header = Buffer.alloc(headerBytes)
  const sizes = [mark, length, ends.length, keyBytes, deltas.length, placeBytes]
  for (const [n, size] of sizes.entries()) header.writeUInt32LE(size, 4 * n)
  header.writeDoubleLE(base, 24)
  header.writeUInt32LE(unit, 32)
  header.set([groupWidth, lengthWidth, placeWidth, keyText.length === text.length ? 1 : 0], 36)
  return Buffer.concat([
    header,
    ...[ends, refEnds, placeEnds, keyEnds].map((numbers) => bytesOf(groupWidth, numbers)),
    bytesOf(lengthWidth, lengths),
    bytesOf(
      placeWidth,
      places.map((place) => place.length),
    ),
    keyText,
    Buffer.from(deltas),
    Buffer.from(places.join(''), 'latin1'),
  ])
}

/** The least reference, and what lies between two: rows of one table. */
function spanOf(refs: Float64Array): { readonly base: number; readonly unit: number } {
  let base = Infinity
  for (const ref of refs) if (ref < base) base = ref
  let unit = tableSpan
  for (const ref of refs) if ((ref - base) % tableSpan !== 0) unit = 1
  return { base, unit }
}

// Seven bits a byte, the lowest first, with the highest bit where more follow.

function writeNumber(bytes: number[], number: number): void {
  let left = number
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push(128 + (left % 128))
  bytes.push(left)
}

function readNumber(bytes: Uint8Array, place: { at: number }): number {
  let number = 0
  for (let unit = 1; ; unit *= 128) {
    const byte = bytes[place.at++] ?? 0
    if (byte < 128) return number + byte * unit
    number += (byte - 128) * unit
  }
}

function widthOf(most: number): 1 | 2 | 4 {
  if (most < 2 ** 8) return 1
  return most < 2 ** 16 ? 2 : 4
}

function bytesOf(width: 1 | 2 | 4, values: ArrayLike<number>): Uint8Array {
  if (width === 1) return Uint8Array.from(values)
  const numbers = width === 2 ? Uint16Array.from(values) : Uint32Array.from(values)
  return new Uint8Array(numbers.buffer)
}

/** A copy where numbers have several bytes: they may lie at an address that an array cannot begin at. */
function numbersOf(width: number, bytes: Buffer): Numbers {
  if (width === 1) return bytes
  const { buffer } = Uint8Array.from(bytes)
  if (width === 2) return new Uint16Array(buffer)
  if (width === 4) return new Uint32Array(buffer)
  throw notWords()
}

function areGrowing(ends: Numbers, last: number): boolean {
  let before = -1
  for (const end of ends) {
    if (end < before) return false
    before = end
  }
  return before === last
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function notWords(): LorekeepError {
  return new LorekeepError('LK_STORAGE_CORRUPT', 'a page is not made of words')
}
