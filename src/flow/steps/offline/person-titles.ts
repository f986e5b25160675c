// What people are before their names: `Chief Executive Officer Jane Doe` is Jane Doe.

import type { Dictionary, Sentence, Word } from './tagger.js'
import { institutions, ranks, titleModifiers, titles } from './word-lists.js'

/** More is a list, or nothing that anybody is called. */
const maxWords = 16

type Span = readonly [from: number, to: number]

/**
 * The person in a run of words with capitals, and who or what stands before the title: `Tim Cook`
 * and `Apple` of `Apple CEO Tim Cook`. Undefined where no person has a title.
 */
export function withoutTitles(
  sentence: Sentence,
  from: number,
  to: number,
  dictionary: Dictionary,
): Span[] | undefined {
  if (to - from > maxWords) return undefined
  for (let i = from; i < to - 1; i++) {
    const end = titleEnd(sentence, i, to)
    if (end === i) continue
    const isPerson = personFrom(
      sentence,
      end,
      to,
      dictionary,
      ranks.has(sentence[end - 1]?.lower ?? ''),
    )
    if (!isPerson) return undefined
    return i === from
      ? [[end, to]]
      : [
          [from, i],
          [end, to],
        ]
  }
  return undefined
}

/** Where the title is over that begins at `from`; `from` where none does. */
export function titleEnd(sentence: Sentence, from: number, to: number): number {
  let end = from
  for (let i = from; i < to; i++) {
    const lower = sentence[i]?.lower ?? ''
    if (titles.has(lower) || ranks.has(lower)) end = i + 1
    else if (!titleModifiers.has(lower)) break
  }
  return end
}

function personFrom(
  sentence: Sentence,
  from: number,
  to: number,
  dictionary: Dictionary,
  isRank: boolean,
): boolean {
  const length = to - from
  if (length < 1 || length > 5) return false
  for (let i = from; i < to; i++) {
    const word = sentence[i] as Word
    if (institutions.has(word.lower) || word.lower === 'of' || /^\d/.test(word.text)) return false
  }
  // `General Electric`, `Major Tom`.
  return !isRank || dictionary(sentence[from]?.lower ?? '') === undefined
}
