// Core streams like the real ones: 50 triples of about 150 bytes in a `t` message, 16 entities
// with a vector of 384 doubles in a `ge` message. @msgpack/msgpack writes them, with the smallest
// headers and 64-bit doubles as Python's msgpack does; none of our own code is its own judge.

import { createHash } from 'node:crypto'
import { encode } from './peers.js'

export type Kind = 'triples' | 'embeddings'

/** The core that the streams name, so that an import leaves their bytes as they are. */
export const ref = { user: 'bench', id: 'https://example.org/cores/bench' } as const

export interface Stream {
  readonly kind: Kind
  readonly bytes: Buffer
  readonly messages: number
  /** Triples, or entities: what the messages carry. */
  readonly items: number
  readonly digest: string
}

const triplesPerMessage = 50
const entitiesPerMessage = 16
const dimensions = 384

const text =
  'A knowledge core holds what was found in a text: statements about the things it names, and a vector for each of them. '
const classes = ['Organization', 'CreativeWork', 'MedicalEntity', 'Place', 'Person', 'Event']
const properties = [
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
  'http://www.w3.org/2000/01/rdf-schema#label',
  'https://schema.org/domainIncludes',
  'http://www.w3.org/2004/02/skos/core#definition',
]

/** At least so many bytes, always the same ones for the same arguments. */
export function createStream(kind: Kind, leastBytes: number): Stream {
  const random = createRandom(kind === 'triples' ? 1 : 2)
  const parts: Uint8Array[] = []
  let length = 0
  while (length < leastBytes) {
    const message = encode(createMessage(kind, random, parts.length))
    parts.push(message)
    length += message.length
  }
  const bytes = Buffer.concat(parts, length)
  return {
    kind,
    bytes,
    messages: parts.length,
    items: parts.length * (kind === 'triples' ? triplesPerMessage : entitiesPerMessage),
    digest: sha256(bytes),
  }
}

/** One message of exactly so many bytes; a literal is as long as it takes. */
export function createLargeMessage(kind: Kind, bytes: number): Buffer {
  const build = (count: number, filler: number) => {
    const random = createRandom(3)
    const items = Array.from({ length: count }, (_, n) =>
      kind === 'triples' ? createTriple(random, n) : createEntity(random, n),
    )
    const statement = { s: uri('urn:a'), p: uri('urn:b'), o: literal('x'.repeat(filler)) }
    const m = { i: ref.id, m: [statement], u: ref.user, c: 'default' }
    return encode(kind === 'triples' ? ['t', { m, t: items }] : ['ge', { m, e: items }])
  }
  const wanted = 512 * 1024
  const perItem = (build(2000, wanted).length - build(1000, wanted).length) / 1000
  let items = Math.floor((bytes - wanted) / perItem)
  for (;;) {
    const filler = wanted + bytes - build(items, wanted).length
    // Within these bounds the literal's own header has the same size as that of `wanted`.
    if (filler >= 0x10000 && filler <= 1024 * 1024) return Buffer.from(build(items, filler))
    items += Math.round((filler - wanted) / perItem)
  }
}

/**
 * A stream of any length out of a few prepared messages, whose numbers change each time around:
 * no bytes are allocated per chunk, and a chunk is only good until the next one is asked for.
 */
export class EndlessStream {
  readonly #pool: Buffer
  /** Where each message has 8 digits of a literal to change. */
  readonly #serials: number[] = []
  readonly #chunkBytes: number
  readonly #hash = createHash('sha256')
  /** What was given out. */
  bytes = 0
  messages = 0

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes
    const messages: Uint8Array[] = []
    let length = 0
    for (let n = 0; length < 2 * 1024 * 1024; n++) {
      const random = createRandom(n + 10)
      const message = encode(createMessage(n % 4 === 3 ? 'embeddings' : 'triples', random, n))
      this.#serials.push(length + Buffer.from(message).indexOf('serial 00000000') + 7)
      messages.push(message)
      length += message.length
    }
    this.#pool = Buffer.concat(messages)
  }

  /** The SHA-256 of what was given out; nothing more can be after it. */
  digest(): string {
    return this.#hash.digest('hex')
  }

  /** Whole messages, at least so many bytes. */
  async *chunks(leastBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.bytes < leastBytes) {
      for (const at of this.#serials) {
        this.#pool.write(String(this.messages++).padStart(8, '0'), at, 'latin1')
      }
      for (let at = 0; at < this.#pool.length; at += this.#chunkBytes) {
        const chunk = this.#pool.subarray(at, at + this.#chunkBytes)
        this.#hash.update(chunk)
        this.bytes += chunk.length
        yield chunk
      }
    }
  }
}

/** Views of a buffer, one after the other. */
export function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function createMessage(kind: Kind, random: Random, n: number): unknown {
  const title = { s: uri(ref.id), p: uri(properties[1] as string), o: literal('serial 00000000') }
  const m = { i: ref.id, m: [title], u: ref.user, c: 'default' }
  if (kind === 'triples') {
    const first = n * triplesPerMessage
    const t = Array.from({ length: triplesPerMessage }, (_, i) => createTriple(random, first + i))
    return ['t', { m, t }]
  }
  const first = n * entitiesPerMessage
  const e = Array.from({ length: entitiesPerMessage }, (_, i) => createEntity(random, first + i))
  return ['ge', { m, e }]
}

function createTriple(random: Random, n: number): unknown {
  const subject = uri(`https://example.org/${classes[n % classes.length] as string}/${n}`)
  const property = n % properties.length
  const p = uri(properties[property] as string)
  if (property % 2 === 0) {
    return { s: subject, p, o: uri(`https://example.org/vocabulary/${random.below(1e9)}`) }
  }
  const from = random.below(text.length)
  const words = text.slice(from, from + 20 + random.below(50))
  // One literal in ten is not ASCII.
  return { s: subject, p, o: literal(random.below(10) === 0 ? `Käse, ${words} – 日本語` : words) }
}

function createEntity(random: Random, n: number): unknown {
  const vector = Array.from({ length: dimensions }, () => random.next() / 8 - 1 / 16)
  const kind = classes[n % classes.length] as string
  return { e: uri(`https://example.org/${kind}/${n}`), v: [vector] }
}

const uri = (v: string) => ({ v, e: true })
const literal = (v: string) => ({ v, e: false })

interface Random {
  /** From 0 to below 1. */
  next(): number
  below(limit: number): number
}

/** Mulberry32, twice for a double's 53 bits. */
function createRandom(seed: number): Random {
  let state = seed
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), state | 1)
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
    return (z ^ (z >>> 14)) >>> 0
  }
  const next = () => (bits() * 0x200000 + (bits() >>> 11)) / 2 ** 53
  return { next, below: (limit) => Math.floor(next() * limit) }
}
