// Core messages from objects to bytes: fields in the order of the wire tables, the smallest
// headers, every vector component a 64-bit double. That is what the reference system's own
// writer (Python's msgpack) makes of them; msgpackr would write 1.0 as the integer 1.

import { formatPath } from '../door/json.js'
import { shown, unknownMember } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import type { CoreMessage } from '../types.js'
import { stringHeader } from './messagepack.js'
import { annotationProblem, graphProblem } from '../terms.js'

/**
 * The bytes of one message. It is also the door for message objects: every field is checked.
 * @throws LorekeepError `LK_CORE_MESSAGE` with `details` `{ messageIndex, errors }`, the first of them
 */
export function encodeMessage(message: CoreMessage, messageIndex = 0): Uint8Array {
  return writer.write(message, messageIndex)
}

const firstBytes = 64 * 1024
const maxKeptBytes = 4 * 1024 * 1024

/** Shorter strings are written a character at a time, which costs less than the native call. */
const shortLength = 64

const triplesMembers = ['m', 't']
const embeddingsMembers = ['m', 'e']
const metadataMembers = ['i', 'm', 'u', 'c']
const tripleMembers = ['s', 'p', 'o', 'g']
const termMembers = ['v', 'e', 'dt', 'ln']
const embeddingMembers = ['e', 'v']

class MessageWriter {
  #messageIndex = 0
  #buffer = Buffer.allocUnsafeSlow(firstBytes)
  #length = 0
  /** Where in the message's data the writer is, for errors. */
  readonly #path: (string | number)[] = []

  write(message: unknown, messageIndex: number): Uint8Array {
    this.#messageIndex = messageIndex
    this.#length = 0
    this.#path.length = 0
    try {
      this.#message(message)
      return Buffer.from(this.#buffer.subarray(0, this.#length))
    } finally {
      // One large message does not keep its size for ever, nor does one that is refused.
      if (this.#buffer.length > maxKeptBytes) this.#buffer = Buffer.allocUnsafeSlow(firstBytes)
    }
  }

  #message(value: unknown): void {
    const pair = this.#checkArray(value)
    if (pair.length !== 2) {
      this.#fail(`must be a pair of type and data, not ${pair.length} values`)
    }
    const [type, data] = pair
    this.#arrayHeader(2)
    if (type !== 't' && type !== 'ge')
      this.#fail(`must have the type 't' or 'ge', not ${shown(type)}`)
    this.#string(type)
    const fields = this.#checkObject(data, type === 't' ? triplesMembers : embeddingsMembers)
    this.#mapHeader(2)
    this.#field(fields, 'm', this.#metadata)
    if (type === 't') this.#field(fields, 't', this.#triples)
    else this.#field(fields, 'e', this.#embeddings)
  }

  #metadata(value: unknown): void {
    const fields = this.#checkObject(value, metadataMembers)
    this.#mapHeader(4)
    this.#field(fields, 'i', this.#string)
    this.#field(fields, 'm', this.#triples)
    this.#field(fields, 'u', this.#string)
    this.#field(fields, 'c', this.#string)
  }

