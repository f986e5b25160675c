// Passages by the words of a question, over the passages of several parts.

import { idfOf, saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { formsOf, type AskedWord } from './forms.js'
import { PassageScores } from './passage-scores.js'
import type { Phrase } from './phrases.js'
import { FieldWeights, weights } from './scoring.js'
import { statisticsOf, type Statistics } from './statistics.js'
import { TopPassages, type ScoredPassage } from './top-passages.js'
import type { PassageSet } from './types.js'
import { WordInSet } from './word-in-set.js'

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

/**
 * Where the rarer word of a pair is in more passages the pair is not looked for: the lists of both would be
 * read with all positions. Of a million passages those of two frequent words take longer than all else.
 */
export const mostPaired = 2 ** 14

/** A phrase, or the beginning of words, that is looked for in each set in turn. */
interface Part {
  readonly text: string
  readonly weight: number
  /** Whether only passages are found that have it. */
  readonly isRequired: boolean
  /** Takes what a set has of it. */
  readonly add: (set: PassageSet, scores: PassageScores, turns: Turns) => Promise<void>
}

/** A word as how it is told, and as the question has it, and what each set has of it. */
interface Word {
  readonly all: PartOfSearch
  readonly exact: PartOfSearch
  readonly inSets: readonly WordInSet[]
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
  /** To find them takes as long as it takes to score a frequent word. */
  #last: { readonly k: number; readonly best: readonly ScoredPassage[] } | undefined
  /** By word of the question: how many passages have it so. */
  readonly #exact = new Map<string, number>()
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
    this.#statistics = statistics
    this.#turns = turns
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

  /** The best, at most so many: best first, those of one score in the order of sets and passages. */
  best(k: number): ScoredPassage[] {
    if (this.#last?.k === k) return [...this.#last.best]
    const top = new TopPassages(k)
    for (const [n, scores] of this.#scores.entries()) scores.addTo(top, n)
    const best = top.sorted()
    this.#last = { k, best }
    return [...best]
  }

  /** That of one passage; 0 where it is not found. */
  scoreOf({ set, passage }: Pick<ScoredPassage, 'set' | 'passage'>): number {
    return (this.#scores[set] as PassageScores).of(passage)
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
      for (const form of await withBlocks(() => words.map((word) => set.word(word)))) {
        forms.add(form)
      }
      await this.#turns.pass()
    }
    return forms
  }

  /** How many passages have a word of the question as it stands there; undefined of other words. */
  havingExactly(form: string): number | undefined {
    return this.#exact.get(form)
  }

  /** What the scores of some passages are the sums of. */
  static async explained(
    sets: readonly PassageSet[],
    question: WordQuestion,
    found: readonly Pick<ScoredPassage, 'set' | 'passage'>[],
    turns: Turns,
  ): Promise<ScoreOfPart[][]> {
    const statistics = await statisticsOf(sets, turns)
    const fields = new FieldWeights(statistics)
    const search = new Search(sets, question, statistics, turns)
    const all: ScoreOfPart[][] = found.map(() => [])
    const asked = sets.map((_, n) => {
      return found.map(({ set, passage }) => (set === n ? passage : -1))
    })
    const tell = (part: PartOfSearch, frequencies: readonly number[]) => {
      for (const [n, frequency = 0] of frequencies.entries()) {
        if (!(frequency > 0) || part.idf === 0) continue
        all[n]?.push({ ...part, frequency, score: part.idf * saturated(frequency) })
      }
    }
    try {
      await search.#takeAll(
        async ({ all, exact, inSets }) => {
          for (const [n, word] of inSets.entries()) {
            const told = await word.told(asked[n] as readonly number[], fields, turns)
            tell(all, told.all)
            tell(exact, told.exact)
          }
        },
        (taken) => {
          for (const [n, scores] of search.#scores.entries()) {
            tell(taken, scores.endPart(taken.idf, asked[n]))
          }
        },
      )
      return all
    } finally {
      search.end()
    }
  }

  async #run(): Promise<void> {
    const { excluded, document } = this.#question
    const turns = this.#turns
    await this.#takeAll(
      async ({ all, exact, inSets }) => {
        this.#parts.push(all)
        if (exact.idf > 0 && exact.passages > 0) this.#exactly.push(exact)
        const worth = { idf: all.idf, exact: exact.idf }
        for (const [n, scores] of this.#scores.entries()) {
          const word = inSets[n] as WordInSet
          this.#forms.push({ set: this.set(n), words: word.words })
          await scores.addWord(word, worth, turns)
        }
      },
      (taken, { isRequired }) => {
        this.#parts.push(taken)
        for (const scores of this.#scores) {
          if (isRequired) scores.require()
          scores.endPart(taken.idf)
        }
      },
    )
    for (const [n, set] of this.#sets.entries()) {
      const scores = this.#scores[n] as PassageScores
      scores.keepRequired()
      // As it is written: who leaves a word out does not mean others of its stem.
      for (const phrase of excluded) await scores.drop(phrase, turns)
      if (document === undefined) continue
      await withBlocks(() => scores.keepDocument(set.idOf({ v: document, e: true })))
    }
  }

  /** Takes words, then phrases: with what each is worth. */
  async #takeAll(
    takeWord: (word: Word) => Promise<void>,
    endPart: (taken: PartOfSearch, part: Part) => void,
  ): Promise<void> {
    const { words, phrases, joined, pairs } = this.#question
    for (const word of words) {
      if (word.isPrefix) endPart(...(await this.#take(partOfBeginning(word))))
      else await takeWord(await this.#word(word))
    }
    for (const phrase of phrases) {
      endPart(...(await this.#take(partOf(phrase, { weight: 1, isRequired: true }))))
    }
    for (const phrase of joined) {
      endPart(...(await this.#take(partOf(phrase, { weight: weights.joined, isRequired: false }))))
    }
    for (const phrase of pairs) {
      const rarer = Math.min(...phrase.forms.map((form) => this.havingExactly(form) ?? 0))
      if (rarer > mostPaired) continue
      endPart(...(await this.#take(partOf(phrase, { weight: weights.pair, isRequired: false }))))
    }
  }

  /**
   * A word as the question has it may be far rarer than all its forms together, *planting* than plants: it
   * has a share of what it would be worth more by itself.
   */
  async #word(word: AskedWord): Promise<Word> {
    const turns = this.#turns
    const { languages } = this.#question
    const inSets: WordInSet[] = []
    for (const set of this.#sets) {
      inSets.push(await WordInSet.of(set, await formsOf(set, word, languages, turns), turns))
      await turns.pass()
    }
    const passages = inSets.reduce((sum, { having }) => sum + having, 0)
    const exactly = inSets.reduce((sum, { havingExactly }) => sum + havingExactly, 0)
    this.#exact.set(word.form, exactly)
    const idf = this.#idfOf(passages)
    const exactIdf = weights.exact * (this.#idfOf(exactly) - idf)
    return {
      all: { text: word.form, passages, idf },
      exact: { text: `"${word.form}"`, passages: exactly, idf: exactIdf },
      inSets,
    }
  }

  /** Takes a part of the question in all sets. Gives what it is worth. */
  async #take(part: Part): Promise<[taken: PartOfSearch, part: Part]> {
    const turns = this.#turns
    let passages = 0
    for (const [n, set] of this.#sets.entries()) {
      const scores = this.#scores[n] as PassageScores
      await part.add(set, scores, turns)
      passages += scores.having
      await turns.pass()
    }
    return [{ text: part.text, passages, idf: part.weight * this.#idfOf(passages) }, part]
  }

  #idfOf(passages: number): number {
    return idfOf(passages, this.#statistics.passages)
  }
}

function partOfBeginning(word: AskedWord): Part {
  const add: Part['add'] = async (set, scores, turns) => {
    for (const form of await formsOf(set, word, [], turns)) await scores.addForm(form, turns)
  }
  return { text: `${word.form}*`, weight: 1, isRequired: false, add }
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
