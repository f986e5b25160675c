// Passages by the words of a question, over the passages of several parts.

import { idfOf, saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { formsOf, type AskedWord } from './forms.js'
import { PassageScores } from './passage-scores.js'
import type { Phrase } from './phrases.js'
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
  /** Words that are beside each other in it, and count for a little more where they stand so. */
  readonly pairs: readonly Phrase[]
  /** All of it, as it stands. */
  readonly whole: Phrase | undefined
  readonly excluded: readonly Phrase[]
  readonly languages: readonly string[]
  /** Only passages of this document, by its URI. */
  readonly document?: string | undefined
  readonly signal: AbortSignal
}

export interface PartOfSearch {
  readonly text: string
  /** Passages that have it. */
  readonly passages: number
  readonly idf: number
}

/** What a word or a phrase of a question adds to the score of a passage. */
export interface ScoreOfPart extends PartOfSearch {
  /** How often it is in the passage, by field, length and form. */
  readonly frequency: number
  readonly score: number
}

/** What is looked for in each set in turn. */
interface Part {
  readonly text: string
  readonly weight: number
  /** Whether only passages are found that have it. */
  readonly isRequired: boolean
  /** Takes what a set has of it. */
  readonly add: (set: PassageSet, scores: PassageScores, turns: Turns) => Promise<void>
  /** The same as the question has it, where other forms count as well. */
  readonly exactly?: Pick<Part, 'text' | 'add'>
}

/** A search that was begun: any number of the best can be asked for, until its end. */
export class Search {
  readonly #sets: readonly PassageSet[]
  readonly #question: WordQuestion
  readonly #statistics: Statistics
  readonly #turns: Turns
  readonly #scores: readonly PassageScores[]
  readonly #parts: PartOfSearch[] = []
  readonly #exactly: PartOfSearch[] = []

  private constructor(
    sets: readonly PassageSet[],
    question: WordQuestion,
    statistics: Statistics,
    turns: Turns,
  ) {
    this.#sets = sets
    this.#question = question
    this.#statistics = statistics
    this.#turns = turns
    this.#scores = sets.map((set) => new PassageScores(set, statistics))
  }

  /** Call end() of what it gives. */
  static async of(
    sets: readonly PassageSet[],
    question: WordQuestion,
    turns: Turns,
  ): Promise<Search> {
    const statistics = await statisticsOf(sets, turns)
    const search = new Search(sets, question, statistics, turns)
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

  /** The words and phrases of the question, and what each is worth. */
  get parts(): readonly PartOfSearch[] {
    return this.#parts
  }

  /** Those of its words that are rarer as the question has them than in all forms. */
  get exactly(): readonly PartOfSearch[] {
    return this.#exactly
  }

  /** What the scores of some passages are the sums of. */
  static async explained(
    sets: readonly PassageSet[],
    question: WordQuestion,
    found: readonly Pick<ScoredPassage, 'set' | 'passage'>[],
    turns: Turns,
  ): Promise<ScoreOfPart[][]> {
    const statistics = await statisticsOf(sets, turns)
    const search = new Search(sets, question, statistics, turns)
    const all: ScoreOfPart[][] = found.map(() => [])
    try {
      await search.#takeAll((taken) => {
        const { idf } = taken
        for (const [n, scores] of search.#scores.entries()) {
          const told = scores.endWord(
            idf,
            found.map(({ set, passage }) => (set === n ? passage : -1)),
          )
          for (const [at, frequency = 0] of told.entries()) {
            if (!(frequency > 0) || idf === 0) continue
            all[at]?.push({ ...taken, frequency, score: idf * saturated(frequency) })
          }
        }
      })
      return all
    } finally {
      search.end()
    }
  }

  async #run(): Promise<void> {
    const { excluded, document } = this.#question
    const turns = this.#turns
    await this.#takeAll((taken, part) => {
      if (part !== undefined) this.#parts.push(taken)
      else if (taken.idf > 0 && taken.passages > 0) this.#exactly.push(taken)
      for (const scores of this.#scores) {
        if (part?.isRequired === true) scores.require()
        scores.endWord(taken.idf)
      }
    })
    for (const [n, set] of this.#sets.entries()) {
      const scores = this.#scores[n] as PassageScores
      scores.keepRequired()
      // As it is written: who leaves a word out does not mean others of its stem.
      for (const phrase of excluded) await scores.drop(phrase, turns)
      if (document === undefined) continue
      await withBlocks(() => scores.keepDocument(set.idOf({ v: document, e: true })))
    }
  }

  /**
   * Takes part by part, and calls `end` with what it is worth, and with the part, if it is all of it. A word as the question has it may be far rarer than
   * all its forms together, *planting* than plants: it has a share of what it would be worth more by itself.
   */
  async #takeAll(end: (taken: PartOfSearch, part: Part | undefined) => void): Promise<void> {
    for (const part of partsOf(this.#question)) {
      const taken = await this.#take(part.add, part.weight)
      end({ text: part.text, ...taken }, part)
      if (part.exactly === undefined) continue
      const { text, add } = part.exactly
      const { idf, passages } = await this.#take(add, 1)
      end({ text, passages, idf: weights.exact * (idf - taken.idf) }, undefined)
    }
  }

  /** Takes a part of the question in all sets. Gives what it is worth. */
  async #take(
    add: Part['add'],
    weight: number,
  ): Promise<{ readonly idf: number; readonly passages: number }> {
    const turns = this.#turns
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

function* partsOf({ words, phrases, joined, pairs, languages }: WordQuestion): Generator<Part> {
  for (const word of words) {
    const add: Part['add'] = async (set, scores, turns) => {
      for (const form of await formsOf(set, word, languages, turns)) {
        await scores.addForm(form, turns)
      }
    }
    const text = word.isPrefix ? `${word.form}*` : word.form
    yield { text, weight: 1, isRequired: false, add, ...(!word.isPrefix && exactly(word)) }
  }
  for (const phrase of phrases) yield partOf(phrase, { weight: 1, isRequired: true })
  for (const phrase of joined) yield partOf(phrase, { weight: weights.joined, isRequired: false })
  for (const phrase of pairs) yield partOf(phrase, { weight: weights.pair, isRequired: false })
}

function exactly({ form }: AskedWord): Required<Pick<Part, 'exactly'>> {
  const add: Part['add'] = async (set, scores, turns) => {
    const word = await withBlocks(() => set.find(Buffer.from(form)))
    if (word >= 0) await scores.addForm({ word, weight: 1 }, turns)
  }
  return { exactly: { text: `"${form}"`, add } }
}

function partOf(phrase: Phrase, counting: Pick<Part, 'weight' | 'isRequired'>): Part {
  const text = nameOfPhrase(phrase)
  const add: Part['add'] = (_set, scores, turns) => scores.addPhrase(phrase, turns)
  return { text, ...counting, add }
}

/** As the part of a search is told. */
export function nameOfPhrase({ forms, isPrefix }: Phrase): string {
  return `"${forms.join(' ')}${isPrefix ? '*' : ''}"`
}
