// Where a text is no JSON. JSON.parse says it in words that change with the version of Node, and
// often without a place; so what it refused is read once more here.

import { formatPath, type JsonPath } from '../door/json.js'
import { quoted } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import { parseJson } from '../json-text.js'

const quote = 0x22
const backslash = 0x5c

/** The error of a flaw. `path` is where it is; of a key that is there again, with the key. */
export type FlawError = (message: string, byteOffset: number, path: JsonPath) => LorekeepError

/**
 * Reads a text of valid UTF-8 by the grammar (RFC 8259), and makes nothing of it.
 * @throws LorekeepError, `LK_HTTP_JSON` unless told otherwise, at the first place that is wrong, or
 * names a key again. Returns where there is none. It recurses: the depth was checked before.
 */
export function locateFlaw(bytes: Buffer, start: number, errorOf: FlawError = flawOfBody): void {
  new Reader(bytes, start, errorOf).read()
}

const flawOfBody: FlawError = (message, byteOffset, path) => {
  return jsonError(message, { byteOffset }, formatPath(path))
}

class Reader {
  readonly #bytes: Buffer
  /** Keys and indexes from the top to where we are. */
  readonly #path: (string | number)[] = []
  readonly #errorOf: FlawError
  #at: number

  constructor(bytes: Buffer, start: number, errorOf: FlawError) {
    this.#bytes = bytes
    this.#errorOf = errorOf
    this.#at = start
  }

  read(): void {
    this.#value()
    this.#skipSpace()
    if (this.#at < this.#bytes.length) this.#refuse('nothing more')
  }

  #value(): void {
    this.#skipSpace()
    if (this.#take('{')) this.#object()
    else if (this.#take('[')) this.#array()
    else if (this.#take('"')) this.#string()
    else if (!this.#take('true') && !this.#take('false') && !this.#take('null')) this.#number()
  }

  #object(): void {
    const keys = new Set<string>()
    this.#skipSpace()
    if (this.#take('}')) return
    do {
      this.#skipSpace()
      const from = this.#at
      if (!this.#take('"')) {
        this.#refuse(keys.size === 0 ? "a key in double quotes, or '}'" : 'a key in double quotes')
      }
      this.#string()
      const key = this.#decode(from)
      this.#path.push(key)
      if (keys.has(key)) this.#fail(from, `the key ${quoted(key)} is there twice`)
      keys.add(key)
      this.#skipSpace()
      if (!this.#take(':')) this.#refuse("':'")
      this.#value()
      this.#path.pop()
      this.#skipSpace()
    } while (this.#take(','))
    if (!this.#take('}')) this.#refuse("',' or '}'")
  }

  #array(): void {
    this.#skipSpace()
    if (this.#take(']')) return
    let index = 0
    do {
      this.#path.push(index++)
      this.#value()
      this.#path.pop()
      this.#skipSpace()
    } while (this.#take(','))
    if (!this.#take(']')) this.#refuse("',' or ']'")
  }

  /** After the opening quote. */
  #string(): void {
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined) this.#refuse('the closing quote of a string')
      else if (byte < 0x20) this.#refuse('an escape such as \\n in a string')
      else if (byte === backslash) this.#escape()
      else this.#at++
      if (byte === quote) return
    }
  }

  #escape(): void {
    this.#at++
    if (this.#take('u')) {
      for (let digits = 0; digits < 4; digits++) {
        if (!this.#takeOneOf('0123456789abcdefABCDEF')) this.#refuse('four hex digits after \\u')
      }
    } else if (!this.#takeOneOf('"\\/bfnrt')) {
      this.#refuse('an escape that JSON has')
    }
  }

  #number(): void {
    const isNegative = this.#take('-')
    if (!this.#take('0')) this.#digits(isNegative ? 'a digit' : 'a value')
    if (this.#take('.')) this.#digits('a digit')
    if (this.#takeOneOf('eE')) {
      this.#takeOneOf('+-')
      this.#digits('a digit')
    }
  }

  #digits(expected: string): void {
    if (!this.#takeOneOf('0123456789')) this.#refuse(expected)
    while (this.#takeOneOf('0123456789'));
  }

  /** The key whose opening quote is at `from`, and whose end is here. */
  #decode(from: number): string {
    const text = this.#bytes.toString('utf8', from, this.#at)
    // Two spellings of one key are one key.
    return text.includes('\\') ? (parseJson(text) as string) : text.slice(1, -1)
  }

  #skipSpace(): void {
    while (this.#takeOneOf(' \n\r\t'));
  }

  #take(ascii: string): boolean {
    for (let at = 0; at < ascii.length; at++) {
      if (this.#bytes[this.#at + at] !== ascii.charCodeAt(at)) return false
    }
    this.#at += ascii.length
    return true
  }

  #takeOneOf(ascii: string): boolean {
    const byte = this.#bytes[this.#at]
    if (byte === undefined || byte > 0x7f || !ascii.includes(String.fromCharCode(byte)))
      return false
    this.#at++
    return true
  }

  #refuse(expected: string): never {
    const [found] = this.#bytes.toString('utf8', this.#at, this.#at + 4)
    const what = found === undefined ? 'the end' : quoted(found)
    this.#fail(this.#at, `expected ${expected}, found ${what}`)
  }

  #fail(byteOffset: number, message: string): never {
    throw this.#errorOf(message, byteOffset, this.#path)
  }
}

interface FlawDetails {
  readonly byteOffset?: number
  readonly maxDepth?: number
}

/** Of the first that is wrong: what follows it makes no sense. */
export function jsonError(message: string, details: FlawDetails = {}, path = ''): LorekeepError {
  const { byteOffset } = details
  const at = byteOffset === undefined ? '' : ` at byte ${byteOffset}`
  const within = path === '' ? '' : `, in ${path}`
  return new LorekeepError('LK_HTTP_JSON', `${message}${at}${within}`, {
    details: { ...details, errors: [{ path, message }] },
  })
}
