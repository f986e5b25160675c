// Where a phrase stands in all passages that have it, to look for what follows it word by word.

import type { FieldCounts, WordList } from './word-list.js'

/** By field: where a phrase begins, ascending. */
export type FieldStarts = Readonly<Record<keyof FieldCounts, readonly number[]>>

/** The fields of a passage, in the order in which places of a word are told. */
export const fields = ['title', 'heading', 'text'] as const

export class PhraseStarts {
  readonly #length: number
  /** Ascending. */
  readonly #passages = new Numbers()
  /** By passage and field: where its starts end. */
  readonly #ends = new Numbers()
  readonly #starts = new Numbers()
  #at = 0

  /** `length`: how many words the phrase has. */
  constructor(length: number) {
    this.#length = length
  }

  /** The next passage, behind those before. */
  add(passage: number, starts: FieldStarts): void {
    this.#passages.push(passage)
    for (const field of fields) {
      for (const start of starts[field]) this.#starts.push(start)
      this.#ends.push(this.#starts.length)
    }
  }

  /** Another word is looked for from here on. */
  rewind(): void {
    this.#at = 0
  }

  /** How often a word stands behind the phrase, in the passage that its list is at; undefined: never. */
  followedBy(list: WordList): FieldCounts | undefined {
    const at = (this.#at = this.#from(list.passage))
    if (at === this.#passages.length || this.#passages.at(at) !== list.passage) return undefined
    list.positions()
    const counts = { title: 0, heading: 0, text: 0 }
    let isThere = false
    for (const [n, field] of fields.entries()) {
      let start = at + n === 0 ? 0 : this.#ends.at(3 * at + n - 1)
      const end = this.#ends.at(3 * at + n)
      for (let left = list[field], next = 0; left > 0; left--) {
        const position = next + list.gap()
        next = position + 1
        while (start < end && this.#starts.at(start) + this.#length < position) start++
        if (start === end || this.#starts.at(start) + this.#length !== position) continue
        counts[field]++
        isThere = true
      }
    }
    return isThere ? counts : undefined
  }

  /** The first passage from here on that is not before this one: near, or far away. */
  #from(passage: number): number {
    const passages = this.#passages
    let step = 1
    let low = this.#at
    while (low + step < passages.length && passages.at(low + step) < passage) {
      low += step
      step *= 2
    }
    let high = Math.min(passages.length, low + step)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (passages.at(middle) >= passage) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Numbers below 2^32, and more of them. */
class Numbers {
  length = 0
  #all = new Uint32Array(64)

  at(n: number): number {
    return this.#all[n] as number
  }

  push(number: number): void {
    if (this.length === this.#all.length) {
      const larger = new Uint32Array(2 * this.length)
      larger.set(this.#all)
      this.#all = larger
    }
    this.#all[this.length++] = number
  }
}
