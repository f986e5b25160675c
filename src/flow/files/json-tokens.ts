// JSON (RFC 8259), taken apart one token after the other. Numbers stay as they are written.

import { parseJson } from '../../json-text.js'
import { Unreadable } from './unreadable.js'

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const space = /[ \t\n\r]*/y
const words: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }
/** The longest that may be left of a word or a number that is cut: `fals`. */
const mostCut = 4

/** Whether a text is an object or a list; of a longer text its beginning, whether it may be that of one. */
export function isJson(text: string, isWhole: boolean): boolean {
  const tokens = new JsonTokens(text)
  const open: ('}' | ']')[] = []
  try {
    do {
      const end = open.at(-1)
      if (end !== undefined && tokens.closes(end)) {
        open.pop()
        continue
      }
      if (end === '}') tokens.key()
      const opened = tokens.opened()
      if (opened !== undefined) open.push(opened === '{' ? '}' : ']')
      else tokens.plain()
    } while (open.length > 0)
    return isWhole && tokens.isAtEnd
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return !isWhole && tokens.left <= mostCut
  }
}

export class JsonTokens {
  readonly #text: string
  #at: number
  /** Behind an element or a member, where a comma or an end has to stand. */
  #isBehind = false
  #isOnNewLine = true

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
    this.#skip()
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** UTF-16 code units. */
  get left(): number {
    return this.#text.length - this.#at
  }

  /** Whether an end of a line lies between this token and the one before. */
  get isOnNewLine(): boolean {
    return this.#isOnNewLine
  }

  /** What opens here, which is then behind. */
  opened(): '{' | '[' | undefined {
    const first = this.#text[this.#at]
    if (first !== '{' && first !== '[') return undefined
    this.#go(1)
    this.#isBehind = false
    return first
  }

  /** Whether this end stands here, which is then behind; what does not end has its comma taken. */
  closes(end: '}' | ']'): boolean {
    const isBehind = this.#isBehind
    this.#isBehind = true
    if (this.#text[this.#at] === end) {
      this.#go(1)
      return true
    }
    if (isBehind) {
      this.#take(',')
      if (this.#text[this.#at] === end) throw this.unexpected()
    }
    return false
  }

  /** A member's name, and its colon. */
  key(): string {
    const name = this.#string()
    this.#take(':')
    return name
  }

  /** The string that follows, which stays. */
  peekString(): string | undefined {
    if (this.#text[this.#at] !== '"') return undefined
    const at = this.#at
    const found = this.#string()
    this.#at = at
    return found
  }

  /** A value that is no object and no list: null is nothing. */
  plain(): string {
    this.#isBehind = true
    const first = this.#text[this.#at] ?? ''
    if (first === '"') return this.#string()
    const word = Object.hasOwn(words, first) ? words[first] : undefined
    if (word !== undefined && this.#text.startsWith(word, this.#at)) {
      this.#go(word.length)
      return word === 'null' ? '' : word
    }
    number.lastIndex = this.#at
    const found = number.exec(this.#text)?.[0]
    if (found === undefined) throw this.unexpected()
    this.#go(found.length)
    return found
  }

  unexpected(): Unreadable {
    const [found] = this.#text.slice(this.#at, this.#at + 2)
    const what = found === undefined ? 'it ends' : `${JSON.stringify(found)} is unexpected`
    return new Unreadable('damaged', `it is no JSON: ${what} at character ${this.#at}`)
  }

  #string(): string {
    const text = this.#text
    if (text[this.#at] !== '"') throw this.unexpected()
    let end = this.#at
    for (let slash = true; slash;) {
      end = text.indexOf('"', end + 1)
      if (end < 0) {
        this.#at = text.length
        throw this.unexpected()
      }
      let count = 0
      while (text[end - 1 - count] === '\\') count++
      slash = count % 2 === 1
    }
    const quoted = text.slice(this.#at, end + 1)
    let found: string
    try {
      found = parseJson(quoted) as string
    } catch {
      throw this.unexpected()
    }
    this.#go(quoted.length)
    return found
  }

  #take(sign: string): void {
    if (this.#text[this.#at] !== sign) throw this.unexpected()
    this.#go(1)
  }

  #go(length: number): void {
    this.#at += length
    this.#skip()
  }

  #skip(): void {
    const from = this.#at
    space.lastIndex = from
    space.test(this.#text)
    this.#at = space.lastIndex
    this.#isOnNewLine = this.#text.slice(from, this.#at).includes('\n')
  }
}
