// A word of a question in the passages of one set, in all of its forms.

import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import type { Form } from './forms.js'
import type { FieldWeights } from './scoring.js'
import { eachSpan, widest, type SpanWork } from './spans.js'
import type { PassageSet } from './types.js'
import { entries, type WordEntries, type SeenNumbers } from './word-entries.js'
import type { WordList } from './word-list.js'

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

export interface ListOfForm extends Form {
  readonly list: WordList
}

export class WordInSet {
  /** Passages that are seen and have the word, and those that have it as it was asked. */
  readonly having: number
  readonly havingExactly: number
  readonly forms: readonly ListOfForm[]
  readonly #set: PassageSet

  private constructor(set: PassageSet, forms: readonly ListOfForm[], { all, exact }: Counts) {
    this.#set = set
    this.forms = forms
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
    return this.forms.map(({ word }) => word)
  }

  /** How often it is in some passages, those that are not of the set below 0. Rejects with the signal's reason. */
  async told(passages: readonly number[], weights: FieldWeights, turns: Turns): Promise<Told> {
    const set = this.#set
    const all = new Map<number, number>()
    const exact = new Map<number, number>()
    const asked = [...new Set(passages)].filter((passage) => passage >= 0).sort((a, b) => a - b)
    for (const { list, weight, isAsked } of this.forms) {
      const cursor = list.entries()
      for (const passage of asked) {
        while (cursor.read(passage) > 0) if (turns.isLong) await turns.pass()
        if (cursor.next !== passage) continue
        const frequency = await withBlocks(() => {
          weights.begin(set, passage, passage + 1)
          const read = weights.read(cursor, weight, passage + 1, set.seen(passage, passage + 1))
          return read > 0 ? (entries.frequencies[0] as number) : 0
        })
        if (frequency === 0) continue
        all.set(passage, (all.get(passage) ?? 0) + frequency)
        if (isAsked) exact.set(passage, frequency)
      }
    }
    const of = (told: ReadonlyMap<number, number>) => passages.map((each) => told.get(each) ?? 0)
    return { all: of(all), exact: of(exact) }
  }
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

/** Of the passages of a span 1 where some form was found. Zeros between two spans. */
const found = new Uint8Array(widest)

async function counted(
  set: PassageSet,
  forms: readonly ListOfForm[],
  turns: Turns,
): Promise<Counts> {
  const cursors = forms.map(({ list }) => list.entries())
  let [all, exact] = [0, 0]
  const count: SpanWork = (from, to, seen) => {
    let ofSpan = 0
    try {
      for (const [n, cursor] of cursors.entries()) {
        ofSpan += countNew(cursor, from, to, seen)
        if (forms[n]?.isAsked === true) exact += ofSpan
      }
    } finally {
      found.fill(0, 0, to - from)
    }
    all += ofSpan
  }
  await eachSpan({ set, cursors, works: [count] }, turns)
  return { all, exact }
}

/** Passages of a span that have a form and none of those before. */
function countNew(
  cursor: WordEntries,
  from: number,
  to: number,
  seen: SeenNumbers | undefined,
): number {
  const { passages } = entries
  let count = 0
  for (let read = cursor.readSeen(to, seen); read >= 0; read = cursor.readSeen(to, seen)) {
    for (let n = 0; n < read; n++) {
      const at = (passages[n] as number) - from
      count += 1 - (found[at] as number)
      found[at] = 1
    }
  }
  return count
}
