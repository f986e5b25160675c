// Messages of every dialect in the field, as messages of the specification. docs/dialects.md has the
// dialects and what becomes of each part of them.

import { createHash } from 'node:crypto'
import { quoted } from '../../door/wording.js'
import {
  aLanguage,
  aDatatype,
  rdf,
  REFUSED,
  stateAfter,
  xsdString,
  type NameRule,
} from '../../terms.js'
import { mostVectors, tooManyVectors, type CodecLimits } from '../limits.js'
import * as msgpack from '../messagepack.js'
import { ByteWriter } from './byte-writer.js'
import type { Frame } from './message-framer.js'
import { MessageView, NONE, pause } from './message-view.js'

// What tells that a message is of a dialect.
export const EARLY = 1
export const DOCUMENTED = 2
export const TYPED = 4
export const LOOSE = 8

/** The most bytes that are handed on at a time. */
const pieceBytes = 128 * 1024
/** Quoted triples of one message that are known to have been written. */
const maxKnown = 65_536

export class SpecificationConverter {
  readonly #view = new MessageView()
  readonly #limits: CodecLimits

  /** The message's metadata, and the triples or embeddings of it that were converted. */
  readonly #metadata = new ByteWriter()
  readonly #items = new ByteWriter()
  #count = 0
  /** What says the quoted triples of the item that is being converted. */
  readonly #reified = new ByteWriter()
  #reifiedCount = 0
  readonly #known = new Set<string>()
  /** The graph that was digested last, by its place in the message. */
  #digested: { readonly at: number; readonly digest: string } | undefined
  /** The named graph of the triple that is being converted. */
  #graph = NONE
  readonly #out = new ByteWriter()

  /** Of the message under way: what told its dialect, and whether an item of it was converted. */
  #signs = 0
  isBegun = false
  #vectorCount = 0

  constructor(limits: CodecLimits) {
    this.#limits = limits
  }

  /** What tells the dialect of the message so far: 0 where it is the specification's. */
  get signs(): number {
    return this.#signs | (this.#view.isLoose ? LOOSE : 0)
  }

  /** What was left out: members that no dialect has, datatypes and languages that are none. */
  get otherMembers(): number {
    return this.#view.otherMembers
  }

