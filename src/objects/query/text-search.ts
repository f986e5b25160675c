// The rows that `$text` finds, and how well each fits: BM25 over the words of all indexed fields
// together. Lists of words give the scores, and say which words stand one behind the other: no row is
// read.

import { bm25, idfOf, norm, saturated } from '../../text/bm25.js'
import { noLanguage } from '../../text/language-names.js'
import { beginningsOf, stemmer } from '../../text/stemming.js'
import { isStopWord } from '../../text/stop-words.js'
import type { Index } from '../engine/index-runs.js'
import { countSpans, type Span } from '../engine/index-scan.js'
import type { Memory } from '../engine/memory.js'
import type { Table } from '../engine/state.js'
import {
  eachPlaces,
  formsIn,
  lengthsOf,
  postingsIn,
  prepare,
  spanBeginning,
  spanOfForm,
  type Posting,
  type RowLengths,
  type TextSums,
} from '../engine/word-lists.js'
import type { AskedPhrase, AskedWord, ParsedText } from '../filter/text.js'
import { crossed } from './accesses.js'
import { PhraseSearch } from './phrase.js'
import { RefTable } from '../engine/ref-table.js'
import type { Meter } from './rows.js'
import type { SeenRows } from './seen-rows.js'

/** What is searched, and in which index. */
export interface TextQuestion extends ParsedText {
  readonly index: Index
  readonly language: string
}

export interface TextMatches {
  /** Each once, in no order. */
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
}

interface WeighedPosting extends Posting {
  readonly weight: number
}

/** What is left out of the matches in the place of its score. */
const outside = -1

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
  for (const phrase of phrases) await search.keep(phrase)
  await search.addWords(chosenWords(words, phrases, language))
  // As it is written: who leaves a word out does not mean others of its stem.
  for (const phrase of excluded) await search.drop(phrase)
  return search.finish()
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

/** How many rows several postings have together. */
function rowsIn(list: readonly Posting[]): number {
  const rows = new RefTable(0)
  for (const { refs } of list) for (const ref of refs) rows.place(ref)
  return rows.count
}

/** What counts are divided by, row by row. */
class Norms {
  readonly rows: number
  readonly #lengths: RowLengths
  readonly #average: number

  constructor(lengths: RowLengths, { rows, length }: TextSums) {
    this.rows = rows
    this.#lengths = lengths
    this.#average = length / rows
  }

  of(ref: number): number {
    return norm(this.#lengths.of(ref), this.#average)
  }
}

class TextSearch {
  readonly #table: Table
  readonly #index: Index
  readonly #language: string
  readonly #memory: Memory
  readonly #meter: Meter
  readonly #seen: SeenRows | undefined
  readonly #words: string[] = []
  /** Those that have the phrases, where there are any, growing. */
  #kept: Float64Array | undefined
  #found = new RefTable(0)
  /** By place in `#found`. */
  #scores = new Float64Array(0)
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

