// The rows that `$text` finds, and how well each fits: BM25 over the words of all indexed fields
// together. Lists of words give the scores, and say which words stand one behind the other: no row is
// read.

import { bm25 } from '../../text/bm25.js'
import { beginningsOf, mayHaveOtherForms, stemmer } from '../../text/stemming.js'
import { isStopWord } from '../../text/stop-words.js'
import type { Index } from '../engine/index-runs.js'
import type { Span } from '../engine/index-scan.js'
import type { Memory } from '../engine/memory.js'
import { tableSpan } from '../engine/ref.js'
import type { Table } from '../engine/state.js'
import {
  cursorOf,
  formsIn,
  listsBeginning,
  spanBeginning,
  spanOfForm,
  sumsOf,
  wordLists,
  type WordList,
} from '../engine/word-lists.js'
import type { AskedPhrase, AskedWord, ParsedText } from '../filter/text.js'
import { crossed } from './accesses.js'
import { PhraseSearch } from './phrase.js'
import type { Meter } from './rows.js'
import type { SeenRows } from './seen-rows.js'
import { WordScores, type ScoredWord } from './word-scores.js'

/** What is searched, and in which index. */
export interface TextQuestion extends ParsedText {
  readonly index: Index
  readonly language: string
}

export interface TextMatches {
  /** Each once, growing. */
  readonly refs: Float64Array
  /** By place among the references. */
  readonly scores: Float64Array
  /** Of one of them. */
  scoreOf(ref: number): number
  /** The words that were looked up, for a plan. */
  readonly words: readonly string[]
  /** Entries of the index that were read. */
  readonly keys: number
}

/** A word of the index that a word of the question stands for; or all that begin with it. */
interface Form {
  readonly text: string
  readonly span: Span
  readonly weight: number
  /** Where it was read already. */
  readonly list?: WordList | undefined
}

/** @param seen what is there for whoever asks, with its own frequencies; undefined: all */
export async function searchText(
  table: Table,
  question: TextQuestion,
  memory: Memory,
  meter: Meter,
  seen: SeenRows | undefined,
): Promise<TextMatches> {
  const { words, phrases, excluded, language } = question
  const search = new TextSearch(table, question, memory, meter, seen)
  let kept: Float64Array | undefined
  for (const phrase of phrases) {
    const rows = await search.rowsOf(phrase)
    kept = kept === undefined ? rows : crossed(kept, rows)
  }
  const dropped: Float64Array[] = []
  // As it is written: who leaves a word out does not mean others of its stem.
  for (const phrase of excluded) dropped.push(await search.rowsOf(phrase))
  return search.score(chosenWords(words, phrases, language), kept, dropped)
}

/** Those of phrases too; of the others none that say little where there are more. */
function chosenWords(
  words: readonly AskedWord[],
  phrases: readonly AskedPhrase[],
  language: string,
): readonly AskedWord[] {
  const telling = words.filter(({ form, isPrefix }) => isPrefix || !isStopWord(form, language))
  const chosen = telling.length > 0 || phrases.length > 0 ? telling : words
  const all = [...chosen, ...phrases.flatMap(wordsOf)]
  return [...new Map(all.map((word) => [`${word.form} ${word.isPrefix}`, word])).values()]
}

function wordsOf({ forms, isPrefix }: AskedPhrase): AskedWord[] {
  return forms.map((form, n) => ({ form, isPrefix: isPrefix && n === forms.length - 1 }))
}

class TextSearch {
  readonly #table: Table
  readonly #index: Index
  readonly #language: string
  readonly #memory: Memory
  readonly #meter: Meter
  readonly #seen: SeenRows | undefined
  /** Of words of phrases, which are looked up once. */
  readonly #known = new Map<string, WordList>()
  #keys = 0

  constructor(
    table: Table,
    { index, language }: TextQuestion,
    memory: Memory,
    meter: Meter,
    seen: SeenRows | undefined,
  ) {
    this.#table = table
    this.#index = index
    this.#language = language
    this.#memory = memory
    this.#meter = meter
    this.#seen = seen
  }

