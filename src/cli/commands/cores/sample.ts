// Core messages out of nothing, the same ones every time: a few books for trying things out, or
// an imaginary library of any size for benchmarks.

import { encodeMessage } from '../../../codec/encoder.js'
import { referenceUser } from '../../../defaults.js'
import type { CoreMessage, CoreMetadata, EntityEmbedding, Term, Triple } from '../../../types.js'
import { interruptible } from '../../output/failure.js'
import { refuseTerminal, writeOut } from '../../output/output.js'

export const sampleId = 'urn:lorekeep:sample'

interface SampleOptions {
  /** That many triples of the imaginary library, instead of the few books. */
  readonly triples?: number
  readonly id?: string
  readonly user?: string
  readonly collection?: string
}

/**
 * Without `triples` 44 triples and 8 embeddings of 16 doubles. With it `t` messages of 50 triples
 * (150 bytes each, more or less), and after each a `ge` message with two embeddings of 384 doubles.
 * Messages are made one at a time, as they are asked for.
 */
export function sampleMessages(options: SampleOptions = {}): Iterable<CoreMessage> {
  const { id = sampleId, user = referenceUser, collection = 'default', triples } = options
  if (triples === undefined) return books({ i: id, m: about(id), u: user, c: collection })
  if (!Number.isSafeInteger(triples) || triples < 1) {
    throw new TypeError(`triples must be a positive integer, not ${String(triples)}`)
  }
  return library({ i: id, m: [], u: user, c: collection }, triples)
}

export async function printSample(options: SampleOptions): Promise<void> {
  refuseTerminal('redirect stdout')
  await interruptible(async (signal) => {
    for (const message of sampleMessages(options)) {
      signal.throwIfAborted()
      await writeOut(encodeMessage(message))
    }
  })
}

const prefixes = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  schema: 'https://schema.org/',
  dcterms: 'http://purl.org/dc/terms/',
  ex: 'https://example.org/library/',
} as const

type Name = `${keyof typeof prefixes}:${string}`

// A few books

/** Subject, predicate, object: an entity with its prefix, a literal as `=` and its text. */
const statements: readonly (readonly [Name, Name, Name | `=${string}`])[] = [
  ['ex:frankenstein', 'rdf:type', 'schema:Book'],
  ['ex:frankenstein', 'rdfs:label', '=Frankenstein; or, The Modern Prometheus'],
  ['ex:frankenstein', 'schema:author', 'ex:mary-shelley'],
  ['ex:frankenstein', 'schema:datePublished', '=1818'],
  ['ex:frankenstein', 'dcterms:spatial', 'ex:geneva'],
  ['ex:frankenstein', 'dcterms:language', '=en'],
  ['ex:moby-dick', 'rdf:type', 'schema:Book'],
  ['ex:moby-dick', 'rdfs:label', '=Moby-Dick; or, The Whale'],
  ['ex:moby-dick', 'schema:author', 'ex:herman-melville'],
  ['ex:moby-dick', 'schema:datePublished', '=1851'],
  ['ex:moby-dick', 'dcterms:spatial', 'ex:nantucket'],
  ['ex:moby-dick', 'dcterms:language', '=en'],
  ['ex:les-miserables', 'rdf:type', 'schema:Book'],
  ['ex:les-miserables', 'rdfs:label', '=Les Misérables'],
  ['ex:les-miserables', 'schema:author', 'ex:victor-hugo'],
  ['ex:les-miserables', 'schema:datePublished', '=1862'],
  ['ex:les-miserables', 'dcterms:spatial', 'ex:paris'],
  ['ex:les-miserables', 'dcterms:language', '=fr'],
  ['ex:mary-shelley', 'rdf:type', 'schema:Person'],
  ['ex:mary-shelley', 'rdfs:label', '=Mary Shelley'],
  ['ex:mary-shelley', 'schema:birthDate', '=1797-08-30'],
  ['ex:mary-shelley', 'schema:birthPlace', 'ex:london'],
  ['ex:herman-melville', 'rdf:type', 'schema:Person'],
  ['ex:herman-melville', 'rdfs:label', '=Herman Melville'],
  ['ex:herman-melville', 'schema:birthDate', '=1819-08-01'],
  ['ex:herman-melville', 'schema:birthPlace', 'ex:new-york'],
  ['ex:victor-hugo', 'rdf:type', 'schema:Person'],
  ['ex:victor-hugo', 'rdfs:label', '=Victor Hugo'],
  ['ex:victor-hugo', 'schema:birthDate', '=1802-02-26'],
  ['ex:victor-hugo', 'schema:birthPlace', 'ex:besancon'],
  ['ex:geneva', 'rdf:type', 'schema:City'],
  ['ex:geneva', 'rdfs:label', '=Genève'],
  ['ex:nantucket', 'rdf:type', 'schema:Place'],
  ['ex:nantucket', 'rdfs:label', '=Nantucket'],
  ['ex:paris', 'rdf:type', 'schema:City'],
  ['ex:paris', 'rdfs:label', '=Paris'],
  ['ex:london', 'rdf:type', 'schema:City'],
  ['ex:london', 'rdfs:label', '=London'],
  ['ex:new-york', 'rdf:type', 'schema:City'],
  ['ex:new-york', 'rdfs:label', '=New York'],
  ['ex:besancon', 'rdf:type', 'schema:City'],
  ['ex:besancon', 'rdfs:label', '=Besançon'],
  ['ex:mary-shelley', 'schema:alternateName', '=Mary Wollstonecraft Shelley'],
  ['ex:les-miserables', 'dcterms:alternative', '=レ・ミゼラブル'],
]

