// The texts of chunks, from the triples that say them. What words are searched in has but their hashes.

import { keyOf } from '../terms.js'
import type { Turns } from '../turns.js'
import type { Term } from '../types.js'
import { passagePredicates } from '../vocabulary.js'
import { withBlocks } from './miss.js'
import { ANY, type GraphView } from './view.js'
import { columnOf } from './words/columns.js'
import type { PassageSet } from './words/types.js'

/** Ids of texts by their hashes; of a chunk with one text that alone. */
type Texts = number | undefined | ReadonlyMap<number, number>

/** Reads the texts of a chunk once, however many passages are of it: there may be thousands. */
export class ChunkTexts {
  readonly #view: GraphView
  readonly #turns: Turns
  readonly #known = new Map<string, Promise<Texts>>()

  constructor(view: GraphView, turns: Turns) {
    this.#view = view
    this.#turns = turns
  }

  /** The text of a passage; empty where nothing says it. Rejects with the signal's reason. */
  async textOf(set: PassageSet, passage: number, chunk: Term): Promise<string> {
    // The part with the triple has its text: where one alone has that hash it is this one.
    const only = withBlocks(() => this.#view.textOfHash(set.at(columnOf.text, passage)))
    return (only instanceof Promise ? await only : only) ?? this.#among(set, passage, chunk)
  }

  /** The title, the heading and the text of a passage, where it has them. Rejects with the signal's reason. */
  async fieldsOf(set: PassageSet, passage: number): Promise<readonly string[]> {
    const { chunk, before } = await withBlocks(() => {
      const ids = [columnOf.title, columnOf.heading].map((column) => set.at(column, passage))
      return {
        chunk: set.term(set.at(columnOf.passage, passage)),
        before: ids.filter((id) => id > 0).map((id) => set.term(id - 1).v),
      }
    })
    return [...before, await this.textOf(set, passage, chunk)]
  }

  async #among(set: PassageSet, passage: number, chunk: Term): Promise<string> {
    const key = keyOf(chunk)
    const known = this.#known.get(key) ?? this.#read(set, chunk)
    this.#known.set(key, known)
    const texts = await known
    return withBlocks(() => {
      const hash = set.at(columnOf.text, passage)
      const id = typeof texts === 'object' ? texts.get(hash) : texts
      return id === undefined ? '' : this.#view.term(id).v
    })
  }

  async #read(set: PassageSet, chunk: Term): Promise<Texts> {
    const view = this.#view
    const ids = await this.#idsOf(chunk)
    if (ids.length < 2) return ids[0]
    const byHash = new Map<number, number>()
    for (const id of ids) {
      const hash = await withBlocks(() => {
        const term = view.term(id)
        return term.e ? undefined : set.hashOf(term)
      })
      if (hash !== undefined && !byHash.has(hash)) byHash.set(hash, id)
      await this.#turns.pass()
    }
    return byHash
  }

  async #idsOf(chunk: Term): Promise<number[]> {
    const view = this.#view
    const ids: number[] = []
    for (const v of passagePredicates.text) {
      // Begun once: begun anew after each pause they would not end.
      const rows = await withBlocks(() =>
        view.rows(view.find(chunk), view.find({ v, e: true }), ANY),
      )
      await withBlocks(() => {
        while (rows.next()) ids.push(rows.o)
      })
    }
    return ids
  }
}
