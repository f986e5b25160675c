// A word of a question in the passages of one set, in all of its forms.

import { saturated } from '../../text/bm25.js'
import type { Turns } from '../../turns.js'
import { patience, withBlocks } from '../miss.js'
import type { Form } from './forms.js'
import type { PassageNumbers } from './passage-numbers.js'
import type { FieldWeights } from './scoring.js'
import type { PassageSet, SeenNumbers } from './types.js'
import type { WordList } from './word-list.js'

/**
 * Passages are gone through in spans, in which all forms of the word are looked at before the next one:
 * what is added up then is in the processor's cache, and not in memory.
 */
export const widest = 2 ** 16

/** Of the passages of a span: how often a word is in each, and which those are. Zeros between two spans. */
const frequencies = new Float64Array(widest)
const touched = new Uint32Array(widest)

/** What a word is worth, and what it is worth more that it stands there as it was asked. */
export interface Worth {
  readonly idf: number
  readonly exact: number
}

/** Of each passage that is asked for: how often it has the word, and how often as it was asked. */
export interface Told {
  readonly all: readonly number[]
  readonly exact: readonly number[]
}

interface Counts {
  readonly all: number
  readonly exact: number
}

/** Of parts, which never change, by forms: how many passages have them, where all are seen. */
const known = new WeakMap<object, Map<string, Counts>>()
const mostKnown = 10_000

export class WordInSet {
  /** Passages that are seen and have the word, and those that have it as it was asked. */
  readonly having: number
  readonly havingExactly: number
  readonly #set: PassageSet
  readonly #forms: readonly ListOfForm[]

  private constructor(set: PassageSet, forms: readonly ListOfForm[], { all, exact }: Counts) {
    this.#set = set
    this.#forms = forms
    this.having = all
    this.havingExactly = exact
  }

  /** Rejects with the signal's reason. */
  static async of(set: PassageSet, forms: Iterable<Form>, turns: Turns): Promise<WordInSet> {
    const lists: ListOfForm[] = []
    for (const form of forms) {
      const list = withBlocks(() => set.counts(form.word))
      lists.push({ ...form, list: list instanceof Promise ? await list : list })
    }
    return new WordInSet(set, lists, await countsOf(set, lists, turns))
  }

  /** Its forms, as words of the set. */
  get words(): number[] {
    return this.#forms.map(({ word }) => word)
  }

  /** Adds what the word is worth to the scores of passages that have it. Rejects with the signal's reason. */
  async addTo(
    scores: PassageNumbers,
    weights: FieldWeights,
    { idf, exact }: Worth,
    turns: Turns,
  ): Promise<void> {
    await this.#inSpans(weights, turns, (from, count, isExact) => {
      const worth = isExact ? exact : idf
      if (worth <= 0) return
      for (let n = 0; n < count; n++) {
        const at = touched[n] as number
        scores.add(from + at, worth * saturated(frequencies[at] as number))
      }
    })
  }

  /** How often it is in some passages, those that are not of the set below 0. Rejects with the signal's reason. */
  async told(passages: readonly number[], weights: FieldWeights, turns: Turns): Promise<Told> {
    const all = passages.map(() => 0)
    const exact = passages.map(() => 0)
    await this.#inSpans(weights, turns, (from, _, isExact) => {
      for (const [n, passage] of passages.entries()) {
        const at = passage - from
        if (at < 0 || at >= widest || (frequencies[at] as number) === 0) continue
        if (isExact) exact[n] = frequencies[at] as number
        else all[n] = frequencies[at] as number
      }
    })
    return { all, exact }
  }

  /** Calls `end` in each span with how many passages have the form that was asked, and then any of them. */
  async #inSpans(
    weights: FieldWeights,
    turns: Turns,
    end: (from: number, count: number, isExact: boolean) => void,
  ): Promise<void> {
    const set = this.#set
    const cursors = this.#forms.map((form) => new FormCursor(form))
    await eachSpan(set, turns, (from, to, seen) => {
      weights.begin(set)
      // Nothing is missing from here on.
      let count = 0
      try {
        for (const cursor of cursors) {
          count = cursor.addSpan(from, to, { count, seen, weights })
          if (cursor.isAsked) end(from, count, true)
        }
        end(from, count, false)
      } catch (error) {
        frequencies.fill(0)
        throw error
      }
      clear(count)
    })
  }
}

