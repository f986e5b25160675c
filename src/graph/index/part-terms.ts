import type { Term } from '../../types.js'
import { NONE } from '../view.js'
import {
  ANNOTATED,
  byteLengthOf,
  encodeTerm,
  ENTITY,
  entryWords,
  hashWords,
  kindOf,
  KNOWN,
  knownDatatypes,
  LANGUAGE,
  LITERAL,
  wordsOf,
} from './encoded-term.js'
import { blockBytes, pieceBytes, type Layout, type PartRecord } from './layout.js'
import type { PartFile } from './part-file.js'
import { compareEntries } from './term-order.js'

const blocksAhead = 4

/** As many rows as are told at once, of two terms that were not met a moment ago. */
const mostAhead = 1024
const starts = new Uint32Array(mostAhead)

/** Decoded terms that are kept at hand, by the low bits of their ids. */
const decodedTerms = 1 << 12
/** Those of longer texts are not: each part would hold thousands, whatever they take. */
const longestAtHand = 1024

/** Of one hash. As a rule there is one; thousands there are if somebody wants it. */
const mostOfHash = 8

/**
 * The terms of a part. Their ids are in the order of their hashes, and where these are equal of their
 * entries: that of the terms of all parts. Every method throws a Miss where a block is not in memory.
 */
export class PartTerms {
  readonly count: number
  readonly #file: PartFile
  readonly #layout: Pick<Layout, 'termWords' | 'termStarts' | 'hashes'>
  readonly #words: number
  /** Undefined before a term is asked for: thousands of parts may never be. */
  #decodedIds: Int32Array | undefined
  /** What readAhead() came to: it would be optimised away if nothing became of it. */
  wasRead = 0
  #decoded: (Term | undefined)[] = []

  constructor(file: PartFile, layout: Layout, { terms, termWords }: PartRecord) {
    this.#file = file
    this.#layout = layout
    this.count = terms
    this.#words = termWords
  }

