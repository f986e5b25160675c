// The keys of a text index: for each row one entry for each of its words, with how often the row has
// it, and one for its length.

import { eachWord } from '../../text/words.js'
import { eachText } from '../values/texts.js'
import type { Path } from '../values/path.js'
import type { Scalar } from '../values/values.js'

/** A field of a text index. */
export interface TextField {
  readonly path: Path
  readonly weight: number
}

/** What a row has in a text index. */
export interface RowWords {
  /** By form: how often it is there, times the weights of its fields. */
  readonly counts: ReadonlyMap<string, number>
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
  const counts = new Map<string, number>()
  let length = 0
  for (const { path, weight } of fields) {
    eachText(fieldOf(path[0] as string), path.slice(1), (text) => {
      eachWord(text, (form) => {
        counts.set(form, (counts.get(form) ?? 0) + weight)
        length += weight
      })
    })
  }
  return { counts, length }
}

/** Adds the keys of a row, its reference to each. */
export function addWordKeys(
  { counts, length }: RowWords,
  ref: number,
  keys: Scalar[],
  refs: number[],
) {
  keys.push(length)
  refs.push(ref)
  for (const [form, count] of counts) {
    keys.push(form + separator + count.toString(radix))
    refs.push(ref)
  }
}

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

export function countIn(key: string): number {
  return parseInt(key.slice(key.indexOf(separator) + 1), radix)
}
