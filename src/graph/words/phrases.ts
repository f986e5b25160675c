// Words that stand one behind the other in one field.

import type { Turns } from '../../turns.js'
import { patience, withBlocks } from '../miss.js'
import { fields, PhraseStarts, type FieldStarts } from './phrase-starts.js'
import type { PassageSet } from './types.js'
import type { SeenNumbers } from './word-entries.js'
import type { FieldCounts, WordList } from './word-list.js'

/** Words that have to stand one behind the other. */
export interface Phrase {
  readonly forms: readonly string[]
  /** Whether the last of them is only what a word begins with. */
  readonly isPrefix: boolean
}

/** Takes passages. */
export interface PhraseTaker {
  /** How often the phrase is in a passage, these ascending for each phrase. Throws no Miss. */
  readonly take: (passage: number, counts: Readonly<FieldCounts>) => void
  /** Called once some were taken, at most `patience.passages`. */
  readonly taken?: () => Promise<void>
}

/**
 * Tells of all passages that are seen and have a phrase: once, or where it ends with what words begin
 * with, once for each of these. Rejects with the signal's reason.
 */
export async function takePhrase(
  set: PassageSet,
  { forms, isPrefix }: Phrase,
  turns: Turns,
  taker: PhraseTaker,
): Promise<void> {
  const last = forms.at(-1) as string
  const whole = await withBlocks(() => {
    return forms.slice(0, -1).map((form) => set.find(Buffer.from(form)))
  })
  if (whole.includes(-1)) return
  const slices = new Slices(set, turns, taker)
  const [from, to] = await withBlocks(() => {
    if (isPrefix) return set.beginningWith(last)
    const word = set.find(Buffer.from(last))
    return [Math.max(word, 0), word + 1]
  })
  if (whole.length === 0) {
    for (let word = from; word < to; word++) await slices.takeWord(word)
  } else if (to - from === 1) {
    await slices.each([...whole, from].map(inTurn), countTo(taker))
  } else if (from < to) {
    // What they follow is read once for all of them.
    const before = new PhraseStarts(whole.length)
    await slices.each(whole.map(inTurn), (passage, starts) => before.add(passage, starts))
    for (let word = from; word < to; word++) await slices.takeBehind(before, word)
  }
}

/** A word, and how many words behind the first of some. */
export interface PlacedForm {
  readonly form: string
  readonly at: number
}

/** The same of words between which there may be others, however many times one of them comes. */
export async function takePlaced(
  set: PassageSet,
  forms: readonly PlacedForm[],
  turns: Turns,
  taker: PhraseTaker,
): Promise<void> {
  const words = await withBlocks(() => {
    return forms.map(({ form, at }) => ({ word: set.find(Buffer.from(form)), at }))
  })
  if (words.some(({ word }) => word < 0)) return
  const slices = new Slices(set, turns, taker)
  const [first, ...others] = words
  if (first !== undefined && others.length === 0) await slices.takeWord(first.word)
  else await slices.each(words, countTo(taker))
}

interface PlacedWord {
  readonly word: number
  readonly at: number
}

function inTurn(word: number, at: number): PlacedWord {
  return { word, at }
}

function countTo(taker: PhraseTaker) {
  return (passage: number, { title, heading, text }: FieldStarts): void => {
    taker.take(passage, { title: title.length, heading: heading.length, text: text.length })
  }
}

/** Works in slices, between which others have their turn, and take what blocks they need. */
class Slices {
  readonly #set: PassageSet
  readonly #turns: Turns
  readonly #taker: PhraseTaker

  constructor(set: PassageSet, turns: Turns, taker: PhraseTaker) {
    this.#set = set
    this.#turns = turns
    this.#taker = taker
  }

  /** Takes the passages that have a word. Where it stands is not read. */
  async takeWord(word: number): Promise<void> {
    const list = await withBlocks(() => this.#set.counts(word))
    await this.#inTurns((seen) => {
      if (!list.next()) return 0
      if (seen.has(list.passage)) this.#taker.take(list.passage, list)
      return 1
    })
  }

  /** Calls `found` with passages that have some words one behind the other, and where. */
  async each(
    words: readonly PlacedWord[],
    found: (passage: number, starts: FieldStarts) => void,
  ): Promise<void> {
    const cursor = await withBlocks(() => new PhraseCursor(this.#set, words))
    await this.#inTurns((seen) => cursor.next(seen, found))
  }

  /** Takes the passages that have a word behind a phrase. */
  async takeBehind(before: PhraseStarts, word: number): Promise<void> {
    const list = await withBlocks(() => this.#set.list(word))
    before.rewind()
    await this.#inTurns(() => {
      if (!list.next()) return 0
      const counts = before.followedBy(list)
      if (counts !== undefined) this.#taker.take(list.passage, counts)
      return 1 + costOf(list.title + list.heading + list.text)
    })
  }

  /** Calls `step`, which throws no Miss and tells how much it has done, in passages, until that is nothing. */
  async #inTurns(step: (seen: SeenNumbers) => number): Promise<void> {
    const slice = () => {
      const seen = this.#set.seen()
      // Nothing is missing from here on.
      for (let left = patience.passages; left > 0;) {
        const done = step(seen)
        if (done === 0) return false
        left -= done
      }
      return true
    }
    for (;;) {
      const done = withBlocks(slice)
      const isMore = done instanceof Promise ? await done : done
      await this.#taker.taken?.()
      if (this.#turns.isLong) await this.#turns.pass()
      if (!isMore) return
    }
  }
}

