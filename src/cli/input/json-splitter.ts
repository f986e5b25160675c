// Cuts a long input into its JSON values at byte level, so that it is never held whole. It looks at
// brackets and strings alone: whether a value is JSON is for JSON.parse to say.

import { parseJson } from '../../json-text.js'
import { formatCount } from '../output/figures.js'

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Of one value. More would have to be held in memory at once. */
const maxValueBytes = 64 * 1024 * 1024

/** The input is not what it should be; what came before it is. */
export class BrokenInput extends Error {
  readonly line: number

  constructor(line: number, reason: string, cause?: unknown) {
    super(`line ${formatCount(line)}: ${reason}`, { cause })
    this.line = line
  }
}

export interface RawValue {
  readonly bytes: Buffer
  /** Of its first byte, from 1. */
  readonly line: number
  /** The most arrays and objects inside each other. */
  readonly depth: number
  /** The keys it writes down, over all depths. */
  readonly keys: number
}

/**
 * `start`: nothing but white space so far. `sequence`: between values one after the other. In an
 * array: `first` and `element` before a value, `next` after one. `closing`: after the array of an
 * import request. `end`: after all there may be.
 */
type State = 'start' | 'sequence' | 'first' | 'element' | 'next' | 'closing' | 'end'

/**
 * Takes the input in chunks and gives the values of, by the first bytes: an array; an import
 * request, the `values` of which come last; or else values one after the other, such as NDJSON.
 */
export class JsonSplitter {
  /** The members of an import request before `values`; known before the first value is given. */
  request: Readonly<Record<string, unknown>> | undefined

  #state: State = 'start'
  #line = 1
  #count = 0

  // Of the value that is being read.
  #parts: Buffer[] = []
  #bytes = 0
  #startLine = 0
  #kind: 'bracketed' | 'string' | 'scalar' | undefined
  #open = 0
  #inString = false
  #escaped = false
  #depth = 0
  #keys = 0;

  *push(chunk: Buffer): Generator<RawValue, void, undefined> {
    let at = this.#state === 'start' && this.#line === 1 && isMarked(chunk) ? 3 : 0
    while (at < chunk.length) {
      if (this.#kind === undefined) {
        at = this.#between(chunk, at)
        continue
      }
      const start = at
      const { request } = this
      at = this.#scan(chunk, start)
      // What was read is no value, but the head of a request.
      if (this.request !== request) continue
      const isWhole = this.#kind === undefined
      this.#keep(chunk.subarray(start, at))
      if (isWhole) yield this.#take()
    }
  }

  /** @throws BrokenInput where the input must not end here */
  *end(): Generator<RawValue, void, undefined> {
    if (this.#kind === 'scalar') yield this.#take()
    else if (this.#kind !== undefined) {
      throw new BrokenInput(
        this.#startLine,
        'the value that begins there does not end, up to the end of the input',
      )
    }
    if (this.#state === 'start') throw new Error('the input is empty')
    if (this.#state !== 'sequence' && this.#state !== 'end') {
      const what = this.#state === 'closing' ? 'request' : 'array'
      throw new BrokenInput(this.#line, `the input ends inside the ${what}`)
    }
  }

  /** Takes one byte that is not part of a value, or begins one and leaves it. */
  #between(chunk: Buffer, at: number): number {
    const byte = chunk[at]
    if (byte === lineFeed) this.#line++
    if (byte === lineFeed || byte === space || byte === carriageReturn || byte === tab) {
      return at + 1
    }
    switch (this.#state) {
      case 'start':
        this.#state = byte === openArray ? 'first' : 'sequence'
        return byte === openArray ? at + 1 : at
      case 'next':
        if (byte === comma) this.#state = 'element'
        else if (byte === closeArray) this.#closeArray()
        else this.#refuse(byte, "',' or ']'")
        return at + 1
      case 'closing':
        if (byte === comma) {
          this.#fail(
            "in an import request 'values' comes last: what follows it would come too late",
          )
        }
        if (byte !== closeObject) this.#refuse(byte, "'}'")
        this.#state = 'end'
        return at + 1
      case 'end':
        return this.#refuse(byte, 'nothing more')
      case 'first':
        if (byte !== closeArray) return this.#begin(byte, at)
        this.#closeArray()
        return at + 1
      default:
        return this.#begin(byte, at)
    }
  }

  #begin(byte: number | undefined, at: number): number {
    if (byte === openObject || byte === openArray) this.#kind = 'bracketed'
    else if (byte === quote) this.#kind = 'string'
    else if (byte === comma || byte === colon || byte === closeArray || byte === closeObject) {
      this.#refuse(byte, 'a value')
    } else this.#kind = 'scalar'
    this.#startLine = this.#line
    return at
  }

