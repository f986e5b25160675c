// The part of a passage that speaks of a question, in lines of a given width.

import { printable, widthOf } from './figures.js'

export interface AskedWords {
  /** How much a line has of what was asked; a word that is everywhere says nothing. */
  weigh(line: string): number
  /** The line with what was asked in bold. */
  emphasize(line: string): string
}

const word = /[\p{L}\p{N}]+/gu
/** Shorter ones are found inside too many others. */
const longEnoughToBegin = 4

/** The words of a question, weighed by how few of the texts have them: no list of stop words has all languages. */
export function askedWords(question: string, texts: readonly string[]): AskedWords {
  const asked = [...new Set(wordsOf(question))]
  const found = texts.map((text) => [...new Set(wordsOf(text))])
  const weights = new Map(
    asked.map((one) => {
      const count = found.filter((words) => words.some((other) => fits(other, one))).length
      // Of one or two texts there is nothing to learn of what is common; short words mostly are.
      const isRare = texts.length < 3 ? one.length >= longEnoughToBegin : 2 * count <= texts.length
      return [one, isRare ? 1 + Math.log((1 + texts.length) / (1 + count)) : 0.01]
    }),
  )
  for (const name of namesIn(question)) weights.set(name, Math.max(weights.get(name) ?? 0, 1))
  const askedFor = (text: string) => asked.find((one) => fits(text.toLowerCase(), one))
  return {
    weigh(line) {
      const present = new Set(wordsOf(line).map((text) => askedFor(text)))
      return [...present].reduce((sum, one) => sum + (weights.get(one ?? '') ?? 0), 0)
    },
    emphasize: (line) =>
      line.replace(word, (text) => {
        const weight = weights.get(askedFor(text) ?? '') ?? 0
        return weight >= 1 ? `\u001b[1m${text}\u001b[22m` : text
      }),
  }
}

/** Words with a capital, but for the first one: that of a name counts, also where every passage has it. */
function namesIn(question: string): readonly string[] {
  return (question.match(word) ?? []).slice(1).flatMap((text) => {
    return /^\p{Lu}/u.test(text) ? [text.toLowerCase()] : []
  })
}

/** At most `count` lines around what was asked, the beginning where nothing of it is there. */
export function excerptOf(
  text: string,
  words: AskedWords,
  { count, width }: { readonly count: number; readonly width: number },
): readonly string[] {
  // Room for the marks of what is left out.
  const lines = wrapped(printable(text.trim().replace(/\s+/g, ' ')), width - 4)
  const weights = lines.map((line) => words.weigh(line))
  const last = Math.max(lines.length - count, 0)
  const weightFrom = (first: number) =>
    weights.slice(first, first + count).reduce((sum, weight) => sum + weight, 0)
  const best = bestWindow(last, weightFrom)
  const shown = lines.slice(best, best + count)
  return shown.map((line, index) => {
    const before = index === 0 && best > 0 ? '… ' : ''
    const after = index === shown.length - 1 && best < last ? ' …' : ''
    return before + line + after
  })
}

/** The first line of what is worth the most, from 0 to `last`. */
export function bestWindow(last: number, weightFrom: (first: number) => number): number {
  let best = 0
  for (let first = 1; first <= last; first++) {
    if (weightFrom(first) > weightFrom(best)) best = first
  }
  // In the middle rather than at the end of what is shown.
  let equal = 0
  const isEqual = (first: number) => first <= last && weightFrom(first) === weightFrom(best)
  while (weightFrom(best) > 0 && isEqual(best + equal + 1)) equal++
  return best + Math.floor(equal / 2)
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(word) ?? []
}

/** The same word, or one that it is the beginning of: `boats` was found for `boat`. */
function fits(found: string, asked: string): boolean {
  return found === asked || (asked.length >= longEnoughToBegin && found.startsWith(asked))
}

export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  const end = () => {
    if (line !== '') lines.push(line)
    line = ''
    used = 0
  }
  for (const piece of text.split(' ')) {
    const length = widthOf(piece)
    if (used > 0 && used + 1 + length > width) end()
    if (length <= width) {
      line += used === 0 ? piece : ` ${piece}`
      used += length + (used === 0 ? 0 : 1)
      continue
    }
    // Longer than a line: a URI, or a language that writes without spaces.
    for (const character of piece) {
      if (used + widthOf(character) > width) end()
      line += character
      used += widthOf(character)
    }
  }
  end()
  return lines
}
