// Where the words of a question stand in a passage.

import { eachWord } from '../../text/words.js'
import type { Turns } from '../../turns.js'
import type { AskedWord } from '../words/forms.js'
import type { WordQuestion } from '../words/question.js'
import { Beginnings, PhraseCursor, PhraseTree } from './phrase-tree.js'

type Range = readonly [start: number, end: number]

/** Of a passage: one of a megabyte may have hundreds of thousands. */
const mostRanges = 1000

/** Of a text: so much is read before others may have their turn. */
const pieceLength = 8192

/** What of a question is highlighted. */
export interface HighlightedQuestion extends Pick<WordQuestion, 'phrases' | 'joined'> {
  readonly words: readonly AskedWord[]
}

/** Ascending, none in another: words by any of their forms, and phrases as a whole. */
export class Highlighter {
  readonly #forms: ReadonlySet<string>
  readonly #beginnings = new Beginnings()
  readonly #phrases = new PhraseTree()

  /** `forms`: those of the question's words that the search found. */
  constructor({ words, phrases, joined }: HighlightedQuestion, forms: ReadonlySet<string>) {
    this.#forms = forms
    for (const { form, isPrefix } of words) if (isPrefix) this.#beginnings.add(form)
    for (const phrase of [...phrases, ...joined]) this.#phrases.add(phrase)
  }

  /** Rejects with the signal's reason. */
  async in(text: string, turns: Turns): Promise<readonly Range[]> {
    const phrases = new PhraseCursor(this.#phrases)
    const ranges: Range[] = []
    for (let from = 0; from < text.length;) {
      const to = pieceEnd(text, from)
      eachWord(text.slice(from, to), (form, first, last) => {
        const [start, end] = [from + first, from + last]
        if (this.#forms.has(form) || this.#beginnings.have(form)) addRange(ranges, start, end)
        for (const start of phrases.endingWith(form, from + first)) addRange(ranges, start, end)
      })
      from = to
      const last = ranges[mostRanges - 1]
      if (last !== undefined && last[1] <= (phrases.earliest ?? from)) break
      await turns.pass()
    }
    return ranges.slice(0, mostRanges)
  }
}

/** Behind a character that ends every word, and is part of none. */
function pieceEnd(text: string, from: number): number {
  for (let at = from + pieceLength; at < text.length; at++) {
    const character = text[at]
    if (character === ' ' || character === '\n' || character === '。') return at + 1
  }
  return text.length
}

/**
 * Adds one that ends no earlier than those before. Those that overlap, as pairs of characters do, are one at once:
 * with many phrases there may be as many at each word.
 */
function addRange(ranges: Range[], start: number, end: number): void {
  let first = start
  for (let last = ranges.at(-1); last !== undefined && first < last[1]; last = ranges.at(-1)) {
    first = Math.min(first, last[0])
    ranges.pop()
  }
  ranges.push([first, end])
}
