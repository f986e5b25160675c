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

/** Whether one of the others, which are in their order, shares words with it and is as asked. */
export function overlaps(
  { from, to }: Mention,
  others: readonly Mention[],
  isAsked: (other: Mention) => boolean,
): boolean {
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((others[middle] as Mention).to <= from) low = middle + 1
    else high = middle
  }
  for (let i = low; i < others.length; i++) {
    const other = others[i] as Mention
    if (other.from >= to) return false
    if (isAsked(other)) return true
  }
  return false
}
