// Passages by the words of a question, over the passages of several parts.

import { idfOf, saturated } from '../../text/bm25.js'
import { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { formsOf, type AskedWord } from './forms.js'
import { PassageScores } from './passage-scores.js'
import { phraseIn, type Phrase } from './phrases.js'
import { weights } from './scoring.js'
import { statisticsOf, type Statistics } from './statistics.js'
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

/** What a word or a phrase of a question adds to the score of a passage. */
export interface ScoreOfPart {
  readonly text: string
  /** Passages that have it. */
  readonly passages: number
  readonly idf: number
  /** How often it is in the passage, by field, length and form. */
  readonly frequency: number
  readonly score: number
}

/** What is looked for in each set in turn. */
interface Part {
  readonly text: string
  readonly weight: number
  /** Takes what a set has of it. */
  readonly add: (set: PassageSet, scores: PassageScores, turns: Turns) => Promise<void>
}

/** A search that was begun: any number of the best can be asked for, until its end. */
export class Search {
  readonly #sets: readonly PassageSet[]
  readonly #question: WordQuestion
  readonly #statistics: Statistics
  readonly #scores: readonly PassageScores[]

  private constructor(sets: readonly PassageSet[], question: WordQuestion, statistics: Statistics) {
    this.#sets = sets
    this.#question = question
    this.#statistics = statistics
    this.#scores = sets.map((set) => new PassageScores(set, statistics))
  }

  /** Call end() of what it gives. */
  static async of(sets: readonly PassageSet[], question: WordQuestion): Promise<Search> {
    const statistics = await statisticsOf(sets, question.signal)
    const search = new Search(sets, question, statistics)
    try {
      await search.#run()
      return search
    } catch (error) {
      search.end()
      throw error
    }
  }

  end(): void {
    for (const scores of this.#scores) scores.end()
  }

  /** The best, at most so many: best first, those of one score in the order of sets and passages. */
  best(k: number): ScoredPassage[] {
    const top = new TopPassages(k)
    for (const [n, scores] of this.#scores.entries()) scores.addTo(top, n)
    return top.sorted()
  }

  set(n: number): PassageSet {
    return this.#sets[n] as PassageSet
  }

  /** What the scores of some passages are the sums of. */
  static async explained(
    sets: readonly PassageSet[],
    question: WordQuestion,
    found: readonly ScoredPassage[],
  ): Promise<ScoreOfPart[][]> {
    const statistics = await statisticsOf(sets, question.signal)
    const search = new Search(sets, question, statistics)
    const all: ScoreOfPart[][] = found.map(() => [])
    try {
      for (const part of partsOf(question)) {
        const { idf, passages } = await search.#take(part)
        for (const [n, scores] of search.#scores.entries()) {
          const told = scores.endWord(
            idf,
            found.map(({ set, passage }) => (set === n ? passage : -1)),
          )
          for (const [at, frequency = 0] of told.entries()) {
            if (!(frequency > 0)) continue
            const score = idf * saturated(frequency)
            all[at]?.push({ text: part.text, passages, idf, frequency, score })
          }
        }
      }
      return all
    } finally {
      search.end()
    }
  }

  async #run(): Promise<void> {
    const { phrases, excluded, document } = this.#question
    const turns = new Turns(this.#question.signal)
    for (const part of partsOf(this.#question)) {
      const { idf } = await this.#take(part)
      for (const scores of this.#scores) scores.endWord(idf)
    }
    for (const [n, set] of this.#sets.entries()) {
      const scores = this.#scores[n] as PassageScores
      for (const phrase of phrases) {
        const { passages } = await phraseIn(set, phrase, turns)
        scores.keep(new Set(passages))
      }
      // As it is written: who leaves a word out does not mean others of its stem.
      for (const phrase of excluded) {
        const { passages } = await phraseIn(set, phrase, turns)
        scores.drop(passages)
      }
      if (document === undefined) continue
      await withBlocks(() => scores.keepDocument(set.idOf({ v: document, e: true })))
    }
  }

  /** Takes a part of the question in all sets. Gives what it is worth. */
  async #take({ weight, add }: Part): Promise<{ readonly idf: number; readonly passages: number }> {
    const turns = new Turns(this.#question.signal)
    let passages = 0
    for (const [n, set] of this.#sets.entries()) {
      const scores = this.#scores[n] as PassageScores
      await add(set, scores, turns)
      passages += scores.having
      await turns.pass()
    }
    return { idf: weight * idfOf(passages, this.#statistics.passages), passages }
  }
}

function* partsOf({ words, phrases, joined, languages }: WordQuestion): Generator<Part> {
  for (const word of words) {
    const add: Part['add'] = async (set, scores, turns) => {
      for (const form of await formsOf(set, word, languages)) {
        const added = withBlocks(() => scores.addForm(form))
        if (added instanceof Promise) await added
        await turns.pass()
      }
    }
    yield { text: word.isPrefix ? `${word.form}*` : word.form, weight: 1, add }
  }
  for (const phrase of phrases) yield partOf(phrase, 1)
  for (const phrase of joined) yield partOf(phrase, weights.joined)
}

function partOf(phrase: Phrase, weight: number): Part {
  const text = `"${phrase.forms.join(' ')}${phrase.isPrefix ? '*' : ''}"`
  const add: Part['add'] = async (set, scores, turns) => {
    const list = await phraseIn(set, phrase, turns)
    await withBlocks(() => scores.addPhrase(list))
  }
  return { text, weight, add }
}
