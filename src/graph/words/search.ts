// Passages by the words of a question, over the passages of several parts.

import { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { formsOf, type AskedWord } from './forms.js'
import { phraseIn, type Phrase } from './phrases.js'
import { bm25, FieldWeights, idfOf, saturated } from './scoring.js'
import { statisticsOf } from './statistics.js'
import { TopPassages, type ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'

/** What a question asks for, in words. */
export interface WordQuestion {
  readonly words: readonly AskedWord[]
  /** What has to be there. */
  readonly phrases: readonly Phrase[]
  /** Words that count for more where they stand so. */
  readonly joined: readonly Phrase[]
  readonly excluded: readonly Phrase[]
  readonly languages: readonly string[]
  /** Only passages of this document, by its URI. */
  readonly document?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a word or a phrase of a question adds to the scores of passages. */
export interface ScoredWord {
  readonly text: string
  /** Passages that have it. */
  readonly passages: number
  readonly idf: number
  /** By set. */
  readonly lists: readonly FrequencyList[]
}

/** Passages of a set that are seen and have a word, and how often, by field, length and form. */
interface FrequencyList {
  readonly passages: Uint32Array
  readonly frequencies: Float64Array
}

const none: FrequencyList = { passages: new Uint32Array(0), frequencies: new Float64Array(0) }

/** A search that was begun: scores are known, and any number of the best can be asked for. */
export class Search {
  readonly words: readonly ScoredWord[]
  readonly #sets: readonly PassageSet[]
  readonly #scores: readonly PassageScores[]

  private constructor(
    sets: readonly PassageSet[],
    words: readonly ScoredWord[],
    scores: readonly PassageScores[],
  ) {
    this.words = words
    this.#sets = sets
    this.#scores = scores
  }

  static async of(sets: readonly PassageSet[], question: WordQuestion): Promise<Search> {
    const statistics = await statisticsOf(sets, question.signal)
    const weights = sets.map((set) => new FieldWeights(set, statistics))
    const turns = new Turns(question.signal)
    const words: ScoredWord[] = []
    const scored = (text: string, lists: readonly FrequencyList[], weight = 1) => {
      const passages = lists.reduce((sum, list) => sum + list.passages.length, 0)
      const idf = weight * idfOf(passages, statistics.passages)
      const word = { text, passages, idf, lists }
      if (passages > 0) words.push(word)
      return word
    }
    for (const word of question.words) {
      const lists: FrequencyList[] = []
      for (const [n, set] of sets.entries()) {
        lists.push(await listOfWord(set, weights[n] as FieldWeights, word, question.languages))
        await turns.pass()
      }
      scored(word.isPrefix ? `${word.form}*` : word.form, lists)
    }
    const scoredPhrase = async (phrase: Phrase, weight?: number) => {
      const lists: FrequencyList[] = []
      for (const [n, set] of sets.entries()) {
        lists.push(await listOfPhrase(set, weights[n] as FieldWeights, phrase))
        await turns.pass()
      }
      return scored(`"${phrase.forms.join(' ')}${phrase.isPrefix ? '*' : ''}"`, lists, weight)
    }
    const required: ScoredWord[] = []
    for (const phrase of question.phrases) required.push(await scoredPhrase(phrase))
    for (const phrase of question.joined) await scoredPhrase(phrase, bm25.joined)
    const scores: PassageScores[] = []
    for (const [n, set] of sets.entries()) {
      const excluded = await excludedIn(set, question)
      scores.push(new PassageScores(set, n, words, required, excluded))
      await turns.pass()
    }
    if (question.document !== undefined) {
      const { document } = question
      for (const those of scores) await those.keepDocument(document)
    }
    return new Search(sets, words, scores)
  }

  /** The best, at most so many: best first, those of one score in the order of sets and passages. */
  best(k: number): ScoredPassage[] {
    const top = new TopPassages(k)
    for (const [set, { scores, passages }] of this.#scores.entries()) {
      for (const passage of passages) {
        const score = scores[passage] as number
        if (score > 0 && score >= top.least) top.add({ set, passage, score })
      }
    }
    return top.sorted()
  }

  set(n: number): PassageSet {
    return this.#sets[n] as PassageSet
  }

  /** How often a word is in a passage, weighted; 0 where it is not. */
  frequency({ lists }: ScoredWord, { set, passage }: ScoredPassage): number {
    const { passages, frequencies } = lists[set] ?? none
    const at = passages.indexOf(passage)
    return at < 0 ? 0 : (frequencies[at] as number)
  }
}

async function listOfWord(
  set: PassageSet,
  weights: FieldWeights,
  word: AskedWord,
  languages: readonly string[],
): Promise<FrequencyList> {
  const forms = await formsOf(set, word, languages)
  if (forms.length === 0) return none
  const found = new Map<number, number>()
  for (const { word: number, weight } of forms) {
    const of = await withBlocks(() => frequenciesOf(set, weights, number))
    if (forms.length === 1) return of
    for (const [n, passage] of of.passages.entries()) {
      const frequency = weight * (of.frequencies[n] as number)
      found.set(passage, (found.get(passage) ?? 0) + frequency)
    }
  }
  return {
    passages: Uint32Array.from(found.keys()),
    frequencies: Float64Array.from(found.values()),
  }
}

function frequenciesOf(set: PassageSet, weights: FieldWeights, word: number): FrequencyList {
  const list = set.list(word)
  const passages = new Uint32Array(list.count)
  const frequencies = new Float64Array(list.count)
  let count = 0
  while (list.next()) {
    if (!set.isSeen(list.passage)) continue
    passages[count] = list.passage
    frequencies[count++] = weights.frequency(list.passage, list)
  }
  return { passages: passages.subarray(0, count), frequencies: frequencies.subarray(0, count) }
}

async function listOfPhrase(
  set: PassageSet,
  weights: FieldWeights,
  phrase: Phrase,
): Promise<FrequencyList> {
  return withBlocks(() => {
    const { passages, counts } = phraseIn(set, phrase)
    const frequencies = counts.map((those, n) => {
      return weights.frequency(passages[n] as number, those)
    })
    return {
      passages: Uint32Array.from(passages),
      frequencies: Float64Array.from(frequencies),
    }
  })
}

/** Passages that have what a question excludes. */
async function excludedIn(set: PassageSet, { excluded }: WordQuestion): Promise<Set<number>> {
  const found = new Set<number>()
  // As it is written: who leaves a word out does not mean others of its stem.
  for (const phrase of excluded) {
    const { passages } = await withBlocks(() => phraseIn(set, phrase))
    for (const passage of passages) found.add(passage)
  }
  return found
}

/** The scores of the passages of a set. */
class PassageScores {
  /** By passage; 0 of those that are not to be found. */
  readonly scores: Float64Array
  /** Those that have any word of the question. */
  readonly passages: number[] = []
  readonly #set: PassageSet

  constructor(
    set: PassageSet,
    n: number,
    words: readonly ScoredWord[],
    required: readonly ScoredWord[],
    excluded: ReadonlySet<number>,
  ) {
    this.#set = set
    const scores = (this.scores = new Float64Array(set.count))
    for (const { idf, lists } of words) {
      const { passages, frequencies } = lists[n] ?? none
      for (let i = 0; i < passages.length; i++) {
        const passage = passages[i] as number
        const before = scores[passage] as number
        if (before === 0) this.passages.push(passage)
        scores[passage] = before + idf * saturated(frequencies[i] as number)
      }
    }
    for (const passage of excluded) scores[passage] = 0
    for (const { lists } of required) {
      const having = new Set(lists[n]?.passages)
      for (const passage of this.passages) if (!having.has(passage)) scores[passage] = 0
    }
  }

  async keepDocument(uri: string): Promise<void> {
    const set = this.#set
    const document = await withBlocks(() => set.idOf({ v: uri, e: true }))
    for (let n = 0; n < this.passages.length;) {
      await withBlocks(() => {
        for (; n < this.passages.length; n++) {
          const passage = this.passages[n] as number
          if (set.at('document', passage) !== document + 1) this.scores[passage] = 0
        }
      })
    }
  }
}