  /**
   * The message in pieces, each to be taken before the next is asked for, with pauses of no bytes.
   * @throws LorekeepError `LK_CORE_FORMAT`
   */
  *convert(frame: Frame): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    view.use(frame)
    this.#signs = 0
    this.isBegun = false
    this.#vectorCount = 0
    this.#known.clear()
    this.#digested = undefined
    this.#clear()
    const type = view.contentOf(0)
    view.checkText(type)
    const at = view.skip(type)
    if (frame.type === 't') yield* this.#triples(at)
    else yield* this.#embeddings(at)
  }

  *#triples(at: number): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    const data = yield* view.openLongMap(at, triplesMembers, someData)
    const [m, t] = [view.at(data, 0), view.at(data, 1)]
    if (m === NONE || t === NONE) view.failMissing(at, missing(triplesMembers, [m, t]))
    yield* this.#metadataAt(m)
    let left = view.countAt(t, 'an array of triples')
    for (let next = view.contentOf(t); left > 0; left--) {
      const [length, count] = [this.#items.length, this.#count]
      const triple = next
      next = this.#triple(triple)
      this.isBegun = true
      if (!this.#isRoomy) yield* this.#split('t', triple, length, count)
      if (view.isLong(next)) yield pause
    }
    yield* this.#message('t')
  }

  *#embeddings(at: number): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    const data = yield* view.openLongMap(at, embeddingsMembers, someData)
    const [m, e, v] = [view.at(data, 0), view.at(data, 1), view.at(data, 2)]
    if (m === NONE || e === NONE) view.failMissing(at, missing(['m', 'e'], [m, e]))
    yield* this.#metadataAt(m)
    if (view.kindAt(e) !== msgpack.ARRAY_CLASS && v !== NONE) {
      // Of 2024: one entity a message.
      this.#signs |= EARLY
      yield* this.#embedding(e, v)
      this.isBegun = true
      if (!this.#isRoomy) yield* this.#split('ge', at, 0, 0)
    } else {
      let left = view.countAt(e, 'an array of entity embeddings')
      if (v !== NONE) view.otherMembers++
      for (let next = view.contentOf(e); left > 0; left--) {
        const [length, count] = [this.#items.length, this.#count]
        const embedding = next
        const map = yield* view.openLongMap(embedding, embeddingMembers, anEmbedding)
        const [entity, vectors] = [view.at(map, 0), view.at(map, 1)]
        if (entity === NONE || vectors === NONE) {
          view.failMissing(embedding, missing(embeddingMembers, [entity, vectors]))
        }
        yield* this.#embedding(entity, vectors)
        next = view.close(map)
        this.isBegun = true
        if (!this.#isRoomy) yield* this.#split('ge', embedding, length, count)
      }
    }
    yield* this.#message('ge')
  }

  // Messages that are written

  /** Hands on what came before the item at `at` where both are too long for one message. */
  *#split(
    type: 't' | 'ge',
    at: number,
    lengthBefore: number,
    countBefore: number,
  ): Generator<Uint8Array, void, undefined> {
    if (countBefore > 0) {
      const rest = Buffer.from(this.#items.bytes.subarray(lengthBefore))
      const restCount = this.#count - countBefore
      this.#items.length = lengthBefore
      this.#count = countBefore
      yield* this.#write(type, this.#items, this.#count)
      this.#items.clear()
      this.#items.copy(rest)
      this.#count = restCount
    }
    if (this.#fits(this.#items.length) && this.#fits(this.#reified.length)) {
      if (this.#reifiedCount > 0) yield* this.#writeReified()
      return
    }
    this.#failSize(at)
  }

  /** What was converted so far has room in one message. */
  get #isRoomy(): boolean {
    return this.#fits(this.#items.length + this.#reified.length)
  }

  #failSize(at: number): never {
    const most = this.#limits.maxMessageBytes
    const reason = `in the specification's dialect longer than ${most} bytes (maxMessageBytes)`
    return this.#view.fail(at, reason)
  }

  #fits(bytes: number): boolean {
    return this.#metadata.length + bytes + 16 <= this.#limits.maxMessageBytes
  }

  /** The end of the message that was read. */
  *#message(type: 't' | 'ge'): Generator<Uint8Array, void, undefined> {
    yield* this.#write(type, this.#items, this.#count)
    if (this.#reifiedCount > 0) yield* this.#writeReified()
  }

  /** The quoted triples that embeddings name have no place among embeddings. */
  *#writeReified(): Generator<Uint8Array, void, undefined> {
    yield* this.#write('t', this.#reified, this.#reifiedCount)
    this.#reified.clear()
    this.#reifiedCount = 0
  }

  *#write(
    type: 't' | 'ge',
    items: ByteWriter,
    count: number,
  ): Generator<Uint8Array, void, undefined> {
    const out = this.#out
    out.clear()
    out.copy(type === 't' ? triplesHead : embeddingsHead)
    out.copy(this.#metadata.bytes)
    out.copy(type === 't' ? keys.t : keys.e)
    out.arrayHeader(count)
    const { bytes } = items
    if (bytes.length <= pieceBytes) out.copy(bytes)
    yield out.bytes
    if (bytes.length <= pieceBytes) return
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }

  #clear(): void {
    this.#items.clear()
    this.#count = 0
    this.#reified.clear()
    this.#reifiedCount = 0
  }

  // Parts of messages

  *#metadataAt(at: number): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    const out = this.#metadata
    const map = yield* view.openLongMap(at, metadataMembers, 'message metadata (a map)')
    const [i, m] = [view.given(map, 0), view.given(map, 1)]
    const [u, c] = [view.given(map, 2), view.given(map, 3)]
    for (const text of [i, u, c]) if (text !== NONE) view.checkText(text)
    if (view.at(map, 1) === NONE || view.at(map, 2) === NONE) this.#signs |= TYPED
    this.#graph = NONE
    out.clear()
    if (m !== NONE && view.isText(m)) {
      // The id of a document.
      view.checkText(m)
      this.#signs |= TYPED
    } else if (m !== NONE) {
      let left = view.countAt(m, 'an array of triples')
      for (let next = view.contentOf(m); left > 0; left--) {
        next = this.#triple(next)
        if (!this.#isRoomy) this.#failSize(at)
        if (view.isLong(next)) yield pause
      }
    }
    out.byte(0x84)
    out.copy(keys.i)
    // The scanner writes the core's own id and user.
    out.byte(0xa0)
    out.copy(keys.m)
    out.arrayHeader(this.#count)
    out.copy(this.#items.bytes)
    out.copy(keys.u)
    out.byte(0xa0)
    out.copy(keys.c)
    if (c === NONE) {
      out.stringHeader(defaultCollection.length)
      out.copy(defaultCollection)
    } else view.copyText(c, out)
    view.close(map)
    this.#clear()
    // Nothing that metadata say is asked for: the triples of the message say it again.
    this.#known.clear()
    if (!this.#isRoomy) this.#failSize(at)
  }

  /** The end of the triple. */
  #triple(at: number): number {
    const view = this.#view
    const out = this.#items
    const map = view.openMap(at, tripleMembers, 'a triple (a map)')
    const [s, p, o] = [view.at(map, 0), view.at(map, 1), view.at(map, 2)]
    if (s === NONE || p === NONE || o === NONE) {
      view.failMissing(at, missing(['s', 'p', 'o'], [s, p, o]))
    }
    this.#graph = view.text(map, 3)
    this.#tripleHead(out)
    out.copy(keys.s)
    this.#term(s)
    out.copy(keys.p)
    this.#term(p)
    out.copy(keys.o)
    this.#term(o)
    this.#tripleEnd(out)
    this.#count += 1 + this.#reifiedCount
    out.copy(this.#reified.bytes)
    this.#reified.clear()
    this.#reifiedCount = 0
    return view.close(map)
  }

  #tripleHead(out: ByteWriter): void {
    out.byte(this.#graph === NONE ? 0x83 : 0x84)
  }

  #tripleEnd(out: ByteWriter): void {
    if (this.#graph === NONE) return
    out.copy(keys.g)
    this.#view.copyText(this.#graph, out)
  }

  *#embedding(entity: number, vectors: number): Generator<Uint8Array, void, undefined> {
    const out = this.#items
    this.#graph = NONE
    out.byte(0x82)
    out.copy(keys.e)
    this.#term(entity)
    out.copy(keys.v)
    yield* this.#vectors(vectors)
    this.#count++
  }

  *#vectors(at: number): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    const out = this.#items
    const count = view.countAt(at, 'an array of vectors')
    const first = view.contentOf(at)
    const isFlat = count > 0 && view.kindAt(first) === msgpack.NUMBER_CLASS
    const most = mostVectors(this.#limits)
    this.#vectorCount += isFlat ? 1 : count
    if (this.#vectorCount > most) view.fail(at, tooManyVectors(most))
    if (isFlat) {
      this.#signs |= TYPED
      out.arrayHeader(1)
      this.#vector(at)
      return
    }
    out.arrayHeader(count)
    let next = first
    for (let left = count; left > 0; left--) {
      next = this.#vector(next)
      if (view.isLong(next)) yield pause
    }
  }

  #vector(at: number): number {
    const view = this.#view
    const count = view.countAt(at, 'a vector (an array of numbers)')
    const most = this.#limits.maxVectorLength
    if (count > most) {
      view.fail(at, `a vector of ${count}; at most ${most} (maxVectorLength) are accepted`)
    }
    const first = view.contentOf(at)
    let next = first
    for (let left = count; left > 0; left--) {
      if (view.kindAt(next) !== msgpack.NUMBER_CLASS) view.failKind(next, 'a number')
      next = view.contentOf(next)
    }
    this.#items.arrayHeader(count)
    this.#items.copy(view.bytes, first, next)
    return next
  }

  // Terms

  #term(at: number): void {
    const view = this.#view
    if (view.isText(at)) {
      // As the readers of that time told them apart.
      view.checkText(at)
      this.#signs |= EARLY
      const isEntity = schemes.some((scheme) => view.startsWith(at, scheme))
      this.#entityOrText(at, isEntity)
      return
    }
    const map = view.openMap(at, termMembers, 'a term (a map)')
    const type = view.at(map, T)
    if (type !== NONE) this.#typedTerm(at, map, type)
    else if (view.at(map, VALUE) !== NONE && view.at(map, IS_URI) !== NONE) {
      this.#signs |= DOCUMENTED
      const value = view.at(map, VALUE)
      view.checkText(value)
      this.#entityOrText(value, this.#flag(view.at(map, IS_URI)))
    } else {
      const [v, e] = [view.at(map, V), view.at(map, E)]
      if (v === NONE || e === NONE) view.failMissing(at, missing(['v', 'e'], [v, e]))
      view.checkText(v)
      if (!this.#flag(e)) this.#literal(map, v)
      else {
        for (const more of [DT, LN]) if (view.text(map, more) !== NONE) view.otherMembers++
        this.#entityOrText(v, true)
      }
    }
    view.close(map)
  }

  #typedTerm(at: number, map: number, type: number): void {
    const view = this.#view
    view.checkText(type)
    this.#signs |= TYPED
    const member = (name: number): number => {
      const value = view.at(map, name)
      if (value === NONE) view.failMissing(at, [termMembers[name] as string])
      return value
    }
    if (view.lengthAt(type) === 1) {
      switch (String.fromCharCode(view.bytes[view.contentOf(type)] as number)) {
        case 'i': {
          const iri = member(I)
          view.checkText(iri)
          return this.#entityOrText(iri, true)
        }
        case 'b': {
          const label = member(D)
          view.checkText(label)
          return this.#blankNode(label)
        }
        case 'l': {
          const value = member(V)
          view.checkText(value)
          return this.#literal(map, value)
        }
        case 't':
          return this.#quotedTriple(view.at(map, R) === NONE ? member(TR) : view.at(map, R))
        // As it is in the published documentation.
        case 'r':
          return this.#quotedTriple(view.at(map, TR) === NONE ? member(R) : view.at(map, TR))
      }
    }
    const from = view.contentOf(type)
    const found = Buffer.from(view.bytes.subarray(from, from + Math.min(view.lengthAt(type), 100)))
    view.fail(type, `found ${quoted(found.toString())}, expected a type of terms (i, l, b or t)`)
  }

  #flag(at: number): boolean {
    const first = this.#view.bytes[at]
    if (first !== 0xc2 && first !== 0xc3) this.#view.failKind(at, 'a boolean')
    return first === 0xc3
  }

  #entityOrText(at: number, isEntity: boolean): void {
    const out = this.#items
    out.byte(0x82)
    out.copy(keys.v)
    this.#view.copyText(at, out)
    out.copy(keys.e)
    out.byte(isEntity ? 0xc3 : 0xc2)
  }

  #literal(map: number, value: number): void {
    const view = this.#view
    const [dt, ln] = [view.text(map, DT), view.text(map, LN)]
    // The published documentation has them so.
    const given = dt === NONE ? view.text(map, D) : dt
    const language = this.#named(ln === NONE ? view.text(map, L) : ln, aLanguage)
    if (language !== NONE) {
      if (given !== NONE && !isText(view, given, langStringBytes)) view.otherMembers++
      return this.#qualified(value, keys.ln, language)
    }
    const datatype = this.#named(given, aDatatype)
    if (datatype !== NONE && !isText(view, datatype, xsdStringBytes)) {
      this.#qualified(value, keys.dt, datatype)
    } else this.#entityOrText(value, false)
  }

  /** NONE for what the specification does not take for a datatype or a language. */
  #named(at: number, rule: NameRule): number {
    if (at === NONE) return NONE
    const view = this.#view
    const from = view.contentOf(at)
    const state = stateAfter(rule, 0, view.bytes, from, from + view.lengthAt(at))
    if (state !== REFUSED && rule.isWhole(state)) return at
    view.otherMembers++
    return NONE
  }

  #qualified(value: number, key: Uint8Array, qualifier: number): void {
    const out = this.#items
    out.byte(0x83)
    out.copy(keys.v)
    this.#view.copyText(value, out)
    out.copy(keys.e)
    out.byte(0xc2)
    out.copy(key)
    this.#view.copyText(qualifier, out)
  }

  #blankNode(label: number): void {
    const view = this.#view
    if (view.startsWith(label, blankPrefix)) return this.#entityOrText(label, true)
    const most = this.#limits.maxStringBytes
    const length = view.lengthAt(label) + blankPrefix.length
    if (length > most) {
      view.fail(label, `a string of ${length} bytes; at most ${most} (maxStringBytes) are accepted`)
    }
    const out = this.#items
    out.byte(0x82)
    out.copy(keys.v)
    view.copyText(label, out, blankPrefix)
    out.copy(keys.e)
    out.byte(0xc3)
  }

  /**
   * A node that is named after the three terms, so that the same triple is the same node wherever it
   * is quoted, and what RDF says with a reified statement of the four triples about it.
   */
  #quotedTriple(at: number): void {
    const view = this.#view
    const out = this.#items
    const map = view.openMap(at, tripleMembers, 'a triple (a map)')
    const [s, p, o] = [view.at(map, 0), view.at(map, 1), view.at(map, 2)]
    if (s === NONE || p === NONE || o === NONE) {
      view.failMissing(at, missing(['s', 'p', 'o'], [s, p, o]))
    }
    const outer = this.#graph
    const own = view.text(map, 3)
    if (own !== NONE) this.#graph = own
    // Written where the node will stand, then taken back.
    const start = out.length
    const ends = [s, p, o].map((term) => {
      this.#term(term)
      return out.length
    }) as [number, number, number]
    const said = Buffer.from(out.bytes.subarray(start))
    out.length = start
    const digest = createHash('sha256').update(said).digest('hex').slice(0, 32)
    const node = entity(`_:triple-${digest}`)
    out.copy(node)
    const name = `${digest} ${this.#graphDigest()}`
    if (!this.#known.has(name)) {
      if (this.#known.size === maxKnown) this.#known.clear()
      this.#known.add(name)
      this.#reifiedTriple(node, reified.type, reified.Statement)
      this.#reifiedTriple(node, reified.subject, said, 0, ends[0] - start)
      this.#reifiedTriple(node, reified.predicate, said, ends[0] - start, ends[1] - start)
      this.#reifiedTriple(node, reified.object, said, ends[1] - start, ends[2] - start)
      // The name of the graph is in each of the four, and may be long.
      if (!this.#fits(this.#reified.length)) this.#failSize(at)
    }
    this.#graph = outer
    view.close(map)
  }

  #reifiedTriple(s: Uint8Array, p: Uint8Array, o: Uint8Array, from = 0, to = o.length): void {
    const out = this.#reified
    this.#tripleHead(out)
    out.copy(keys.s)
    out.copy(s)
    out.copy(keys.p)
    out.copy(p)
    out.copy(keys.o)
    out.copy(o, from, to)
    this.#tripleEnd(out)
    this.#reifiedCount++
  }

  /** Of its name, which may be long and comes with each triple that is quoted in it. */
  #graphDigest(): string {
    const at = this.#graph
    if (at === NONE) return ''
    if (this.#digested?.at !== at) {
      const from = this.#view.contentOf(at)
      const name = this.#view.bytes.subarray(from, from + this.#view.lengthAt(at))
      this.#digested = { at, digest: createHash('sha256').update(name).digest('hex') }
    }
    return this.#digested.digest
  }
}

