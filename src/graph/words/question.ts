// What a question asks for, in words.

import type { CountedWord } from './forms.js'
import type { Phrase, PlacedForm } from './phrases.js'

export interface WordQuestion {
  readonly words: readonly CountedWord[]
  /** What has to be there. */
  readonly phrases: readonly Phrase[]
  /** Words that count for more where they stand so. */
  readonly joined: readonly Phrase[]
  /** Words that are beside each other in it, and count for a little more where they stand so. */
  readonly pairs: readonly Phrase[]
  /** Words between which it has small ones, in the same way. */
  readonly apart: readonly (readonly PlacedForm[])[]
  /** All of it, as it stands. */
  readonly whole: Phrase | undefined
  readonly excluded: readonly Phrase[]
  readonly languages: readonly string[]
  /** Only passages of this document, by its URI. */
  readonly document?: string | undefined
  readonly signal: AbortSignal
}

/** A word or phrase of a question, as it is told. */
export interface PartOfSearch {
  readonly text: string
  /** Passages that have it. */
  readonly passages: number
  readonly idf: number
}

/** As the part of a search is told. */
export function nameOfPhrase({ forms, isPrefix }: Phrase): string {
  return `"${forms.join(' ')}${isPrefix ? '*' : ''}"`
}
