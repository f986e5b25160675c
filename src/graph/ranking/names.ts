// The names that passages are called by, and that they speak of: which stand in a text, and where a name leads.

import { isLowerAt } from '../../text/letters.js'
import { isStopWord } from '../../text/stop-words.js'
import { eachWord } from '../../text/words.js'
import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { bounds } from '../words/bounds.js'
import { formsOfName, mostNameForms, wordOfForms } from '../words/name-words.js'
import { firstInOrder, type PassageOfSet } from '../words/passage-order.js'
import { takePhrase } from '../words/phrases.js'
import type { PassageSet } from '../words/types.js'
import type { WordList } from '../words/word-list.js'

/** A name, and what a text has it as. */
export interface NameInText {
  /** Its word. */
  readonly name: string
  readonly text: string
}

interface LongestName extends NameInText {
  readonly words: number
}

interface WordInText {
  readonly form: string
  readonly start: number
  readonly end: number
}

const IS_NAME = 1
const CONTINUES = 2
const IS_TITLE = 4

/** By set: what begins a name, and is one. Sets never change. */
const known = new WeakMap<PassageSet, Map<string, number>>()
const mostKnown = 100_000

/** More passages of one name are not looked at. */
const mostNamed = 10_000

/** Of a passage, in UTF-16 code units: what follows leads nowhere. */
const mostRead = 65_536

/** The names of the passages of several sets. */
export class NameBook {
  readonly #sets: readonly PassageSet[]
  readonly #languages: readonly string[]

  /** By the languages a word alone is passed over that says little. */
  constructor(sets: readonly PassageSet[], languages: readonly string[]) {
    this.#sets = sets
    this.#languages = languages
  }

  /** The names that stand in a text, at each word the longest, none in another. */
  async namesIn(text: string, turns: Turns): Promise<NameInText[]> {
    const words: WordInText[] = []
    eachWord(text.slice(0, mostRead), (form, start, end) => words.push({ form, start, end }))
    const found: NameInText[] = []
    for (let at = 0; at < words.length;) {
      const named = withBlocks(() => this.#nameAt(text, words, at))
      const name = named instanceof Promise ? await named : named
      if (name !== undefined) found.push(name)
      at += name?.words ?? 1
      if (turns.isLong) await turns.pass()
    }
    return found
  }

  /** The longest name that begins with a word. May throw a Miss. */
  #nameAt(text: string, words: readonly WordInText[], at: number): LongestName | undefined {
    const { form, start } = words[at] as WordInText
    let name = wordOfForms([form])
    let longest: LongestName | undefined
    for (let length = 1; ; length++) {
      const kind = this.#kind(name)
      const { end } = words[at + length - 1] as WordInText
      if ((kind & IS_NAME) !== 0 && (length > 1 || this.#stands(form, text, start, kind))) {
        longest = { name, text: text.slice(start, end), words: length }
      }
      const next = words[at + length]
      if ((kind & CONTINUES) === 0 || next === undefined || length === mostNameForms) return longest
      name = `${name} ${next.form}`
    }
  }

  /**
   * Whether a word alone is a name: what is the title of nothing only where it has no small letter first. A year is
   * none, nor is what says little.
   */
  #stands(form: string, text: string, start: number, kind: number): boolean {
    // What every form of Latin letters has is asked first: to make the other takes long.
    if (!/[a-z]/.test(form) && !/\p{L}/u.test(form)) return false
    if (this.#languages.some((language) => isStopWord(form, language))) {
      // WHO and IT are names where others are not in capitals.
      const word = text.slice(start, start + form.length)
      return /^\p{Lu}{2,}$/u.test(word) && /\p{Ll}/u.test(text)
    }
    return (kind & IS_TITLE) !== 0 || !isLowerAt(text, start)
  }

  #kind(word: string): number {
    let kind = 0
    for (const set of this.#sets) kind |= kindIn(set, word)
    return kind
  }

