// What of a question hardly any passage has, so that it is what the question is about: a rare word, two words one
// behind the other, or all of the question as it is.

import { idfOf } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import type { PlacedForm } from './phrases.js'
import { bounds } from './bounds.js'
import { nameOfPhrase, type WordQuestion } from './question.js'
import type { Search } from './search.js'
import { statisticsOf } from './statistics.js'
import type { ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'
import type { PassageOfSet } from './passage-order.js'
import { having, havingWhole, placedIn, type FieldsOf } from './whole-question.js'

/** Of the question, not ended. */
type Begun = Pick<Search, 'parts' | 'havingExactly' | 'scoreOf'>

/** A key is in no more passages, */
const mostHaving = 16
/** nor, of few passages, in more than one of so many: of 300 what five have is not rare. */
const passagesOfOne = 256
/** What asks for more is about all of it, and scores see to that. */
const mostWords = 3
/**
 * How much of what a question's words are worth the keys have to have. With 0.65, one in seven rare words in a frame
 * such as *Where is … mentioned?* are missed; 0.35 costs 2 points of nDCG@10 on HotpotQA's sample (benchmarks/rare,
 * benchmarks/retrieval).
 */
const leastShare = 0.5
/**
 * All of a question is a key where it has as many words as a quotation, and enough that say something: who asks
 * *what the manual says* does not quote.
 */
const leastWhole = 4
const leastTelling = 3
/** Of passages of one score so many are told. */
const mostBest = 64

export interface Reading {
  readonly search: Begun
  readonly fieldsOf: FieldsOf
}

interface Key {
  readonly forms: readonly PlacedForm[]
  readonly idf: number
  /** By a name that only one has. */
  readonly passages: ReadonlyMap<string, PassageOfSet>
}

/**
 * The best of the passages with all that is a key, as the question has it, and those that are as good; none where nothing
 * is, too little, or more than any passage has.
 */
export async function bestWithKeys(
  sets: readonly PassageSet[],
  question: WordQuestion,
  { search, fieldsOf }: Reading,
  turns: Turns,
): Promise<ScoredPassage[]> {
  const { whole, words } = question
  const isLong = whole !== undefined && whole.forms.length >= leastWhole
  if (isLong && words.length >= leastTelling) {
    const havingExactly = (form: string) => search.havingExactly(form)
    const passages = await havingWhole(sets, whole, { havingExactly, fieldsOf }, turns)
    if (passages.length > 0) return bestOf(passages, search)
  }
  if (countOf(question) > mostWords) return []
  const keys = await rareParts(sets, question, search, turns)
  const [first, ...others] = keys
  if (first === undefined) return []
  let { passages } = first
  for (const key of others) {
    const both = new Map([...passages].filter(([name]) => key.passages.has(name)))
    // Each of them says that another passage is meant.
    if (both.size === 0) return []
    passages = both
  }
  if (shareOf(keys, question, search) < leastShare) return []
  return bestOf([...passages.values()], search)
}

/** How many things it asks for: what is written as one is one, whatever its words. */
function countOf({ words, joined }: WordQuestion): number {
  const inOne = new Set(joined.flatMap(({ forms }) => forms))
  return joined.length + words.filter(({ form }) => !inOne.has(form)).length
}

/** In the order in which they are. */
function bestOf(passages: readonly PassageOfSet[], search: Begun): ScoredPassage[] {
  let best: ScoredPassage[] = []
  let most = Number.MIN_VALUE
  for (const each of passages) {
    const score = search.scoreOf(each)
    if (score < most) continue
    if (score > most) best = []
    most = score
    if (best.length < mostBest) best.push({ ...each, score })
  }
  return best
}

/** The rarest first. */
async function rareParts(
  sets: readonly PassageSet[],
  { words, joined, pairs, apart }: WordQuestion,
  search: Begun,
  turns: Turns,
): Promise<Key[]> {
  const { passages: all } = await statisticsOf(sets, turns)
  const counts = new Map(search.parts.map(({ text, passages }) => [text, passages]))
  const most = Math.min(mostHaving, Math.max(1, Math.floor(all / passagesOfOne)))
  const isRare = (count = 0) => count > 0 && count <= most
  const rare: (readonly PlacedForm[])[] = words
    .filter(({ form, isPrefix }) => !isPrefix && isRare(search.havingExactly(form)))
    .map(({ form }) => [{ form, at: 0 }])
  const phrases = [...joined, ...pairs].filter(({ isPrefix }) => !isPrefix)
  rare.push(...phrases.filter((each) => isRare(counts.get(nameOfPhrase(each)))).map(placedIn))
  const rarest = (forms: readonly PlacedForm[]) =>
    Math.min(...forms.map(({ form }) => search.havingExactly(form) ?? 0))
  rare.push(...apart.filter((forms) => rarest(forms) <= bounds.mostPaired))
  const keys: Key[] = []
  for (const forms of rare) {
    const passages = await having(sets, forms, turns)
    const { size } = passages
    if (isRare(size)) keys.push({ forms, idf: idfOf(size, all), passages })
  }
  // Of equals what stands first in the question: the sort is stable.
  return keys.sort((a, b) => b.idf - a.idf)
}

/** What words of the keys are worth, of all that words of the question are. */
function shareOf(keys: readonly Key[], { words }: WordQuestion, { parts }: Begun): number {
  const worth = new Map(parts.map(({ text, idf }) => [text, idf]))
  const had = new Map<string, number>()
  for (const { forms, idf } of keys) {
    const [first, ...others] = forms
    if (first !== undefined && others.length === 0) had.set(first.form, idf)
    else for (const { form } of forms) had.set(form, had.get(form) ?? worth.get(form) ?? 0)
  }
  const rest = words.reduce(
    (sum, { form }) => sum + (had.has(form) ? 0 : (worth.get(form) ?? 0)),
    0,
  )
  const sum = [...had.values()].reduce((sum, idf) => sum + idf, 0)
  // Two frequent words may be rare together.
  const most = Math.max(sum, ...keys.map(({ idf }) => idf))
  return most / (most + rest)
}