interface ListOfForm extends Form {
  readonly list: WordList
}

async function countsOf(
  set: PassageSet,
  forms: readonly ListOfForm[],
  turns: Turns,
): Promise<Counts> {
  const [first] = forms
  if (first === undefined) return { all: 0, exact: 0 }
  if (!set.isWhole) return counted(set, forms, turns)
  if (forms.length === 1) {
    return { all: first.list.count, exact: first.isAsked ? first.list.count : 0 }
  }
  const ofPart = known.get(set.part) ?? new Map<string, Counts>()
  known.set(set.part, ofPart)
  const key = forms.map(({ word, isAsked }) => `${isAsked ? '=' : ''}${word}`).join(' ')
  const before = ofPart.get(key)
  if (before !== undefined) return before
  const counts = await counted(set, forms, turns)
  if (ofPart.size >= mostKnown) ofPart.clear()
  ofPart.set(key, counts)
  return counts
}

async function counted(
  set: PassageSet,
  forms: readonly ListOfForm[],
  turns: Turns,
): Promise<Counts> {
  const cursors = forms.map((form) => new FormCursor(form))
  let [all, exact] = [0, 0]
  await eachSpan(set, turns, (from, to, seen) => {
    let count = 0
    try {
      for (const cursor of cursors) {
        count = cursor.addSpan(from, to, { count, seen, weights: undefined })
        if (cursor.isAsked) exact += count
      }
      all += count
    } catch (error) {
      frequencies.fill(0)
      throw error
    }
    clear(count)
  })
  return { all, exact }
}

function clear(count: number): void {
  for (let n = 0; n < count; n++) frequencies[touched[n] as number] = 0
}

/** `work` may throw a Miss before it has done anything. Rejects with the signal's reason. */
async function eachSpan(
  set: PassageSet,
  turns: Turns,
  work: (from: number, to: number, seen: SeenNumbers) => void,
): Promise<void> {
  const width = Math.min(widest, patience.span)
  for (let from = 0; from < set.count; from += width) {
    const done = withBlocks(() => work(from, Math.min(set.count, from + width), set.seen()))
    if (done instanceof Promise) await done
    if (turns.isLong) await turns.pass()
  }
}

interface Span {
  /** Passages of the span that were found before. */
  readonly count: number
  readonly seen: SeenNumbers
  /** Undefined: how often it is there is not asked. */
  readonly weights: FieldWeights | undefined
}

/** Goes through the passages that have a form. */
class FormCursor {
  readonly isAsked: boolean
  readonly #list: WordList
  readonly #weight: number
  #isMore: boolean

  constructor({ list, weight, isAsked }: ListOfForm) {
    this.#list = list.again()
    this.#weight = weight
    this.isAsked = isAsked
    this.#isMore = this.#list.next()
  }

  /** Adds those of a span, of which the cursor has passed none. Gives how many were found by now. */
  addSpan(from: number, to: number, { count, seen, weights }: Span): number {
    const list = this.#list
    const weight = this.#weight
    while (this.#isMore && list.passage < to) {
      const { passage } = list
      if (seen.has(passage)) {
        const at = passage - from
        const before = frequencies[at] as number
        if (before === 0) touched[count++] = at
        const frequency = weights === undefined ? 1 : weights.frequency(passage, list)
        // It is above 0, whatever a damaged index says of lengths.
        frequencies[at] = before + (weight * frequency || Number.MIN_VALUE)
      }
      this.#isMore = list.next()
    }
    return count
  }
}
