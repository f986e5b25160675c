// Words that stand one behind the other in one field.

import type { PassageSet } from './types.js'
import type { FieldCounts, WordList } from './word-list.js'

/** Passages that have a phrase, and how often in which field. */
export interface PhraseList {
  readonly passages: readonly number[]
  readonly counts: readonly FieldCounts[]
}

/** Words that have to stand one behind the other. */
export interface Phrase {
  readonly forms: readonly string[]
  /** Whether the last of them is only what a word begins with. */
  readonly isPrefix: boolean
}

/** Where a phrase stands, in passages that are seen. May throw a Miss; it is begun anew then. */
export function phraseIn(set: PassageSet, { forms, isPrefix }: Phrase): PhraseList {
  const found = new Map<number, FieldCounts>()
  const words = forms.slice(0, isPrefix ? -1 : undefined).map((form) => set.find(Buffer.from(form)))
  if (words.includes(-1)) return { passages: [], counts: [] }
  const [from, to] = isPrefix ? set.beginningWith(forms.at(-1) as string) : [0, 1]
  for (let last = from; last < to; last++) {
    addPhrase(set, isPrefix ? [...words, last] : words, found)
  }
  return { passages: [...found.keys()], counts: [...found.values()] }
}

function addPhrase(
  set: PassageSet,
  words: readonly number[],
  found: Map<number, FieldCounts>,
): void {
  const lists = words.map((word) => set.list(word))
  const [first] = lists
  if (first === undefined) return
  while (first.next()) {
    const areAll = advanced(lists, first.passage)
    if (areAll === undefined) return
    if (!areAll || !set.isSeen(first.passage)) continue
    const { title, heading, text } = countsOf(lists)
    if (title + heading + text === 0) continue
    const before = found.get(first.passage) ?? { title: 0, heading: 0, text: 0 }
    found.set(first.passage, {
      title: before.title + title,
      heading: before.heading + heading,
      text: before.text + text,
    })
  }
}

/** Whether all come to a passage; undefined where one has ended. */
function advanced(lists: readonly WordList[], passage: number): boolean | undefined {
  let areAll = true
  for (const list of lists) {
    while (!(list.isBegun && list.passage >= passage)) if (!list.next()) return undefined
    areAll &&= list.passage === passage
  }
  return areAll
}

/** How often the words of all lists follow each other in the passage that they are at. */
function countsOf(lists: readonly WordList[]): FieldCounts {
  for (const list of lists) list.positions()
  return {
    title: inField(lists, 'title'),
    heading: inField(lists, 'heading'),
    text: inField(lists, 'text'),
  }
}

function inField(lists: readonly WordList[], field: keyof FieldCounts): number {
  const [first, ...others] = lists.map((list) => positionsOf(list, list[field]))
  if (first === undefined) return 0
  const those = others.map((positions) => new Set(positions))
  return first.filter((at) => those.every((positions, n) => positions.has(at + n + 1))).length
}

/** All positions of a field: each field's have to be read, in their order. */
function positionsOf(list: WordList, count: number): number[] {
  const positions: number[] = []
  let next = 0
  for (let n = 0; n < count; n++) {
    next += list.gap()
    positions.push(next++)
  }
  return positions
}
