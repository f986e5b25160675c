// The terms of several parts, which all have one order, as one dictionary.

import type { Turns } from '../../turns.js'
import type { DictionaryWriter } from './dictionary-writer.js'
import { damaged, type MainFile, type SectionReader } from './section-reader.js'
import { compareEntries, endOf } from './term-order.js'

/** In the place of a hash: a block has to be read before it is known; and there are no more terms. */
const WANTS = -1
const PAST = 2 ** 32

/** A term that is in no triple any more has this number. */
export const GONE = 0xffff_ffff

export interface TermInput {
  readonly file: MainFile
  /** By term: 1 where it is used. Undefined: all are. */
  readonly used: Uint8Array | undefined
}

/** Gives for each part by its ids the numbers of the terms in the dictionary. */
export async function mergeTerms(
  inputs: readonly TermInput[],
  dictionary: DictionaryWriter,
  turns: Turns,
): Promise<readonly Uint32Array[]> {
  const streams = inputs.map((input) => new TermStream(input))
  const merge = new TermMerge(streams, dictionary)
  for (;;) {
    const wanting = merge.run()
    if (wanting !== undefined) await merge.fill(wanting)
    else if (dictionary.isFull) await dictionary.flush()
    else return streams.map(({ ids }) => ids)
    await turns.pass()
  }
}

class TermMerge {
  readonly #streams: readonly TermStream[]
  readonly #dictionary: DictionaryWriter
  /** By stream: the hash of its next term, `WANTS` or `PAST`. */
  readonly #heads: Float64Array

  constructor(streams: readonly TermStream[], dictionary: DictionaryWriter) {
    this.#streams = streams
    this.#dictionary = dictionary
    this.#heads = new Float64Array(streams.length).fill(WANTS)
  }

  async fill(n: number): Promise<void> {
    const stream = this.#streams[n] as TermStream
    await stream.fill()
    this.#heads[n] = stream.next()
  }

  /** Goes on until a stream wants a block (gives which), the dictionary is full, or all is done. */
  run(): number | undefined {
    const heads = this.#heads
    const dictionary = this.#dictionary
    const { length } = heads
    while (!dictionary.isFull) {
      let least = heads[0] as number
      let first = 0
      let isShared = false
      // One after the other: there are few.
      for (let n = 1; n < length; n++) {
        const head = heads[n] as number
        if (head < least) {
          least = head
          first = n
          isShared = false
        } else if (head === least) isShared = true
      }
      if (least === WANTS) return first
      if (least === PAST) return undefined
      if (isShared) this.#addShared(first)
      else this.#add(first)
    }
    return undefined
  }

  #add(n: number): void {
    const stream = this.#streams[n] as TermStream
    stream.ids[stream.id] = this.#dictionary.add(stream.words, stream.from, stream.to, stream.hash)
    this.#heads[n] = stream.next()
  }

  /** The first by its entry of those of one hash; `n` is the first stream that has this hash. */
  #addShared(n: number): void {
    const streams = this.#streams
    const heads = this.#heads
    const hash = heads[n] as number
    let least = streams[n] as TermStream
    for (let other = n + 1; other < heads.length; other++) {
      if (heads[other] !== hash) continue
      const stream = streams[other] as TermStream
      if (stream.compareTo(least) < 0) least = stream
    }
    // Of the first part that has it, as it is spelled there.
    const { words, from, to, entryEnd } = least
    const id = this.#dictionary.add(words, from, to, hash)
    for (let other = n; other < heads.length; other++) {
      if (heads[other] !== hash) continue
      const stream = streams[other] as TermStream
      const theirs = stream.words
      if (compareEntries(theirs, stream.from, stream.entryEnd, words, from, entryEnd) !== 0)
        continue
      stream.ids[stream.id] = id
      heads[other] = stream.next()
    }
  }
}

/** The used terms of a part, one after the other. */
class TermStream {
  /** By id: the number of the term in the dictionary. */
  readonly ids: Uint32Array
  id = -1
  hash = 0
  /** The entry is [from, entryEnd) of `words`; how it is spelled goes to `to`. */
  words: Int32Array = new Int32Array(0)
  from = 0
  to = 0
  readonly #used: Uint8Array | undefined
  readonly #hashes: SectionReader
  readonly #starts: SectionReader
  readonly #entries: SectionReader
  /** Where the entry of the next term begins, in the section. */
  #start = 0
  #last = 0

  constructor({ file, used }: TermInput) {
    const { record, layout } = file
    this.ids = new Uint32Array(record.terms).fill(GONE)
    this.#used = used
    this.#hashes = file.section(layout.hashes, record.terms)
    this.#starts = file.section(layout.termStarts + 4, record.terms)
    this.#entries = file.section(layout.termWords, record.termWords)
    this.#last = record.terms - 1
  }

  get entryEnd(): number {
    return endOf(this.words, this.from)
  }

  compareTo(other: TermStream): number {
    const { words, from, entryEnd } = other
    return compareEntries(this.words, this.from, this.entryEnd, words, from, entryEnd)
  }

  /** Goes to the next term; gives its hash, `PAST` or `WANTS`. */
  next(): number {
    const hashes = this.#hashes
    const starts = this.#starts
    const entries = this.#entries
    while (this.id < this.#last) {
      if (hashes.at === hashes.end || starts.at === starts.end) return WANTS
      const length = (starts.words[starts.at] as number) - this.#start
      if (length > entries.end - entries.at) return WANTS
      if (length < 1) throw damaged('the terms of an index overlap')
      this.id++
      this.#start += length
      starts.at++
      this.hash = hashes.words[hashes.at++] as number
      this.from = entries.at
      this.to = entries.at += length
      if (this.#used === undefined || this.#used[this.id] === 1) return this.hash
    }
    return PAST
  }

  /** Reads what next() was in want of. What was the term before is lost. */
  async fill(): Promise<void> {
    if (this.#hashes.at === this.#hashes.end) await this.#hashes.more()
    if (this.#starts.at === this.#starts.end) await this.#starts.more()
    const entries = this.#entries
    const length = (this.#starts.words[this.#starts.at] as number) - this.#start
    while (length > entries.end - entries.at) await entries.more()
    this.words = new Int32Array(entries.words.buffer)
  }
}
