// What becomes of a file: a text, and where in it headings and pages begin.

import type { DocumentHeading, DocumentPage } from '../types.js'
import { Unreadable } from './unreadable.js'

export interface StructuredText {
  readonly text: string
  /** What the file itself says it is called. */
  readonly title?: string
  /** In the order of the text, as the pages; a bounded number. */
  readonly headings: readonly DocumentHeading[]
  /** Empty where the file has none. */
  readonly pages: readonly DocumentPage[]
}

/** Of a line: longer ones are no headings. */
const maxHeadingLength = 1000
const mostParts = 10_000
/** Who reads a file gets them in one piece, and cuts its text at each. */
const mostHeadings = 10_000
const mostPages = 10_000

/**
 * The headings of a file, where they are too many those of its outermost levels. A level stays or goes as a
 * whole, so that nothing comes to stand under a heading that is not its own.
 */
export class Headings {
  #found: DocumentHeading[] = []
  /** The innermost level of which there are not too many. */
  #innermost = Infinity

  /** In the order of the text. */
  get all(): readonly DocumentHeading[] {
    return this.#found
  }

  add(heading: DocumentHeading): void {
    if (heading.level > this.#innermost) return
    this.#found.push(heading)
    if (this.#found.length <= mostHeadings) return
    const last = this.#found.reduce((most, { level }) => Math.max(most, level), 0)
    this.#innermost = last - 1
    this.#found = this.#found.filter(({ level }) => level < last)
  }
}

/** A text that is put together of paragraphs and lines. */
export class TextBuilder {
  readonly #maxLength: number
  #parts: string[] = []
  /** What is behind them. */
  readonly #done: string[] = []
  readonly #headings = new Headings()
  /** Undefined where there were too many: what stands behind the last of some would seem to be on it. */
  #pages: DocumentPage[] | undefined = []
  #length = 0
  #page: number | undefined

  /** `maxLength` is in UTF-16 code units. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** What is added from here on is on this page. */
  page(page: number): void {
    this.#page = page
  }

  /** Nothing of white space alone is added, by this or the others. */
  paragraph(text: string): void {
    this.#add(text.trim(), '\n\n')
  }

  /** On a line right below what is there. */
  line(text: string): void {
    this.#add(text.trim(), '\n')
  }

  /** More of the paragraph that was added last. */
  more(text: string): void {
    this.#add(text.trim(), ' ')
  }

  /** The rest of a word of which a part was added last, with a hyphen at its end. */
  restOfWord(text: string): void {
    const last = this.#parts.pop() ?? ''
    this.#parts.push(last.slice(0, -1))
    this.#length -= last.length - last.slice(0, -1).length
    this.goOn(text.trimStart())
  }

  /** Right behind what was added last, with the white space at its beginning; a page begins with a word. */
  goOn(text: string): void {
    const own = text.trimEnd()
    this.#add(own, '', nextWord(this.#parts.at(-1) ?? '', own))
  }

  /** Its white space is kept, but for blank lines around it. */
  preformatted(text: string): void {
    this.#add(text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd(), '\n\n')
  }

  heading(text: string, level: number): void {
    const trimmed = text.replace(/\s+/gu, ' ').trim()
    this.#add(trimmed, '\n\n')
    if (trimmed === '' || trimmed.length > maxHeadingLength) return
    const start = this.#length - trimmed.length
    this.#headings.add({ start, end: this.#length, text: trimmed, level })
  }

  /** @throws Unreadable where there is no text in it */
  finish(title?: string, whyEmpty = 'it has no text'): StructuredText {
    if (this.#length === 0) throw new Unreadable('empty', whyEmpty)
    const text = [...this.#done, ...this.#parts].join('')
    const named = title?.replace(/\s+/gu, ' ').trim() ?? ''
    const isTitle = named !== '' && named.length <= maxHeadingLength
    return {
      text,
      ...(isTitle && { title: named.toWellFormed() }),
      headings: this.#headings.all,
      pages: this.#pages ?? [],
    }
  }

  /** `own` is where in it a page may begin. */
  #add(given: string, gap: string, own = 0): void {
    if (given === '') return
    const text = given.toWellFormed()
    const before = this.#length === 0 ? '' : gap
    this.#length += before.length + text.length
    if (this.#length > this.#maxLength) throw textTooLong(this.#maxLength)
    const isNew = this.#page !== undefined && this.#page !== this.#pages?.at(-1)?.page
    if (this.#page !== undefined && this.#pages && isNew && own < text.length) {
      this.#pages.push({ start: this.#length - text.length + own, page: this.#page })
      if (this.#pages.length > mostPages) this.#pages = undefined
    }
    // Millions of them would be one piece of memory.
    if (this.#parts.length > mostParts) {
      this.#done.push(this.#parts.join(''))
      this.#parts = []
    }
    this.#parts.push(before, text)
  }
}

/** Where the first word begins that does not go on from what is before. */
function nextWord(before: string, text: string): number {
  const isInWord = /[\p{LC}\p{M}]$/u.test(before.slice(-2)) && /^[\p{LC}\p{M}]/u.test(text)
  const [rest] = (isInWord ? /^\S*\s*/u : /^\s*/u).exec(text) ?? ['']
  return rest.length
}

export function textTooLong(maxLength: number): Unreadable {
  return new Unreadable('text', `its text has more than ${maxLength} characters (maxTextBytes)`)
}