const triplesMembers = ['m', 't']
const embeddingsMembers = ['m', 'e', 'v']
const metadataMembers = ['i', 'm', 'u', 'c']
const tripleMembers = ['s', 'p', 'o', 'g']
const embeddingMembers = ['e', 'v']
const termMembers = ['v', 'e', 't', 'i', 'd', 'l', 'dt', 'ln', 'tr', 'r', 'value', 'is_uri']
const [V, E, T, I, D, L] = [0, 1, 2, 3, 4, 5]
const [DT, LN, TR, R, VALUE, IS_URI] = [6, 7, 8, 9, 10, 11]

const someData = 'the data of a message (a map)'
const anEmbedding = 'an entity embedding (a map)'

const triplesHead = Uint8Array.of(0x92, 0xa1, 0x74, 0x82, 0xa1, 0x6d)
const embeddingsHead = Uint8Array.of(0x92, 0xa2, 0x67, 0x65, 0x82, 0xa1, 0x6d)

const keys = Object.fromEntries(
  ['t', 'e', 'i', 'm', 'u', 'c', 's', 'p', 'o', 'g', 'v', 'dt', 'ln'].map((name) => [
    name,
    textBytes(name),
  ]),
) as Record<'t' | 'e' | 'i' | 'm' | 'u' | 'c' | 's' | 'p' | 'o' | 'g' | 'v' | 'dt' | 'ln', Buffer>

const schemes = [Buffer.from('http:'), Buffer.from('https:')]
const blankPrefix = Buffer.from('_:')
const defaultCollection = Buffer.from('default')
const xsdStringBytes = Buffer.from(xsdString)
const langStringBytes = Buffer.from(`${rdf}langString`)

const reified = {
  type: entity(`${rdf}type`),
  Statement: entity(`${rdf}Statement`),
  subject: entity(`${rdf}subject`),
  predicate: entity(`${rdf}predicate`),
  object: entity(`${rdf}object`),
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([msgpack.stringHeader(bytes.length), bytes])
}

function entity(v: string): Buffer {
  const [head, tail] = [Uint8Array.of(0x82, 0xa1, 0x76), Uint8Array.of(0xa1, 0x65, 0xc3)]
  return Buffer.concat([head, textBytes(v), tail])
}

function isText(view: MessageView, at: number, text: Uint8Array): boolean {
  return view.lengthAt(at) === text.length && view.startsWith(at, text)
}

function missing(members: readonly string[], positions: readonly number[]): string[] {
  return members.filter((_, n) => positions[n] === NONE)
}
