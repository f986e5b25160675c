// What stands in quotes and is written as titles are: "You're Getting Old", "Too Good to Last".

import { mention, type Mention } from './mention.js'
import type { Dictionary, Sentence, Word } from './tagger.js'
import { noNames } from './word-lists.js'

const closing: Readonly<Record<string, string>> = { '"': '"', '“': '”', '„': '“', '«': '»' }
const maxWords = 12
/** Those that titles in English write small. */
const smallWords = new Set(
  (
    'a an the and or nor but for of in on at to by with from as into upon over than per via vs ' +
    'n de la le des du del der die das von van y e et und'
  ).split(' '),
)
const startsLarge = /^[\p{Lu}\p{Lt}\p{N}]/u
const startsSmall = /^\p{Ll}/u

/** In the order of the sentence; none overlaps another. */
export function quotedTitles(sentence: Sentence, dictionary: Dictionary): Mention[] {
  const found: Mention[] = []
  for (let i = 0; i < sentence.length; i++) {
    const close = closing[sentence[i]?.text ?? '']
    if (close === undefined) continue
    const to = closedAt(sentence, i, close)
    if (to === undefined) continue
    const title = titleIn(sentence, i + 1, to, dictionary)
    if (title !== undefined) found.push(title)
    i = to
  }
  return found
}

function closedAt(sentence: Sentence, at: number, close: string): number | undefined {
  const last = Math.min(sentence.length - 1, at + maxWords + 3)
  for (let i = at + 1; i <= last; i++) if (sentence[i]?.text === close) return i
  return undefined
}

function titleIn(
  sentence: Sentence,
  from: number,
  quote: number,
  dictionary: Dictionary,
): Mention | undefined {
  let to = quote
  const isComma = sentence[to - 1]?.text === ','
  if (isComma || sentence[to - 1]?.text === '.') to--
  const [first, last] = [sentence[from], sentence[to - 1]]
  if (first === undefined || last === undefined || to <= from || to - from > maxWords)
    return undefined
  if (!startsLarge.test(first.text) || startsSmall.test(last.text)) return undefined
  // `"Hello," he said`: speech.
  const after = sentence[quote + 1]
  const isCried = /^[?!]$/.test(last.text)
  if (isCried && !/^[\p{L}\d]/u.test(sentence[from - 2]?.text ?? '')) return undefined
  if ((isComma || isCried) && (after?.pos === 'PRON' || after?.pos === 'VERB')) return undefined
  let large = 0
  for (let i = from; i < to; i++) {
    const { text, spaced } = sentence[i] as Word
    if (/^[.;]$/.test(text) || (text === ',' && i > from && to - from < 4)) return undefined
    if (startsLarge.test(text)) large++
    else if (startsSmall.test(text) && spaced && !smallWords.has(text)) return undefined
  }
  if (large * 3 < to - from) return undefined
  if (to - from === 1 && (from < 2 || noNames.has(first.lower))) {
    if (noNames.has(first.lower) || dictionary(first.lower) !== undefined) return undefined
  }
  return mention(sentence, from, to)
}
