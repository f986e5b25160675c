// Passages as assistants read them: what they say, and where in which document.

import type { FoundPassage, GraphSource } from '../graph/types.js'
import { aCount, aText, listOf } from './tool.js'

export interface PlainPassage {
  /** Its number, from 1, by which an answer cites it; it goes on from page to page. */
  readonly n: number
  readonly document: string
  readonly title?: string
  readonly heading?: string
  readonly page?: number
  readonly core: string
  /** Where in the text of the document it lies, in UTF-16 code units. */
  readonly start?: number
  readonly end?: number
  readonly score: number
  readonly text: string
}

export const passagesSchema = listOf({
  n: aCount,
  document: aText,
  title: aText,
  page: aCount,
  core: aText,
  start: aCount,
  end: aCount,
  text: aText,
})

/** Without a document the passage itself stands for it. */
export function plainPassage(passage: FoundPassage | GraphSource, n: number): PlainPassage {
  const { chunk, document = chunk, title, heading, page, core, start, end, score } = passage
  return {
    n,
    document: isOfDocument(document.v, core) ? core : document.v,
    ...(title !== undefined && { title }),
    ...(heading !== undefined && { heading }),
    ...(page !== undefined && { page }),
    core,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    score: Math.round(score * 1000) / 1000,
    text: passage.text ?? '',
  }
}

/** Whether flows write this IRI for a document of that id: one that is no IRI stands encoded behind their base. */
export function isOfDocument(uri: string, id: string): boolean {
  return uri === id || uri.endsWith(`/d/${encodeURIComponent(id.toWellFormed())}`)
}

/** Each line of a document is quoted, so that none can pass for one of ours. */
export function textOfPassage(passage: PlainPassage): string {
  const { n, document, title, heading, page, start, end, text } = passage
  const place = [
    ...(title === undefined ? [] : [onOneLine(title)]),
    ...(heading === undefined ? [] : [onOneLine(heading)]),
    ...(page === undefined ? [] : [`page ${page}`]),
    `document ${onOneLine(document)}`,
    ...(start === undefined || end === undefined ? [] : [`characters ${start}-${end}`]),
  ]
  return `[${n}] ${place.join(', ')}\n${quoted(text)}`
}

export function quoted(text: string): string {
  return text
    .trim()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join('\n')
}

/** As JSON, which leaves two characters as they are that end lines for some readers. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (end) =>
    end === '\u2028' ? '\\u2028' : '\\u2029',
  )
}

export function onOneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
