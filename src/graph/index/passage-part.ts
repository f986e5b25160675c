import type { BlockStorage } from '../../block-writer.js'
import { sortedPairs } from '../../radix-sort.js'
import { eachWord } from '../../text/words.js'
import { Turns } from '../../turns.js'
import { WordListWriter } from '../words/word-list.js'
import { passageColumns, UNKNOWN, type PassageColumnName } from '../words/columns.js'
import type { PartName } from './keys.js'
import type { PartRecord } from './layout.js'
import { passageOrder } from './passage-order.js'
import { PartWriter, type WordTaker } from './part-writer.js'
import { columnsOf, type PassageColumns } from './passage-columns.js'
import { PlaceTable, type Origin } from './place-table.js'
import type { Passages, Rows } from './said-passages.js'
import { sortedWords, type NumberedWord } from './sorted-words.js'
import { endOf, ranksOf, sortTerms } from './term-order.js'
import { TermTable } from './term-table.js'
import { writeTerms } from './terms-writer.js'

const firstTerms = 1 << 8
const firstPassages = 64
const firstTokens = 1 << 12

/** Words of passages, with their names, as often as they stand there: some 10,000 passages of 100 words. */
const maxTokens = 1 << 20
const maxTermBytes = 64 * 1024 * 1024

/** Passages of some rows, which one origin says. */
export interface UnreadPassages {
  readonly rows: Rows
  readonly said: Passages
  readonly origin: Origin
  /** The first of its texts that was not read yet. */
  readonly from: number
}

/** A part of passages while it is built: their words are counted as they come. */
export class PassagePart {
  count = 0
  #tokenCount = 0
  readonly #storage: BlockStorage
  readonly #name: PartName
  readonly #terms = new TermTable(firstTerms)
  readonly #places = new PlaceTable(this.#terms)
  #columns = createColumns(firstPassages)
  /** By passage: where its words begin, title, heading, text and names one behind the other. */
  #tokenStarts = new Uint32Array(firstPassages)
  #tokens = new Uint32Array(firstTokens)
  /** By passage: how many of its names are those of its title. */
  #titleNames = new Uint32Array(firstPassages)
  readonly #numbers = new Map<string, number>()
  readonly #unread: UnreadPassages[]

  /** `unread`: what the part before had no room for. */
  constructor(storage: BlockStorage, name: PartName, unread: UnreadPassages[] = []) {
    this.#storage = storage
    this.#name = name
    this.#unread = unread
  }

  /** Takes the passages of some rows, which one origin says. Their words are for readTexts(). */
  add(rows: Rows, said: Passages, origin: Origin): void {
    this.#unread.push({ rows, said, origin: origin.copy(), from: 0 })
  }

  /**
   * Reads the texts that came, before the numbers of their terms are given to others. Undefined where there is room for
   * more; else this part is full, and another one has to read what this gives. It may be full at any passage: each
   * has all names of its document.
   */
  async readTexts(turns: Turns): Promise<UnreadPassages[] | undefined> {
    const unread = this.#unread.splice(0)
    for (const [at, each] of unread.entries()) {
      const { rows, said, origin } = each
      for (let from = each.from; from < said.texts.length; from++) {
        if (this.#isFull) return [{ ...each, from }, ...unread.slice(at + 1)]
        const n = said.texts[from] as number
        const place = this.#places.at(origin, 0)
        await this.#addPassage(rows.s[n] as number, rows.o[n] as number, said, place, turns)
        await turns.pass()
      }
    }
    return this.#isFull ? [] : undefined
  }

  get #isFull(): boolean {
    return this.#tokenCount >= maxTokens || 4 * this.#terms.wordLength >= maxTermBytes
  }

