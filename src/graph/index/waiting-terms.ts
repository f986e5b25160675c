// Terms of a stream that wait to be looked up: looking up many in a row costs less than doing it between the
// parsing of the others. Subjects come in runs and predicates are few, so most of both are known by their bytes
// alone, and are neither encoded nor looked up again.
// Hot: benchmarks/graph-import.ts; change with numbers.

import {
  ANNOTATED,
  DATATYPE,
  encodeHashed,
  encodeInto,
  isEncoded,
  KNOWN,
  LANGUAGE,
  LITERAL,
  wordsOf,
} from './encoded-term.js'
import { maxAhead, type TermTable } from './term-table.js'

/** Terms that were met last, each in a slot by its bytes, and one slot more for the run that is under way. */
const slots = 256
const slotWords = 32
const mostMetBytes = 4 * (slotWords - 1)

/** Of a slot in which there is none. */
const nothing = 0x7fffffff

/** Each is named by its place among those that wait, or, where it was looked up before, by `~id`. */
export class WaitingTerms {
  count = 0
  /** Encoded, one behind the other, and where they end. */
  #words = new Int32Array(1 << 14)
  #end = 0
  readonly #ends = new Int32Array(maxAhead)
  readonly #hashes = new Uint32Array(maxAhead)
  /** By place: its language, where that is not in small letters. */
  readonly #spellings = new Map<number, Uint8Array>()

  readonly #met = new Int32Array((slots + 1) * slotWords)
  readonly #names = new Int32Array(slots + 1).fill(nothing)
  /** Slots that were given to terms that wait. */
  readonly #given = new Uint16Array(maxAhead)
  #givenCount = 0

  /** The text [from, to) of `view`, as a term of its kind. */
  add(view: DataView, from: number, to: number, kind: number): number {
    this.#need(to - from)
    const place = this.count++
    const start = this.#end
    // What it may have more does not count.
    this.#hashes[place] = encodeHashed(this.#words, start, view, from, to, kind)
    this.#end = start + wordsOf(to - from)
    this.#ends[place] = this.#end
    return place
  }

  /** The same, of one that is likely to be the one that was asked for here before. */
  addOfRun(view: DataView, from: number, to: number, kind: number): number {
    if (to - from > mostMetBytes) return this.add(view, from, to, kind)
    return this.#addMet(slots, view, from, to, kind)
  }

  /** The same, of one of few. */
  addOfFew(view: DataView, from: number, to: number, kind: number): number {
    if (to === from || to - from > mostMetBytes) return this.add(view, from, to, kind)
    return this.#addMet(slotOf(view, from, to), view, from, to, kind)
  }

  #addMet(slot: number, view: DataView, from: number, to: number, kind: number): number {
    const met = this.#met
    const name = this.#names[slot] as number
    if (name !== nothing && isEncoded(met, slot * slotWords, view, from, to, kind)) return name
    encodeInto(met, slot * slotWords, view, from, to, kind)
    this.#given[this.#givenCount++] = slot
    return (this.#names[slot] = this.add(view, from, to, kind))
  }

  /** The last one has a datatype, [from, to) of `view`; `known`: its place among the well-known ones, or below 0. */
  addDatatype(view: DataView, from: number, to: number, known: number): void {
    if (known < 0) this.#more(view, from, to, DATATYPE)
    else {
      this.#need(0)
      this.#words[this.#end++] = known * 4 + KNOWN
      this.#annotate()
    }
  }

  /** The last one has a language. */
  addLanguage(view: DataView, from: number, to: number): void {
    if (!hasCapitals(view, from, to)) return this.#more(view, from, to, LANGUAGE)
    const tag = new Uint8Array(view.buffer, view.byteOffset + from, to - from).slice()
    this.#spellings.set(this.count - 1, tag)
    const small = tag.map((byte) => (isCapital(byte) ? byte | 0x20 : byte))
    this.#more(new DataView(small.buffer), 0, small.length, LANGUAGE)
  }

  #more(view: DataView, from: number, to: number, kind: number): void {
    this.#need(to - from)
    this.#end = encodeInto(this.#words, this.#end, view, from, to, kind)
    this.#annotate()
  }

  /** The last one has more than its text. */
  #annotate(): void {
    const last = this.count - 1
    this.#ends[last] = this.#end
    const start = last === 0 ? 0 : (this.#ends[last - 1] as number)
    this.#words[start] = (this.#words[start] as number) + ANNOTATED - LITERAL
  }

  /** Looks all of them up, and waits for others. Their ids by their places, until it is called again. */
  lookUp(terms: TermTable): Uint32Array {
    const { count } = this
    const words = this.#words
    const ends = this.#ends
    const hashes = this.#hashes
    terms.readAhead(hashes, count)
    const isSpelled = this.#spellings.size > 0
    for (let i = 0, from = 0; i < count; i++) {
      const end = ends[i] as number
      const known = terms.count
      const id = terms.addHashed(words, from, end, hashes[i] as number)
      if (isSpelled && id === known) this.#spell(terms, i)
      ids[i] = id
      from = end
    }
    for (let i = 0; i < this.#givenCount; i++) {
      const slot = this.#given[i] as number
      const name = this.#names[slot] as number
      if (name >= 0) this.#names[slot] = ~(ids[name] as number)
    }
    this.#empty()
    return ids
  }

  /** A term that is new is spelled as it was first met. */
  #spell(terms: TermTable, place: number): void {
    const tag = this.#spellings.get(place)
    if (tag !== undefined) terms.spell(tag)
  }

  /** The only one, which is not to be looked up: encoded, with its hash. */
  takeOne(): { words: Int32Array; hash: number; spelling: Uint8Array | undefined } {
    const words = this.#words.slice(0, this.#end)
    const spelling = this.#spellings.get(0)
    this.#empty()
    return { words, hash: this.#hashes[0] as number, spelling }
  }

  #empty(): void {
    this.count = 0
    this.#end = 0
    this.#givenCount = 0
    if (this.#spellings.size > 0) this.#spellings.clear()
  }

  /** The ids of another table follow. */
  forget(): void {
    this.#names.fill(nothing)
  }

  /** Room for so many bytes. */
  #need(bytes: number): void {
    if (this.#end + bytes / 4 + 3 <= this.#words.length) return
    const larger = new Int32Array(2 * this.#words.length + bytes)
    larger.set(this.#words)
    this.#words = larger
  }
}

const ids = new Uint32Array(maxAhead)

/** Terms of one kind begin alike, and differ in their length or their end. */
function slotOf(view: DataView, from: number, to: number): number {
  const third = view.getUint8(Math.max(from, to - 3))
  const some = (to - from) | (view.getUint8(to - 1) << 8) | (third << 16)
  return Math.imul(some, 0x165667b1) >>> 24
}

function isCapital(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

function hasCapitals(view: DataView, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (isCapital(view.getUint8(i))) return true
  return false
}
