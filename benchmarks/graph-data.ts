// A graph as knowledge cores have them: ten triples about each entity, half as many terms as triples,
// four in five of which occur once. Always the same triple for the same number, so that answers can be checked without keeping
// the graph. No triple comes twice: a subject has each predicate once at most.

import { encodeMessage } from '../src/codec/encoder.js'
import type { Term, Triple } from '../src/types.js'
import { check } from './measure.js'

export const ref = { user: 'bench', id: 'https://example.org/cores/graph' } as const

const triplesPerEntity = 10
const triplesPerMessage = 50
const chunkBytes = 128 * 1024

/** What a message says about an entity at first, and what others say about it later. */
const firstSlots = 6
const laterSlots = triplesPerEntity - firstSlots

const kinds = ['person', 'organization', 'place', 'creative-work', 'event', 'product', 'species']
const words =
  'sturdy light made to last for daily use with a soft finish in several sizes from one family workshop near the coast Käse Großstadt'.split(
    ' ',
  )

const uri = (v: string): Term => ({ v, e: true })
const literal = (v: string): Term => ({ v, e: false })
const schema = (name: string) => uri(`https://schema.org/${name}`)

export const type = uri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
export const label = uri('http://www.w3.org/2000/01/rdf-schema#label')
export const classes = kinds.map((kind) => uri(`https://vocabulary.example.org/classes/${kind}`))

/** The predicates of a slot, the first ones more frequent than the last; and what they lead to. */
const slots = [
  { to: 'class', predicates: [type] },
  { to: 'label', predicates: [label] },
  { to: 'entity', predicates: all('knows worksFor memberOf author contributor subjectOf') },
  { to: 'text', predicates: all('description disambiguatingDescription abstract slogan') },
  { to: 'keyword', predicates: all('keywords about genre category') },
  { to: 'entity', predicates: all('location birthPlace homeLocation containedInPlace event owns') },
  { to: 'entity', predicates: all('parent sponsor publisher funder follows relatedTo') },
  { to: 'text', predicates: all('alternateName legalName identifier award') },
  { to: 'keyword', predicates: all('inLanguage mentions material occasion') },
  { to: 'text', predicates: all('address telephone email headline') },
] as const

function all(names: string): readonly Term[] {
  return names.split(' ').map(schema)
}

/** Terms that many triples share, each as often as the others. */
const keywords = Array.from({ length: 3000 }, (_, n) =>
  uri(`https://vocabulary.example.org/topics/${String(n).padStart(4, '0')}`),
)

export class GeneratedGraph {
  readonly triples: number
  readonly entities: number

  /** `triples` is a multiple of 1,000. */
  constructor(triples: number) {
    this.triples = triples
    this.entities = triples / triplesPerEntity
  }

  /** In the order of the stream: six triples of each entity, and later four more, in another order. */
  triple(n: number): Triple {
    const later = n - this.entities * firstSlots
    if (later < 0) return this.statement(Math.floor(n / firstSlots), n % firstSlots)
    // The factor is a prime, so every entity comes once.
    const entity = (Math.floor(later / laterSlots) * 48_271) % this.entities
    return this.statement(entity, firstSlots + (later % laterSlots))
  }

  /** One of the ten triples about an entity. */
  statement(entity: number, slot: number): Triple {
    const { to, predicates } = slots[slot] as (typeof slots)[number]
    const p = predicates[skewed(mix(entity, slot), predicates.length)] as Term
    return { s: this.entity(entity), p, o: this.#object(to, entity, slot) }
  }

  describe(entity: number): Triple[] {
    return Array.from({ length: triplesPerEntity }, (_, slot) => this.statement(entity, slot))
  }

  entity(n: number): Term {
    const kind = kinds[mix(n, 30) % kinds.length] as string
    return uri(`https://data.example.org/resource/${kind}/${n}`)
  }

  /** The number that a statement's object has, where that is an entity. */
  target(entity: number, slot: number): number {
    return skewed(mix(entity, 40 + slot), this.entities)
  }

  #object(to: (typeof slots)[number]['to'], entity: number, slot: number): Term {
    const bits = mix(entity, 20 + slot)
    switch (to) {
      case 'class':
        return classes[mix(entity, 30) % kinds.length] as Term
      case 'label':
        return literal(`${phrase(bits, 2)} ${entity}`)
      case 'entity':
        return this.entity(this.target(entity, slot))
      case 'keyword':
        return keywords[bits % keywords.length] as Term
      case 'text':
        return literal(`${phrase(bits, 4 + (bits % 8))}, no. ${entity}-${slot}`)
    }
  }

  /** The core's stream, in chunks as from a file. */
  *chunks(): Generator<Buffer> {
    let parts: Uint8Array[] = []
    let length = 0
    for (let n = 0; n < this.triples; n += triplesPerMessage) {
      const t = Array.from({ length: triplesPerMessage }, (_, k) => this.triple(n + k))
      const message = encodeMessage([
        't',
        { m: { i: ref.id, m: [], u: ref.user, c: 'default' }, t },
      ])
      parts.push(message)
      length += message.length
      if (length < chunkBytes) continue
      yield Buffer.concat(parts, length)
      parts = []
      length = 0
    }
    yield Buffer.concat(parts, length)
  }

  /** The first triples, or all of them, as N-Triples. No character in it has to be escaped. */
  nTriples(triples = this.triples): Buffer {
    const parts: Buffer[] = []
    for (let from = 0; from < triples; from += 1000) {
      let text = ''
      for (let n = from; n < from + 1000; n++) {
        const { s, p, o } = this.triple(n)
        text += `<${s.v}> <${p.v}> ${o.e ? `<${o.v}>` : `"${o.v}"`} .\n`
      }
      parts.push(Buffer.from(text))
    }
    return Buffer.concat(parts)
  }
}

/** Whether they are the same triples or solutions, in whichever order. */
export function checkSame(ours: readonly object[], theirs: readonly object[], what: string): void {
  const key = (found: object) =>
    JSON.stringify(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const wanted = theirs.map(key).sort()
  check(ours.length === theirs.length, `${what}: ${ours.length} of ${theirs.length}`)
  for (const [n, found] of ours.map(key).sort().entries()) check(found === wanted[n], what)
}

function phrase(bits: number, length: number): string {
  let text = words[bits % words.length] as string
  for (let n = 1; n < length; n++) text += ` ${words[mix(bits, n) % words.length] as string}`
  return text
}

/** Below `length`, small numbers more often: the first of 100 comes ten times as often as the mean. */
function skewed(bits: number, length: number): number {
  return Math.floor(length * (bits / 2 ** 32) ** 2)
}

/** 32 bits that look random, of a number and a purpose. */
function mix(n: number, purpose: number): number {
  let z = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca6b)
  z = Math.imul(z ^ (z >>> 16), 0x7feb352d)
  z = Math.imul(z ^ (z >>> 15), 0x846ca68b)
  return (z ^ (z >>> 16)) >>> 0
}
