// What a document is called.

import { languageRank } from '../../terms.js'
import type { DocumentHeading, FlowDocument } from '../types.js'
import { headingsIn } from './headings.js'
import { languageOf, literalsOf, titlePredicates } from './metadata.js'
import { collapseSpace } from './names.js'

type Titled = Pick<FlowDocument, 'id' | 'metadata' | 'text' | 'title'>

/** What a file says of its title itself, and its headings. */
interface FileTitles {
  readonly title?: string
  readonly headings: readonly DocumentHeading[]
}

/**
 * As it was loaded, else as its metadata have it, else as the file does, else by a first line that is a
 * heading.
 */
export function titleOf(document: Titled, base: string, file?: FileTitles): string | undefined {
  return document.title ?? titleSaid(document, base) ?? titleIn(document, file)
}

function titleIn({ text }: Titled, file: FileTitles | undefined): string | undefined {
  if (file === undefined) return firstHeading(text)
  const [first] = file.headings
  return file.title ?? (first?.start === 0 ? first.text : undefined)
}

/** In UTF-16 code units, of any title. */
const maxLength = 1000

/** The first in the language of the document, else the first. */
function titleSaid(document: Titled, base: string): string | undefined {
  const said = literalsOf(document, base, titlePredicates)
  const titles = said.filter(({ v }) => v.trim() !== '' && v.length <= maxLength)
  const language = titles.length > 1 ? languageOf(document, base) : undefined
  if (language !== undefined) {
    titles.sort((a, b) => languageRank(a, [language]) - languageRank(b, [language]))
  }
  return titles[0]?.v
}

/** How much of a text is looked at. */
const window = 4096
/** Of a heading that nothing marks as one. */
const maxPlainLength = 100
/** Of the line below a heading that is not in title case, in bytes. */
const leastBelow = 50

const underline = /^ {0,3}(?:=+|-{2,})[ \t]*$/
const listItem = /^(?:\d+[.)]|\p{L}\))\s/u
/** `Subject: lunch`, `ANN: Hello`. */
const field = /^[\p{L}\p{N}_.-]+:(?:\s|$)/u
/** A letter or a digit, maybe in quotes; no bullet, number sign, angle or square bracket. */
const opening = /^["“„«‘'¿¡「『《【（]*[\p{L}\p{N}]/u
/** A sentence, a clause or a list goes another way. */
const closing = /[\p{L}\p{M}\p{N}+%°®™]["”’»'」』》】）)\]]*$/u
/** Tables, markup, addresses, code, and ends of sentences. */
const foreign = /[=<>{}\\|*_~^@\t]|:\/\/|\p{L}\(|\p{L}:\S|,[^\s\d]|\p{Ll}{4}\.\s|[。！？]/u
const sentenceStart = /^["“„«‘'¿¡「『《【（(]*[\p{Lu}\p{Lt}\p{Lo}\p{N}]/u
const sentenceEnd = /(?:\p{Ll}{2}|\p{Lo})[.!?؟]["”’»)\]]*(?:\s|$)|[。！？।]/u

/**
 * The first line of a text, where that is a heading: in Markdown (`# Title`, or underlined), or a
 * short line that ends like no sentence, clause or list, with a blank line below and text that looks
 * otherwise, or with a sentence right below. There, only a line in title case is a heading, or one that
 * is half as long as a long next one: verses and wrapped prose have lines of one length.
 */
export function firstHeading(text: string): string | undefined {
  const beginning = text.slice(0, window)
  const [marked] = headingsIn(beginning)
  if (marked !== undefined && beginning.slice(0, marked.start).trim() === '') return marked.text

  const lines = beginning.split(/\r\n?|\n/)
  const at = lines.findIndex((line) => line.trim() !== '')
  // trim() takes a byte order mark as well.
  const [first = '', next = '', ...others] = lines.slice(Math.max(at, 0)).map((line) => line.trim())
  const title = collapseSpace(first)
  if (underline.test(next)) return isMarked(title) ? title : undefined
  const rest = [next, ...others]
  const following = rest.find((line) => line !== '') ?? ''
  if (!isPlain(first) || (field.test(first) && field.test(following))) return undefined
  const isHeading = next === '' ? rest.some(isOther) : isAbove(title, rest)
  return isHeading ? title : undefined
}

function isMarked(title: string): boolean {
  return title.length <= maxLength && opening.test(title) && /\p{L}/u.test(title)
}

/** Whether a line, trimmed, has the looks of a heading that nothing marks as one. */
function isPlain(line: string): boolean {
  if (line.length > maxPlainLength || !opening.test(line) || !closing.test(line)) return false
  if (foreign.test(line) || listItem.test(line)) return false
  const [word = ''] = line.match(/^\S+/) ?? []
  // `eBay` is a name.
  if (/^\P{L}*\p{Ll}\P{Lu}*$/u.test(word)) return false
  return count(line, /\p{L}/gu) > count(line, /\p{N}/gu)
}

/** A text in which every line looks like the first is a list. */
function isOther(line: string): boolean {
  return line !== '' && !isPlain(line)
}

function isAbove(title: string, rest: readonly string[]): boolean {
  const [next = ''] = rest
  const end = rest.indexOf('')
  const paragraph = (end < 0 ? rest : rest.slice(0, end)).join(' ')
  if (!sentenceStart.test(next) || listItem.test(next) || !sentenceEnd.test(paragraph)) return false
  if (isTitleCase(title)) return true
  // In bytes: a sign of Chinese says as much as three letters.
  return next.length >= 2 * title.length && Buffer.byteLength(next, 'utf8') >= leastBelow
}

/** Every word of more than three letters with a capital, the first and the last one anyhow. */
function isTitleCase(title: string): boolean {
  const words = title.match(/\p{L}[\p{L}\p{M}]*/gu) ?? []
  const isLarge = (word = '') => /^\P{Ll}/u.test(word)
  const ends = /^\p{Lu}/u.test(words[0] ?? '') && isLarge(words.at(-1))
  return ends && words.every((word) => word.length < 4 || isLarge(word))
}

function count(line: string, what: RegExp): number {
  return line.match(what)?.length ?? 0
}
