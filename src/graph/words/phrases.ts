// Words that stand one behind the other in one field.

import type { Turns } from '../../turns.js'
import { patience, withBlocks } from '../miss.js'
import { columnOf } from './columns.js'
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

/** Where a phrase stands, in passages that are seen. Rejects with the signal's reason. */
export async function phraseIn(
  set: PassageSet,
  { forms, isPrefix }: Phrase,
  turns: Turns,
): Promise<PhraseList> {
  const found = new Map<number, FieldCounts>()
  const exact = forms.slice(0, isPrefix ? -1 : undefined)
  const words = await withBlocks(() => exact.map((form) => set.find(Buffer.from(form))))
  if (words.includes(-1)) return { passages: [], counts: [] }
  const last = forms.at(-1) as string
  const [from, to] = isPrefix ? await withBlocks(() => set.beginningWith(last)) : [0, 1]
  for (let n = from; n < to; n++) {
    const cursor = await withBlocks(() => new PhraseCursor(set, isPrefix ? [...words, n] : words))
    while (await withBlocks(() => cursor.take(found, patience.passages))) await turns.pass()
    await turns.pass()
  }
  return { passages: [...found.keys()], counts: [...found.values()] }
}

/** A cursor over the passages that have some words one behind the other. */
class PhraseCursor {
  readonly #set: PassageSet
  /** By place in the phrase: the list of its word. A word that comes again has one list. */
  readonly #lists: readonly WordList[]
  readonly #distinct: readonly WordList[]
  readonly #first: WordList | undefined

  /** May throw a Miss. */
  constructor(set: PassageSet, words: readonly number[]) {
    this.#set = set
    const lists = new Map([...new Set(words)].map((word) => [word, set.list(word)]))
    this.#distinct = [...lists.values()]
    this.#lists = words.map((word) => lists.get(word) as WordList)
    this.#first = this.#distinct[0]
  }

  /** Looks at so many passages at most. False at the end. May throw a Miss before it has looked at any. */
  take(found: Map<number, FieldCounts>, most: number): boolean {
    if (!this.#set.isWhole) this.#set.need(columnOf.place)
    const first = this.#first
    for (let n = 0; n < most; n++) {
      if (first === undefined || !first.next()) return false
      const areAll = advanced(this.#distinct, first.passage)
      if (areAll === undefined) return false
      if (areAll && this.#set.isSeen(first.passage)) this.#add(first.passage, found)
    }
    return true
  }

  #add(passage: number, found: Map<number, FieldCounts>): void {
    for (const list of this.#distinct) list.positions()
    const title = this.#in('title')
    const heading = this.#in('heading')
    const text = this.#in('text')
    if (title + heading + text === 0) return
    const before = found.get(passage) ?? { title: 0, heading: 0, text: 0 }
    found.set(passage, {
      title: before.title + title,
      heading: before.heading + heading,
      text: before.text + text,
    })
  }

  /** How often the words follow each other in a field. Positions of each are read once, field by field. */
  #in(field: keyof FieldCounts): number {
    const positions = new Map(this.#distinct.map((list) => [list, positionsOf(list, list[field])]))
    let starts: readonly number[] | undefined
    for (const [n, list] of this.#lists.entries()) {
      const those = positions.get(list) as readonly number[]
      starts = starts === undefined ? those : followed(starts, those, n)
      if (starts.length === 0) return 0
    }
    return starts?.length ?? 0
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

/** Ascending. */
function positionsOf(list: WordList, count: number): number[] {
  const positions: number[] = []
  let next = 0
  for (let n = 0; n < count; n++) {
    next += list.gap()
    positions.push(next++)
  }
  return positions
}

/** Of ascending starts those that have a position so far behind them, which ascend as well. */
function followed(
  starts: readonly number[],
  positions: readonly number[],
  behind: number,
): number[] {
  const left: number[] = []
  let at = 0
  for (const start of starts) {
    while (at < positions.length && (positions[at] as number) < start + behind) at++
    if (at === positions.length) break
    if (positions[at] === start + behind) left.push(start)
  }
  return left
}