  async addWords(words: readonly AskedWord[]): Promise<void> {
    await prepare(
      this.#index,
      words.flatMap((word) => this.#neighbourhood(word)),
      this.#memory.entries,
    )
    const lists: (readonly WeighedPosting[])[] = []
    let entries = 0
    for (const word of words) {
      const list: WeighedPosting[] = []
      for (const { text, span, weight } of await this.#formsOf(word)) {
        this.#words.push(text)
        for (const posting of await this.#postings(span)) {
          list.push({ ...posting, weight })
          entries += posting.refs.length
        }
      }
      lists.push(list)
    }
    const lengths = await lengthsOf(this.#index, this.#memory.entries)
    const norms = new Norms(lengths, this.#seen ?? lengths)
    const most = Math.min(entries, this.#kept?.length ?? this.#table.rows)
    this.#found = new RefTable(most)
    this.#scores = new Float64Array(most)
    for (const [n, list] of lists.entries()) {
      this.#addWord(list, words[n]?.isPrefix === true, norms)
      await this.#meter.breathe()
    }
  }

  #addWord(list: readonly WeighedPosting[], isPrefix: boolean, norms: Norms): void {
    const scores = this.#scores
    const found = this.#found
    const isOneForm = !isPrefix && list.every(({ weight }) => weight === 1)
    if (isOneForm) {
      // Each row is there once: nothing has to be added up.
      let having = 0
      for (const { refs } of list) having += refs.length
      const idf = idfOf(having, norms.rows)
      for (const { count, refs } of list) {
        const kept = this.#keptOf(refs)
        for (let n = 0; n < kept.length; n++) {
          const ref = kept[n] as number
          const place = found.place(ref)
          scores[place] = (scores[place] as number) + idf * saturated(count / norms.of(ref))
        }
      }
      return
    }
    const frequencies = new Float64Array(scores.length)
    const having: number[] = []
    for (const { count, refs, weight } of list) {
      const kept = this.#keptOf(refs)
      for (let n = 0; n < kept.length; n++) {
        const ref = kept[n] as number
        const place = found.place(ref)
        if (frequencies[place] === 0) having.push(place)
        frequencies[place] = (frequencies[place] as number) + (weight * count) / norms.of(ref)
      }
    }
    const idf = idfOf(this.#kept === undefined ? having.length : rowsIn(list), norms.rows)
    for (const place of having) {
      scores[place] = (scores[place] as number) + idf * saturated(frequencies[place] as number)
    }
  }

  /** Of growing references those that have the phrases. */
  #keptOf(refs: Float64Array): Float64Array {
    return this.#kept === undefined ? refs : crossed(this.#kept, refs)
  }

  /** Only rows that have the phrase, from here on. */
  async keep(phrase: AskedPhrase): Promise<void> {
    const rows = await this.#rowsOf(phrase)
    this.#kept = this.#kept === undefined ? rows : crossed(this.#kept, rows)
  }

  async drop(phrase: AskedPhrase): Promise<void> {
    for (const ref of await this.#rowsOf(phrase)) {
      const place = this.#found.find(ref)
      if (place >= 0) this.#scores[place] = outside
    }
  }

  finish(): TextMatches {
    const found = this.#found
    const scores = this.#scores
    const places: number[] = []
    for (let n = 0; n < found.count; n++) if ((scores[n] as number) > 0) places.push(n)
    const { refs } = found
    const isWhole = places.length === refs.length
    this.#meter.keysRead += this.#keys
    return {
      refs: isWhole ? refs : Float64Array.from(places, (place) => refs[place] as number),
      scores: isWhole
        ? scores.subarray(0, refs.length)
        : Float64Array.from(places, (place) => scores[place] as number),
      scoreOf: (ref) => scores[found.find(ref)] ?? 0,
      words: this.#words,
      keys: this.#keys,
    }
  }

  /** Rows that have a phrase, or a word, growing. */
  async #rowsOf({ forms, isPrefix }: AskedPhrase): Promise<Float64Array> {
    const last = forms.length - 1
    const spans = forms.map((form, n) =>
      isPrefix && n === last ? spanBeginning(form) : spanOfForm(form),
    )
    // The rarest first: of the others only what is in its rows is looked at.
    const sorted = await this.#byEntries(spans)
    const search = new PhraseSearch(sorted[0]?.entries ?? 0)
    const has = this.#seen?.has
    const take = (ref: number, places: () => string) => {
      if (has === undefined || has(ref)) search.add(ref, places)
    }
    for (const { n, span, entries } of sorted) {
      await eachPlaces(this.#index, span, this.#memory.entries, take)
      search.endWord(n)
      this.#keys += entries
      // No object is read, but time passes.
      this.#meter.count(0)
      await this.#meter.breathe()
    }
    return search.finish()
  }

  async #byEntries(spans: readonly Span[]) {
    const counted: { readonly n: number; readonly span: Span; readonly entries: number }[] = []
    for (const [n, span] of spans.entries()) {
      counted.push({
        n,
        span,
        entries: await countSpans(this.#index, [span], this.#memory.entries),
      })
    }
    return counted.sort((one, other) => one.entries - other.entries)
  }

  /** Where all lie that a word may stand for. */
  #neighbourhood({ form, isPrefix }: AskedWord): Span[] {
    if (isPrefix) return [spanBeginning(form)]
    if (this.#language === noLanguage) return [spanOfForm(form)]
    return beginningsOf(stemmer(this.#language)(form), this.#language).map(spanBeginning)
  }

  async #formsOf({ form, isPrefix }: AskedWord): Promise<readonly Form[]> {
    if (isPrefix) return [{ text: `${form}*`, span: spanBeginning(form), weight: 1 }]
    const own = { text: form, span: spanOfForm(form), weight: 1 }
    if (this.#language === noLanguage) return [own]
    const stemOf = stemmer(this.#language)
    const stem = stemOf(form)
    const name = `${this.#language} ${stem}`
    const isOfStem = (other: string) => stemOf(other) === stem
    const { entries } = this.#memory
    const forms = await formsIn(
      this.#index,
      beginningsOf(stem, this.#language),
      name,
      isOfStem,
      entries,
    )
    const others = forms.filter((other) => other !== form)
    return [
      own,
      ...others.map((other) => ({
        text: other,
        span: spanOfForm(other),
        weight: bm25.otherForm,
      })),
    ]
  }

  /** What is there for whoever asks. */
  async #postings(span: Span): Promise<readonly Posting[]> {
    const all = await postingsIn(this.#index, span, this.#memory.entries)
    for (const { refs } of all) this.#keys += refs.length
    if (this.#seen === undefined) return all
    const { has } = this.#seen
    return all
      .map((posting) => ({ ...posting, refs: posting.refs.filter(has) }))
      .filter(({ refs }) => refs.length > 0)
  }
}
