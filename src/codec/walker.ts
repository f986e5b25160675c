// Walks a core stream that the scanner let through, and tells where its triples and vectors lie. It
// checks nothing, makes no object for any of them, and may be stopped at any byte: of a triple or an
// embedding that is cut between two chunks it keeps the bytes until the rest is there.
// Hot: benchmarks/graph-import.ts; change with numbers.

import * as msgpack from './messagepack.js'

const { classOf, headerSizeOf, readLength } = msgpack

/**
 * Is told what a stream holds, in its order. Positions are those of the UTF-8 bytes of a term's `v`
 * in `bytes`, which are the walker's: what is to stay has to be copied.
 */
export interface CoreVisitor {
  /** What follows is of a message of the collection whose name is [from, to). */
  collection(bytes: Uint8Array, view: DataView, from: number, to: number): void
  triple(bytes: Uint8Array, view: DataView, terms: TriplePlaces): void
  /** The entity of the vectors that follow: a term of `terms`, in the place of the subject. */
  entity(bytes: Uint8Array, view: DataView, terms: TriplePlaces): void
  /** The bytes of triples that were told are no longer there after this call. */
  chunkEnd(bytes: Uint8Array, view: DataView): void
  /** `count` MessagePack numbers from `at` on; see readNumbers(). */
  vector(view: DataView, at: number, count: number): void
  /** Where it reads triples itself. */
  readonly taker?: TripleTaker | undefined
}

/** Reads triples faster than they are told, but not all of them. */
export interface TripleTaker {
  /** How many were taken last. */
  readonly taken: number
  /**
   * Takes triples that begin at `at`, at most `most`, up to one that is cut at `end` or is none of its. Returns
   * where that begins. The bytes are the same until the end of the chunk is told.
   */
  take(bytes: Uint8Array, at: number, end: number, most: number): number
}

/** What a literal has beside its text. */
export const NOTHING = 0
export const DATATYPE = 1
export const LANGUAGE = 2

/**
 * The terms of the triple under way; `e` is 1 for an entity and 0 for a literal. `isPlain` says that
 * there is nothing of `more` and of a graph; else `sMore` and the others say what each term has more,
 * in [sMoreFrom, sMoreTo), and [gFrom, gTo) is the graph's name, empty for the default graph. One
 * object, used again.
 */
export interface TriplePlaces {
  sFrom: number
  sTo: number
  sE: number
  pFrom: number
  pTo: number
  pE: number
  oFrom: number
  oTo: number
  oE: number
  isPlain: boolean
  sMore: number
  sMoreFrom: number
  sMoreTo: number
  pMore: number
  pMoreFrom: number
  pMoreTo: number
  oMore: number
  oMoreFrom: number
  oMoreTo: number
  gFrom: number
  gTo: number
}

const letterC = 0x63
const letterE = 0x65
const letterG = 0x67
const letterM = 0x6d
const letterO = 0x6f
const letterP = 0x70
const letterS = 0x73
const letterT = 0x74
const letterV = 0x76

// Keys of two letters.
const keyDt = 0x6474
const keyLn = 0x6c6e

// What comes next.
const MESSAGE = 0
/** A field of a message's data; its metadata was read. */
const FIELD = 1
const TRIPLE = 2
const EMBEDDING = 3

/** In the place of a position: the value is cut. */
const CUT = -1

/** Triples that are told one by one where a taker has taken fewer than these: most are none of its. */
const mostTold = 128
const fewTaken = 16

export class CoreWalker {
  readonly #visitor: CoreVisitor
  #state = MESSAGE
  #isTriples = false
  /** Fields of the message's data, and elements of its array, that are still to come. */
  #fieldsLeft = 0
  #left = 0
  /** What was cut at the end of a chunk. */
  #carry = new Uint8Array(0)
  #carried = 0

