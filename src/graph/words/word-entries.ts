// The passages of a word, many at once: questions go through millions of them.

import { LorekeepError } from '../../errors.js'

/** The passages of a part that are seen, by their numbers. It may be kept until the next await. */
export interface SeenNumbers {
  has(passage: number): boolean
}

/** So many are read at once. */
const room = 512

/**
 * Those that were read last, of whichever list: used before the next are read. How often the word is in the text,
 * times four, with `HAS_TITLE` and `HAS_HEADING`, as it is written; in the title and the heading where it says so.
 */
export const entries = {
  passages: new Uint32Array(room),
  counts: new Uint32Array(room),
  titles: new Uint32Array(room),
  headings: new Uint32Array(room),
  /** Whether the word is in the title or the heading of some of them. */
  hasOthers: false,
  /** By field and length, once they were asked for (FieldWeights). */
  frequencies: new Float64Array(room),
}

export const HAS_TITLE = 1
export const HAS_HEADING = 2
export const HAS_OTHERS = HAS_TITLE | HAS_HEADING

/** In the place of a passage, behind the last one: the loops below are fast as long as all is below 2^31. */
export const NO_MORE = 0x7fff_ffff

/** Where a cursor was, to begin there again. */
export interface EntriesPlace {
  readonly next: number
  readonly at: number
  readonly left: number
}

/** A cursor over the counts of a list, in which no passage is `most` or above. */
export class WordEntries {
  /** The passage that comes next, or NO_MORE. */
  next = NO_MORE
  readonly #bytes: Uint8Array
  readonly #most: number
  /** Behind what says which passage is next. */
  #at: number
  #left: number

  /** The first of `count` entries begins at `at`. */
  constructor(bytes: Uint8Array, at: number, count: number, most: number) {
    this.#bytes = bytes
    this.#most = Math.min(most, NO_MORE)
    this.#at = at
    this.#left = count
    if (count > 0) this.next = this.#passage(0, this.#number())
  }

  get place(): EntriesPlace {
    return { next: this.next, at: this.#at, left: this.#left }
  }

  backTo({ next, at, left }: EntriesPlace): void {
    this.next = next
    this.#at = at
    this.#left = left
  }

  /** Reads those of passages before `to`, as many as there is room for; gives how many, 0 where there are none. */
  read(to: number): number {
    const bytes = this.#bytes
    const most = this.#most
    const { passages, counts } = entries
    let passage = this.next
    let left = this.#left
    let at = this.#at
    let read = 0
    entries.hasOthers = false
    while (passage < to && read < room) {
      let count = bytes[at] as number
      if (count < 0x80 && (count & HAS_OTHERS) === 0) at++
      else {
        this.#at = at
        count = this.#counts(read)
        at = this.#at
      }
      if (count === 0) throw withoutWord()
      passages[read] = passage
      counts[read++] = count
      if (--left === 0) {
        passage = NO_MORE
        break
      }
      const step = bytes[at] as number
      if (step < 0x80 && step > 0 && passage + step < most) {
        passage += step
        at++
      } else {
        this.#at = at
        const far = this.#number()
        if (far === 0) throw damagedList('has a passage twice')
        passage = this.#passage(passage, far)
        at = this.#at
      }
    }
    this.next = passage
    this.#left = left
    this.#at = at
    return read
  }

  /** As read(), and leaves out those that are not seen; undefined where all are. Below 0 behind the last one. */
  readSeen(to: number, seen: SeenNumbers | undefined): number {
    const read = this.read(to)
    if (seen === undefined) return read > 0 ? read : -1
    return read > 0 ? keep(read, seen) : -1
  }

  /** Any counts, but for those that read() reads itself. */
  #counts(n: number): number {
    const count = this.#number()
    entries.hasOthers ||= (count & HAS_OTHERS) !== 0
    const title = (count & HAS_TITLE) === 0 ? 0 : this.#number()
    const heading = (count & HAS_HEADING) === 0 ? 0 : this.#number()
    if (count < 4 && title + heading === 0) throw withoutWord()
    entries.titles[n] = title
    entries.headings[n] = heading
    return count | 0
  }

  #passage(before: number, step: number): number {
    if (before + step >= this.#most) throw damagedList('is in a passage that is not there')
    return (before + step) | 0
  }

  #number(): number {
    const bytes = this.#bytes
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[this.#at++] as number
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw damagedList('does not end where it should')
  }
}

/** Keeps those of the entries that are seen; gives how many. */
function keep(read: number, seen: SeenNumbers): number {
  const { passages, counts, titles, headings } = entries
  let kept = 0
  for (let n = 0; n < read; n++) {
    const passage = passages[n] as number
    if (!seen.has(passage)) continue
    passages[kept] = passage
    counts[kept] = counts[n] as number
    titles[kept] = titles[n] as number
    headings[kept++] = headings[n] as number
  }
  return kept
}

function withoutWord(): Error {
  return damagedList('has a passage without the word')
}

export function damagedList(how: string): LorekeepError {
  return new LorekeepError('LK_STORAGE_CORRUPT', `the list of a word ${how}`)
}
