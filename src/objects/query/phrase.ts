// Whether a row has words one behind the other.

import { eachWord } from '../../text/words.js'
import type { TextField } from '../engine/word-keys.js'
import type { AskedPhrase } from '../filter/text.js'
import { eachText } from '../values/texts.js'

/** In one text: two fields, or two strings of an array, have no phrase together. */
export function hasPhrase(
  fields: readonly TextField[],
  fieldOf: (name: string) => unknown,
  phrase: AskedPhrase,
): boolean {
  let isThere = false
  for (const { path } of fields) {
    eachText(fieldOf(path[0] as string), path.slice(1), (text) => {
      isThere ||= standsIn(text, phrase)
    })
  }
  return isThere
}

function standsIn(text: string, { forms, isPrefix }: AskedPhrase): boolean {
  const words: string[] = []
  eachWord(text, (form) => words.push(form))
  const last = forms.length - 1
  for (let at = 0; at + last < words.length; at++) {
    const isHere = forms.every((form, n) => {
      const word = words[at + n] as string
      return isPrefix && n === last ? word.startsWith(form) : word === form
    })
    if (isHere) return true
  }
  return false
}
