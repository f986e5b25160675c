// Key phrases: noun phrases such as `solid-state battery`, and nouns that a text keeps using.

import { mention, type Mention } from './mention.js'
import type { Sentence, Word } from './tagger.js'
import { paleAdjectives, paleNouns } from './word-lists.js'

const maxWords = 4
const plain = /^\p{L}[\p{L}\p{M}-]+$/u

/** The noun phrases of a sentence that could be one. */
export function phrases(sentence: Sentence): Mention[] {
  const found: Mention[] = []
  let from = 0
  for (let i = 0; i < sentence.length; i++) {
    const word = sentence[i] as Word
    if (!isPart(word)) {
      from = i + 1
      continue
    }
    const next = sentence[i + 1]
    if (next !== undefined && isPart(next) && next.spaced && goesOn(word, next)) continue
    const phrase = word.pos === 'NOUN' ? trim(sentence, from, i + 1) : undefined
    if (phrase !== undefined) found.push(phrase)
    from = i + 1
  }
  return found
}

function isPart({ text, pos, stop }: Word): boolean {
  return !stop && plain.test(text) && (pos === 'NOUN' || pos === 'ADJ' || pos === 'PROPN')
}

/** Adjectives do not follow a noun, and a plural ends its phrase: the tagger took a verb for one. */
function goesOn(word: Word, next: Word): boolean {
  if (word.pos !== 'NOUN') return true
  return next.pos !== 'ADJ' && !isPlural(word)
}

function trim(sentence: Sentence, from: number, to: number): Mention | undefined {
  const at = (i: number) => sentence[i] as Word
  while (from < to - 1 && paleAdjectives.has(at(from).text.toLowerCase())) from++
  if (to - from > maxWords || paleNouns.has(at(to - 1).text.toLowerCase())) return undefined
  const names = sentence.slice(from, to).filter(({ pos }) => pos === 'PROPN')
  // `Juncker lives in Brussels`: more a verb than a noun.
  if (names.length > 1 || (names.length === 1 && isPlural(at(to - 1)))) return undefined
  return mention(sentence, from, to)
}

function isPlural({ pos, text, lemma }: Word): boolean {
  return pos === 'NOUN' && text.toLowerCase() !== lemma
}
