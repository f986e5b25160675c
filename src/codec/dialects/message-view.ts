// Reads one whole message where it lies, by positions: nothing is made of what a stranger sends, and
// a message of a million empty arrays costs its bytes.

import { quoted } from '../../door/wording.js'
import type { ErrorCode } from '../../errors.js'
import * as msgpack from '../messagepack.js'
import { Utf8State } from '../utf8.js'
import type { ByteWriter } from './byte-writer.js'
import type { Frame } from './message-framer.js'
import { faultError } from './place.js'

const { classOf, headerSizeOf, readLength } = msgpack

/** In the place of a position: there is no such value. */
export const NONE = -1

/** The members of a map that are looked for. */
export type Members = readonly string[]

const maxMembers = 15
/** Of the members' positions: where the map ends. */
const END = maxMembers

/** Who reads a long message lets others have a turn about every so many bytes: a few milliseconds. */
const stepBytes = 32 * 1024
/** A piece of no bytes, for whoever takes pieces to let others have a turn. */
export const pause = new Uint8Array(0)

export class MessageView {
  bytes: Uint8Array = new Uint8Array(0)
  /** Members of maps that nobody asked for, in all messages, and what others count with them. */
  otherMembers = 0
  /** Binary data or nil was read in the place of a text since use(). */
  isLoose = false

  #messageIndex = 0
  #start = 0
  readonly #utf8 = new Utf8State()
  /** The positions of the members of the maps that are open, inside each other. */
  #slots = new Int32Array(16 * 16)
  #open = 0
  /** Where others had their last turn. */
  #pausedAt = 0

  use({ bytes, messageIndex, start }: Frame): void {
    this.bytes = bytes as Uint8Array
    this.#messageIndex = messageIndex
    this.#start = start
    this.#open = 0
    this.#pausedAt = 0
    this.isLoose = false
  }

