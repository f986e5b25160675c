// Passages that answer a question: by its words, by the names in it, and by the names that lead from what was
// found first to what that does not say itself.

import { Turns } from '../../turns.js'
import { ChunkTexts } from '../chunk-texts.js'
import type { GraphView } from '../view.js'
import { bestWithKeys } from '../words/keys.js'
import type { Phrase } from '../words/phrases.js'
import { nameOfPhrase, type PartOfSearch, type WordQuestion } from '../words/question.js'
import { Search } from '../words/search.js'
import type { PassageSet } from '../words/types.js'
import { columnOf } from '../words/columns.js'
import type { PassageOfSet } from '../words/passage-order.js'
import { formsOfName } from '../words/name-words.js'
import { withBlocks } from '../miss.js'
import { Sameness } from '../same/sameness.js'
import { Aliases } from './aliases.js'
import { Candidates, type Candidate } from './candidates.js'
import { Leads } from './leads.js'
import { NameBook, type NameInText } from './names.js'
import { weights } from './weights.js'

/** What a ranking goes by. */
export interface Legs {
  readonly words: boolean
  readonly names: boolean
  readonly walk: boolean
}

export interface RankingQuestion {
  readonly text: string
  readonly words: WordQuestion
  /** What it quotes. */
  readonly quoted: readonly Phrase[]
  readonly legs: Legs
  /** How many passages. */
  readonly k: number
}

/**
 * The best passages of some sets, the best first. Their texts are in triples of the view.
 *
 * Each passage has the score of its words (BM25F). The names of the question, the longest at each word, add to
 * what is called so. Then, twice, the names of the first passages are followed: to what they are the title of, to
 * what has them as well, and to what has the title of a first passage. What is led to gets a share of what the score
 * of where it was led from is above that of others, and of the words of the question that it has and that one has
 * not. So of two passages that
 * answer a question together, each by half of its words, the one finds the other.
 */
export async function rank(
  view: GraphView,
  sets: readonly PassageSet[],
  { text, words, quoted, legs, k }: RankingQuestion,
): Promise<Candidate[]> {
  const turns = new Turns(words.signal)
  const book = new NameBook(sets, words.languages)
  const aliases = await Aliases.of(view, await Sameness.of(view), turns)
  const asked = await askedNames(await book.namesIn(text, turns), { sets, book, aliases, turns })
  const others = phrasesOf(asked, words)
  const question = { ...words, joined: [...words.joined, ...others] }
  const search = await Search.of(sets, question, turns)
  const candidates = new Candidates(view, sets, search, turns)
  const isOther = new Set(others.map(nameOfPhrase))
  const parts = search.parts.filter(({ text }) => !isOther.has(text))
  const { exactly } = search
  let keyed: readonly PassageOfSet[]
  try {
    const most = Math.max(k, 4 * weights.firsts)
    for (let wanted = most; ; wanted *= 2) {
      const best = await search.best(wanted)
      await candidates.add(best)
      // Several cores may say the same passage.
      if (best.length < wanted || onePerChunk(candidates.all).length >= most) break
    }
    const texts = new ChunkTexts(view, turns)
    const fieldsOf = (set: PassageSet, passage: number) => texts.fieldsOf(set, passage)
    keyed = await bestWithKeys(sets, words, { search, fieldsOf }, turns)
    await candidates.add(keyed)
  } finally {
    search.end()
  }
  const leads = new Leads(candidates, book, asked, { aliases, turns })
  if (legs.names) await addNamed(leads, parts)
  addUp(candidates.all, legs)
  for (let round = 0; legs.walk && round < weights.rounds; round++) {
    await walk(candidates, leads)
    addUp(candidates.all, legs)
  }
  const foremost = {
    quoted: quoted.map(nameOfPhrase),
    keyed: new Set(keyed.map((each) => candidates.at(each))),
    // A pair that is as frequent as one of its words adds nothing.
    all: [...parts.filter(({ idf }) => idf > 0), ...exactly].map(({ text }) => text),
  }
  return onePerChunk(sorted(candidates.all, legs, foremost)).slice(0, k)
}

/** The first of those with one chunk: it may have several texts. */
function onePerChunk(candidates: readonly Candidate[]): Candidate[] {
  const byChunk = new Map<string, Candidate>()
  for (const each of candidates) if (!byChunk.has(each.chunk.v)) byChunk.set(each.chunk.v, each)
  return [...byChunk.values()]
}

interface Naming {
  readonly sets: readonly PassageSet[]
  readonly book: NameBook
  readonly aliases: Aliases | undefined
  readonly turns: Turns
}