const embedded: readonly Name[] = [
  'ex:frankenstein',
  'ex:moby-dick',
  'ex:les-miserables',
  'ex:mary-shelley',
  'ex:herman-melville',
  'ex:victor-hugo',
  'ex:geneva',
  'ex:nantucket',
]

/** What the metadata of each message says of the core. */
function about(id: string): Triple[] {
  return [{ s: { v: id, e: true }, p: entity('rdfs:label'), o: literal('A few books') }]
}

function* books(m: CoreMetadata): Generator<CoreMessage, void, undefined> {
  for (let from = 0; from < statements.length; from += 11) {
    const t = statements.slice(from, from + 11).map(([s, p, o]) => triple(s, p, o))
    yield ['t', { m, t }]
  }
  for (let from = 0; from < embedded.length; from += 4) {
    const e = embedded.slice(from, from + 4).map((name, at) => embedding(name, from + at, 16))
    yield ['ge', { m, e }]
  }
}

// An imaginary library

const triplesPerMessage = 50
const triplesPerBook = 5

function* library(m: CoreMetadata, triples: number): Generator<CoreMessage, void, undefined> {
  for (let from = 0; from < triples; from += triplesPerMessage) {
    const count = Math.min(triplesPerMessage, triples - from)
    const t = Array.from({ length: count }, (_, at) => libraryTriple(from + at))
    yield ['t', { m, t }]
    const first = from / triplesPerBook
    const found = [first, first + 5].filter((book) => book * triplesPerBook < from + count)
    yield ['ge', { m, e: found.map((book) => embedding(bookName(book), book, 384)) }]
  }
}

function libraryTriple(index: number): Triple {
  const book = Math.floor(index / triplesPerBook)
  const name = bookName(book)
  // Books share authors and places, as they do in life.
  const random = new Random(book)
  const author = `ex:author/${padded(random.below(book / 10 + 1))}` as const
  const place = `ex:place/${padded(random.below(1000))}` as const
  const year = 1450 + random.below(570)
  switch (index % triplesPerBook) {
    case 0:
      return triple(name, 'rdf:type', 'schema:Book')
    case 1:
      return triple(name, 'rdfs:label', `=The book number ${book} of a library that is not`)
    case 2:
      return triple(name, 'schema:author', author)
    case 3:
      return triple(name, 'schema:datePublished', `=${year}`)
    default:
      return triple(name, 'dcterms:spatial', place)
  }
}

const bookName = (book: number) => `ex:book/${padded(book)}` as const
const padded = (number: number) => String(number).padStart(9, '0')

// Parts

function triple(s: Name, p: Name, o: Name | `=${string}`): Triple {
  const object = o.startsWith('=') ? literal(o.slice(1)) : entity(o as Name)
  return { s: entity(s), p: entity(p), o: object }
}

function entity(name: Name): Term {
  const colon = name.indexOf(':')
  const prefix = name.slice(0, colon) as keyof typeof prefixes
  return { v: prefixes[prefix] + name.slice(colon + 1), e: true }
}

function literal(text: string): Term {
  return { v: text, e: false }
}

function embedding(name: Name, seed: number, dimensions: number): EntityEmbedding {
  const random = new Random(seed)
  const vector = Float64Array.from({ length: dimensions }, () => random.component())
  return { e: entity(name), v: [vector] }
}

/** Mulberry32. No Math.sin: engines may round it as they like. */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b9)
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor((this.#next() / 2 ** 32) * limit)
  }

  /** From -1 to below 1, with more digits than a 32-bit float holds. */
  component(): number {
    return (this.#next() * 2 ** 20 + (this.#next() >>> 12)) / 2 ** 51 - 1
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
