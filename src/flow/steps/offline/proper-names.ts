// Names of people, places, organisations and whatever else is written with a capital.

import { mention, type Mention } from './mention.js'
import type { CommonWord, Sentence, Word } from './tagger.js'
import { connectors, honorifics, noNames, openingConnectors } from './word-lists.js'

/** Looks a lower-case word up. */
type Dictionary = (word: string) => CommonWord | undefined

const maxWords = 8
const capitalised = /^\p{Lu}[\p{L}\p{M}\p{N}.'’&-]*$/u
const camelCase = /^\p{Ll}+\p{Lu}[\p{L}\p{N}]*$/u
const acronym = /^\p{Lu}[\p{Lu}&.]+$/u
const romanNumeral = /^[IVXLCDM]+\.?$/
const opener = /^[^\p{L}\p{N},;&]+$/u

/**
 * The names in the sentences of one chunk. A capital says nothing where a sentence begins: there a
 * word of the dictionary counts only as part of a longer name, before a verb (`Apple buys`), or if
 * another sentence has it with a capital as well.
 */
export function properNames(
  sentences: readonly Sentence[],
  dictionary: Dictionary,
  isEnglish: boolean,
): Mention[][] {
  const elsewhere = new Set(
    sentences.flatMap((sentence) =>
      sentence
        .filter((word, i) => looksLikeName(word, isEnglish) && !isOpening(sentence, i))
        .map(({ text }) => text),
    ),
  )
  const isName = (sentence: Sentence, i: number): boolean => {
    const word = sentence[i]
    if (word === undefined || !looksLikeName(word, isEnglish)) return false
    if (!isOpening(sentence, i) || elsewhere.has(word.text)) return true
    // Which words of another language are common, the dictionary does not know.
    if (!isEnglish) return false
    if (acronym.test(word.text) || camelCase.test(word.text)) return true
    const common = dictionary(word.text.toLowerCase())
    if (common === undefined) return true
    if (!['NOUN', 'PROPN', 'ADJ'].includes(common.pos)) return false
    const next = sentence[i + 1]
    if (next === undefined) return false
    if (next.spaced && looksLikeName(next, isEnglish) && capitalised.test(next.text)) return true
    const isSingular = common.lemma === word.text.toLowerCase()
    return common.pos === 'PROPN' || (common.pos === 'NOUN' && isSingular && next.pos === 'VERB')
  }
  return sentences.map((sentence) => (isHeading(sentence) ? [] : namesOf(sentence, isName)))
}

function namesOf(
  sentence: Sentence,
  isName: (sentence: Sentence, i: number) => boolean,
): Mention[] {
  const found: Mention[] = []
  for (let i = 0; i < sentence.length; i++) {
    if (!isName(sentence, i)) continue
    let to = i + 1
    for (;;) {
      const next = afterConnectors(sentence, to)
      if (!sentence[next]?.spaced || !isName(sentence, next)) break
      to = next + 1
    }
    // Apollo 11, but no years.
    const number = sentence[to]
    if (number?.spaced && /^\d{1,3}$/.test(number.text)) to++
    const trimmed = trim(sentence, i, to)
    if (trimmed !== undefined) found.push(trimmed)
    i = to - 1
  }
  return found
}

function afterConnectors(sentence: Sentence, at: number): number {
  if (!openingConnectors.has(sentence[at]?.text ?? '')) return at
  let next = at + 1
  while (next < at + 3 && connectors.has(sentence[next]?.text ?? '')) next++
  return next
}

function trim(sentence: Sentence, from: number, to: number): Mention | undefined {
  const text = (i: number) => sentence[i]?.text ?? ''
  const lower = (i: number) => text(i).toLowerCase()
  while (from < to - 1 && honorifics.has(lower(from))) from++
  while (from < to && noNames.has(lower(from))) from++
  while (from < to && noNames.has(lower(to - 1))) to--
  // `Monday of Easter` leaves a connector.
  while (from < to && connectors.has(lower(from))) from++
  while (from < to && connectors.has(lower(to - 1))) to--
  if (from >= to || to - from > maxWords) return undefined
  const words = sentence.slice(from, to)
  const counts = words.some(({ text }) => {
    const letters = text.match(/\p{L}/gu)?.length ?? 0
    return letters > 1 && !romanNumeral.test(text) && !honorifics.has(text.toLowerCase())
  })
  return counts ? mention(sentence, from, to) : undefined
}

function looksLikeName({ text, pos, stop }: Word, isEnglish: boolean): boolean {
  if (!capitalised.test(text)) return isEnglish && camelCase.test(text)
  const isAcronym = acronym.test(text)
  if (!isEnglish) return isAcronym || text.length > 2
  // US, WHO and IT are names, Us, Who and It are not; nor does `Inc.` tell anything by itself.
  if (stop && !text.endsWith('.')) return isAcronym && pos === 'PROPN'
  return !['PRON', 'DET', 'INTJ', 'ADP', 'AUX', 'CCONJ', 'SCONJ'].includes(pos)
}

/** At the sentence's begin, or right behind a quote, bracket, dash, colon or stop. */
function isOpening(sentence: Sentence, i: number): boolean {
  const before = sentence[i - 1]
  return before === undefined || opener.test(before.text)
}

/** Written in capitals throughout, as titles are: its capitals tell nothing. */
function isHeading(sentence: Sentence): boolean {
  const words = sentence.filter(({ text }) => /^\p{L}{2}/u.test(text))
  const upper = words.filter(({ text }) => text === text.toUpperCase())
  const cased = upper.filter(({ text }) => text !== text.toLowerCase())
  return cased.length > 1 && cased.length > words.length / 2
}
