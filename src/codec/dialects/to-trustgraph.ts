// Messages of the specification as the newest version of the reference system reads them: terms with
// types, one flat vector for each entity. docs/dialects.md has what becomes of each part.

import { defaultLimits } from '../limits.js'
import * as msgpack from '../messagepack.js'
import { ByteWriter } from './byte-writer.js'
import type { Frame } from './message-framer.js'
import { MessageView, NONE, pause } from './message-view.js'

/** A message that comes to more is cut in two: read here again, it has to have its last item in it. */
const fullBytes = defaultLimits.maxMessageBytes - 8 * defaultLimits.maxStringBytes
export class TrustgraphConverter {
  readonly #view = new MessageView()
  readonly #metadata = new ByteWriter()
  readonly #items = new ByteWriter()
  readonly #header = new ByteWriter()
  #count = 0

  get #isFull(): boolean {
    return this.#metadata.length + this.#items.length > fullBytes
  }

  /** The message in pieces, each to be taken before the next is asked for, with pauses of no bytes. */
  *convert(frame: Frame): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    view.use(frame)
    const isTriples = frame.type === 't'
    const data = view.skip(view.contentOf(0))
    const map = yield* view.openLongMap(data, isTriples ? triplesMembers : embeddingsMembers, '')
    yield* this.#metadataAt(view.at(map, 0))
    const items = view.at(map, 1)
    let left = view.lengthAt(items)
    for (let next = view.contentOf(items); left > 0; left--) {
      if (isTriples) next = this.#triple(next)
      else next = yield* this.#embedding(next)
      if (this.#isFull) yield* this.#write(isTriples)
      if (view.isLong(next)) yield pause
    }
    if (this.#count > 0 || view.lengthAt(items) === 0) yield* this.#write(isTriples)
  }

  *#write(isTriples: boolean): Generator<Uint8Array, void, undefined> {
    const header = this.#header
    header.clear()
    header.copy(isTriples ? triplesHead : embeddingsHead)
    header.copy(this.#metadata.bytes)
    header.copy(isTriples ? keys.t : keys.e)
    header.arrayHeader(this.#count)
    yield header.bytes
    yield this.#items.bytes
    this.#items.clear()
    this.#count = 0
  }

  *#metadataAt(at: number): Generator<Uint8Array, void, undefined> {
    const view = this.#view
    const out = this.#metadata
    const map = yield* view.openLongMap(at, metadataMembers, '')
    const triples = view.at(map, 1)
    let left = view.lengthAt(triples)
    this.#items.clear()
    this.#count = 0
    for (let next = view.contentOf(triples); left > 0; left--) {
      next = this.#triple(next)
      if (view.isLong(next)) yield pause
    }
    out.clear()
    out.byte(this.#count === 0 ? 0x82 : 0x83)
    out.copy(keys.i)
    view.copyText(view.at(map, 0), out)
    if (this.#count > 0) {
      out.copy(keys.m)
      out.arrayHeader(this.#count)
      out.copy(this.#items.bytes)
    }
    out.copy(keys.c)
    view.copyText(view.at(map, 2), out)
    view.close(map)
    this.#items.clear()
    this.#count = 0
  }

  #triple(at: number): number {
    const view = this.#view
    const out = this.#items
    const map = view.openMap(at, tripleMembers, '')
    const graph = view.text(map, 3)
    out.byte(graph === NONE ? 0x83 : 0x84)
    out.copy(keys.s)
    this.#term(view.at(map, 0))
    out.copy(keys.p)
    this.#term(view.at(map, 1))
    out.copy(keys.o)
    this.#term(view.at(map, 2))
    if (graph !== NONE) {
      out.copy(keys.g)
      view.copyText(graph, out)
    }
    this.#count++
    return view.close(map)
  }

  /** One for each of its vectors: an entity has one there. */
  *#embedding(at: number): Generator<Uint8Array, number, undefined> {
    const view = this.#view
    const map = yield* view.openLongMap(at, embeddingMembers, '')
    const [entity, vectors] = [view.at(map, 0), view.at(map, 1)]
    const count = view.lengthAt(vectors)
    if (count === 0) this.#flat(entity, vectors, view.contentOf(vectors))
    let next = view.contentOf(vectors)
    for (let left = count; left > 0; left--) {
      const end = view.skip(next)
      this.#flat(entity, next, end)
      next = end
      if (this.#isFull) yield* this.#write(false)
      if (view.isLong(next)) yield pause
    }
    return view.close(map)
  }

  #flat(entity: number, vector: number, end: number): void {
    const view = this.#view
    const out = this.#items
    out.byte(0x82)
    out.copy(keys.e)
    this.#term(entity)
    out.copy(keys.v)
    out.arrayHeader(view.lengthAt(vector))
    out.copy(view.bytes, view.contentOf(vector), end)
    this.#count++
  }

  #term(at: number): void {
    const view = this.#view
    const out = this.#items
    const map = view.openMap(at, termMembers, '')
    const [v, e] = [view.at(map, 0), view.at(map, 1)]
    if (view.bytes[e] === 0xc2) this.#literal(v, view.text(map, 2), view.text(map, 3))
    else if (view.startsWith(v, blankPrefix)) {
      out.copy(blank)
      view.copyText(v, out, undefined, blankPrefix.length)
    } else {
      out.copy(iri)
      view.copyText(v, out)
    }
    view.close(map)
  }

  #literal(value: number, datatype: number, language: number): void {
    const view = this.#view
    const out = this.#items
    out.byte(0x82 + (datatype === NONE ? 0 : 1) + (language === NONE ? 0 : 1))
    out.copy(literal)
    view.copyText(value, out)
    if (datatype !== NONE) {
      out.copy(keys.dt)
      view.copyText(datatype, out)
    }
    if (language !== NONE) {
      out.copy(keys.ln)
      view.copyText(language, out)
    }
  }
}

const triplesMembers = ['m', 't']
const embeddingsMembers = ['m', 'e']
const metadataMembers = ['i', 'm', 'c']
const tripleMembers = ['s', 'p', 'o', 'g']
const embeddingMembers = ['e', 'v']
const termMembers = ['v', 'e', 'dt', 'ln']

const triplesHead = Uint8Array.of(0x92, 0xa1, 0x74, 0x82, 0xa1, 0x6d)
const embeddingsHead = Uint8Array.of(0x92, 0xa2, 0x67, 0x65, 0x82, 0xa1, 0x6d)

const blankPrefix = Buffer.from('_:')
/** The beginnings of terms, up to their text. */
const iri = Buffer.concat([Uint8Array.of(0x82), ...['t', 'i', 'i'].map(textBytes)])
const blank = Buffer.concat([Uint8Array.of(0x82), ...['t', 'b', 'd'].map(textBytes)])
const literal = Buffer.concat(['t', 'l', 'v'].map(textBytes))

const keys = {
  t: textBytes('t'),
  e: textBytes('e'),
  i: textBytes('i'),
  m: textBytes('m'),
  c: textBytes('c'),
  s: textBytes('s'),
  p: textBytes('p'),
  o: textBytes('o'),
  g: textBytes('g'),
  v: textBytes('v'),
  dt: textBytes('dt'),
  ln: textBytes('ln'),
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([msgpack.stringHeader(bytes.length), bytes])
}
