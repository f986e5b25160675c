// The words and phrases of a question in several sets of passages, one after the other, and what each is worth.

import { idfOf, weightOfTimes } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { bounds } from './bounds.js'
import { formsOf, type AskedWord, type CountedWord } from './forms.js'
import type { PassageScores } from './passage-scores.js'
import type { Phrase, PlacedForm } from './phrases.js'
import { nameOfPhrase, type PartOfSearch, type WordQuestion } from './question.js'
import { weights } from './scoring.js'
import type { Statistics } from './statistics.js'
import type { PassageSet } from './types.js'
import { WordInSet } from './word-in-set.js'

/** A word as how it is told, and as the question has it, and what each set has of it. */
export interface Word {
  readonly all: PartOfSearch
  readonly exact: PartOfSearch
  /** What both count, by how often the question has it. */
  readonly weight: number
  readonly inSets: readonly WordInSet[]
}

/** Of a question so many words are remembered, as far as they may be held at once. */
const mostRemembered = 64

/** A phrase, or the beginning of words. */
interface Part {
  readonly text: string
  /** By its idf. */
  readonly worth: (idf: number) => number
  /** Whether only passages are found that have it. */
  readonly isRequired: boolean
  /** Takes what a set has of it. */
  readonly add: (set: PassageSet, scores: PassageScores, turns: Turns) => Promise<void>
}

/** Takes a part of a question after the other. */
export interface PartsTaker {
  /** One or some, in their order. */
  readonly words: (words: readonly Word[]) => Promise<void>
  /** The part that is in hand in all scores. */
  readonly part: (part: PartOfSearch, isRequired: boolean) => void
}

export class QuestionParts {
  readonly #sets: readonly PassageSet[]
  readonly #question: WordQuestion
  readonly statistics: Statistics
  readonly #turns: Turns
  /** By word of the question: how many passages have it so. */
  readonly #exact = new Map<string, number>()
  /** What is told of passages is told for some after the other, of the same words. */
  readonly #known = new Map<CountedWord, Word>()
  #held = 0

  constructor(
    sets: readonly PassageSet[],
    question: WordQuestion,
    statistics: Statistics,
    turns: Turns,
  ) {
    this.#sets = sets
    this.#question = question
    this.statistics = statistics
    this.#turns = turns
  }

  /** How many passages have a word of the question as it stands there; undefined of other words, and before it came. */
  havingExactly(form: string): number | undefined {
    return this.#exact.get(form)
  }

  /** First words, then phrases, which are in hand in `scores`, one for each set. Rejects with the signal's reason. */
  async each(scores: readonly PassageScores[], taker: PartsTaker): Promise<void> {
    const { words, phrases, joined, pairs, apart } = this.#question
    const take = async (part: Part) => {
      taker.part(await this.#take(part, scores), part.isRequired)
    }
    const taken: Word[] = []
    let held = 0
    for (const asked of words) {
      if (asked.isPrefix) {
        await take(partOfBeginning(asked))
        continue
      }
      const word = await this.#word(asked)
      taken.push(word)
      held += word.all.passages
      if (held <= bounds.mostHeld) continue
      await taker.words(taken.splice(0))
      held = 0
    }
    if (taken.length > 0) await taker.words(taken)
    for (const phrase of phrases) await take(partOf(phrase, (idf) => idf, true))
    for (const phrase of joined) await take(partOf(phrase, (idf) => weights.joined * idf))
    const ofPair = (forms: readonly string[]) => {
      const rarer = Math.min(...forms.map((form) => this.havingExactly(form) ?? 0))
      if (rarer > bounds.mostPaired) return undefined
      const known = this.#idfOf(rarer)
      return (idf: number) => weights.pair * Math.max(0, idf - known)
    }
    for (const phrase of pairs) {
      const worth = ofPair(phrase.forms)
      if (worth !== undefined) await take(partOf(phrase, worth))
    }
    for (const forms of apart) {
      const worth = ofPair(forms.map(({ form }) => form))
      if (worth !== undefined) await take(partApart(forms, worth))
    }
  }

  async #word(word: CountedWord): Promise<Word> {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const found = await this.#lookUp(word)
    const { passages } = found.all
    if (this.#known.size < mostRemembered && this.#held + passages <= bounds.mostHeld) {
      this.#known.set(word, found)
      this.#held += passages
    }
    return found
  }

  /**
   * A word as the question has it may be far rarer than all its forms together, *planting* than plants: it
   * has a share of what it would be worth more by itself.
   */
  async #lookUp(word: CountedWord): Promise<Word> {
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
      weight: weightOfTimes(word.times),
      inSets,
    }
  }

  /** Takes a part in hand in all sets. */
  async #take(
    { text, worth, add }: Part,
    allScores: readonly PassageScores[],
  ): Promise<PartOfSearch> {
    const turns = this.#turns
    let passages = 0
    for (const [n, set] of this.#sets.entries()) {
      const scores = allScores[n] as PassageScores
      await add(set, scores, turns)
      passages += scores.having
      await turns.pass()
    }
    return { text, passages, idf: worth(this.#idfOf(passages)) }
  }

  #idfOf(passages: number): number {
    return idfOf(passages, this.statistics.passages)
  }
}

function partOfBeginning(word: AskedWord): Part {
  const add: Part['add'] = async (set, scores, turns) => {
    for (const form of await formsOf(set, word, [], turns)) await scores.addForm(form, turns)
  }
  return { text: `${word.form}*`, worth: (idf) => idf, isRequired: false, add }
}

function partOf(phrase: Phrase, worth: Part['worth'], isRequired = false): Part {
  const add: Part['add'] = (_set, scores, turns) => scores.addPhrase(phrase, turns)
  return { text: nameOfPhrase(phrase), worth, isRequired, add }
}

function partApart(forms: readonly PlacedForm[], worth: Part['worth']): Part {
  const add: Part['add'] = (_set, scores, turns) => scores.addPlaced(forms, turns)
  return { text: `"${forms.map(({ form }) => form).join(' … ')}"`, worth, isRequired: false, add }
}
