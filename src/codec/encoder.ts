// Core messages from objects to bytes: fields in the order of the wire tables, the smallest
// headers, every vector component a 64-bit double. That is what the reference system's own
// writer (Python's msgpack) makes of them; msgpackr would write 1.0 as the integer 1.

import { LorekeepError } from '../errors.js'
import type { CoreMessage } from '../types.js'
import { stringHeader } from './messagepack.js'

type Path = readonly (string | number)[]

/**
 * The bytes of one message. It is also the door for message objects: every field is checked.
 * @throws LorekeepError `LK_CORE_MESSAGE` with `details` `{ messageIndex, path }`
 */
export function encodeMessage(message: CoreMessage, messageIndex = 0): Uint8Array {
  const writer = new MessageWriter(messageIndex)
  writer.message(message)
  return writer.bytes()
}

class MessageWriter {
  readonly #messageIndex: number
  #buffer = Buffer.allocUnsafe(16 * 1024)
  #length = 0

  constructor(messageIndex: number) {
    this.#messageIndex = messageIndex
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  message(value: unknown): void {
    const pair = this.#array(value, [])
    if (pair.length !== 2)
      this.#fail([], `a message is a pair of type and data, not ${pair.length} values`)
    const [type, data] = pair
    this.#arrayHeader(2)
    if (type !== 't' && type !== 'ge') this.#fail([0], `expected 't' or 'ge', found ${show(type)}`)
    this.#string(type, [0])
    const fields = this.#object(data, [1])
    this.#mapHeader(2)
    this.#metadata(this.#field(fields, 'm'), [1, 'm'])
    if (type === 't') this.#triples(this.#field(fields, 't'), [1, 't'])
    else this.#embeddings(this.#field(fields, 'e'), [1, 'e'])
  }

  #metadata(value: unknown, path: Path): void {
    const fields = this.#object(value, path)
    this.#mapHeader(4)
    this.#string(this.#field(fields, 'i'), [...path, 'i'])
    this.#triples(this.#field(fields, 'm'), [...path, 'm'])
    this.#string(this.#field(fields, 'u'), [...path, 'u'])
    this.#string(this.#field(fields, 'c'), [...path, 'c'])
  }

  #triples(value: unknown, path: Path): void {
    const triples = this.#array(value, path)
    this.#arrayHeader(triples.length)
    for (let i = 0; i < triples.length; i++) {
      const at = [...path, i]
      const triple = this.#object(triples[i], at)
      this.#mapHeader(3)
      this.#term(this.#field(triple, 's'), [...at, 's'])
      this.#term(this.#field(triple, 'p'), [...at, 'p'])
      this.#term(this.#field(triple, 'o'), [...at, 'o'])
    }
  }

  #term(value: unknown, path: Path): void {
    const term = this.#object(value, path)
    this.#mapHeader(2)
    this.#string(this.#field(term, 'v'), [...path, 'v'])
    this.#key('e')
    if (typeof term['e'] !== 'boolean') {
      this.#fail([...path, 'e'], `expected a boolean, found ${show(term['e'])}`)
    }
    this.#byte(term['e'] ? 0xc3 : 0xc2)
  }

  #embeddings(value: unknown, path: Path): void {
    const embeddings = this.#array(value, path)
    this.#arrayHeader(embeddings.length)
    for (let i = 0; i < embeddings.length; i++) {
      const at = [...path, i]
      const embedding = this.#object(embeddings[i], at)
      this.#mapHeader(2)
      this.#term(this.#field(embedding, 'e'), [...at, 'e'])
      const vectors = this.#array(this.#field(embedding, 'v'), [...at, 'v'])
      this.#arrayHeader(vectors.length)
      for (let j = 0; j < vectors.length; j++) this.#vector(vectors[j], [...at, 'v', j])
    }
  }

  #vector(value: unknown, path: Path): void {
    const isTyped = value instanceof Float64Array || value instanceof Float32Array
    const vector = isTyped ? value : this.#array(value, path)
    this.#arrayHeader(vector.length)
    this.#reserve(vector.length * 9)
    const buffer = this.#buffer
    let at = this.#length
    for (let i = 0; i < vector.length; i++) {
      const component = vector[i]
      if (typeof component !== 'number') {
        this.#fail([...path, i], `expected a number, found ${show(component)}`)
      }
      buffer[at] = 0xcb
      buffer.writeDoubleBE(component, at + 1)
      at += 9
    }
    this.#length = at
  }

  // Checks

  #object(value: unknown, path: Path): Readonly<Record<string, unknown>> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#fail(path, `expected an object, found ${show(value)}`)
    }
    return value as Record<string, unknown>
  }

  #array(value: unknown, path: Path): readonly unknown[] {
    if (!Array.isArray(value)) this.#fail(path, `expected an array, found ${show(value)}`)
    return value as readonly unknown[]
  }

  /** Writes the key and gives the value. */
  #field(fields: Readonly<Record<string, unknown>>, name: string): unknown {
    this.#key(name)
    return fields[name]
  }

  #fail(path: Path, reason: string): never {
    const { dotted, messageIndex } = { dotted: formatPath(path), messageIndex: this.#messageIndex }
    throw new LorekeepError(
      'LK_CORE_MESSAGE',
      `message ${messageIndex}${dotted && ` (${dotted})`}: ${reason}`,
      { details: { messageIndex, path: dotted } },
    )
  }

  // Bytes

  #string(value: unknown, path: Path): void {
    if (typeof value !== 'string') this.#fail(path, `expected a string, found ${show(value)}`)
    if (!value.isWellFormed()) {
      this.#fail(path, 'the string holds a lone surrogate, which has no UTF-8')
    }
    const length = Buffer.byteLength(value, 'utf8')
    const header = stringHeader(length)
    this.#reserve(header.length + length)
    this.#buffer.set(header, this.#length)
    this.#buffer.write(value, this.#length + header.length, 'utf8')
    this.#length += header.length + length
  }

  #key(letter: string): void {
    this.#byte(0xa1)
    this.#byte(letter.charCodeAt(0))
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

/** `['1', 't', 5, 's', 'v']` as the scanner writes it: `t[5].s.v`. */
function formatPath(path: Path): string {
  let text = ''
  for (const part of path.slice(path[0] === 1 ? 1 : 0)) {
    text += typeof part === 'number' ? `[${part}]` : `${text && '.'}${part}`
  }
  return text
}

function show(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `${typeof value} ${String(value).slice(0, 40)}`
}
