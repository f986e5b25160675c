import type { Term } from '../../types.js'
import type { Turns } from '../../turns.js'
import { ChunkTexts } from '../chunk-texts.js'
import { withBlocks } from '../miss.js'
import type { GraphView } from '../view.js'
import { columnOf } from '../words/columns.js'
import type { PassageOfSet } from '../words/passage-order.js'
import { titleNames } from '../words/name-words.js'
import type { Search } from '../words/search.js'
import type { PassageSet } from '../words/types.js'
import type { NameBook, NameInText } from './names.js'

/** A name that leads to a passage. */
export interface Step {
  /** As the text has it. */
  readonly name: string
  /** The passage that has it, or is called so; undefined where the question has it. */
  readonly from: Candidate | undefined
}

/** A passage that may answer a question, with its scores. */
export interface Candidate extends PassageOfSet {
  readonly chunk: Term
  /** What each word or phrase of the question adds to its score. */
  readonly byWord: ReadonlyMap<string, number>
  /** The sum of these. */
  readonly words: number
  /** What names of the question add, and one of these. */
  names: number
  named: Step | undefined
  /** What another passage adds, and what leads from there. */
  walk: number
  led: Step | undefined
  /** The sum of the scores that count. */
  total: number
}

export interface NamesOfPassage {
  /** What it is called. */
  readonly titles: readonly NameInText[]
  readonly names: readonly NameInText[]
}

/** The passages that a ranking has come across. What several cores say is one of them. */
export class Candidates {
  readonly #sets: readonly PassageSet[]
  readonly #search: Pick<Search, 'explained'>
  readonly #turns: Turns
  readonly #texts: ChunkTexts
  readonly #known = new Map<number, Candidate>()
  /** By what it says. */
  readonly #same = new Map<string, Candidate>()

  constructor(
    view: GraphView,
    sets: readonly PassageSet[],
    search: Pick<Search, 'explained'>,
    turns: Turns,
  ) {
    this.#sets = sets
    this.#search = search
    this.#turns = turns
    this.#texts = new ChunkTexts(view, turns)
  }

  /** In the order in which they were come across. */
  get all(): Candidate[] {
    return [...this.#same.values()]
  }

  /** Looks up the scores of those that are not known. */
  async add(passages: Iterable<PassageOfSet>): Promise<void> {
    const unknown = new Map<number, PassageOfSet>()
    for (const each of passages) {
      const key = this.#keyOf(each)
      if (!this.#known.has(key)) unknown.set(key, each)
    }
    if (unknown.size === 0) return
    const found = [...unknown.values()]
    const parts = await this.#search.explained(found)
    for (const [n, { set, passage }] of found.entries()) {
      const byWord = new Map(parts[n]?.map(({ text, score }) => [text, score]))
      const words = [...byWord.values()].reduce((sum, score) => sum + score, 0)
      const scores = { names: 0, named: undefined, walk: 0, led: undefined, total: 0 }
      const of = this.#set(set)
      const { chunk, text } = await withBlocks(() => {
        const chunk = of.term(of.at(columnOf.passage, passage))
        return { chunk, text: of.at(columnOf.text, passage) }
      })
      const says = `${text} ${words} ${chunk.v}`
      const same = this.#same.get(says) ?? { set, passage, chunk, byWord, words, ...scores }
      this.#same.set(says, same)
      this.#known.set(this.#keyOf({ set, passage }), same)
    }
  }

  has(passage: PassageOfSet): boolean {
    return this.#known.has(this.#keyOf(passage))
  }

  /** One that was added. */
  at(passage: PassageOfSet): Candidate {
    return this.#known.get(this.#keyOf(passage)) as Candidate
  }

  /** What a passage is part of; itself where nobody says it. */
  async documentOf({ set, passage, chunk }: Candidate): Promise<string> {
    const of = this.#set(set)
    return withBlocks(() => {
      const document = of.at(columnOf.document, passage)
      return document === 0 ? chunk.v : of.term(document - 1).v
    })
  }

  async namesOf({ set, passage, chunk }: Candidate, book: NameBook): Promise<NamesOfPassage> {
    const of = this.#set(set)
    const title = await withBlocks(() => {
      const id = of.at(columnOf.title, passage)
      return id === 0 ? '' : of.term(id - 1).v
    })
    const text = await this.#texts.textOf(of, passage, chunk)
    return {
      titles: titleNames(title).map((name) => ({ name, text: title })),
      names: await book.namesIn(text, this.#turns),
    }
  }

  #set(n: number): PassageSet {
    return this.#sets[n] as PassageSet
  }

  #keyOf({ set, passage }: PassageOfSet): number {
    return passage * this.#sets.length + set
  }
}
