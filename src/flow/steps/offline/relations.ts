// Who does what to whom, and what is what, where a sentence says it plainly.

import type { Mention } from './mention.js'
import { mention } from './mention.js'
import type { Sentence, Word } from './tagger.js'
import { negations, speechVerbs } from './word-lists.js'

interface Relation {
  readonly subject: Mention
  /** `acquire`, `live in`, `born in`. */
  readonly verb: string
  readonly object: Mention
}

const nounPhrase = new Set(['DET', 'ADJ', 'NUM', 'NOUN', 'PROPN'])
const quotes = /["“”«»`‘]/u
const maxDefinitionLength = 300

/**
 * Subject, verb and object next to each other but for auxiliaries, adverbs, articles and
 * adjectives. What is denied is left out.
 */
export function relations(sentence: Sentence, mentions: readonly Mention[]): Relation[] {
  return sentence.flatMap((verb, at): Relation[] => {
    if (verb.pos !== 'VERB' || speechVerbs.has(verb.lemma)) return []
    let left = at - 1
    while (isOf(sentence[left], 'AUX', 'ADV') || negations.has(sentence[left]?.text ?? '')) left--
    const auxiliaries = sentence.slice(left + 1, at)
    if (auxiliaries.some(({ text }) => negations.has(text.toLowerCase()))) return []
    const subject = endingAt(left + 1, mentions)
    if (subject === undefined || !isSubject(sentence, subject)) return []

    let right = at + 1
    while (isOf(sentence[right], 'ADV')) right++
    const preposition = isOf(sentence[right], 'ADP') ? sentence[right++]?.lemma : undefined
    const object = objectFrom(sentence, right, mentions)
    if (object === undefined || object.name === subject.name) return []

    const isBeing = auxiliaries.some(({ lemma }) => lemma === 'be')
    const isPassive = isBeing && !verb.text.endsWith('ing')
    if (!isPassive) return [{ subject, verb: join(verb.lemma, preposition), object }]
    if (preposition === 'by') return [{ subject: object, verb: verb.lemma, object: subject }]
    if (preposition === undefined) return []
    return [{ subject, verb: join(verb.text.toLowerCase(), preposition), object }]
  })
}

interface Definition {
  readonly of: Mention
  /** The whole sentence. */
  readonly text: string
}

/** What a sentence defines that says `X is a Y`: one thing, or none. */
export function definition(sentence: Sentence, mentions: readonly Mention[]): Definition[] {
  const from = isOf(sentence[0], 'DET') ? 1 : 0
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

/** False for what stands behind a preposition: in `the wife of Dick smiled` nobody said he did. */
function isSubject(sentence: Sentence, { from }: Mention): boolean {
  let before = from - 1
  while (isOf(sentence[before], ...nounPhrase) || isGenitive(sentence[before])) before--
  return !isOf(sentence[before], 'ADP')
}

/** What stands last in the noun phrase: `DeepSound` of `the London startup DeepSound`. */
function objectFrom(
  sentence: Sentence,
  from: number,
  mentions: readonly Mention[],
): Mention | undefined {
  let to = from
  while (isOf(sentence[to], ...nounPhrase) || isPossessive(sentence[to])) {
    const within = mentions.filter((mention) => mention.from === to).map((mention) => mention.to)
    to = Math.max(to + 1, ...within)
  }
  return isGenitive(sentence[to]) ? undefined : endingAt(to, mentions, from)
}

function endingAt(to: number, mentions: readonly Mention[], from = 0): Mention | undefined {
  const [longest] = mentions
    .filter((mention) => mention.to === to && mention.from >= from)
    .sort((a, b) => a.from - b.from)
  return longest
}

function isOf(word: Word | undefined, ...tags: string[]): boolean {
  return word !== undefined && tags.includes(word.pos)
}

function isPossessive(word: Word | undefined): boolean {
  return /^(?:my|your|his|her|its|our|their)$/i.test(word?.text ?? '')
}

function isGenitive(word: Word | undefined): boolean {
  return /^['’]s?$/.test(word?.text ?? '')
}

function join(verb: string, preposition: string | undefined): string {
  return preposition === undefined ? verb : `${verb} ${preposition}`
}
