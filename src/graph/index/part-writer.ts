import type { BlockStorage } from '../../block-writer.js'
import type { Turns } from '../../turns.js'
import { MOMENT, NUMBER } from '../value/literal-value.js'
import { writtenColumns, type PassageColumns } from './passage-columns.js'
import { DictionaryWriter } from './dictionary-writer.js'
import { mainKey, type PartName } from './keys.js'
import {
  beginningCount,
  beginningOf,
  beginningStep,
  beginningWords,
  placeWords,
  sourceWords,
  type PartRecord,
  type VectorRecord,
} from './layout.js'
import type { Orders } from './orders.js'
import { rowsByPlace, type SortedRows } from './permutations.js'
import type { SortedPlaces } from './places.js'
import { SectionWriter } from './section-writer.js'

/** Takes a word and the bytes of its list, which are the caller's again at once. Wait for what it gives, where it does. */
export type WordTaker = (word: Uint8Array, list: readonly Uint8Array[]) => Promise<void> | undefined

/**
 * Writes the main file of a part, durably: first its terms into `dictionary`, then with one call what
 * it has. Parts that are built and those that are merged are written here, and so are the same bytes.
 */
export class PartWriter {
  readonly dictionary: DictionaryWriter
  readonly #name: PartName
  readonly #file: SectionWriter
  readonly #turns: Turns

  /** `terms`: about how many there will be. */
  constructor(storage: BlockStorage, name: PartName, terms: number, turns: Turns) {
    this.#name = name
    this.#file = new SectionWriter(storage, (block) => mainKey(name, block))
    this.#turns = turns
    this.dictionary = new DictionaryWriter(this.#file, terms)
  }

  /**
   * The terms that were not handed on, and what all parts have. Apart from what follows, as what that
   * needs is made when the dictionary takes no memory any more.
   */
  async places({ sources, places }: SortedPlaces): Promise<void> {
    await this.dictionary.finish()
    await this.#file.write(sources)
    await this.#file.write(places)
  }

  /** Of a part of triples, all that follows the places. */
  async triples(where: SortedPlaces, orders: Orders): Promise<PartRecord> {
    const file = this.#file
    const rows = await orders.rows()
    const { starts, pairs } = rows.spo
    const triples = pairs.length / 2
    await file.write(starts)
    await file.write(pairs)
    const { lists, placeRows } = await this.#rowPlaces(where, rows)
    await this.#turns.pass()
    const osp = await orders.osp()
    await file.write(osp.starts)
    await file.write(osp.pairs)
    const pos = await orders.pos()
    await file.write(pos.starts)
    await file.write(pos.pairs)
    const values = await this.#values()
    await file.finish()
    return { ...this.#record(where, values), triples, lists, placeRows }
  }

  async #rowPlaces(
    { places }: SortedPlaces,
    sorted: SortedRows,
  ): Promise<Pick<PartRecord, 'lists' | 'placeRows'>> {
    const { rowPlaces, lists } = sorted
    if (rowPlaces === undefined) return { lists: 0, placeRows: 0 }
    await this.#file.write(rowPlaces)
    await this.#file.write(lists)
    const count = places.length / placeWords
    const { starts, rows } = await rowsByPlace(rowPlaces, lists, count, this.#turns)
    await this.#file.write(starts)
    await this.#file.write(rows)
    sorted.rowPlaces = undefined
    return { lists: lists.length, placeRows: rows.length }
  }

  /** Of a part of vectors, all that follows the places. By vector its entity, and its place. */
  async vectors(
    where: SortedPlaces,
    entities: Uint32Array,
    vectorPlaces: Uint32Array,
    vectors: VectorRecord,
  ): Promise<PartRecord> {
    const values = await this.#values()
    await this.#file.write(entities)
    if (where.places.length > placeWords) await this.#file.write(vectorPlaces)
    await this.#file.finish()
    return { ...this.#record(where, values), vectors }
  }

  /**
   * Of a part of passages, all that follows the places: their columns in order, and then the words, of which `words`
   * tells one after the other.
   */
  async passages(
    where: SortedPlaces,
    columns: PassageColumns,
    words: (take: WordTaker) => Promise<void>,
  ): Promise<PartRecord> {
    const values = await this.#values()
    const file = this.#file
    for (const numbers of writtenColumns(columns)) await file.append(numbers)
    file.end()
    const starts = new Starts()
    const lists = new Starts()
    const texts: Uint8Array[] = []
    await words((word, list) => {
      texts.push(word)
      starts.add(word.length)
      let written: Promise<void> | undefined
      for (const piece of list) {
        written = file.add(piece) ?? written
        lists.grow(piece.length)
      }
      lists.add(0)
      return written
    })
    file.end()
    await file.write(Buffer.concat(texts))
    await file.write(starts.words)
    await file.write(lists.words)
    await file.write(beginningsIn(texts))
    await file.finish()
    const passages = {
      count: columns.passage.length,
      words: texts.length,
      wordBytes: starts.end,
      listBytes: lists.end,
      lengths: {
        title: sum(columns.titleWords),
        heading: sum(columns.headingWords),
        text: sum(columns.textWords),
      },
    }
    return { ...this.#record(where, values), passages }
  }

  async #values(): Promise<PartRecord['values']> {
    const values = this.dictionary.values.sorted()
    for (const { keys, ids } of values) {
      await this.#file.write(keys)
      await this.#file.write(ids)
    }
    const count = (family: number) => values[family]?.ids.length ?? 0
    const counts = { numbers: count(NUMBER), moments: count(MOMENT) }
    return counts.numbers + counts.moments > 0 ? counts : undefined
  }

  #record({ sources, places }: SortedPlaces, values: PartRecord['values']): PartRecord {
    let hasGraphs = false
    for (let at = 0; at < places.length; at += placeWords) hasGraphs ||= places[at] !== 0
    const { count, wordLength } = this.dictionary
    return {
      id: this.#name.id,
      number: this.#name.number,
      terms: count,
      termWords: wordLength,
      sources: sources.length / sourceWords,
      places: places.length / placeWords,
      triples: 0,
      lists: 0,
      placeRows: 0,
      hasGraphs,
      ...(values && { values }),
    }
  }

  /** Resolves when no write is under way. */
  async settle(): Promise<void> {
    await this.#file.settle()
  }
}

/** Of words in their order. */
function beginningsIn(words: readonly Uint8Array[]): Uint32Array {
  const step = beginningStep(words.length)
  const beginnings = new Uint32Array(beginningWords * beginningCount(words.length))
  for (let at = 0, n = step; at < beginnings.length; at += beginningWords, n += step) {
    beginnings.set(beginningOf(words[n] as Uint8Array), at)
  }
  return beginnings
}

/** Where things begin that lie one behind the other, and where the last one ends. */
class Starts {
  end = 0
  #count = 1
  #starts = new Uint32Array(64)

  get words(): Uint32Array {
    return this.#starts.subarray(0, this.#count)
  }

  grow(length: number): void {
    this.end += length
  }

  add(length: number): void {
    this.end += length
    if (this.#count === this.#starts.length) {
      const larger = new Uint32Array(2 * this.#count)
      larger.set(this.#starts)
      this.#starts = larger
    }
    this.#starts[this.#count++] = this.end
  }
}

function sum(numbers: Uint32Array): number {
  return numbers.reduce((total, number) => total + number, 0)
}
