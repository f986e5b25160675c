// The words of a part that a word of a question stands for: itself, other forms of it, or all that begin
// with it.

import { bm25 } from '../../text/bm25.js'
import { beginningsOf, mayHaveOtherForms, stemmer } from '../../text/stemming.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import type { PassageSet } from './types.js'

/** A word of a part, and what it counts. */
export interface Form {
  readonly word: number
  readonly weight: number
  /** Whether it is the word of the question. If it is, it comes before others. */
  readonly isAsked: boolean
}

/** A word of a question. */
export interface AskedWord {
  readonly form: string
  /** Whether all words count that begin with it. */
  readonly isPrefix: boolean
}

export interface CountedWord extends AskedWord {
  /** How often the question has it. */
  readonly times: number
}

/** Of parts, which never change: the words of a stem, by language and stem. */
const known = new WeakMap<object, Map<string, readonly number[]>>()
const mostKnown = 10_000
const none: readonly number[] = []

/** The words of a part that count for one of a question, each once. Rejects with the signal's reason. */
export async function formsOf(
  set: PassageSet,
  { form, isPrefix }: AskedWord,
  languages: readonly string[],
  turns: Turns,
): Promise<Iterable<Form>> {
  if (isPrefix) return allOf(await withBlocks(() => set.beginningWith(form)))
  const own = await withBlocks(() => set.find(Buffer.from(form)))
  const forms: Form[] = own < 0 ? [] : [{ word: own, weight: 1, isAsked: true }]
  const found = new Set([own])
  for (const language of languages) {
    for (const word of await ofStem(set, form, language, turns)) {
      if (!found.has(word)) forms.push({ word, weight: bm25.otherForm, isAsked: false })
      found.add(word)
    }
  }
  return forms
}

/** One by one: hundreds of thousands may begin with a letter. */
function* allOf([from, to]: readonly [from: number, to: number]): Generator<Form> {
  for (let word = from; word < to; word++) yield { word, weight: 1, isAsked: false }
}

async function ofStem(
  set: PassageSet,
  form: string,
  language: string,
  turns: Turns,
): Promise<readonly number[]> {
  if (!mayHaveOtherForms(form, language)) return none
  const stemOf = await stemmer(language)
  const stem = stemOf(form)
  const ofSet = known.get(set.part) ?? new Map<string, readonly number[]>()
  known.set(set.part, ofSet)
  const key = `${language} ${stem}`
  const before = ofSet.get(key)
  if (before !== undefined) return before
  const words: number[] = []
  for (const beginning of beginningsOf(stem, language)) {
    const [from, to] = await withBlocks(() => set.beginningWith(beginning))
    for (let word = from; word < to; word++) {
      const other = withBlocks(() => set.word(word))
      if (stemOf(other instanceof Promise ? await other : other) === stem) words.push(word)
      if (turns.isLong) await turns.pass()
    }
  }
  if (ofSet.size >= mostKnown) ofSet.clear()
  ofSet.set(key, words)
  return words
}
