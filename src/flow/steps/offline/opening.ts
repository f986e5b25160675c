// What a text without a title is called that begins as an entry of an encyclopedia does: *Ada Lovelace (1815 – 1852)
// was a mathematician*.

import { mention } from './mention.js'
import type { Dictionary, Sentence } from './tagger.js'
import { isQuote } from './topic.js'

/** Words of what is defined, and of what stands between commas behind it. */
const mostWords = 10
const mostAside = 20

/** The name that its first sentence defines. */
export function definedName(
  sentences: readonly Sentence[],
  common: Dictionary,
): string | undefined {
  const sentence = sentences[isFragment(sentences[0]) ? 1 : 0] ?? []
  const article = sentence.findIndex(({ text }) => !isQuote(text))
  const begin = sentence[article]?.pos === 'DET' ? article + 1 : article
  const from = isQuote(sentence[begin]?.text ?? '') ? begin + 1 : begin
  const end = sentence.findIndex((word, i) => i > from && isBehindName(word))
  const [first] = sentence.slice(from, end)
  if (first === undefined || end - from > mostWords) return undefined
  const isQuoted = from > 0 && isQuote(sentence[from - 1]?.text ?? '')
  const isAlone = end - from === 1 && isCommon(first, common)
  if (!isQuoted && (isAlone || !isCapital(first))) return undefined
  const verb = behindAsides(sentence, end)
  const isDefined = isCopula(sentence[verb]) && isArticle(sentence[verb + 1])
  return isDefined ? mention(sentence, from, end).name.replace(/["”»“’]$/, '') : undefined
}

type Word = Sentence[number]

/** As a title that nothing marks as one: `Ada Lovelace.` */
function isFragment(sentence: Sentence = []): boolean {
  const hasVerb = sentence.some(({ pos }) => pos === 'AUX' || pos === 'VERB')
  return !hasVerb && sentence.length <= mostWords
}

/** At the beginning of a sentence a small word has a capital, too. */
function isCapital({ text, stop }: Word): boolean {
  return /^[\p{Lu}\p{N}]/u.test(text) && !stop
}

/** *Lunch is a problem* is about no name. */
function isCommon({ lower }: Word, common: Dictionary): boolean {
  const known = common(lower)
  return known !== undefined && known.pos !== 'PROPN'
}

function isBehindName(word: Word): boolean {
  return /^[(,;.!?]$/.test(word.text) || isCopula(word)
}

function isCopula(word: Word | undefined): boolean {
  return /^(?:is|was|are|were)$/.test(word?.text ?? '')
}

function isArticle(word: Word | undefined): boolean {
  return /^(?:an?|the|one|any)$/.test(word?.text ?? '')
}

/** Behind brackets, and what stands between two commas. */
function behindAsides(sentence: Sentence, from: number): number {
  for (let at = from; ;) {
    const end = asideEnd(sentence, at)
    if (end === undefined) return at
    at = end
  }
}

function asideEnd(sentence: Sentence, from: number): number | undefined {
  const open = sentence[from]?.text
  if (open === ',' && isCopula(sentence[from + 1])) return from + 1
  if (open !== '(' && open !== ',') return undefined
  let depth = 0
  for (let at = from; at < sentence.length; at++) {
    const { text } = sentence[at] as Word
    if (text === '(') depth++
    if (text === ')') depth--
    if (open === '(' && depth === 0) return at + 1
    if (open === ',' && depth === 0 && at > from && text === ',') {
      return at - from > mostAside ? undefined : at + 1
    }
  }
  return undefined
}
