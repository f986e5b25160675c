// What a sentence defines.

import { mention, type Mention } from './mention.js'
import type { Sentence } from './tagger.js'

const quotes = /["“”«»`‘]/u
const maxDefinitionLength = 300

interface Definition {
  readonly of: Mention
  /** The whole sentence. */
  readonly text: string
}

/** What a sentence defines that says `X is a Y`: one thing, or none. */
export function definition(sentence: Sentence, mentions: readonly Mention[]): Definition[] {
  const from = sentence[0]?.pos === 'DET' ? 1 : 0
  const [of] = mentions
    .filter((mention) => mention.from === from || mention.from === 0)
    .sort((a, b) => b.to - a.to)
  if (of === undefined) return []
  const [verb, article] = sentence.slice(of.to, of.to + 2)
  if (verb?.lemma !== 'be' || !/^(?:an?|the)$/.test(article?.text ?? '')) return []
  if (sentence.at(-1)?.text !== '.' || sentence.some(({ text }) => quotes.test(text))) {
    return []
  }
  const { name: text } = mention(sentence, 0, sentence.length)
  return text.length <= maxDefinitionLength && text.isWellFormed() ? [{ of, text }] : []
}
