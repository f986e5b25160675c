// Names as words: a part has a word for each name, beside those of its texts.

import { eachAskedWord } from '../../text/words.js'

/** What the word of a name begins with, and no other. Behind it are the forms, a space between two. */
export const NAME = '\u0001'

/** A name has no more words: what is longer is a sentence. */
export const mostNameForms = 10

/** In UTF-16 code units: nothing longer is read. */
const mostNameLength = 256

/** The word of a name, as a text would have it: `Ed Wood` and `ed-wood` are one. Undefined where it is none. */
export function nameWord(name: string): string | undefined {
  if (name.length > mostNameLength) return undefined
  const forms: string[] = []
  eachAskedWord(name, (form) => forms.push(form))
  return forms.length === 0 || forms.length > mostNameForms ? undefined : wordOfForms(forms)
}

/** The same of words of a text. */
export function wordOfForms(forms: readonly string[]): string {
  return NAME + forms.join(' ')
}

/** The forms of a name's word. */
export function formsOfName(word: string): string[] {
  return word.slice(NAME.length).split(' ')
}

/** The words of what a title says: itself, and without what tells it from others, as in `Mercury (planet)`. */
export function titleNames(title: string): string[] {
  const shorter = title.endsWith(')') ? title.slice(0, title.lastIndexOf('(')) : ''
  const words = [nameWord(title), nameWord(shorter)]
  return [...new Set(words.filter((word) => word !== undefined))]
}
