// Cuts a stream of messages of any dialect at byte level. What it holds between two chunks is the
// message under way, a stack of its open arrays and maps, and of a message that has no place in a
// core nothing: that one is skipped, however long it is.

import { quoted } from '../../door/wording.js'
import type { ErrorCode } from '../../errors.js'
import type { CodecLimits } from '../limits.js'
import * as msgpack from '../messagepack.js'
import { maxKeptBytes, roomFor } from './byte-writer.js'
import { faultError } from './place.js'

const { classOf, headerSizeOf, readLength } = msgpack

/** One whole message. Its bytes are those of the chunk, or of a buffer that is used again. */
export interface Frame {
  readonly type: string
  /** `undefined` where the type is one of those that are skipped. */
  readonly bytes: Uint8Array | undefined
  readonly messageIndex: number
  /** Where it begins in the stream. */
  readonly start: number
}

export interface FramerOptions {
  readonly limits: CodecLimits
  /** The types of messages that are wanted, and of those that are skipped. */
  readonly kept: readonly string[]
  readonly skipped: readonly string[]
  /** Where the stream begins that this is the rest of. */
  readonly messageIndex?: number
  readonly offset?: number
}

const maxTypeBytes = 256

const AT_MESSAGE = 0
const AT_TYPE = 1
const AT_DATA = 2

export class MessageFramer {
  readonly #options: FramerOptions
  readonly #limits: CodecLimits
  #messageIndex: number
  /** Where the current chunk and the current message begin in the stream. */
  #offset: number
  #start: number

  #state = AT_MESSAGE
  #type = ''
  #isSkipped = false
  /** The message under way, as far as earlier chunks had it. */
  #held = Buffer.alloc(0)
  #heldLength = 0
  #chunk: Uint8Array = this.#held

  /** A header that was cut between two chunks. */
  readonly #header = new Uint8Array(9)
  #headerLength = 0
  /** Content of a string that is still to come, and whether it is the type's. */
  #contentLeft = 0
  #typeStart = 0
  #typeBytes: number[] = []

  // The open arrays and maps: what is still to come in each, and in a map whether it is a key.
  #depth = 0
  readonly #left: Float64Array
  readonly #isMap: Uint8Array
  /** Of a message that is skipped: values to come, in all that is open. */
  #valuesLeft = 0

  constructor(options: FramerOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#messageIndex = options.messageIndex ?? 0
    this.#offset = options.offset ?? 0
    this.#start = this.#offset
    this.#left = new Float64Array(options.limits.maxDepth)
    this.#isMap = new Uint8Array(options.limits.maxDepth)
  }

  /** The bytes read so far. */
  get offset(): number {
    return this.#offset
  }

