// Where the words of a question stand in a passage.

import { stemmer } from '../../text/stemming.js'
import { eachWord } from '../../text/words.js'
import type { Phrase } from '../words/phrases.js'
import type { WordQuestion } from '../words/search.js'

type Range = readonly [start: number, end: number]

interface Word {
  readonly form: string
  readonly start: number
  readonly end: number
}

/** Of a passage: one of a megabyte may have hundreds of thousands. */
const mostRanges = 1000

const mostKnown = 10_000

/** Ascending, none in another: words by any of their forms, and phrases as a whole. */
export class Highlighter {
  readonly #forms = new Set<string>()
  readonly #stems: readonly {
    readonly stemOf: (form: string) => string
    readonly stems: ReadonlySet<string>
  }[]
  readonly #beginnings: readonly string[]
  readonly #phrases: readonly Phrase[]
  /** Stemming takes longer than all else. */
  readonly #known = new Map<string, boolean>()

  constructor({ words, phrases, joined, languages }: WordQuestion) {
    const whole = words.filter(({ isPrefix }) => !isPrefix).map(({ form }) => form)
    for (const form of whole) this.#forms.add(form)
    this.#stems = languages.map((language) => {
      const stemOf = stemmer(language)
      return { stemOf, stems: new Set(whole.map(stemOf)) }
    })
    this.#beginnings = words.filter(({ isPrefix }) => isPrefix).map(({ form }) => form)
    this.#phrases = [...phrases, ...joined]
  }

  in(text: string): Range[] {
    const words: Word[] = []
    eachWord(text, (form, start, end) => words.push({ form, start, end }))
    const ranges = [
      words.filter((word) => this.#isAsked(word)).map(rangeOf),
      ...this.#phrases.map((phrase) => rangesOf(phrase, words)),
    ]
    return merged(ranges.flat()).slice(0, mostRanges)
  }

  #isAsked({ form }: Word): boolean {
    const known = this.#known.get(form)
    if (known !== undefined) return known
    const is =
      this.#forms.has(form) ||
      this.#stems.some(({ stemOf, stems }) => stems.has(stemOf(form))) ||
      this.#beginnings.some((beginning) => form.startsWith(beginning))
    if (this.#known.size === mostKnown) this.#known.clear()
    this.#known.set(form, is)
    return is
  }
}

function rangeOf({ start, end }: Word): Range {
  return [start, end]
}

function rangesOf({ forms, isPrefix }: Phrase, words: readonly Word[]): Range[] {
  const last = forms.length - 1
  const ranges: Range[] = []
  for (let at = 0; at + last < words.length; at++) {
    const isThere = forms.every((form, n) => {
      const word = words[at + n]?.form ?? ''
      return isPrefix && n === last ? word.startsWith(form) : word === form
    })
    if (isThere) ranges.push([(words[at] as Word).start, (words[at + last] as Word).end])
  }
  return ranges
}

/** Those that overlap, as pairs of characters do, are one. */
function merged(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0] || b[1] - a[1])
  const result: [number, number][] = []
  for (const [start, end] of sorted) {
    const last = result.at(-1)
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}