  #bytes: Uint8Array = this.#carry
  #view: DataView = new DataView(this.#carry.buffer)
  #end = 0
  readonly #places: TriplePlaces = {
    sFrom: 0,
    sTo: 0,
    sE: 0,
    pFrom: 0,
    pTo: 0,
    pE: 0,
    oFrom: 0,
    oTo: 0,
    oE: 0,
    isPlain: true,
    sMore: NOTHING,
    sMoreFrom: 0,
    sMoreTo: 0,
    pMore: NOTHING,
    pMoreFrom: 0,
    pMoreTo: 0,
    oMore: NOTHING,
    oMoreFrom: 0,
    oMoreTo: 0,
    gFrom: 0,
    gTo: 0,
  }
  // The term that was read last.
  #from = 0
  #to = 0
  #e = 0
  #more = NOTHING
  #moreFrom = 0
  #moreTo = 0

  constructor(visitor: CoreVisitor) {
    this.#visitor = visitor
  }

  push(chunk: Uint8Array): void {
    let at = 0
    while (this.#carried > 0 && at < chunk.length) {
      // Twice as much each time: what is cut is walked from its beginning again.
      const taken = Math.min(chunk.length - at, Math.max(4096, this.#carried))
      const before = this.#carried
      this.#keep(chunk, at, at + taken)
      const used = this.#walk(this.#carry, this.#carried)
      if (used > before) {
        // The rest of what was taken is walked where it lies.
        this.#carried = 0
        at += used - before
      } else {
        this.#carry.copyWithin(0, used, this.#carried)
        this.#carried -= used
        at += taken
      }
    }
    if (at === chunk.length) return
    const rest = at === 0 ? chunk : chunk.subarray(at)
    this.#keep(rest, this.#walk(rest, rest.length), rest.length)
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#carried + to - from
    if (length > this.#carry.length) {
      const larger = new Uint8Array(Math.max(4096, 2 * length))
      larger.set(this.#carry.subarray(0, this.#carried))
      this.#carry = larger
    }
    this.#carry.set(bytes.subarray(from, to), this.#carried)
    this.#carried = length
  }

  /** Walks to the end, or to what is cut there; returns where that begins. */
  #walk(bytes: Uint8Array, end: number): number {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, end)
    this.#end = end
    let at = 0
    while (at < end) {
      let next = CUT
      if (this.#state === TRIPLE) next = this.#triples(at)
      else if (this.#state === EMBEDDING) next = this.#embedding(at)
      else if (this.#state === FIELD) next = this.#dataField(at)
      else next = this.#message(at)
      if (next === CUT) break
      at = next
    }
    this.#visitor.chunkEnd(bytes, this.#view)
    return at
  }

  /** The beginning of a message, to the end of its metadata wherever that lies. */
  #message(start: number): number {
    // An array of two, a type, and a map, as the scanner saw to.
    let at = this.#header(start)
    if (at === CUT || at >= this.#end) return CUT
    const type = at
    at = this.#skip(at)
    if (at === CUT || at >= this.#end) return CUT
    const map = at
    at = this.#header(at)
    if (at === CUT) return CUT
    const fields = at
    const count = readLength(this.#bytes, map)
    this.#isTriples =
      this.#bytes[type + (headerSizeOf[this.#bytes[type] as number] as number)] === letterT
    // Nearly always the first field is the metadata; else all of the message has to be here.
    for (let n = 0; n < count; n++) {
      const key = at
      at = this.#header(key)
      if (at === CUT) return CUT
      const keyLength = readLength(this.#bytes, key)
      if (at + keyLength > this.#end) return CUT
      const isMetadata = keyLength === 1 && this.#bytes[at] === letterM
      const value = at + keyLength
      at = this.#skip(value)
      if (at === CUT) return CUT
      if (!isMetadata) continue
      this.#collection(value)
      this.#state = FIELD
      if (n === 0) {
        this.#fieldsLeft = count - 1
        if (this.#fieldsLeft === 0) this.#state = MESSAGE
        return at
      }
      // Its fields are all read again, now that the collection is known.
      this.#fieldsLeft = count
      return fields
    }
    this.#state = MESSAGE
    return at
  }

  #collection(metadata: number): void {
    let at = this.#header(metadata)
    for (let left = readLength(this.#bytes, metadata); left > 0; left--) {
      const key = at
      at = this.#header(key)
      const keyLength = readLength(this.#bytes, key)
      const isCollection = keyLength === 1 && this.#bytes[at] === letterC
      const value = at + keyLength
      at = this.#skip(value)
      if (!isCollection) continue
      const from = this.#header(value)
      this.#visitor.collection(this.#bytes, this.#view, from, at)
      return
    }
  }

  #dataField(start: number): number {
    let at = this.#header(start)
    if (at === CUT) return CUT
    const keyLength = readLength(this.#bytes, start)
    if (at + keyLength >= this.#end) return CUT
    const key = this.#bytes[at]
    const value = at + keyLength
    if (keyLength === 1 && key === (this.#isTriples ? letterT : letterE)) {
      at = this.#header(value)
      if (at === CUT) return CUT
      this.#left = readLength(this.#bytes, value)
      this.#state = this.#isTriples ? TRIPLE : EMBEDDING
      if (this.#left === 0) this.#fieldDone()
      return at
    }
    at = this.#skip(value)
    if (at !== CUT) this.#fieldDone()
    return at
  }

  #fieldDone(): void {
    this.#state = --this.#fieldsLeft === 0 ? MESSAGE : FIELD
  }

  /** As many triples as are here. */
  #triples(start: number): number {
    const places = this.#places
    const bytes = this.#bytes
    const view = this.#view
    const { taker } = this.#visitor
    let at = start
    /** How many are told before it is the taker's turn. */
    let toTell = 0
    while (this.#left > 0) {
      if (taker !== undefined && toTell-- <= 0) {
        at = taker.take(bytes, at, this.#end, this.#left)
        this.#left -= taker.taken
        if (this.#left === 0) break
        toTell = taker.taken < fewTaken ? mostTold : 0
      }
      let next = this.#straightTriple(at)
      if (next === CUT) next = this.#triple(at)
      if (next === CUT) return at === start ? CUT : at
      at = next
      this.#left--
      this.#visitor.triple(bytes, view, places)
    }
    this.#fieldDone()
    return at
  }

  /** {s: {v, e}, p: {v, e}, o: {v, e}}, or more, with the headers of the known writers; else CUT. */
  #straightTriple(start: number): number {
    const view = this.#view
    const places = this.#places
    if (start + 4 > this.#end) return CUT
    let at = start
    let hasGraph = false
    const first = this.#bytes[at] as number
    if (first === 0x83) at += 1
    else if (first === 0x84) {
      hasGraph = true
      at += 1
    } else if (first === 0xde && view.getUint16(at + 1) === 3) at += 3
    else return CUT
    if (at + 2 > this.#end || view.getUint16(at) !== 0xa173) return CUT
    places.isPlain = true
    at = this.#straightTerm(at + 2)
    if (at === CUT || at + 2 > this.#end || view.getUint16(at) !== 0xa170) return CUT
    this.#subject()
    at = this.#straightTerm(at + 2)
    if (at === CUT || at + 2 > this.#end || view.getUint16(at) !== 0xa16f) return CUT
    this.#predicate()
    at = this.#straightTerm(at + 2)
    if (at === CUT) return CUT
    this.#object()
    if (!hasGraph) return at
    if (at + 2 > this.#end || view.getUint16(at) !== 0xa167) return CUT
    return this.#graph(at + 2)
  }

  #straightTerm(start: number): number {
    const view = this.#view
    if (start + 8 > this.#end) return CUT
    let from = start + 4
    let begin = view.getUint32(start)
    let isPlain = true
    if (begin >>> 8 !== 0x82a176) {
      if (begin >>> 8 === 0x83a176) isPlain = false
      else {
        if (begin >>> 8 !== 0xde0002 || view.getUint16(start + 3) !== 0xa176) return CUT
        from = start + 6
        begin = this.#bytes[start + 5] as number
      }
    }
    const head = begin & 0xff
    let length = head & 0x1f
    if (head < 0xa0 || head > 0xbf) {
      if (from + 2 > this.#end) return CUT
      if (head === 0xd9) length = this.#bytes[from++] as number
      else if (head === 0xda) {
        length = view.getUint16(from)
        from += 2
      } else return CUT
    }
    const to = from + length
    if (to + 3 > this.#end || view.getUint16(to) !== 0xa165) return CUT
    this.#from = from
    this.#to = to
    this.#e = (this.#bytes[to + 2] as number) & 1
    this.#more = NOTHING
    return isPlain ? to + 3 : this.#straightMore(to + 3)
  }

  #straightMore(start: number): number {
    if (start + 4 > this.#end || this.#bytes[start] !== 0xa2) return CUT
    const key = this.#view.getUint16(start + 1)
    if (key !== keyDt && key !== keyLn) return CUT
    const head = this.#bytes[start + 3] as number
    let from = start + 4
    let length = head & 0x1f
    if (head < 0xa0 || head > 0xbf) {
      if (head !== 0xd9 || from === this.#end) return CUT
      length = this.#bytes[from++] as number
    }
    const to = from + length
    if (to > this.#end) return CUT
    this.#more = key === keyDt ? DATATYPE : LANGUAGE
    this.#moreFrom = from
    this.#moreTo = to
    return to
  }

  // The term that was read last is in this place.

  #subject(): void {
    const places = this.#places
    places.sFrom = this.#from
    places.sTo = this.#to
    places.sE = this.#e
    if (places.isPlain && this.#more === NOTHING) return
    this.#notPlain()
    places.sMore = this.#more
    places.sMoreFrom = this.#moreFrom
    places.sMoreTo = this.#moreTo
  }

  #predicate(): void {
    const places = this.#places
    places.pFrom = this.#from
    places.pTo = this.#to
    places.pE = this.#e
    if (places.isPlain && this.#more === NOTHING) return
    this.#notPlain()
    places.pMore = this.#more
    places.pMoreFrom = this.#moreFrom
    places.pMoreTo = this.#moreTo
  }

  #object(): void {
    const places = this.#places
    places.oFrom = this.#from
    places.oTo = this.#to
    places.oE = this.#e
    if (places.isPlain && this.#more === NOTHING) return
    this.#notPlain()
    places.oMore = this.#more
    places.oMoreFrom = this.#moreFrom
    places.oMoreTo = this.#moreTo
  }

  /** The string at `value`. Returns its end. */
  #graph(value: number): number {
    const end = this.#skip(value)
    if (end === CUT) return CUT
    this.#notPlain()
    this.#places.gFrom = this.#header(value)
    this.#places.gTo = end
    return end
  }

  #notPlain(): void {
    const places = this.#places
    if (!places.isPlain) return
    places.isPlain = false
    places.sMore = NOTHING
    places.pMore = NOTHING
    places.oMore = NOTHING
    places.gFrom = 0
    places.gTo = 0
  }

  /** A triple with its fields in any order, and others beside them. */
  #triple(start: number): number {
    let at = this.#header(start)
    if (at === CUT) return CUT
    this.#places.isPlain = true
    for (let left = readLength(this.#bytes, start); left > 0; left--) {
      const key = at
      at = this.#header(key)
      if (at === CUT) return CUT
      const keyLength = readLength(this.#bytes, key)
      if (at + keyLength > this.#end) return CUT
      const letter = keyLength === 1 ? this.#bytes[at] : 0
      at += keyLength
      if (letter === letterS || letter === letterP || letter === letterO) {
        at = this.#term(at)
        if (at === CUT) return CUT
        if (letter === letterS) this.#subject()
        else if (letter === letterP) this.#predicate()
        else this.#object()
      } else if (letter === letterG) {
        at = this.#graph(at)
        if (at === CUT) return CUT
      } else {
        at = this.#skip(at)
        if (at === CUT) return CUT
      }
    }
    return at
  }

  #term(start: number): number {
    let at = this.#header(start)
    if (at === CUT) return CUT
    this.#more = NOTHING
    for (let left = readLength(this.#bytes, start); left > 0; left--) {
      const key = at
      at = this.#header(key)
      if (at === CUT) return CUT
      const keyLength = readLength(this.#bytes, key)
      if (at + keyLength > this.#end) return CUT
      const letter = keyLength === 1 ? this.#bytes[at] : 0
      const letters = keyLength === 2 ? this.#view.getUint16(at) : 0
      const value = at + keyLength
      at = this.#skip(value)
      if (at === CUT) return CUT
      if (letter === letterV) {
        this.#from = this.#header(value)
        this.#to = at
      } else if (letter === letterE) this.#e = (this.#bytes[value] as number) & 1
      else if (letters === keyDt || letters === keyLn) {
        this.#more = letters === keyDt ? DATATYPE : LANGUAGE
        this.#moreFrom = this.#header(value)
        this.#moreTo = at
      }
    }
    return at
  }

  /** An entity and its vectors: all of it has to be here, as the vectors may come first. */
  #embedding(start: number): number {
    const end = this.#skip(start)
    if (end === CUT) return CUT
    let vectors = CUT
    let at = this.#header(start)
    for (let left = readLength(this.#bytes, start); left > 0; left--) {
      const key = at
      at = this.#header(key)
      const keyLength = readLength(this.#bytes, key)
      const letter = keyLength === 1 ? this.#bytes[at] : 0
      const value = at + keyLength
      if (letter === letterE) {
        this.#places.isPlain = true
        this.#term(value)
        this.#subject()
      } else if (letter === letterV) vectors = value
      at = this.#skip(value)
    }
    this.#visitor.entity(this.#bytes, this.#view, this.#places)
    at = this.#header(vectors)
    for (let left = readLength(this.#bytes, vectors); left > 0; left--) {
      this.#visitor.vector(this.#view, this.#header(at), readLength(this.#bytes, at))
      at = this.#skip(at)
    }
    if (--this.#left === 0) this.#fieldDone()
    return end
  }

  /** The end of the header at `at`. */
  #header(at: number): number {
    if (at >= this.#end) return CUT
    const end = at + (headerSizeOf[this.#bytes[at] as number] as number)
    return end > this.#end ? CUT : end
  }

  /** The end of the value at `start`. */
  #skip(start: number): number {
    const bytes = this.#bytes
    let at = start
    // Values that are still to come, in this array or map and those around it.
    for (let left = 1; left > 0; left--) {
      if (at >= this.#end) return CUT
      const first = bytes[at] as number
      // Most values by far: components of vectors.
      if (first === 0xcb) {
        at += 9
        continue
      }
      const next = at + (headerSizeOf[first] as number)
      if (next > this.#end) return CUT
      const kind = classOf[first]
      if (kind === msgpack.ARRAY_CLASS) left += readLength(bytes, at)
      else if (kind === msgpack.MAP_CLASS) left += 2 * readLength(bytes, at)
      at = next
      if (kind === msgpack.STRING_CLASS || kind === msgpack.BINARY_CLASS) {
        at += readLength(bytes, next - (headerSizeOf[first] as number))
      }
    }
    return at > this.#end ? CUT : at
  }
}

/** Reads MessagePack numbers of any kind; integers beyond 2^53 are rounded. */
export function readNumbers(view: DataView, from: number, count: number, to: Float64Array): void {
  let at = from
  for (let i = 0; i < count; i++) {
    const first = view.getUint8(at)
    if (first === 0xcb) to[i] = view.getFloat64(at + 1)
    else to[i] = readNumber(view, at, first)
    at += headerSizeOf[first] as number
  }
}

function readNumber(view: DataView, at: number, first: number): number {
  switch (first) {
    case 0xca:
      return view.getFloat32(at + 1)
    case 0xcc:
      return view.getUint8(at + 1)
    case 0xcd:
      return view.getUint16(at + 1)
    case 0xce:
      return view.getUint32(at + 1)
    case 0xcf:
      return Number(view.getBigUint64(at + 1))
    case 0xd0:
      return view.getInt8(at + 1)
    case 0xd1:
      return view.getInt16(at + 1)
    case 0xd2:
      return view.getInt32(at + 1)
    case 0xd3:
      return Number(view.getBigInt64(at + 1))
    default:
      return first < 0x80 ? first : first - 0x100
  }
}
