import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import { columnOf, type ScannedColumn } from '../words/columns.js'
import type { PassageColumn, PassageSet } from '../words/types.js'
import type { SeenNumbers } from '../words/word-entries.js'
import type { FieldCounts, WordList } from '../words/word-list.js'
import { COLLECTION, encodeTerm, encodeText, hashWords } from './encoded-term.js'
import type { Part } from './part.js'
import type { PartPassages } from './part-passages.js'

/** What a question is about, of all that its graph is. */
export interface Narrowing {
  /** Ids of cores. */
  readonly cores: readonly string[] | undefined
  readonly collection: string | undefined
}

/** Places that are looked at before others get their turn. */
const placesAtOnce = 4096

const all: SeenNumbers = { has: () => true }

/** Passages whose places are accepted. */
class Accepted implements SeenNumbers {
  readonly #accepts: Uint8Array
  readonly #places: PassageColumn

  constructor(accepts: Uint8Array, places: PassageColumn) {
    this.#accepts = accepts
    this.#places = places
  }

  has(passage: number): boolean {
    return this.#accepts[this.#places.at(passage)] === 1
  }
}

/** The passages of a part, and which of them are seen. */
export class SeenPassages implements PassageSet {
  readonly #part: Part
  readonly #passages: PartPassages
  readonly #accepts: Uint8Array | undefined

  /** `accepts`: by place 1 where it is seen. Undefined: all are. */
  constructor(part: Part, passages: PartPassages, accepts: Uint8Array | undefined) {
    this.#part = part
    this.#passages = passages
    this.#accepts = accepts
  }

  /** Those that some cores say, or messages of a collection; undefined where there are none. */
  async narrowed(
    { cores, collection }: Narrowing,
    check?: () => void,
  ): Promise<SeenPassages | undefined> {
    if (cores === undefined && collection === undefined) return this
    const part = this.#part
    const ids = async (names: readonly string[]) => {
      const found = new Set<number>()
      // Each by itself: all together may lie in more blocks than memory holds at once.
      for (const name of names) {
        const find = () => part.terms.find(encodeText(name, COLLECTION).slice())
        const id = withBlocks(find, check)
        found.add(id instanceof Promise ? await id : id)
      }
      return found
    }
    const ofCores = cores && (await ids(cores))
    const ofCollection = collection === undefined ? undefined : await ids([collection])
    const { places } = part.record
    const accepts = new Uint8Array(places)
    for (let from = 0; from < places; from += placesAtOnce) {
      const to = Math.min(places, from + placesAtOnce)
      await withBlocks(() => {
        for (let place = from; place < to; place++) {
          const isCore = ofCores?.has(part.coreIdOf(part.sourceOf(place))) ?? true
          const isCollection = ofCollection?.has(part.collectionOf(place)) ?? true
          const isSeen = this.#accepts === undefined || this.#accepts[place] === 1
          accepts[place] = isCore && isCollection && isSeen ? 1 : 0
        }
      }, check)
    }
    if (!accepts.includes(1)) return undefined
    return new SeenPassages(part, this.#passages, accepts.includes(0) ? accepts : undefined)
  }

  get part(): object {
    return this.#passages
  }

  get count(): number {
    return this.#passages.count
  }

  get words(): number {
    return this.#passages.record.words
  }

  get lengths(): FieldCounts {
    return this.#passages.record.lengths
  }

  get isWhole(): boolean {
    return this.#accepts === undefined
  }

  seen(from = 0, to = this.count): SeenNumbers {
    const accepts = this.#accepts
    return accepts === undefined ? all : new Accepted(accepts, this.column('place', from, to))
  }

  at(column: number, passage: number): number {
    return this.#passages.at(column, passage)
  }

  column(name: ScannedColumn, from = 0, to = this.count): PassageColumn {
    return this.#passages.column(name, from, to)
  }

  find(word: Buffer): number {
    return this.#passages.find(word)
  }

  beginningWith(beginning: string): readonly [from: number, to: number] {
    return this.#passages.beginningWith(Buffer.from(beginning))
  }

  word(n: number): string {
    return this.#passages.word(n)
  }

  counts(n: number): WordList {
    return this.#passages.counts(n)
  }

  list(n: number): WordList {
    return this.#passages.list(n)
  }

  idOf(term: Term): number {
    return this.#part.terms.find(encodeTerm(term))
  }

  term(id: number): Term {
    return this.#part.terms.term(id)
  }

  hashOf(literal: Term): number {
    const entry = encodeTerm(literal)
    return hashWords(entry, 0, entry.length)
  }

  coreOf(passage: number): string {
    const part = this.#part
    return part.coreOf(part.sourceOf(this.#passages.at(columnOf.place, passage)))
  }
}
