import type { Sentence } from './tagger.js'

/** A name or phrase where it stands: the words of its sentence from `from` up to, not with, `to`. */
export interface Mention {
  readonly from: number
  readonly to: number
  readonly name: string
}

/** As the text has it, with one space for any white space. */
export function mention(sentence: Sentence, from: number, to: number): Mention {
  const words = sentence.slice(from, to)
  const name = words.map(({ text, spaced }, i) => (spaced && i > 0 ? ` ${text}` : text)).join('')
  return { from, to, name }
}