/** The names of a question, each once, with what else that is called which has them. */
async function askedNames(
  standing: readonly NameInText[],
  { sets, book, aliases, turns }: Naming,
): Promise<Map<NameInText, readonly NameInText[]>> {
  const asked = new Map<NameInText, readonly NameInText[]>()
  const known = new Set(standing.map(({ name }) => name))
  for (const each of new Map(standing.map((each) => [each.name, each])).values()) {
    asked.set(each, [])
    if (aliases === undefined) continue
    const named = await book.named(each.name, weights.aliased, turns)
    const passages = await withBlocks(() =>
      named.map(({ set, passage }) => {
        const of = sets[set] as PassageSet
        return of.term(of.at(columnOf.passage, passage))
      }),
    )
    const others = await aliases.othersOf(each, passages)
    asked.set(
      each,
      others.filter(({ name }) => !known.has(name)),
    )
  }
  return asked
}

/** Other names than those of the question, as words that count for more, and need not be there. */
function phrasesOf(
  asked: ReadonlyMap<NameInText, readonly NameInText[]>,
  { joined, words }: WordQuestion,
): Phrase[] {
  const known = new Set([
    ...joined.map(nameOfPhrase),
    ...words.map(({ form }) => nameOfPhrase({ forms: [form], isPrefix: false })),
  ])
  const found = new Map<string, Phrase>()
  for (const { name } of [...asked.values()].flat()) {
    const phrase = { forms: formsOfName(name), isPrefix: false }
    if (!known.has(nameOfPhrase(phrase))) found.set(nameOfPhrase(phrase), phrase)
  }
  return [...found.values()]
}

/** What the names of the question are worth to what is called so. */
async function addNamed(leads: Leads, parts: readonly PartOfSearch[]): Promise<void> {
  const worth = parts.reduce((sum, { idf }) => sum + idf, 0) / Math.max(1, parts.length)
  for (const [{ name }, those] of await leads.ofQuestion()) {
    const words = Math.min(weights.nameWords, name.split(' ').length)
    for (const { to, weight, step } of those) {
      to.names += weight * weights.name * words * worth
      to.named = step
    }
  }
}

/** Follows the names of the first passages. */
async function walk(candidates: Candidates, leads: Leads): Promise<void> {
  const ranked = onePerChunk(sortedByTotal(candidates.all))
  const firsts = ranked.slice(0, weights.firsts)
  const most = firsts[0]?.total ?? 0
  const rest = weights.others * (ranked[weights.firsts]?.total ?? 0)
  if (most === 0) return
  const found = await leads.from(firsts)
  for (const candidate of candidates.all) {
    candidate.walk = 0
    candidate.led = undefined
  }
  for (const [first, those] of found) {
    for (const { to, weight, step } of those) {
      const added = addedBy(to, first) * weights.added * (first.total / most)
      const walk = weight * (added + weights.carried * (first.total - rest))
      if (walk <= to.walk) continue
      to.walk = walk
      to.led = step
    }
  }
}

/** What one passage has of the words of the question that another one has not, or has less of. */
function addedBy(to: Candidate, from: Candidate): number {
  let added = 0
  for (const [word, score] of to.byWord) {
    added += Math.max(0, score - (from.byWord.get(word) ?? 0))
  }
  return added
}

function addUp(candidates: readonly Candidate[], legs: Legs): void {
  for (const candidate of candidates) {
    candidate.total = (legs.words ? candidate.words : 0) + candidate.names + candidate.walk
  }
}

/** By what a passage may come first, whatever its score. */
interface Foremost {
  /** Parts of the question. */
  readonly quoted: readonly string[]
  readonly keyed: ReadonlySet<Candidate>
  /** Parts that are all of the question. */
  readonly all: readonly string[]
}

/**
 * By their scores, but that what was asked for word by word comes first: the best passage with all that the question
 * quotes, or else with what hardly any has, or else the first by words, where that has every word of it.
 */
function sorted(candidates: readonly Candidate[], legs: Legs, foremost: Foremost): Candidate[] {
  const found = sortedByTotal(candidates).filter(({ total }) => total > 0)
  if (!legs.words) return found
  const has = (candidate: Candidate | undefined, parts: readonly string[]) =>
    candidate !== undefined && parts.every((part) => candidate.byWord.has(part))
  const { quoted, keyed, all } = foremost
  const byWords = [...found].sort((a, b) => b.words - a.words)
  const quoting = quoted.length > 0 ? byWords.find((each) => has(each, quoted)) : undefined
  const keying = byWords.find((each) => keyed.has(each))
  const first = quoting ?? keying ?? (has(byWords[0], all) ? byWords[0] : undefined)
  if (first === undefined) return found
  first.total = Math.max(first.total, found[0]?.total ?? 0)
  return [first, ...found.filter((each) => each !== first)]
}

/** Equal ones come in the order of their URIs, which does not change with the parts of an index. */
function sortedByTotal(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => {
    if (a.total !== b.total) return b.total - a.total
    if (a.chunk.v !== b.chunk.v) return a.chunk.v < b.chunk.v ? -1 : 1
    return a.set - b.set || a.passage - b.passage
  })
}