  #triples(value: unknown): void {
    this.#elements(value, this.#triple)
  }

  #triple(value: unknown): void {
    const triple = this.#checkObject(value, tripleMembers, 1)
    const hasGraph = triple['g'] !== undefined
    this.#mapHeader(hasGraph ? 4 : 3)
    this.#field(triple, 's', this.#term)
    this.#field(triple, 'p', this.#term)
    this.#field(triple, 'o', this.#term)
    if (hasGraph) this.#field(triple, 'g', this.#graph)
  }

  #term(value: unknown): void {
    const term = this.#checkObject(value, termMembers, 2)
    const { dt, ln } = term
    const isPlain = dt === undefined && ln === undefined
    this.#mapHeader(isPlain ? 2 : 3)
    this.#field(term, 'v', this.#string)
    this.#field(term, 'e', this.#boolean)
    if (isPlain) return
    const problem = annotationProblem({ e: term['e'], dt, ln })
    if (problem !== undefined) {
      const [member, message] = problem
      if (member !== '') this.#path.push(member)
      this.#fail(message)
    }
    this.#field(term, dt === undefined ? 'ln' : 'dt', this.#string)
  }

  #graph(value: unknown): void {
    const problem = graphProblem(value)
    if (problem !== undefined) this.#fail(problem)
    this.#string(value)
  }

  #embeddings(value: unknown): void {
    this.#elements(value, this.#embedding)
  }

  #embedding(value: unknown): void {
    const embedding = this.#checkObject(value, embeddingMembers)
    this.#mapHeader(2)
    this.#field(embedding, 'e', this.#term)
    this.#field(embedding, 'v', this.#vectors)
  }

  #vectors(value: unknown): void {
    this.#elements(value, this.#vector)
  }

  #vector(value: unknown): void {
    const isTyped = value instanceof Float64Array || value instanceof Float32Array
    const vector = isTyped ? value : this.#checkArray(value)
    this.#arrayHeader(vector.length)
    this.#reserve(vector.length * 9)
    const buffer = this.#buffer
    let at = this.#length
    for (let i = 0; i < vector.length; i++) {
      const component = vector[i]
      if (typeof component !== 'number') {
        this.#path.push(i)
        this.#fail(`must be a number, not ${shown(component)}`)
      }
      buffer[at] = 0xcb
      buffer.writeDoubleBE(component, at + 1)
      at += 9
    }
    this.#length = at
  }

  /** Writes a key and, with `write`, the value under it. */
  #field(
    fields: Readonly<Record<string, unknown>>,
    name: string,
    write: (value: unknown) => void,
  ): void {
    this.#byte(0xa0 | name.length)
    for (let i = 0; i < name.length; i++) this.#byte(name.charCodeAt(i))
    this.#path.push(name)
    write.call(this, fields[name])
    this.#path.pop()
  }

  #elements(value: unknown, write: (value: unknown) => void): void {
    const elements = this.#checkArray(value)
    this.#arrayHeader(elements.length)
    for (let i = 0; i < elements.length; i++) {
      this.#path.push(i)
      write.call(this, elements[i])
      this.#path.pop()
    }
  }

  /**
   * A member that nobody knows would be lost: it is counted, and only then looked for. The last
   * `optional` of the members may be missing.
   */
  #checkObject(
    value: unknown,
    members: readonly string[],
    optional = 0,
  ): Readonly<Record<string, unknown>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#fail(`must be an object, not ${shown(value)}`)
    }
    const fields = value as Record<string, unknown>
    let count = 0
    for (const _ in fields) count++
    if (count > members.length - optional) this.#refuseUnknown(fields, members)
    return fields
  }

  #refuseUnknown(fields: Readonly<Record<string, unknown>>, members: readonly string[]): void {
    for (const name in fields) {
      if (members.includes(name) || fields[name] === undefined) continue
      this.#path.push(name)
      this.#fail(unknownMember(name, members))
    }
  }

  #checkArray(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) this.#fail(`must be an array, not ${shown(value)}`)
    return value as readonly unknown[]
  }

  #fail(message: string): never {
    const path = formatPath(this.#path)
    const messageIndex = this.#messageIndex
    const place = `message ${messageIndex}${path && ` (${path})`}`
    throw new LorekeepError('LK_CORE_MESSAGE', `${place} ${message}`, {
      details: { messageIndex, errors: [{ path, message }] },
    })
  }

  // Bytes

  #string(value: unknown): void {
    if (typeof value !== 'string') this.#fail(`must be a string, not ${shown(value)}`)
    if (value.length < shortLength && this.#shortAscii(value)) return
    if (!value.isWellFormed()) this.#fail('has half of a surrogate pair, which has no UTF-8')
    const length = Buffer.byteLength(value, 'utf8')
    this.#reserve(5 + length)
    const header = stringHeader(length)
    this.#buffer.set(header, this.#length)
    this.#length += header.length
    this.#length += this.#buffer.write(value, this.#length, 'utf8')
  }

  /** Writes a short string of ASCII; false, and nothing written, for any other. */
  #shortAscii(value: string): boolean {
    const { length } = value
    this.#reserve(2 + length)
    const buffer = this.#buffer
    let at = this.#length
    if (length < 0x20) buffer[at++] = 0xa0 | length
    else {
      buffer[at++] = 0xd9
      buffer[at++] = length
    }
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      buffer[at++] = code
    }
    this.#length = at
    return true
  }

  #boolean(value: unknown): void {
    if (typeof value !== 'boolean') this.#fail(`must be true or false, not ${shown(value)}`)
    this.#byte(value ? 0xc3 : 0xc2)
  }

  #mapHeader(count: number): void {
    this.#byte(0x80 | count)
  }

  #arrayHeader(count: number): void {
    if (count < 0x10) return this.#byte(0x90 | count)
    this.#reserve(5)
    if (count < 0x10000) {
      this.#buffer[this.#length] = 0xdc
      this.#length = this.#buffer.writeUInt16BE(count, this.#length + 1)
    } else {
      this.#buffer[this.#length] = 0xdd
      this.#length = this.#buffer.writeUInt32BE(count, this.#length + 1)
    }
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = byte
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}

// One for all: a message is written in one go, without an await.
const writer = new MessageWriter()
