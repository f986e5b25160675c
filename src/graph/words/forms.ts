// The words of a part that a word of a question stands for: itself, other forms of it, or all that begin
// with it.

import { bm25 } from '../../text/bm25.js'
import { beginningOf, stemmer } from '../../text/stemming.js'
import { withBlocks } from '../miss.js'
import type { PassageSet } from './types.js'

/** A word of a part, and what it counts. */
export interface Form {
  readonly word: number
  readonly weight: number
}

/** A word of a question. */
export interface AskedWord {
  readonly form: string
  /** Whether all words count that begin with it. */
  readonly isPrefix: boolean
}

/** Of parts, which never change: the words of a stem, by language and stem. */
const known = new WeakMap<PassageSet, Map<string, readonly number[]>>()
const mostKnown = 10_000

/** The words of a part that count for one of a question, each once. */
export async function formsOf(
  set: PassageSet,
  { form, isPrefix }: AskedWord,
  languages: readonly string[],
): Promise<readonly Form[]> {
  if (isPrefix) {
    const words = await beginningWith(set, form)
    return words.map((word) => ({ word, weight: 1 }))
  }
  const own = await withBlocks(() => set.find(Buffer.from(form)))
  const forms: Form[] = own < 0 ? [] : [{ word: own, weight: 1 }]
  const found = new Set([own])
  for (const language of languages) {
    for (const word of await ofStem(set, form, language)) {
      if (!found.has(word)) forms.push({ word, weight: bm25.otherForm })
      found.add(word)
    }
  }
  return forms
}

async function ofStem(set: PassageSet, form: string, language: string): Promise<readonly number[]> {
  const stemOf = stemmer(language)
  const stem = stemOf(form)
  const ofSet = known.get(set) ?? new Map<string, readonly number[]>()
  known.set(set, ofSet)
  const key = `${language} ${stem}`
  const before = ofSet.get(key)
  if (before !== undefined) return before
  const words: number[] = []
  for (const word of await beginningWith(set, beginningOf(stem))) {
    const other = await withBlocks(() => set.word(word))
    if (stemOf(other) === stem) words.push(word)
  }
  if (ofSet.size >= mostKnown) ofSet.clear()
  ofSet.set(key, words)
  return words
}

async function beginningWith(set: PassageSet, beginning: string): Promise<readonly number[]> {
  const [from, to] = await withBlocks(() => set.beginningWith(beginning))
  return Array.from({ length: to - from }, (_, n) => from + n)
}