  /** The first passages that are called so, or speak of what is. Rejects with the signal's reason. */
  async named(name: string, most: number, turns: Turns): Promise<PassageOfSet[]> {
    const bySet = await withBlocks(() => this.#listed(name, () => true, most))
    return firstInOrder(this.#sets, bySet, most, turns)
  }

  /**
   * The passages that are called so, or whose document is. Where there are more than `most`, the first so many, and
   * before others those of which `isFirst` says so. Rejects with the signal's reason.
   */
  async titled(
    name: string,
    { most, isFirst }: { readonly most: number; isFirst: (passage: PassageOfSet) => boolean },
    turns: Turns,
  ): Promise<PassageOfSet[]> {
    const bySet = await withBlocks(() => this.#listed(name, ({ title }) => title > 0, mostNamed))
    if (bySet.reduce((sum, { length }) => sum + length, 0) <= most) return bySet.flat()
    const chosen = bySet.map((those) => those.filter(isFirst))
    const found = await firstInOrder(this.#sets, chosen, most, turns)
    const others = bySet.map((those) => those.filter((each) => !isFirst(each)))
    return [...found, ...(await firstInOrder(this.#sets, others, most - found.length, turns))]
  }

  /** By set those of the passages with a name that pass, the first so many. May throw a Miss. */
  #listed(name: string, passes: (list: WordList) => boolean, most: number): PassageOfSet[][] {
    return this.#sets.map((set, n) => {
      const word = set.find(Buffer.from(name))
      const found: PassageOfSet[] = []
      if (word < 0) return found
      const seen = set.seen()
      const list = set.counts(word)
      for (let left = mostNamed; left > 0 && found.length < most && list.next(); left--) {
        if (passes(list) && seen.has(list.passage)) found.push({ set: n, passage: list.passage })
      }
      return found
    })
  }

  /** The passages in which a name stands; none where those are more than `most`, or one of its words is in too many. */
  async having(name: string, most: number, turns: Turns): Promise<PassageOfSet[]> {
    const forms = formsOfName(name)
    const counts: (readonly number[])[] = []
    for (const set of this.#sets) counts.push(await withBlocks(() => countsOf(set, forms)))
    // Of all sets together: an answer does not go by which of them lie in which part.
    const all = forms.map((_, form) => counts.reduce((sum, those) => sum + those[form]!, 0))
    const isFrequent = forms.length === 1 && this.#sets.every(isWhole) && all[0]! > most
    if (isFrequent || Math.max(...all) > bounds.mostListed) return []
    const found: PassageOfSet[] = []
    for (const [n, set] of this.#sets.entries()) {
      if (Math.min(...counts[n]!) === 0) continue
      const take = (passage: number) => found.push({ set: n, passage })
      await takePhrase(set, { forms, isPrefix: false }, turns, { take })
      if (found.length > most) return []
    }
    return found
  }
}

/** In how many passages each form is, seen or not. May throw a Miss. */
function countsOf(set: PassageSet, forms: readonly string[]): number[] {
  return forms.map((form) => {
    const word = set.find(Buffer.from(form))
    return word < 0 ? 0 : set.counts(word).count
  })
}

function isWhole(set: PassageSet): boolean {
  return set.isWhole
}

/** May throw a Miss. */
function kindIn(set: PassageSet, word: string): number {
  let ofSet = known.get(set)
  if (ofSet === undefined) known.set(set, (ofSet = new Map()))
  const before = ofSet.get(word)
  if (before !== undefined) return before
  const [from, to] = set.beginningWith(word)
  const is = from < to && set.word(from) === word
  const next = is ? from + 1 : from
  const continues = next < to && set.word(next).startsWith(`${word} `)
  const kind = (is ? kindOfName(set, from) : 0) | (continues ? CONTINUES : 0)
  if (ofSet.size >= mostKnown) ofSet.clear()
  ofSet.set(word, kind)
  return kind
}

/** Whether a name is one of a passage that is seen, and whether it is its title. May throw a Miss. */
function kindOfName(set: PassageSet, word: number): number {
  const seen = set.seen()
  const list = set.counts(word)
  let kind = 0
  for (let looked = 0; list.next() && kind < IS_TITLE; looked++) {
    if (kind > 0 && looked > mostNamed) break
    if (!seen.has(list.passage)) continue
    kind = IS_NAME | (list.title > 0 ? IS_TITLE : 0)
  }
  return kind
}
