// The keys of a text index: for each row one entry for each of its words, with how often the row has
// it and where, and one for its length.

import { keepShape } from '../../kept-shapes.js'
import { eachWord } from '../../text/words.js'
import { eachText } from '../values/texts.js'
import type { Path } from '../values/path.js'
import type { KeyList } from './key-list.js'

/** A field of a text index. */
export interface TextField {
  readonly path: Path
  readonly weight: number
}

interface RowWord {
  /** How often it is there, times the weights of its fields. */
  count: number
  /** Which word of the row it is, each time. */
  places: string
}

/** What a row has in a text index. */
export interface RowWords {
  readonly words: ReadonlyMap<string, RowWord>
  /** The sum of the counts. */
  readonly length: number
}

// No word has a control character: it stands behind all of a form, and in front of whatever is longer.
const separator = '\0'
const behindSeparator = '\u0001'
const radix = 36

export function wordsOf(
  fields: readonly TextField[],
  fieldOf: (name: string) => unknown,
): RowWords {
  const words = new Map<string, RowWord>()
  let length = 0
  let place = 0
  for (const { path, weight } of fields) {
    eachText(fieldOf(path[0] as string), path.slice(1), (text) => {
      eachWord(text, (form) => {
        const known = words.get(form)
        const text = textOfPlace(place++)
        if (known === undefined) words.set(form, { count: weight, places: text })
        else {
          known.count += weight
          known.places += text
        }
        length += weight
      })
      // What follows stands in another string: it does not follow the last word of this one.
      place++
    })
  }
  return { words, length }
}

/** Adds the keys of a row, its reference to each. */
export function addWordKeys(
  { words, length }: RowWords,
  ref: number,
  { keys, refs, places, lengths }: KeyList,
) {
  keys.push(length)
  refs.push(ref)
  places.push('')
  lengths.push(0)
  for (const [form, word] of words) {
    keys.push(form + separator + word.count.toString(radix))
    refs.push(ref)
    places.push(word.places)
    lengths.push(length)
  }
}

// Digits of five bits, the lowest first, with 32 where more follow: characters that JSON does not
// escape, but for one.
const firstDigit = 0x3f
const more = 32

function digitsOf(place: number): string {
  let text = ''
  let rest = place
  for (; rest >= more; rest = Math.floor(rest / more)) {
    text += String.fromCharCode(firstDigit + (rest % more) + more)
  }
  return text + String.fromCharCode(firstDigit + rest)
}

/** Of most words. */
const firstPlaces = Array.from({ length: 1024 }, (_, place) => digitsOf(place))

function textOfPlace(place: number): string {
  return firstPlaces[place] ?? digitsOf(place)
}

/** Which words of a row a word is, growing, counted from an offset: from those bytes of a text. */
export function placesIn(bytes: Uint8Array, from: number, to: number, offset = 0): number[] {
  const places: number[] = []
  let [place, unit] = [0, 1]
  for (let n = from; n < to; n++) {
    const digit = (bytes[n] as number) - firstDigit
    if (digit < more) {
      places.push(place + digit * unit - offset)
      ;[place, unit] = [0, 1]
      continue
    }
    place += (digit - more) * unit
    unit *= more
  }
  return places
}

/** The same one by one, where nobody keeps them: most words are in a row once. */
export class PlaceReader {
  place = 0
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #to = 0

  /** Of a word that is there: it has a place. */
  begin(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    this.next()
  }

  /** False where there are no more. */
  next(): boolean {
    if (this.#at >= this.#to) return false
    let [place, unit] = [0, 1]
    let digit = (this.#bytes[this.#at++] as number) - firstDigit
    for (; digit >= more; digit = (this.#bytes[this.#at++] as number) - firstDigit) {
      place += (digit - more) * unit
      unit *= more
    }
    this.place = place + digit * unit
    return true
  }
}

keepShape(new PlaceReader())

/** Where the keys of a form begin, and what they end in front of. */
export function keysOfForm(form: string): readonly [from: string, to: string] {
  return [form + separator, form + behindSeparator]
}

/** The same for all forms that begin so. */
export function keysBeginning(beginning: string): readonly [from: string, to: string | undefined] {
  for (let n = beginning.length - 1; n >= 0; n--) {
    const unit = beginning.charCodeAt(n)
    if (unit < 0xffff) return [beginning, beginning.slice(0, n) + String.fromCharCode(unit + 1)]
  }
  return [beginning, undefined]
}

export function formOf(key: string): string {
  return key.slice(0, key.indexOf(separator))
}

/**
 * Where the form ends of a key that lies there as UTF-8, in which no byte of the separator or of a count is part of
 * another character; `from - 1` where it is no key.
 */
export function formEndIn(bytes: Uint8Array, from: number, to: number): number {
  let end = to - 1
  while (end >= from && bytes[end] !== 0) end--
  return end
}

/** The count of a key whose form ends there. */
export function countIn(bytes: Uint8Array, formEnd: number, to: number): number {
  let count = 0
  for (let at = formEnd + 1; at < to; at++) {
    const digit = bytes[at] as number
    count = count * radix + (digit < firstLetter ? digit - zero : digit - firstLetter + 10)
  }
  return count
}

const zero = 0x30
const firstLetter = 0x61