  async #addPassage(
    s: number,
    text: number,
    said: Passages,
    place: number,
    turns: Turns,
  ): Promise<void> {
    const { terms } = said
    const document = said.documents.get(s)
    const title = said.titles.get(s) ?? said.titles.get(document ?? -1)
    const heading = said.headings.get(s)
    const at = this.#next()
    const columns = this.#columns
    columns.passage[at] = this.#copy(terms, s)
    columns.document[at] = this.#copied(terms, document)
    columns.title[at] = this.#copied(terms, title)
    columns.heading[at] = this.#copied(terms, heading)
    columns.begin[at] = numberOf(terms, said.begins.get(s))
    columns.end[at] = numberOf(terms, said.ends.get(s))
    columns.page[at] = numberOf(terms, said.pages.get(s))
    columns.place[at] = place
    columns.text[at] = terms.hashes[text] as number
    columns.titleWords[at] = title === undefined ? 0 : this.#read(terms.textOf(title))
    columns.headingWords[at] = heading === undefined ? 0 : this.#read(terms.textOf(heading))
    columns.textWords[at] = await this.#readLong(terms.textOf(text), turns)
    const { names } = said
    const own = new Set(title === undefined ? [] : names.ofTitle(title))
    for (const id of said.labels.get(document ?? -1) ?? []) names.addTo(own, id)
    this.#titleNames[at] = own.size
    for (const id of said.labels.get(s) ?? []) names.addTo(own, id)
    for (const name of own) this.#take(name)
  }

  #next(): number {
    const at = this.count++
    if (at === this.#tokenStarts.length) {
      this.#tokenStarts = twice(this.#tokenStarts)
      this.#titleNames = twice(this.#titleNames)
      for (const name of passageColumns) this.#columns[name] = twice(this.#columns[name])
    }
    this.#tokenStarts[at] = this.#tokenCount
    return at
  }

  #copied(terms: TermTable, id: number | undefined): number {
    return id === undefined ? 0 : this.#copy(terms, id) + 1
  }

  #copy({ words, starts, hashes }: TermTable, id: number): number {
    const start = starts[id] as number
    return this.#terms.addHashed(words, start, endOf(words, start), hashes[id] as number)
  }

  /** Takes the words of a text; gives how many there are. */
  #read(text: string): number {
    const before = this.#tokenCount
    eachWord(text, (form) => {
      this.#take(form)
    })
    return this.#tokenCount - before
  }

  /** The same of a text that may be long: others have their turn between its pieces. */
  async #readLong(text: string, turns: Turns): Promise<number> {
    let words = 0
    for (let from = 0, to; from < text.length; from = to) {
      to = pieceEnd(text, from)
      words += this.#read(text.slice(from, to))
      if (to < text.length) await turns.pass()
    }
    return words
  }

  #take(form: string): void {
    const known = this.#numbers.get(form)
    const number = known ?? this.#numbers.size
    if (known === undefined) this.#numbers.set(form, number)
    if (this.#tokenCount === this.#tokens.length) this.#tokens = twice(this.#tokens)
    this.#tokens[this.#tokenCount++] = number
  }

  /** How many words a passage has, with its names. */
  #lengthOf(n: number): number {
    const end = n + 1 < this.count ? (this.#tokenStarts[n + 1] as number) : this.#tokenCount
    return end - (this.#tokenStarts[n] as number)
  }

  /** Writes all of it, durably. */
  async finish(): Promise<PartRecord> {
    const terms = this.#terms
    const turns = new Turns(undefined)
    const writer = new PartWriter(this.#storage, this.#name, terms.count, turns)
    try {
      const sorted = sortTerms(terms)
      await writeTerms(terms, sorted, writer.dictionary, turns)
      const ranks = ranksOf(sorted, terms.count)
      const where = this.#places.sorted(ranks)
      await writer.places(where)
      const columns = this.#ranked(ranks, where.numbers)
      const order = passageOrder(columns)
      return await writer.passages(where, ordered(columns, order), (take) => {
        return this.#takeWords(columns, order, turns, take)
      })
    } finally {
      await writer.settle()
    }
  }

  #ranked(ranks: Uint32Array, places: Uint32Array): PassageColumns {
    const { count } = this
    const columns = columnsOf((name) => this.#columns[name].subarray(0, count))
    for (let n = 0; n < count; n++) {
      columns.passage[n] = ranks[columns.passage[n] as number] as number
      columns.place[n] = places[columns.place[n] as number] as number
      for (const name of optional) {
        const id = columns[name][n] as number
        if (id > 0) columns[name][n] = (ranks[id - 1] as number) + 1
      }
    }
    return columns
  }

  /** The words in their order, each with its list. */
  async #takeWords(
    columns: PassageColumns,
    order: Uint32Array,
    turns: Turns,
    take: WordTaker,
  ): Promise<void> {
    const words = await sortedWords(this.#numbers.keys(), turns)
    const ranks = new Uint32Array(words.length)
    for (const [rank, { number }] of words.entries()) ranks[number] = rank
    // Tokens in the order of their words, of one word in the order of passages, as these are gone through.
    const { tokens, passages } = this.#inOrder(order)
    for (let n = 0; n < tokens.length; n++) tokens[n] = ranks[tokens[n] as number] as number
    const pairs = sortedPairs(tokens, tokens.length)
    await turns.pass()
    const list = new WordListWriter()
    const fields = new FieldEnds(columns, order, this.#titleNames, (n) => this.#lengthOf(n))
    for (let n = 0; n < tokens.length;) {
      const rank = pairs[2 * n] as number
      while (n < tokens.length && pairs[2 * n] === rank) {
        n = addPassage(list, pairs, n, passages, fields)
      }
      const written = take((words[rank] as NumberedWord).word, list.take())
      if (written !== undefined) await written
      if (turns.isLong) await turns.pass()
    }
  }

  /** The tokens of passages in an order, and by token its passage's place in it. */
  #inOrder(order: Uint32Array): { tokens: Uint32Array; passages: Uint32Array } {
    const tokens = new Uint32Array(this.#tokenCount)
    const passages = new Uint32Array(this.#tokenCount)
    let to = 0
    for (const [place, n] of order.entries()) {
      const from = this.#tokenStarts[n] as number
      const length = this.#lengthOf(n)
      tokens.set(this.#tokens.subarray(from, from + length), to)
      passages.fill(place, to, to + length)
      to += length
    }
    return { tokens, passages }
  }
}

/** How much of a text is read before others may have their turn, in UTF-16 code units: 3 ms. */
const textAtOnce = 1 << 15

/** Where a piece of a text ends: before a space or the end of a line, where no word goes on. */
function pieceEnd(text: string, from: number): number {
  let end = from + textAtOnce
  while (end < text.length && text.charCodeAt(end) !== 0x20 && text.charCodeAt(end) !== 0x0a) end++
  return Math.min(end, text.length)
}

/** Adds the tokens of a word in one passage, of which the first is at `n` of `pairs`; gives where they end. */
function addPassage(
  list: WordListWriter,
  pairs: Uint32Array,
  n: number,
  passages: Uint32Array,
  fields: FieldEnds,
): number {
  const rank = pairs[2 * n]
  const passage = passages[pairs[2 * n + 1] as number] as number
  const { start, title, heading, text, titleNames } = fields.of(passage)
  const counts = { title: 0, heading: 0, text: 0 }
  let end = n
  for (; 2 * end < pairs.length && pairs[2 * end] === rank; end++) {
    const token = pairs[2 * end + 1] as number
    if (passages[token] !== passage) break
    const isTitle = token < title || (token >= text && token < titleNames)
    counts[isTitle ? 'title' : token >= title && token < heading ? 'heading' : 'text']++
  }
  list.passage(passage, counts)
  let before = start
  for (let at = n; at < end; at++) {
    const token = pairs[2 * at + 1] as number
    // A name has no place among others.
    if (token >= text) {
      list.gap(0)
      continue
    }
    const fieldStart = token < title ? start : token < heading ? title : heading
    if (before < fieldStart) before = fieldStart
    list.gap(token - before)
    before = token + 1
  }
  return end
}

/** Where the fields of a passage end among the tokens, and where those begin and end that are names. */
interface Fields {
  readonly start: number
  readonly title: number
  readonly heading: number
  readonly text: number
  readonly titleNames: number
}

/** Where the fields of passages lie among the tokens, which are in an order of passages. */
class FieldEnds {
  readonly #starts: Uint32Array
  readonly #columns: PassageColumns
  readonly #order: Uint32Array
  readonly #titleNames: Uint32Array

  constructor(
    columns: PassageColumns,
    order: Uint32Array,
    titleNames: Uint32Array,
    lengthOf: (n: number) => number,
  ) {
    this.#columns = columns
    this.#order = order
    this.#titleNames = titleNames
    this.#starts = new Uint32Array(order.length)
    let start = 0
    for (const [place, n] of order.entries()) {
      this.#starts[place] = start
      start += lengthOf(n)
    }
  }

  of(passage: number): Fields {
    const n = this.#order[passage] as number
    const { titleWords, headingWords, textWords } = this.#columns
    const start = this.#starts[passage] as number
    const title = start + (titleWords[n] as number)
    const heading = title + (headingWords[n] as number)
    const text = heading + (textWords[n] as number)
    return { start, title, heading, text, titleNames: text + (this.#titleNames[n] as number) }
  }
}

function numberOf(terms: TermTable, id: number | undefined): number {
  if (id === undefined) return UNKNOWN
  const text = terms.textOf(id)
  const number = /^\d{1,10}$/.test(text) ? Number(text) : UNKNOWN
  return number < UNKNOWN ? number : UNKNOWN
}

const optional = ['document', 'title', 'heading'] as const

function createColumns(room: number): Record<PassageColumnName, Uint32Array<ArrayBuffer>> {
  return columnsOf(() => new Uint32Array(room))
}

function ordered(columns: PassageColumns, order: Uint32Array): PassageColumns {
  return columnsOf((name) => order.map((n) => columns[name][n] as number))
}

function twice(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}
