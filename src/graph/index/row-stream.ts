import { IS_LIST } from './layout.js'
import type { MainFile, SectionReader } from './section-reader.js'

/** The triples of a part in the order of SPO, and where each is said. */
export class RowStream {
  s = -1
  p = 0
  o = 0
  /** The places of the row: [placesFrom, placesTo) of `places`. */
  places: Uint32Array
  placesFrom = 0
  placesTo = 1
  readonly #ends: SectionReader
  readonly #pairs: SectionReader
  readonly #rowPlaces: SectionReader | undefined
  readonly #lists: SectionReader
  readonly #one = new Uint32Array(1)
  #row = 0
  /** Where the rows of the subject end. */
  #end = 0

  constructor(file: MainFile) {
    const { record, layout } = file
    this.#ends = file.section(layout.spoStarts + 4, record.terms)
    this.#pairs = file.section(layout.spo, 2 * record.triples)
    this.#lists = file.section(layout.lists, record.lists)
    const { rowPlaces } = layout
    this.#rowPlaces = record.places > 1 ? file.section(rowPlaces, record.triples) : undefined
    this.places = this.#one
  }

  /** Goes to the next row; there is one. False where a block has to be read before: see fill(). */
  next(): boolean {
    const ends = this.#ends
    while (this.#row === this.#end) {
      if (ends.at === ends.end) return false
      this.#end = ends.words[ends.at++] as number
      this.s++
    }
    const pairs = this.#pairs
    if (pairs.at === pairs.end || !this.#nextPlaces()) return false
    this.p = pairs.words[pairs.at] as number
    this.o = pairs.words[pairs.at + 1] as number
    pairs.at += 2
    this.#row++
    return true
  }

  #nextPlaces(): boolean {
    const those = this.#rowPlaces
    if (those === undefined) return true
    if (those.at === those.end) return false
    const place = those.words[those.at] as number
    if (place < IS_LIST) {
      this.#one[0] = place
      this.places = this.#one
      this.placesFrom = 0
      this.placesTo = 1
    } else {
      // Lists are in the order of their rows.
      const lists = this.#lists
      if (lists.at === lists.end) return false
      const from = lists.at + 1
      const to = from + (lists.words[lists.at] as number)
      if (to > lists.end) return false
      this.places = lists.words
      this.placesFrom = from
      this.placesTo = to
      lists.at = to
    }
    those.at++
    return true
  }

  /** Reads what next() was in want of. */
  async fill(): Promise<void> {
    if (this.#ends.at === this.#ends.end && this.#row === this.#end) return this.#ends.more()
    if (this.#pairs.at === this.#pairs.end) return this.#pairs.more()
    const those = this.#rowPlaces
    if (those !== undefined && those.at === those.end) return those.more()
    return this.#lists.more()
  }

  /** To be called once no more rows are wanted: subjects without any may lie behind the last one. */
  async close(): Promise<void> {
    for (const section of [this.#ends, this.#pairs, this.#rowPlaces, this.#lists]) {
      await section?.close()
    }
  }
}