  /** Whether much was read up to `at` since the last time that it was. */
  isLong(at: number): boolean {
    if (Math.abs(at - this.#pausedAt) < stepBytes) return false
    this.#pausedAt = at
    return true
  }

  // Maps

  /**
   * Opens the map at `at` and finds its members. Ask with at() for where each one's value is, then
   * close(). nil counts as a member that is there.
   */
  openMap(at: number, members: Members, what: string): number {
    const base = this.#beginMap(at, what)
    let next = this.contentOf(at)
    for (let left = readLength(this.bytes, at); left > 0; left--) {
      const value = this.skip(next)
      this.#addMember(base, members, next, value)
      next = this.skip(value)
    }
    this.#slots[base + END] = next
    return base
  }

  /** openMap() of a map that may be as long as its message, with pauses. */
  *openLongMap(
    at: number,
    members: Members,
    what: string,
  ): Generator<Uint8Array, number, undefined> {
    const base = this.#beginMap(at, what)
    let next = this.contentOf(at)
    for (let left = readLength(this.bytes, at); left > 0; left--) {
      const value = this.skip(next)
      this.#addMember(base, members, next, value)
      next = yield* this.skipLong(value)
    }
    this.#slots[base + END] = next
    return base
  }

  #beginMap(at: number, what: string): number {
    if (classOf[this.bytes[at] as number] !== msgpack.MAP_CLASS) this.failKind(at, what)
    const base = this.#open
    this.#open = base + 16
    if (this.#open > this.#slots.length) {
      const larger = new Int32Array(2 * this.#slots.length)
      larger.set(this.#slots)
      this.#slots = larger
    }
    this.#slots.fill(NONE, base, this.#open)
    return base
  }

  #addMember(base: number, members: Members, key: number, value: number): void {
    const member = this.#memberAt(key, members)
    if (member < 0) this.otherMembers++
    else if (this.#slots[base + member] !== NONE) {
      this.fail(key, `the key ${quoted(members[member] as string)} occurs twice`)
    } else this.#slots[base + member] = value
  }

  /** Where the value of a member begins, or NONE. */
  at(map: number, member: number): number {
    return this.#slots[map + member] as number
  }

  /** The same for a member that may be nil, which is as if it were not there. */
  given(map: number, member: number): number {
    const at = this.at(map, member)
    if (at === NONE || this.bytes[at] !== 0xc0) return at
    this.isLoose = true
    return NONE
  }

  /** The same for a text that may be empty, which is as if it were not there. */
  text(map: number, member: number): number {
    const at = this.given(map, member)
    if (at === NONE) return NONE
    this.checkText(at)
    return readLength(this.bytes, at) === 0 ? NONE : at
  }

  /** The end of the map, which is not open any more. */
  close(map: number): number {
    this.#open = map
    return this.#slots[map + END] as number
  }

  #memberAt(key: number, members: Members): number {
    const from = this.contentOf(key)
    const length = readLength(this.bytes, key)
    if (this.kindAt(key) === msgpack.BINARY_CLASS) this.isLoose = true
    for (let n = 0; n < members.length; n++) {
      const name = members[n] as string
      if (name.length !== length) continue
      let i = 0
      while (i < length && this.bytes[from + i] === name.charCodeAt(i)) i++
      if (i === length) return n
    }
    return -1
  }

  // Values

  kindAt(at: number): number {
    return classOf[this.bytes[at] as number] as number
  }

  /** A text may come as binary: some writers have no other strings. */
  isText(at: number): boolean {
    const kind = this.kindAt(at)
    return kind === msgpack.STRING_CLASS || kind === msgpack.BINARY_CLASS
  }

  /** The number of elements of the array at `at`. */
  countAt(at: number, what: string): number {
    if (this.kindAt(at) !== msgpack.ARRAY_CLASS) this.failKind(at, what)
    return readLength(this.bytes, at)
  }

  lengthAt(at: number): number {
    return readLength(this.bytes, at)
  }

  /** Where the content of a string, or the first element of an array or map begins. */
  contentOf(at: number): number {
    return at + (headerSizeOf[this.bytes[at] as number] as number)
  }

  /** Refuses what is no text of valid UTF-8. */
  checkText(at: number, what = 'a string'): void {
    if (!this.isText(at)) this.failKind(at, what)
    if (this.kindAt(at) === msgpack.BINARY_CLASS) this.isLoose = true
    const from = this.contentOf(at)
    const to = from + readLength(this.bytes, at)
    this.#utf8.reset()
    const checked = this.#utf8.check(this.bytes, from, to)
    if (checked < to) this.#failAt(checked, at, 'a string is not valid UTF-8')
    if (this.#utf8.need > 0) this.fail(at, 'a string ends inside a UTF-8 character')
  }

  /** Writes the text at `at` as a string, behind what `before` and without its first `from` bytes. */
  copyText(at: number, to: ByteWriter, before: Uint8Array = nothing, from = 0): void {
    const length = readLength(this.bytes, at)
    const content = this.contentOf(at)
    to.stringHeader(before.length + length - from)
    to.copy(before)
    to.copy(this.bytes, content + from, content + length)
  }

  /** True where the text at `at` begins so. */
  startsWith(at: number, beginning: Uint8Array): boolean {
    const from = this.contentOf(at)
    if (readLength(this.bytes, at) < beginning.length) return false
    return beginning.every((byte, i) => this.bytes[from + i] === byte)
  }

  /** The end of the value at `start`. */
  skip(start: number): number {
    let at = start
    for (let left = 1; left > 0; left--) {
      left += this.#valuesIn(at)
      at = this.#next(at)
    }
    return at
  }

  /** skip() of what may be as long as its message, with pauses. */
  *skipLong(start: number): Generator<Uint8Array, number, undefined> {
    let at = start
    for (let left = 1; left > 0; left--) {
      left += this.#valuesIn(at)
      at = this.#next(at)
      if (this.isLong(at)) yield pause
    }
    return at
  }

  /** How many values are directly inside of the one at `at`. */
  #valuesIn(at: number): number {
    const kind = this.kindAt(at)
    if (kind === msgpack.ARRAY_CLASS) return readLength(this.bytes, at)
    return kind === msgpack.MAP_CLASS ? 2 * readLength(this.bytes, at) : 0
  }

  /** Where what follows the one at `at` begins, or what is inside of it. */
  #next(at: number): number {
    const content = this.contentOf(at)
    return this.isText(at) ? content + readLength(this.bytes, at) : content
  }

  // Errors

  fail(at: number, reason: string, code?: ErrorCode): never {
    this.#failAt(at, at, reason, code)
  }

  failKind(at: number, what: string): never {
    this.fail(at, `expected ${what}, found ${msgpack.describeByte(this.bytes[at] as number)}`)
  }

  failMissing(at: number, names: readonly string[]): never {
    this.fail(at, `a map lacks ${names.map((name) => `'${name}'`).join(' and ')}`)
  }

  #failAt(byte: number, at: number, reason: string, code?: ErrorCode): never {
    const messageIndex = this.#messageIndex
    const byteOffset = this.#start + byte
    throw faultError({ messageIndex, byteOffset, message: this.bytes, at, reason, code })
  }
}

const nothing = new Uint8Array(0)
