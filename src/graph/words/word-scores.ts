// What the words of a question add to the scores of passages.

import { saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import type { PassageNumbers } from './passage-numbers.js'
import type { FieldWeights } from './scoring.js'
import { eachSpan, widest } from './spans.js'
import type { PassageSet } from './types.js'
import type { EntriesPlace, WordEntries, SeenNumbers } from './word-entries.js'
import { entries } from './word-entries.js'
import type { WordInSet } from './word-in-set.js'

/** What a word is worth, and what it is worth more that it stands there as it was asked. */
export interface Worth {
  readonly idf: number
  readonly exact: number
}

export interface WordAndWorth {
  readonly word: WordInSet
  readonly worth: Worth
}

/** Of the passages of a span: how often a word is in each, and which those are. Zeros between two words. */
const ofSpan = new Float64Array(widest)
const touched = new Uint16Array(widest)

/** Rejects with the signal's reason. */
export async function addWords(
  scores: PassageNumbers,
  set: PassageSet,
  words: readonly WordAndWorth[],
  weights: FieldWeights,
  turns: Turns,
): Promise<void> {
  const all = words.map((each) => new WordCursor(each, scores, weights))
  await eachSpan(
    {
      set,
      cursors: all.flatMap(({ cursors }) => cursors),
      begin: (from, to) => {
        weights.begin(set, from, to)
      },
      works: all.map((word) => (from, to, seen) => {
        word.add(from, to, seen)
      }),
    },
    turns,
  )
}

interface FormCursor {
  readonly cursor: WordEntries
  readonly weight: number
  readonly isAsked: boolean
}

interface Span {
  readonly from: number
  readonly to: number
  readonly seen: SeenNumbers | undefined
}

class WordCursor {
  readonly #forms: readonly FormCursor[]
  readonly #worth: Worth
  readonly #scores: PassageNumbers
  readonly #weights: FieldWeights
  /** Where a span begins of which this was added, that it stands there as it was asked. */
  #exactFrom = -1

  constructor({ word, worth }: WordAndWorth, scores: PassageNumbers, weights: FieldWeights) {
    this.#forms = word.forms.map(({ list, weight, isAsked }) => {
      return { cursor: list.entries(), weight, isAsked }
    })
    this.#worth = worth
    this.#scores = scores
    this.#weights = weights
  }

  get cursors(): WordEntries[] {
    return this.#forms.map(({ cursor }) => cursor)
  }

  add(from: number, to: number, seen: SeenNumbers | undefined): void {
    const [first, ...others] = this.#forms
    if (first === undefined) return
    if (others.length === 0) this.#addOnly(first, to, seen)
    else this.#addForms(from, to, seen)
  }

  /** A word in one form. */
  #addOnly(
    { cursor, weight, isAsked }: FormCursor,
    to: number,
    seen: SeenNumbers | undefined,
  ): void {
    const scores = this.#scores
    const weights = this.#weights
    const idf = Math.max(0, this.#worth.idf)
    const exact = isAsked ? Math.max(0, this.#worth.exact) : 0
    const { passages, frequencies } = entries
    const { values, changed } = scores
    for (let read; (read = weights.read(cursor, weight, to, seen)) >= 0;) {
      // A damaged list says that it has more passages than there are. It is passed over, or its span would not end.
      if (idf + exact === 0) continue
      let { count } = scores
      for (let n = 0; n < read; n++) {
        const passage = passages[n] as number
        const part = saturated(frequencies[n] as number)
        const before = values[passage] as number
        if (before === 0) changed[count++] = passage
        values[passage] = before + exact * part + idf * part
      }
      scores.count = count
    }
  }

  #addForms(from: number, to: number, seen: SeenNumbers | undefined): void {
    const { idf, exact } = this.#worth
    const places = this.#forms.map(({ cursor }) => cursor.place)
    let count = 0
    try {
      for (const form of this.#forms) {
        count = this.#addForm(form, { from, to, seen }, count)
        if (!form.isAsked || this.#exactFrom === from) continue
        this.#end(from, count, exact)
        this.#exactFrom = from
      }
      this.#end(from, count, idf)
    } catch (error) {
      // All of it once more: what was added up is not kept over an await.
      ofSpan.fill(0, 0, to - from)
      for (const [n, { cursor }] of this.#forms.entries()) cursor.backTo(places[n] as EntriesPlace)
      throw error
    } finally {
      for (let n = 0; n < count; n++) ofSpan[touched[n] as number] = 0
    }
  }

  /** Gives how many passages of the span have the word by now. */
  #addForm({ cursor, weight }: FormCursor, { from, to, seen }: Span, before: number): number {
    const weights = this.#weights
    const { passages, frequencies } = entries
    let count = before
    for (let read; (read = weights.read(cursor, weight, to, seen)) >= 0;) {
      for (let n = 0; n < read; n++) {
        const at = (passages[n] as number) - from
        const frequency = ofSpan[at] as number
        if (frequency === 0) touched[count++] = at
        ofSpan[at] = frequency + (frequencies[n] as number)
      }
    }
    return count
  }

  #end(from: number, found: number, worth: number): void {
    if (worth <= 0) return
    const { values, changed } = this.#scores
    let { count } = this.#scores
    for (let n = 0; n < found; n++) {
      const at = touched[n] as number
      const passage = from + at
      const before = values[passage] as number
      if (before === 0) changed[count++] = passage
      values[passage] = before + worth * saturated(ofSpan[at] as number)
    }
    this.#scores.count = count
  }
}