  /** On the disk, and in memory where all of them are in view. */
  get bytes(): number {
    return 4 * (this.count + this.#words)
  }

  /** The id of an encoded term in this part, or `NONE`. */
  find(term: Int32Array): number {
    const hash = hashOf(term)
    const first = this.#firstOfHash(hash)
    if (!this.#has(first, hash)) return NONE
    const order = this.#compare(first, term)
    if (order >= 0) return order === 0 ? first : NONE
    const id = this.#lowerBound(term, hash, first + 1)
    return this.#has(id, hash) && this.#compare(id, term) === 0 ? id : NONE
  }

  /** The ids of all literals with this text: it alone, and those that have more. */
  findText(text: string): number[] {
    const plain = encodeTerm({ v: text, e: false }).slice()
    const found: number[] = []
    const id = this.find(plain)
    if (id !== NONE) found.push(id)
    // They have the hash of their text, and lie together behind what they begin with.
    const start = Int32Array.from(plain)
    start[0] = (plain[0] as number) + ANNOTATED - LITERAL
    const hash = hashOf(plain)
    let at = this.#lowerBound(start, hash, this.#firstOfHash(hash))
    for (; this.#has(at, hash) && this.#beginsWith(at, start); at++) found.push(at)
    return found
  }

  /** Adds the texts of literals with this hash. False where there are more than are worth reading. */
  addTexts(hash: number, texts: Set<string>): boolean {
    const first = this.#firstOfHash(hash)
    for (let id = first; this.#has(id, hash); id++) {
      if (id - first === mostOfHash) return false
      const { v, e } = this.term(id)
      if (!e) texts.add(v)
    }
    return true
  }

  hashOf(id: number): number {
    return this.#file.word(this.#layout.hashes + 4 * id)
  }

  /** Below 0 where a term comes before one of another part that has the same hash; 0 where it is that one. */
  compare(id: number, others: PartTerms, other: number): number {
    const a = this.#entry(id)
    const b = others.#entry(other)
    return compareEntries(a.words, a.from, a.to, b.words, b.from, b.to)
  }

  term(id: number): Term {
    const slot = id & (decodedTerms - 1)
    const ids = this.#decodedIds ?? this.#createDecoded()
    if (ids[slot] === id) return this.#decoded[slot] as Term
    const term = this.read(id)
    if (term.v.length > longestAtHand) return term
    ids[slot] = id
    this.#decoded[slot] = term
    return term
  }

  /** As term(), for who asks for it once: it is not kept at hand, where each takes the place of another. */
  read(id: number): Term {
    const start = this.#startOf(id)
    const header = this.#file.word(start)
    const kind = kindOf(header)
    const v = this.#text(start + 4, byteLengthOf(header))
    return kind === ANNOTATED ? this.#annotated(v, id, start) : { v, e: kind === ENTITY }
  }

  /**
   * Reads what term() will read of these. Each call of it waits for memory three times, as the terms of rows
   * do not lie next to each other; here the waits of all are at the same time.
   */
  readAhead(ids: Float64Array, count: number): void {
    const most = Math.min(count, mostAhead)
    for (let n = 0; n < most; n++) starts[n] = this.peekStart(ids[n] as number)
    let read = 0
    for (let n = 0; n < most; n++) read ^= this.peekHeader(starts[n] as number)
    this.wasRead = read
  }

  /** Where a term begins, for peekHeader(); anything where that is not in memory. */
  peekStart(id: number): number {
    return this.#file.peek(this.#layout.termStarts + 4 * id)
  }

  peekHeader(start: number): number {
    return this.#file.peek(this.#layout.termWords + 4 * start)
  }

  /** Begins to read what lies behind a term, and is needed soon. */
  bringAfter(id: number): void {
    const { termStarts, termWords } = this.#layout
    const file = this.#file
    const at = termStarts + 4 * id
    file.bring(at, Math.min(termStarts + 4 * this.count, at + blocksAhead * blockBytes))
    const word = file.peek(at)
    // Where it lies is not known before its block is there: only the first begins at 0.
    if (word === 0 && id > 0) return
    const start = termWords + 4 * word
    file.bring(start, Math.min(termWords + 4 * this.#words, start + blocksAhead * blockBytes))
  }

  /** A term as find() takes it. Not to be changed: it may be the block's own. */
  encoded(id: number): Int32Array {
    const start = this.#startOf(id)
    const { source, from, to } = this.#file.bytes(start, this.#endOf(start))
    return new Int32Array(source.buffer, source.byteOffset + from, (to - from) / 4)
  }

  #createDecoded(): Int32Array {
    this.#decoded = new Array<Term | undefined>(decodedTerms)
    return (this.#decodedIds = new Int32Array(decodedTerms).fill(-1))
  }

  #annotated(v: string, id: number, start: number): Term {
    const more = start + 4 * wordsOf(byteLengthOf(this.#file.word(start)))
    const header = this.#file.word(more)
    const length = byteLengthOf(header)
    if (kindOf(header) === KNOWN) return { v, e: false, dt: knownDatatypes[length] as string }
    if (kindOf(header) !== LANGUAGE) return { v, e: false, dt: this.#text(more + 4, length) }
    // As it was spelled, where that is not in small letters.
    const end = more + 4 * wordsOf(length)
    const isSpelled = end < this.#startOf(id + 1)
    return { v, e: false, ln: this.#text(isSpelled ? end : more + 4, length) }
  }

  #text(start: number, length: number): string {
    return length === 0 ? '' : this.#file.text(start, length)
  }

  #startOf(id: number): number {
    return this.#layout.termWords + 4 * this.#file.word(this.#layout.termStarts + 4 * id)
  }

  /** Without the spelling of its language. */
  #endOf(start: number): number {
    const header = this.#file.word(start)
    if (kindOf(header) !== ANNOTATED) return start + 4 * wordsOf(byteLengthOf(header))
    const wordAt = (place: number) => this.#file.word(start + 4 * place)
    return start + 4 * entryWords(header, wordAt)
  }

  #entry(id: number): Entry {
    const start = this.#startOf(id)
    const end = this.#endOf(start)
    // A view for each piece is there already, but for what is cut between two.
    const from = (start & (pieceBytes - 1)) >>> 2
    const to = from + ((end - start) >>> 2)
    if (to <= pieceBytes >>> 2) return { words: this.#file.piece(start), from, to }
    const { source } = this.#file.bytes(start, end)
    return {
      words: new Uint32Array(source.buffer, source.byteOffset, to - from),
      from: 0,
      to: to - from,
    }
  }

  #compare(id: number, term: Int32Array): number {
    const { words, from, to } = this.#entry(id)
    return compareEntries(words, from, to, term, 0, term.length)
  }

  #beginsWith(id: number, start: Int32Array): boolean {
    const { words, from, to } = this.#entry(id)
    const end = from + start.length
    return end <= to && compareEntries(words, from, end, start, 0, start.length) === 0
  }

  #has(id: number, hash: number): boolean {
    return id < this.count && this.hashOf(id) === hash
  }

  /**
   * From one with this hash on, the first that is not before an entry. Thousands may be of one hash,
   * if somebody wants it.
   */
  #lowerBound(term: Int32Array, hash: number, from: number): number {
    const isBefore = (id: number) => this.#has(id, hash) && this.#compare(id, term) < 0
    let low = from
    let step = 1
    while (isBefore(low + step - 1)) {
      low += step
      step *= 2
    }
    return this.#file.first(low, low + step - 1, (id) => !isBefore(id))
  }

  #firstOfHash(hash: number): number {
    // Hashes are spread evenly, so the place of one is known but for the square root of their number.
    const { count } = this
    const guess = Math.floor((hash / 0x1_0000_0000) * count)
    let step = 16
    let low = guess
    while (low > 0 && this.hashOf(low - 1) >= hash) {
      low = Math.max(0, low - step)
      step *= 4
    }
    step = 16
    let high = Math.max(low, guess)
    while (high < count && this.hashOf(high) < hash) {
      low = high + 1
      high = Math.min(count, high + step)
      step *= 4
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.hashOf(middle) < hash) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The text of the literals that have this hash; undefined where there is none, or there are several. */
export function onlyText(all: readonly PartTerms[], hash: number): string | undefined {
  const texts = new Set<string>()
  for (const terms of all) if (!terms.addTexts(hash, texts) || texts.size > 1) return undefined
  const [text] = texts
  return text
}

interface Entry {
  readonly words: Uint32Array
  readonly from: number
  readonly to: number
}

function hashOf(term: Int32Array): number {
  return hashWords(term, 0, term.length)
}
