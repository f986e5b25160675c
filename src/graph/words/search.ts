// Passages by the words of a question, over the passages of several parts.

import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { explained, type ScoreOfPart } from './explained.js'
import { QuestionParts } from './parts.js'
import { PassageScores } from './passage-scores.js'
import { firstInOrder, type PassageOfSet } from './passage-order.js'
import type { PartOfSearch, WordQuestion } from './question.js'
import { FieldWeights } from './scoring.js'
import { statisticsOf, type Statistics } from './statistics.js'
import { TopPassages, type ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'
import type { WordInSet } from './word-in-set.js'

/** A search that was begun: any number of the best can be asked for, until its end. */
export class Search {
  readonly #sets: readonly PassageSet[]
  readonly #question: WordQuestion
  readonly #turns: Turns
  readonly #scores: readonly PassageScores[]
  readonly #ofQuestion: QuestionParts
  readonly #parts: PartOfSearch[] = []
  readonly #exactly: PartOfSearch[] = []
  /** To find them takes as long as it takes to score a frequent word. */
  #last: { readonly k: number; readonly best: readonly ScoredPassage[] } | undefined
  /** Those of its words, by set: numbers, as lists may be long. */
  readonly #forms: { readonly set: PassageSet; readonly words: readonly number[] }[] = []

  private constructor(
    sets: readonly PassageSet[],
    question: WordQuestion,
    statistics: Statistics,
    turns: Turns,
  ) {
    this.#sets = sets
    this.#question = question
    this.#turns = turns
    this.#ofQuestion = new QuestionParts(sets, question, statistics, turns)
    const fields = new FieldWeights(statistics)
    this.#scores = sets.map((set) => new PassageScores(set, fields))
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

  /**
   * The best, at most so many: best first, those of one score in an order that is the same whatever parts there are.
   * Rejects with the signal's reason.
   */
  async best(k: number): Promise<ScoredPassage[]> {
    if (this.#last?.k === k) return [...this.#last.best]
    const bySet: ScoredPassage[][] = []
    let floor = 0
    for (const [n, scores] of this.#scores.entries()) {
      const top = new TopPassages(k, floor)
      scores.addTo(top, n)
      floor = top.least
      bySet.push(top.sorted())
    }
    const byScore = (a: ScoredPassage, b: ScoredPassage) => b.score - a.score
    const best = await firstInOrder(this.#sets, bySet, k, this.#turns, byScore)
    this.#last = { k, best }
    return [...best]
  }

  /** That of one passage; 0 where it is not found. */
  scoreOf({ set, passage }: Pick<ScoredPassage, 'set' | 'passage'>): number {
    return (this.#scores[set] as PassageScores).of(passage)
  }

  /** What the scores of some passages are the sums of, also of ones that are not found. Rejects with the signal's reason. */
  explained(found: readonly PassageOfSet[]): Promise<ScoreOfPart[][]> {
    return explained(this.#sets, this.#ofQuestion, found, this.#turns)
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

  /** All forms of the words of the question that are in some set. Rejects with the signal's reason. */
  async forms(): Promise<Set<string>> {
    const forms = new Set<string>()
    for (const { set, words } of this.#forms) {
      for (const word of words) {
        const form = withBlocks(() => set.word(word))
        forms.add(form instanceof Promise ? await form : form)
        if (this.#turns.isLong) await this.#turns.pass()
      }
      await this.#turns.pass()
    }
    return forms
  }

  /** How many passages have a word of the question as it stands there; undefined of other words. */
  havingExactly(form: string): number | undefined {
    return this.#ofQuestion.havingExactly(form)
  }

  async #run(): Promise<void> {
    const { excluded, document } = this.#question
    const turns = this.#turns
    await this.#ofQuestion.each(this.#scores, {
      words: async (words) => {
        for (const { all, exact } of words) {
          this.#parts.push(all)
          if (exact.idf > 0 && exact.passages > 0) this.#exactly.push(exact)
        }
        for (const [n, scores] of this.#scores.entries()) {
          const ofSet = words.map(({ all, exact, weight, inSets }) => {
            const worth = { idf: weight * all.idf, exact: weight * exact.idf }
            return { word: inSets[n] as WordInSet, worth }
          })
          this.#forms.push({ set: this.set(n), words: ofSet.flatMap(({ word }) => word.words) })
          await scores.addWords(ofSet, turns)
        }
      },
      part: (taken, isRequired) => {
        this.#parts.push(taken)
        for (const scores of this.#scores) {
          if (isRequired) scores.require()
          scores.endPart(taken.idf)
        }
      },
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
}
