// Numbers that belong to a name: ISO 4217, Apollo 11, 2012 Summer Olympics, 20th Century Fox.

import type { Sentence, Word } from './tagger.js'

const small = /^\d{1,3}$/
const model = /^\d{1,5}(?:-\d{1,4})?[A-Z]?$/
const year = /^(?:1\d|20)\d\d$/
const ordinal = /^\d{1,3}(?:st|nd|rd|th)$/
const begins = new Set(['DET', 'PART'])

/** Where a name ends that has come to `to`. */
export function numberBehind(sentence: Sentence, to: number): number {
  const number = sentence[to]
  if (!number?.spaced || !(small.test(number.text) || model.test(number.text))) return to
  // `ISO 2022` and `Companies Act 1985`, but Miami in 2022.
  const before = sentence[to - 1]
  if (year.test(number.text) && before?.shape !== 'acronym' && before?.lower !== 'act') return to
  return counts(sentence[to + 1]) ? to : to + 1
}

/** What is counted, or measured: `beat Oxford 3 times`, `Tralee 12 km`. */
function counts(next: Word | undefined): boolean {
  if (next === undefined || next.shape !== undefined || !next.spaced) return next?.text === '%'
  if (next.pos === 'NUM') return true
  return next.pos === 'NOUN' && (next.lemma !== next.lower || next.text.length < 3)
}

/** Where a name begins that is known from `from` on. */
export function numberBefore(sentence: Sentence, from: number, to: number): number {
  const number = sentence[from - 1]
  if (number === undefined || !sentence[from]?.spaced) return from
  if (ordinal.test(number.text)) return from - 1
  if (!year.test(number.text) || to - from < 2) return from
  const before = sentence[from - 2]
  if (before !== undefined && !begins.has(before.pos)) return from
  // The 1960 Alfred Hitchcock film is no name.
  const next = sentence[to]
  return next?.pos === 'NOUN' && next.shape === undefined ? from : from - 1
}