/** What places of words cost to look at, in passages: one costs as much as some of them. */
function costOf(places: number): number {
  return places / 1024
}

const nowhere: readonly number[] = []

/** A cursor over the passages that have some words one behind the other. */
class PhraseCursor {
  /** By place in the phrase: the list of its word. A word that comes again has one list. */
  readonly #lists: readonly { readonly list: WordList; readonly at: number }[]
  readonly #distinct: readonly WordList[]
  readonly #rarest: WordList
  /** Of the passage that is under way: the field that is looked at, by its number, and what was found in those before. */
  #field: number = fields.length
  readonly #found: Record<keyof FieldCounts, readonly number[]> = {
    title: nowhere,
    heading: nowhere,
    text: nowhere,
  }
  /** Where each word is in this field, how many words of the phrase were looked for, and where these follow each other. */
  readonly #positions = new Map<WordList, readonly number[]>()
  #looked = 0
  #starts: number[] = []

  /** May throw a Miss. */
  constructor(set: PassageSet, words: readonly PlacedWord[]) {
    const distinct = new Set(words.map(({ word }) => word))
    const lists = new Map([...distinct].map((word) => [word, set.list(word)]))
    this.#distinct = [...lists.values()]
    this.#lists = words.map(({ word, at }) => ({ list: lists.get(word) as WordList, at }))
    this.#rarest = this.#distinct.reduce((a, b) => (b.count < a.count ? b : a))
  }

  /**
   * Looks at the next passage, or goes on with one that has the words so often that others have their turn
   * meanwhile: a text of a megabyte may be one passage. How much that was, in passages; 0 at the end.
   */
  next(seen: SeenNumbers, found: (passage: number, starts: FieldStarts) => void): number {
    const first = this.#rarest
    if (this.#field === fields.length) {
      if (!first.next()) return 0
      const areAll = advanced(this.#distinct, first.passage)
      if (areAll === undefined) return 0
      if (!areAll || !seen.has(first.passage)) return 1
      for (const list of this.#distinct) list.positions()
      this.#field = 0
    }
    let cost = 0
    while (this.#field < fields.length) {
      cost += this.#lookOn(fields[this.#field] as keyof FieldCounts)
      if (cost > patience.passages && this.#field < fields.length) return cost
    }
    const { title, heading, text } = this.#found
    if (title.length + heading.length + text.length > 0) found(first.passage, this.#found)
    return 1 + cost
  }

  /** Reads where one more word is in a field, or looks which of those before it follows. What that costs. */
  #lookOn(field: keyof FieldCounts): number {
    const positions = this.#positions
    // As a rule in titles and headings.
    if (positions.size === 0 && this.#distinct.every((list) => list[field] === 0)) {
      this.#endField(field, nowhere)
      return 0
    }
    const unread = this.#distinct[positions.size]
    if (unread !== undefined) {
      positions.set(unread, positionsOf(unread, unread[field]))
      return costOf(unread[field])
    }
    const { list, at } = this.#lists[this.#looked] as { list: WordList; at: number }
    const those = positions.get(list) as readonly number[]
    const cost = costOf(this.#starts.length + those.length)
    if (this.#looked++ === 0) this.#starts = those.slice()
    else keepFollowed(this.#starts, those, at)
    if (this.#looked === this.#lists.length || this.#starts.length === 0) {
      this.#endField(field, this.#starts)
    }
    return cost
  }

  #endField(field: keyof FieldCounts, starts: readonly number[]): void {
    this.#found[field] = starts
    this.#positions.clear()
    this.#looked = 0
    this.#field++
  }
}

/** Whether all come to a passage; undefined where one has ended. */
function advanced(lists: readonly WordList[], passage: number): boolean | undefined {
  let areAll = true
  for (const list of lists) {
    if (!list.advance(passage)) return undefined
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

/** Leaves of ascending starts those that have a position so far behind them, which ascend as well. */
function keepFollowed(starts: number[], positions: readonly number[], behind: number): void {
  let left = 0
  let at = 0
  for (const start of starts) {
    while (at < positions.length && (positions[at] as number) < start + behind) at++
    if (at === positions.length) break
    if (positions[at] === start + behind) starts[left++] = start
  }
  starts.length = left
}