  /**
   * @param kept the rows that have the phrases, where there are any
   * @param dropped rows that have what must not be there
   */
  async score(
    words: readonly AskedWord[],
    kept: Float64Array | undefined,
    dropped: readonly Float64Array[],
  ): Promise<TextMatches> {
    const forms: (readonly Form[])[] = []
    for (const word of words) forms.push(await this.#formsOf(word))
    const unread = forms.flat().filter(({ list }) => list === undefined)
    const lists = await this.#lists(unread.map(({ span }) => span))
    const scored: ScoredWord[] = []
    let [entries, next] = [0, 0]
    for (const [n, ofWord] of forms.entries()) {
      const weighed = ofWord.map(({ list, weight }) => {
        return { list: list ?? (lists[next++] as WordList), weight }
      })
      for (const { list } of weighed) entries += list.entries
      scored.push({ isPrefix: words[n]?.isPrefix === true, forms: weighed })
    }
    const sums = this.#seen ?? (await sumsOf(this.#index, this.#memory.entries))
    const most = Math.min(entries, kept?.length ?? this.#table.rows)
    const { number } = this.#table
    const has = this.#seen?.has
    const scores = new WordScores({ sums, has, kept, dropped, most, table: number })
    const counting = scores.add(scored)
    while (counting.next().done !== true) if (this.#meter.isTired) await this.#breathe()
    while (scores.next()) if (this.#meter.isTired) await this.#breathe()
    this.#meter.keysRead += this.#keys
    return {
      ...scores.finish(),
      words: forms.flatMap((ofWord) => ofWord.map(({ text }) => text)),
      keys: this.#keys,
    }
  }

  /** Rows that have a phrase, or a word, growing. */
  async rowsOf({ forms, isPrefix }: AskedPhrase): Promise<Float64Array> {
    const last = forms.length - 1
    const spans = forms.map((form, n) =>
      isPrefix && n === last ? spanBeginning(form) : spanOfForm(form),
    )
    const lists = await this.#lists(spans)
    for (const [n, list] of lists.entries()) {
      if (!isPrefix || n < last) this.#known.set(forms[n] as string, list)
    }
    const rows: number[] = []
    // The rarest first: of the others only what is in its rows is looked at.
    const sorted = lists
      .map((list, offset) => ({ list, offset }))
      .sort((one, other) => one.list.entries - other.list.entries)
    const { number } = this.#table
    const gone = sorted[0]?.list.gone
    const has = this.#seen?.has
    // What is gone is gone under each of its words.
    const isAll = has === undefined && (gone === undefined || gone.size === 0)
    const isThere = (row: number) => {
      const ref = row * tableSpan + number
      return gone?.has(ref) !== true && has?.(ref) !== false
    }
    const words = sorted.map(({ list: { postings }, offset }) => {
      return { offset, cursors: postings.map(cursorOf) }
    })
    const search = new PhraseSearch(words, isAll ? undefined : isThere)
    const parts = search.find(rows)
    while (parts.next().done !== true) if (this.#meter.isTired) await this.#breathe()
    return Float64Array.from(rows, (row) => row * tableSpan + number)
  }

  async #lists(spans: readonly Span[]): Promise<readonly WordList[]> {
    const lists = await wordLists(this.#index, spans, this.#memory.entries)
    for (const { entries } of lists) this.#keys += entries
    return lists
  }

  /** No object is read, but time passes. */
  async #breathe(): Promise<void> {
    this.#meter.count(0)
    await this.#meter.breathe()
  }

  async #formsOf({ form, isPrefix }: AskedWord): Promise<readonly Form[]> {
    if (isPrefix) return [{ text: `${form}*`, span: spanBeginning(form), weight: 1 }]
    const own = { text: form, span: spanOfForm(form), weight: 1, list: this.#known.get(form) }
    if (!mayHaveOtherForms(form, this.#language)) return [own]
    const stemOf = await stemmer(this.#language)
    const stem = stemOf(form)
    const isOfStem = (other: string) => stemOf(other) === stem
    const beginnings = beginningsOf(stem, this.#language)
    const { entries } = this.#memory
    const near = await listsBeginning(this.#index, beginnings, isOfStem, entries)
    for (const list of near?.values() ?? []) this.#keys += list.entries
    const name = `${this.#language} ${stem}`
    const forms = near?.keys() ?? (await formsIn(this.#index, beginnings, name, isOfStem, entries))
    const others = [...forms].filter((other) => other !== form)
    return [
      { ...own, list: near?.get(form) ?? own.list },
      ...others.map((other) => ({
        text: other,
        span: spanOfForm(other),
        weight: bm25.otherForm,
        list: near?.get(other),
      })),
    ]
  }
}
