// What of a question hardly any passage has, so that it is what the question is about: a rare word, two words one
// behind the other, or all of the question as it is.

import { idfOf } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { takePhrase, takePlaced, type Phrase } from './phrases.js'
import { mostPaired, nameOfPhrase, type Search, type WordQuestion } from './search.js'
import { statisticsOf } from './statistics.js'
import type { ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'

/** Of a search. */
type Parts = Pick<Search, 'parts' | 'havingExactly'>
type PassageOfSet = Omit<ScoredPassage, 'score'>

/** What a passage that comes first has to have, as the question has it, and the passages that have all of it. */
export interface Keys {
  readonly phrases: readonly Phrase[]
  readonly passages: readonly PassageOfSet[]
}

/** A key is in no more passages. */
const mostHaving = 16
/**
 * How much of what a question's words are worth the keys have to have. With 0.65, one in seven rare words in a frame
 * such as *Where is … mentioned?* are missed; 0.35 costs 2 points of nDCG@10 on HotpotQA's sample (benchmarks/rare,
 * benchmarks/retrieval).
 */
const leastShare = 0.5
/** All of a question is a key where it has as many words as a quotation, */
const leastWhole = 4
/** is looked for by so many of its words first, */
const mostPlaced = 3
/** and of the passages that have it so many are told. */
const mostWhole = 64

interface Key {
  readonly phrase: Phrase
  readonly idf: number
  /** By a name that only one has. */
  readonly passages: ReadonlyMap<string, PassageOfSet>
}

/**
 * Undefined where nothing in the question is a key, or too little is. The rarest word or pair is one, and so is each
 * of the next that some passage has beside all of those. `search` is that of the question.
 */
export async function keysOf(
  sets: readonly PassageSet[],
  question: WordQuestion,
  search: Parts,
  turns: Turns,
): Promise<Keys | undefined> {
  const { whole } = question
  if (whole !== undefined && whole.forms.length >= leastWhole) {
    const passages = await havingWhole(sets, whole, search, turns)
    if (passages.length > 0) return { phrases: [whole], passages: passages.slice(0, mostWhole) }
  }
  const [first, ...others] = await rareParts(sets, question, search, turns)
  if (first === undefined) return undefined
  const keys = [first]
  let { passages } = first
  for (const key of others) {
    const both = new Map([...passages].filter(([name]) => key.passages.has(name)))
    if (both.size === 0) continue
    keys.push(key)
    passages = both
  }
  if (shareOf(keys, question, search) < leastShare) return undefined
  return { phrases: keys.map(({ phrase }) => phrase), passages: [...passages.values()] }
}

/** The rarest first. */
async function rareParts(
  sets: readonly PassageSet[],
  { words, joined, pairs }: WordQuestion,
  search: Parts,
  turns: Turns,
): Promise<Key[]> {
  const { passages: all } = await statisticsOf(sets, turns)
  const counts = new Map(search.parts.map(({ text, passages }) => [text, passages]))
  const isRare = (count = 0) => count > 0 && count <= mostHaving
  const rare: Phrase[] = words
    .filter(({ form, isPrefix }) => !isPrefix && isRare(search.havingExactly(form)))
    .map(({ form }) => ({ forms: [form], isPrefix: false }))
  rare.push(...[...joined, ...pairs].filter((phrase) => isRare(counts.get(nameOfPhrase(phrase)))))
  const keys: Key[] = []
  for (const phrase of rare) {
    const passages = await having(sets, phrase, turns)
    if (passages.size > 0) keys.push({ phrase, idf: idfOf(passages.size, all), passages })
  }
  // Of equals what stands first in the question: the sort is stable.
  return keys.sort((a, b) => b.idf - a.idf)
}

/** What words of the keys are worth, of all that words of the question are. */
function shareOf(keys: readonly Key[], { words }: WordQuestion, { parts }: Parts): number {
  const worth = new Map(parts.map(({ text, idf }) => [text, idf]))
  const had = new Map<string, number>()
  for (const { phrase, idf } of keys) {
    const [form = '', ...others] = phrase.forms
    if (others.length === 0) had.set(form, idf)
    else for (const each of phrase.forms) had.set(each, had.get(each) ?? worth.get(each) ?? 0)
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

/**
 * The passages in which all of a question stands as it is. Its rarest words are looked for first, each in its
 * place: lists of words that are everywhere are read for what is a quotation almost for sure.
 */
async function havingWhole(
  sets: readonly PassageSet[],
  whole: Phrase,
  search: Parts,
  turns: Turns,
): Promise<PassageOfSet[]> {
  const counted = whole.forms.flatMap((form, at) => {
    const count = search.havingExactly(form)
    return count === undefined ? [] : [{ form, at, count }]
  })
  counted.sort((a, b) => a.count - b.count)
  const [rarest] = counted
  if (rarest === undefined || rarest.count === 0 || rarest.count > mostPaired) return []
  const placed = counted.slice(0, mostPlaced).sort((a, b) => a.at - b.at)
  const start = placed[0]?.at ?? 0
  const forms = placed.map(({ form, at }) => ({ form, at: at - start }))
  let isPlaced = false
  for (const set of sets) {
    await takePlaced(set, forms, turns, { take: () => (isPlaced = true) })
    if (isPlaced) return [...(await having(sets, whole, turns)).values()]
  }
  return []
}

async function having(
  sets: readonly PassageSet[],
  phrase: Phrase,
  turns: Turns,
): Promise<Map<string, PassageOfSet>> {
  const found = new Map<string, PassageOfSet>()
  for (const [n, set] of sets.entries()) {
    const take = (passage: number) => found.set(`${n} ${passage}`, { set: n, passage })
    await takePhrase(set, phrase, turns, { take })
  }
  return found
}
