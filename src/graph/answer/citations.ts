// Citations in what a model writes: `[1]`, `[1, 2]`, `[1-3]`, `[passage 1]`, `[1, p. 12]`, `【1】`.

import type { AnswerSource, Citation, UnknownCitation } from '../types.js'

const number = String.raw`(?:0|[1-9]\d{0,5})`
/** None goes over the end of a line, so that pieces need not wait for the next one. */
const space = String.raw`[ \t\u00a0]*`
const dash = `${space}(?:[-‐‑–—−]|to)${space}`
const comma = `${space}(?:[,;、，&]|and)${space}`
/** `2` or `2-4`, but not the day `2024-10-15`. */
const item = `${number}(?:${dash}${number})?`
const word = `(?:(?:passages?|sources?)${space})?[#^]?`
/** With what may stand behind it: a second run of spaces there would take the square of them. */
const page = String.raw`[,;:]?${space}\bpp?(?:ages?)?\b\.?[ \t\u00a0\d,–-]*`
/** As models put it that were trained to cite a browser: `【1†L3-L5】`. */
const lines = String.raw`†[^\]】\n]{0,40}`
const mark =
  `[[【]${space}${word}(${item}(?:${comma}${item})*)` +
  String.raw`\^?(?:${page}|(?:${lines})?${space})[\]】]`

/** `a[1]` in code is no citation. */
const code = '```[^]*?(?:```|$)|`[^`\\n]*`'

const marks = new RegExp(mark, 'gi')
const marksAndCode = new RegExp(`${code}|${mark}`, 'gi')
const numbersAndRanges = new RegExp(`(${number})(?:${dash}(${number}))?`, 'gi')

interface Citations {
  readonly citations: readonly Citation[]
  /** Numbers that none of the sources has. */
  readonly unknown: readonly UnknownCitation[]
}

/** In the order of the text; each number once for each place. */
export function citationsIn(text: string, sources: readonly AnswerSource[]): Citations {
  const citations: Citation[] = []
  const unknown: UnknownCitation[] = []
  for (const found of text.matchAll(marksAndCode)) {
    const [whole, list] = found
    if (list === undefined) continue
    const place = { start: found.index, end: found.index + whole.length }
    for (const n of numbersOf(list, sources.length)) {
      const source = sources[n - 1]
      if (source === undefined) unknown.push({ n, ...place })
      else citations.push({ n, source, ...place })
    }
  }
  return { citations, unknown }
}

/** Those that are there, of a range that goes beyond them its ends, too. Backwards it is none: `2023-24`. */
function numbersOf(list: string, most: number): ReadonlySet<number> {
  const numbers = new Set<number>()
  for (const [, first, last = first] of list.matchAll(numbersAndRanges)) {
    const [from, to] = [Number(first), Number(last)]
    if (from > to) continue
    numbers.add(from)
    for (let n = Math.max(from, 1); n <= Math.min(to, most); n++) numbers.add(n)
    numbers.add(to)
  }
  return numbers
}

/** The text with round brackets in place of those that would make a citation. */
export function withoutCitations(text: string): string {
  return text.replace(marks, (found) => `(${found.slice(1, -1)})`)
}

/** What may yet become a citation, or a whole character. */
const unfinished = /[[【][^[\]【】\n]{0,200}$|[\ud800-\udbff]$/

/** The same text in pieces of which none ends inside of a citation or of a character; none is empty. */
export async function* wholeCitations(
  texts: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  let held = ''
  for await (const text of texts) {
    held += text
    const at = unfinished.exec(held)?.index ?? held.length
    if (at === 0) continue
    yield held.slice(0, at)
    held = held.slice(at)
  }
  if (held !== '') yield held
}
