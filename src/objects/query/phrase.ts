// Which rows have words one behind the other, by the places of the words.

import { RefTable } from '../engine/ref-table.js'
import { placesIn } from '../engine/word-keys.js'

/** Told of one word of a phrase after the other, in any order, and of the rows that have it. */
export class PhraseSearch {
  readonly #rows: RefTable
  /** By place in `#rows`: where the word under way is. */
  #texts: (string | undefined)[] = []
  /** By place in `#rows`: where the phrase may begin; before the second word the places of the first. */
  #starts: (readonly number[] | string | undefined)[] = []
  #firstOffset = 0
  #words = 0

  /** @param expected how many rows have the first word that it will be told of */
  constructor(expected: number) {
    this.#rows = new RefTable(expected)
  }

  /** Of a word that stands for several a row may be told several times. */
  add(ref: number, places: () => string): void {
    let row: number
    if (this.#words === 0) row = this.#rows.place(ref)
    else {
      row = this.#rows.find(ref)
      if (row < 0 || this.#starts[row] === undefined) return
    }
    const known = this.#texts[row]
    this.#texts[row] = known === undefined ? places() : known + places()
  }

  /** @param offset of the word in the phrase */
  endWord(offset: number): void {
    const texts = this.#texts
    const starts = this.#starts
    if (this.#words++ === 0) {
      this.#firstOffset = offset
      this.#starts = texts
    } else {
      for (let row = 0; row < starts.length; row++) {
        const known = starts[row]
        if (known === undefined) continue
        const text = texts[row]
        starts[row] = text === undefined ? undefined : this.#left(known, text, offset)
      }
    }
    this.#texts = new Array<undefined>(texts.length)
  }

  /** The rows that have all words that were told, growing. */
  finish(): Float64Array {
    const { refs } = this.#rows
    const found: number[] = []
    for (let row = 0; row < refs.length; row++) {
      if (this.#starts[row] !== undefined) found.push(refs[row] as number)
    }
    return Float64Array.from(found).sort()
  }

  /** Where the phrase may begin, now that one more of its words is known. */
  #left(
    known: readonly number[] | string,
    text: string,
    offset: number,
  ): readonly number[] | undefined {
    const starts = typeof known === 'string' ? growing(known) : known
    const base = offset - (typeof known === 'string' ? this.#firstOffset : 0)
    const places = growing(text)
    const left: number[] = []
    // Side by side: a row may have a word a hundred thousand times.
    for (let i = 0, j = 0; i < starts.length && j < places.length;) {
      const wanted = (starts[i] as number) + base
      const place = places[j] as number
      if (wanted === place) left.push(place - offset)
      if (wanted <= place) i++
      if (place <= wanted) j++
    }
    return left.length > 0 ? left : undefined
  }
}

/** Of a word that stands for several each comes with its own. */
function growing(text: string): readonly number[] {
  const places = placesIn(text)
  const isGrowing = places.every((place, n) => n === 0 || (places[n - 1] as number) < place)
  return isGrowing ? places : places.sort((one, other) => one - other)
}