  /**
   * The messages that this chunk completes. Take them all before the next chunk.
   * @throws LorekeepError `LK_CORE_FORMAT`, `LK_CORE_TYPE`
   */
  *push(chunk: Uint8Array): Generator<Frame, void, undefined> {
    const end = chunk.length
    this.#chunk = chunk
    let at = 0
    while (at < end) {
      at = this.#contentLeft > 0 ? this.#content(at, end) : this.#token(at, end)
      if (this.#state !== AT_DATA || this.#contentLeft > 0 || this.#headerLength > 0) continue
      if (this.#isSkipped ? this.#valuesLeft > 0 : this.#depth > 0) continue
      yield this.#frame(at)
      this.#next(at)
    }
    if (this.#offset + end > this.#start && !this.#isSkipped) {
      this.#hold(Math.max(0, this.#start - this.#offset), end)
    }
    this.#offset += end
    this.#chunk = chunk.subarray(end)
  }

  /** Call at the end of the stream. @throws LorekeepError `LK_CORE_FORMAT` */
  finish(): void {
    if (this.#offset === this.#start) return
    this.#fail(this.#offset, this.#offset, 'the stream ends inside a message')
  }

  #frame(end: number): Frame {
    const start = this.#start
    const from = start - this.#offset
    let bytes: Uint8Array | undefined
    if (!this.#isSkipped && this.#heldLength === 0) bytes = this.#chunk.subarray(from, end)
    else if (!this.#isSkipped) {
      this.#hold(Math.max(0, from), end)
      bytes = this.#held.subarray(0, this.#heldLength)
    }
    return { type: this.#type, bytes, messageIndex: this.#messageIndex, start }
  }

  #next(at: number): void {
    this.#messageIndex++
    this.#start = this.#offset + at
    this.#state = AT_MESSAGE
    this.#isSkipped = false
    this.#heldLength = 0
    if (this.#held.length > maxKeptBytes) this.#held = Buffer.alloc(0)
  }

  #hold(from: number, to: number): void {
    const length = this.#heldLength + to - from
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(roomFor(length, this.#held.length))
      larger.set(this.#held.subarray(0, this.#heldLength))
      this.#held = larger
    }
    this.#held.set(this.#chunk.subarray(from, to), this.#heldLength)
    this.#heldLength = length
  }

  #content(at: number, end: number): number {
    const to = Math.min(end, at + this.#contentLeft)
    if (this.#state === AT_TYPE) this.#typeBytes.push(...this.#chunk.subarray(at, to))
    this.#contentLeft -= to - at
    if (this.#contentLeft === 0 && this.#state === AT_TYPE) this.#typeDone()
    else if (this.#contentLeft === 0) this.#valueDone()
    return to
  }

  #token(at: number, end: number): number {
    if (this.#headerLength === 0) {
      this.#checkFirst(this.#chunk[at] as number, this.#offset + at)
    }
    const before = this.#headerLength
    const first = before === 0 ? (this.#chunk[at] as number) : (this.#header[0] as number)
    const size = headerSizeOf[first] as number
    const taken = Math.min(size - before, end - at)
    if (before === 0 && taken === size) {
      this.#accept(this.#chunk, at, this.#offset + at)
      return at + taken
    }
    this.#header.set(this.#chunk.subarray(at, at + taken), before)
    this.#headerLength = before + taken
    if (this.#headerLength === size) {
      this.#headerLength = 0
      this.#accept(this.#header, 0, this.#offset + at + taken - size)
    }
    return at + taken
  }

  /** Refuses what a first byte alone shows to be wrong. */
  #checkFirst(first: number, start: number): void {
    if (!this.#isSkipped && start >= this.#limit) this.#failSize(start)
    const found = classOf[first]
    if (found === msgpack.BAD) {
      this.#fail(start, start, 'the byte 0xc1 never occurs in MessagePack')
    }
    if (found === msgpack.EXTENSION_CLASS) {
      const byte = `0x${first.toString(16)}`
      this.#fail(start, start, `extension types (${byte}) are not part of a core stream`)
    }
    const isText = found === msgpack.STRING_CLASS || found === msgpack.BINARY_CLASS
    if (this.#state === AT_MESSAGE && found !== msgpack.ARRAY_CLASS) {
      this.#failKind(start, aMessage, first)
    }
    if (this.#state === AT_TYPE && !isText) {
      this.#failKind(start, `a message type (${this.#types})`, first)
    }
    if (this.#state === AT_DATA && !this.#isSkipped && this.#isAtKey && !isText) {
      this.#failKind(start, 'a string as map key', first)
    }
  }

  get #isAtKey(): boolean {
    const top = this.#depth - 1
    return top >= 0 && this.#isMap[top] === 1 && (this.#left[top] as number) % 2 === 0
  }

  /** Takes a whole header. */
  #accept(bytes: Uint8Array, at: number, start: number): void {
    const first = bytes[at] as number
    const contentStart = start + (headerSizeOf[first] as number)
    const kind = classOf[first]
    if (!this.#isSkipped && contentStart > this.#limit) this.#failSize(start)
    if (this.#state === AT_MESSAGE) {
      const count = readLength(bytes, at)
      if (count !== 2) this.#fail(start, start, `expected ${aMessage}, found an array of ${count}`)
      this.#state = AT_TYPE
    } else if (kind === msgpack.STRING_CLASS || kind === msgpack.BINARY_CLASS) {
      this.#openContent(readLength(bytes, at), start, contentStart)
    } else if (kind === msgpack.ARRAY_CLASS || kind === msgpack.MAP_CLASS) {
      this.#open(kind === msgpack.MAP_CLASS, readLength(bytes, at), start, contentStart)
    } else this.#valueDone()
  }

  #openContent(length: number, start: number, contentStart: number): void {
    if (!this.#isSkipped) {
      const most = this.#limits.maxStringBytes
      if (length > most) {
        const claim = `a string of ${length} bytes`
        this.#fail(start, start, `${claim}; at most ${most} (maxStringBytes) are accepted`)
      }
      if (contentStart + length > this.#limit) this.#failSize(start)
    }
    if (this.#state === AT_TYPE) {
      this.#typeStart = start
      this.#typeBytes = []
      // Longer than any type: its beginning is enough to say so.
      if (length > maxTypeBytes) this.#failType(start, `a string of ${length} bytes`)
    }
    this.#contentLeft = length
    if (length > 0) return
    if (this.#state === AT_TYPE) this.#typeDone()
    else this.#valueDone()
  }

  #typeDone(): void {
    const { kept, skipped } = this.#options
    this.#type = Buffer.from(this.#typeBytes).toString('latin1')
    this.#isSkipped = skipped.includes(this.#type)
    if (!this.#isSkipped && !kept.includes(this.#type)) {
      const found = quoted(Buffer.from(this.#typeBytes).toString('utf8'))
      this.#failType(this.#typeStart, found)
    }
    this.#state = AT_DATA
    this.#depth = 0
    this.#valuesLeft = 1
    // The message, of which the type has been read.
    if (!this.#isSkipped) {
      this.#depth = 1
      this.#left[0] = 1
      this.#isMap[0] = 0
    }
  }

  #open(isMap: boolean, count: number, start: number, contentStart: number): void {
    if (this.#isSkipped) {
      this.#valuesLeft += isMap ? 2 * count : count
      this.#valuesLeft--
      return
    }
    const { maxDepth, maxMapEntries } = this.#limits
    const values = isMap ? 2 * count : count
    if (contentStart + values > this.#limit) this.#failSize(start)
    if (isMap && count > maxMapEntries) {
      const claim = `a map of ${count} entries`
      this.#fail(start, start, `${claim}; at most ${maxMapEntries} (maxMapEntries) are accepted`)
    }
    const top = this.#depth
    if (top === maxDepth) {
      this.#fail(start, start, `arrays and maps more than ${top} (maxDepth) deep`)
    }
    if (count === 0) return this.#valueDone()
    this.#left[top] = values
    this.#isMap[top] = isMap ? 1 : 0
    this.#depth = top + 1
  }

  #valueDone(): void {
    if (this.#isSkipped) {
      this.#valuesLeft--
      return
    }
    while (this.#depth > 0) {
      const top = this.#depth - 1
      const left = (this.#left[top] as number) - 1
      this.#left[top] = left
      if (left > 0) return
      this.#depth = top
    }
  }

  // Errors

  get #limit(): number {
    return this.#start + this.#limits.maxMessageBytes
  }

  get #types(): string {
    return this.#options.kept.map((type) => `"${type}"`).join(' or ')
  }

  #failType(start: number, found: string): never {
    this.#fail(start, start, `found ${found}, expected ${this.#types}`, 'LK_CORE_TYPE')
  }

  #failKind(start: number, expected: string, first: number): never {
    this.#fail(start, start, `expected ${expected}, found ${msgpack.describeByte(first)}`)
  }

  #failSize(start: number): never {
    const most = this.#limits.maxMessageBytes
    this.#fail(this.#limit, start, `longer than ${most} bytes (maxMessageBytes), or claims to be`)
  }

  #fail(byteOffset: number, placeOffset: number, reason: string, code?: ErrorCode): never {
    if (!this.#isSkipped) this.#hold(Math.max(0, this.#start - this.#offset), this.#chunk.length)
    const message = this.#held.subarray(0, this.#heldLength)
    const at = placeOffset - this.#start
    throw faultError({ messageIndex: this.#messageIndex, byteOffset, message, at, reason, code })
  }
}

const aMessage = 'a message (an array of a type string and a map)'