  /** The index after the value's last byte, or after the chunk's where the value goes on. */
  #scan(chunk: Buffer, start: number): number {
    // Hot: every byte of the input passes here. The state is in locals meanwhile.
    const isScalar = this.#kind === 'scalar'
    let open = this.#open
    let inString = this.#inString
    let escaped = this.#escaped
    let at = start
    scanning: for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (inString) {
        if (escaped) escaped = false
        else if (byte === backslash) escaped = true
        else if (byte === quote) {
          inString = false
          if (open === 0) break
        } else if (byte === lineFeed) {
          this.#fail('a line ends inside a string')
        }
        continue
      }
      switch (byte) {
        case quote:
          inString = true
          break
        case colon:
          this.#keys++
          break
        case openObject:
        case openArray:
          if (byte === openArray && open === 1 && this.#isRequest(chunk, start, at)) return at + 1
          if (++open > this.#depth) this.#depth = open
          break
        case closeObject:
        case closeArray:
          if (isScalar) return this.#endBefore(at)
          if (--open === 0) break scanning
          break
        case lineFeed:
          if (isScalar) return this.#endBefore(at)
          this.#line++
          break
        case comma:
        case space:
        case tab:
        case carriageReturn:
          if (isScalar) return this.#endBefore(at)
      }
    }
    if (at < chunk.length) return this.#endBefore(at + 1)
    this.#open = open
    this.#inString = inString
    this.#escaped = escaped
    return at
  }

  #endBefore(at: number): number {
    this.#kind = undefined
    this.#open = 0
    this.#inString = false
    this.#escaped = false
    return at
  }

  /**
   * Whether the array that opens here is the `values` of an import request. What has been read of
   * the first value is one then, once the array and the request are closed.
   */
  #isRequest(chunk: Buffer, start: number, at: number): boolean {
    if (this.#state !== 'sequence' || this.#count > 0) return false
    const here = chunk.subarray(start, at)
    const isNamed = (text: Buffer) => /"values"\s*:\s*$/.test(text.subarray(-64).toString())
    if (here.length >= 64 && !isNamed(here)) return false
    const text = Buffer.concat([...this.#parts, here])
    if (!isNamed(text)) return false
    let head: Readonly<Record<string, unknown>>
    try {
      head = parseJson(`${text}[]}`) as Readonly<Record<string, unknown>>
    } catch {
      return false
    }
    if (Object.keys(head).sort().join() !== 'metadata,schema_name,values') return false
    this.request = head
    this.#state = 'first'
    this.#parts = []
    this.#bytes = 0
    this.#depth = 0
    this.#keys = 0
    this.#endBefore(at)
    return true
  }

  #keep(part: Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes <= maxValueBytes) return
    const limit = `${maxValueBytes / 1024 / 1024} MiB`
    const hint = "an import request has 'metadata' and 'schema_name' before 'values'"
    const reason = `the value that begins there is longer than ${limit} (${hint})`
    throw new BrokenInput(this.#startLine, reason)
  }

  #take(): RawValue {
    const [first = Buffer.alloc(0), ...rest] = this.#parts
    const value = {
      bytes: rest.length === 0 ? first : Buffer.concat(this.#parts),
      line: this.#startLine,
      depth: this.#depth,
      keys: this.#keys,
    }
    this.#kind = undefined
    this.#parts = []
    this.#bytes = 0
    this.#depth = 0
    this.#keys = 0
    this.#count++
    if (this.#state !== 'sequence') this.#state = 'next'
    return value
  }

  #closeArray(): void {
    this.#state = this.request === undefined ? 'end' : 'closing'
  }

  #refuse(byte: number | undefined, expected: string): never {
    const found = byte !== undefined && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : 'a byte'
    return this.#fail(`expected ${expected}, found ${found}`)
  }

  #fail(reason: string): never {
    throw new BrokenInput(this.#line, reason)
  }
}

/** Whether it begins with the mark that some editors put in front of UTF-8. */
function isMarked(chunk: Buffer): boolean {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf
}
