// Frames and validates a core stream at byte level. It makes no object for a message, and may be
// stopped at any byte: what it holds between two chunks is
//
//   - the stack of open arrays and maps (kind, entries left, fields seen),
//   - at most 9 bytes of a MessagePack header that was cut,
//   - how much of a string is still to come, and where in a UTF-8 character it was cut,
//   - a map key (256 bytes at most), a type indicator, or a core id or user that may have to be
//     replaced,
//   - the beginning of a message until its first triple or embedding: a message of another dialect
//     shows by then that it is one, and somebody else may read it as if it had never been here.
//
// Two paths give one result. The automaton (#token) takes one MessagePack token at a time and
// reports every error. The straight paths (#triples, #numbers) take whole triples, and runs of
// vector components, in the shape that every known writer gives them; where anything is
// different, cut or wrong they stop in front of it and leave it to the automaton. Where many
// triples come, WebAssembly takes the straight path (triples-kernel.ts).
// Hot: measured by benchmarks/scanner.ts; change with numbers.

import { quoted } from '../door/wording.js'
import { LorekeepError, type ErrorCode } from '../errors.js'
import { adviceOn, guessFormat } from './format-guess.js'
import * as grammar from './grammar.js'
import { defaultLimits, mostVectors, tooManyVectors, type CodecLimits } from './limits.js'
import * as msgpack from './messagepack.js'
import { RepeatedTexts } from './repeated-texts.js'
import { aLanguage, aDatatype, REFUSED, stateAfter, type NameRule } from '../terms.js'
import { TriplesKernel } from './triples-kernel.js'
import * as known from './triples-kernel.js'
import { Utf8State } from './utf8.js'

/** Takes what a scanner lets through. */
export interface ScanSink {
  /** The bytes [from, to) of a chunk belong to the stream as it is to be stored. */
  copy(chunk: Uint8Array, from: number, to: number): void
  /** All that was copied until now is whole messages. */
  messageEnd?(): void
}

/** The core that the messages are to name. Another `i` or `u` in the stream is replaced. */
export interface ScanTarget {
  readonly id: string
  readonly user: string
}

const { ANY, BOOLEAN, DATATYPE, GRAPH, ID, KEY, LANGUAGE, MESSAGE, NUMBER, TERM } = grammar
const { TRIPLE, TYPE, USER } = grammar
const { classOf, headerSizeOf, readLength } = msgpack

const maxKeyBytes = 256
const maxKeptHead = 1024 * 1024

/**
 * Checks a core stream and hands it on, chunk by chunk. Call push() for each chunk, then finish().
 * Both throw `LK_CORE_FORMAT` or `LK_CORE_TYPE` with `details` `{ messageIndex, byteOffset, path }`,
 * the same for the same bytes however they are cut; after an error the scanner is of no use.
 */
export class CoreScanner {
  /** Whole messages, and what the arrays of the stream so far announced. */
  messages = 0
  triples = 0
  entities = 0
  vectors = 0

  readonly #sink: ScanSink
  readonly #limits: CodecLimits
  readonly #mostVectors: number
  readonly #id: Uint8Array | undefined
  readonly #user: Uint8Array | undefined

  /** Where the current chunk and message start in the stream, and where the message has to end. */
  #offset = 0
  #messageStart = 0
  #limit: number
  /** The current chunk, for an error to look at, and for reading several bytes at once. */
  #chunk: Uint8Array = new Uint8Array(0)
  #view = new DataView(this.#chunk.buffer)
  /** From here on the current chunk has not been handed on. */
  #copyFrom = 0
  /** No triple or embedding of the message has been read: nothing of it has been handed on. */
  #isHead = true
  /** What earlier chunks had of it. */
  #head = new Uint8Array(0)
  #headLength = 0
  /** What was counted before it. */
  #triplesBefore = 0
  #entitiesBefore = 0
  #vectorsBefore = 0

  // The open arrays and maps, outermost first.
  #depth = 0
  readonly #kinds: Uint8Array
  readonly #isMap: Uint8Array
  readonly #total: Float64Array
  readonly #left: Float64Array
  readonly #start: Float64Array
  readonly #seen: Uint8Array
  /** The name of the field whose value is being read. */
  readonly #field: string[]
  /** The keys beyond the wire tables; undefined until there is one. */
  readonly #others: (Set<string> | undefined)[]

  /** What has to come next. */
  #expect = MESSAGE
  #extraValues = 0
  /** Set by a step that ended a message, or let go of a held string; push() then acts on it. */
  #messageEnded = false
  #released = false

  /** A header that was cut between two chunks. */
  readonly #header = new Uint8Array(9)
  #headerLength = 0
  #headerStart = 0

  // The string or binary whose content is being read.
  #contentLeft = 0
  #contentIsText = false
  #contentStart = 0
  readonly #utf8 = new Utf8State()
  readonly #datatypes = namesOf(known.DATATYPE, aDatatype)
  readonly #languages = namesOf(known.LANGUAGE, aLanguage)
  readonly #graphs = namesOf(known.GRAPH, undefined)
  /** Passes triples of which many come, and learns names with it. */
  #kernel: TriplesKernel | undefined
  /** What a datatype or language has to be, and how much of it is. */
  #name: NameRule | undefined
  #nameState = 0

  #keyStart = 0

  // What is kept of a string: a key, a type indicator, or an id or user with its header.
  readonly #kept: Buffer
  #keptLength = 0
  #keeping = false
  /** An id or user is being read and nothing of it has been handed on. */
  #holding = false
  /** Where it begins in the current chunk; -1 if in an earlier one. */
  #holdFrom = -1
  #heldHeader = 0

  constructor(sink: ScanSink, target?: ScanTarget, limits: CodecLimits = defaultLimits) {
    this.#sink = sink
    this.#limits = limits
    this.#mostVectors = mostVectors(limits)
    this.#limit = limits.maxMessageBytes
    this.#id = target && Buffer.from(target.id, 'utf8')
    this.#user = target && Buffer.from(target.user, 'utf8')
    const longest = Math.max(maxKeyBytes, this.#id?.length ?? 0, this.#user?.length ?? 0)
    this.#kept = Buffer.alloc(longest + 5)
    const room = limits.maxDepth
    this.#kinds = new Uint8Array(room)
    this.#isMap = new Uint8Array(room)
    this.#total = new Float64Array(room)
    this.#left = new Float64Array(room)
    this.#start = new Float64Array(room)
    this.#seen = new Uint8Array(room)
    this.#field = new Array<string>(room).fill('')
    this.#others = new Array<Set<string> | undefined>(room).fill(undefined)
  }

  /** The bytes read so far. */
  get offset(): number {
    return this.#offset
  }

  /** Where the message under way starts, while nothing of it has been handed on. */
  get headStart(): number | undefined {
    return this.#isHead ? this.#messageStart : undefined
  }

  /**
   * Forgets the message that push() has refused in its head, all of it. What is pushed next takes its
   * place, and comes after it for all that was said before.
   */
  rewind(): void {
    const start = this.#messageStart
    if (start > this.#offset + this.#copyFrom) {
      this.#sink.copy(this.#chunk, this.#copyFrom, start - this.#offset)
    }
    this.#offset = start
    this.triples = this.#triplesBefore
    this.entities = this.#entitiesBefore
    this.vectors = this.#vectorsBefore
    this.#headLength = 0
    this.#others.fill(undefined)
    this.#depth = 0
    this.#expect = MESSAGE
    this.#extraValues = 0
    this.#released = false
    this.#headerLength = 0
    this.#contentLeft = 0
    this.#name = undefined
    this.#utf8.reset()
    this.#keeping = false
    this.#holding = false
  }

  push(chunk: Uint8Array): void {
    const end = chunk.length
    this.#chunk = chunk
    this.#view = new DataView(chunk.buffer, chunk.byteOffset, end)
    this.#copyFrom = 0
    this.#holdFrom = -1
    try {
      this.#scan(chunk, end)
    } finally {
      // It would keep the memory of the chunk from the collector.
      triplesKernel?.leave()
    }
    this.#offset += end
  }

  #scan(chunk: Uint8Array, end: number): void {
    let at = 0
    while (at < end) {
      if (this.#contentLeft > 0) at = this.#content(chunk, at, end)
      else if (this.#headerLength > 0) at = this.#resumeHeader(chunk, at, end)
      else if (this.#expect === NUMBER) at = this.#numbers(chunk, at, end)
      else if (this.#expect === TRIPLE) at = this.#triples(chunk, at, end)
      else at = this.#token(chunk, at, end)
      if (this.#released) {
        this.#released = false
        this.#copyFrom = at
      }
      if (this.#messageEnded) {
        this.#messageEnded = false
        if (this.#isHead) this.#endHead()
        if (this.#sink.messageEnd) {
          this.#flush(chunk, at)
          this.#sink.messageEnd()
        }
        this.#beginMessage(this.#offset + at)
      }
    }
    if (!this.#holding) this.#flush(chunk, end)
    else if (this.#holdFrom >= 0) this.#flush(chunk, this.#holdFrom)
  }

  /** Call at the end of the stream. */
  finish(): void {
    if (this.#depth === 0 && this.#headerLength === 0) return
    const expected =
      this.#contentLeft > 0 ? 'the rest of a string' : grammar.describeExpected(this.#expect)
    this.#chunk = new Uint8Array(0)
    this.#fail(this.#offset, `the stream ends inside a message; next should be ${expected}`)
  }

  #beginMessage(start: number): void {
    this.#extraValues = 0
    this.#messageStart = start
    this.#limit = start + this.#limits.maxMessageBytes
    this.#isHead = true
    this.#triplesBefore = this.triples
    this.#entitiesBefore = this.entities
    this.#vectorsBefore = this.vectors
  }

  #flush(chunk: Uint8Array, to: number): void {
    if (this.#copyFrom < to) this.#handOn(chunk, this.#copyFrom, to)
    this.#copyFrom = to
  }

  #handOn(bytes: Uint8Array, from: number, to: number): void {
    if (!this.#isHead) return this.#sink.copy(bytes, from, to)
    // Of the chunk, what is before the message; all else is of the message itself.
    const before = bytes === this.#chunk ? this.#messageStart - this.#offset : from
    const start = Math.max(from, Math.min(to, before))
    if (from < start) this.#sink.copy(bytes, from, start)
    const length = this.#headLength + to - start
    if (length > this.#head.length) {
      const larger = new Uint8Array(Math.max(4096, 2 * length))
      larger.set(this.#head.subarray(0, this.#headLength))
      this.#head = larger
    }
    this.#head.set(bytes.subarray(start, to), this.#headLength)
    this.#headLength = length
  }

  /** The message is one of the specification's, and goes on. */
  #endHead(): void {
    this.#isHead = false
    if (this.#headLength === 0) return
    this.#sink.copy(this.#head, 0, this.#headLength)
    this.#headLength = 0
    // One large head does not keep its size for ever.
    if (this.#head.length > maxKeptHead) this.#head = new Uint8Array(0)
  }

  // Straight paths

  /** As many components of a vector as lie here whole. */
  #numbers(chunk: Uint8Array, from: number, end: number): number {
    const top = this.#depth - 1
    const left = this.#left[top] as number
    const stop = Math.min(end, this.#limit - this.#offset)
    let at = from
    let count = 0
    // Nearly all real components are 64-bit doubles, 9 bytes each.
    const doubles = Math.min(left, Math.floor((stop - from) / 9))
    while (count < doubles && chunk[at] === 0xcb) {
      at += 9
      count++
    }
    while (count < left && at < stop) {
      const byte = chunk[at] as number
      if (classOf[byte] !== msgpack.NUMBER_CLASS) break
      const size = headerSizeOf[byte] as number
      if (at + size > stop) break
      at += size
      count++
    }
    if (count === 0) return this.#token(chunk, from, end)
    this.#left[top] = left - count
    if (count === left) this.#close()
    return at
  }

  /** As many triples as lie here whole, each in the shape {s: {v, e}, p: {v, e}, o: {v, e}}, or with a g. */
  #triples(chunk: Uint8Array, from: number, end: number): number {
    const top = this.#depth - 1
    const left = this.#left[top] as number
    const stop = Math.min(end, this.#limit - this.#offset)
    const { maxStringBytes } = this.#limits
    const isMany = left >= fewestPassed && stop - from >= fewestBytes
    const kernel = (this.#kernel = isMany ? (triplesKernel ??= new TriplesKernel()) : undefined)
    let at = from
    let count = 0
    /** How many are looked at here before it is the kernel's turn. */
    let toPass = 0
    while (count < left) {
      if (kernel !== undefined && toPass-- <= 0) {
        at = kernel.pass(chunk, at, stop, left - count, maxStringBytes)
        count += kernel.count
        if (count === left) break
        toPass = kernel.count < fewestPassed ? mostPassed : 0
      }
      const next = this.#triple(chunk, at, stop)
      if (next < 0) break
      at = next
      count++
    }
    if (count === 0) return this.#token(chunk, from, end)
    if (this.#isHead && this.#kinds[top] === grammar.TRIPLES) this.#endHead()
    this.#left[top] = left - count
    if (count === left) this.#close()
    return at
  }

  /** The end of a triple, or -1. */
  #triple(chunk: Uint8Array, at: number, stop: number): number {
    if (at + 16 > stop) return -1
    let next = at
    let fields = 3
    if (chunk[at] === 0x83) next += 1
    else if (chunk[at] === 0x84) {
      fields = 4
      next += 1
    } else if (chunk[at] === 0xde) {
      fields = this.#view.getUint16(at + 1)
      if (fields !== 3 && fields !== 4) return -1
      next += 3
    } else return -1
    if (this.#view.getUint16(next) !== 0xa173) return -1
    next = this.#term(chunk, next + 2, stop)
    if (next < 0 || next + 2 > stop || this.#view.getUint16(next) !== 0xa170) return -1
    next = this.#term(chunk, next + 2, stop)
    if (next < 0 || next + 2 > stop || this.#view.getUint16(next) !== 0xa16f) return -1
    next = this.#term(chunk, next + 2, stop)
    if (next < 0 || fields === 3) return next
    if (next + 3 > stop || this.#view.getUint16(next) !== 0xa167) return -1
    const name = next + 2
    const end = this.#text(chunk, name, stop, this.#graphs)
    // An empty one, whatever its header, is for the automaton to refuse.
    return end === name + (headerSizeOf[chunk[name] as number] as number) ? -1 : end
  }

  /**
   * The end of a term {v, e} at `at`, or {v, e, dt} or {v, e, ln}, or -1. Maps come with the shortest
   * header or, from msgpackr, with a 16-bit one.
   */
  #term(chunk: Uint8Array, at: number, stop: number): number {
    if (at + 8 > stop) return -1
    const view = this.#view
    let from = at + 4
    let start = view.getUint32(at)
    let isPlain = true
    if (start >>> 8 !== 0x82a176) {
      isPlain = start >>> 8 === 0xde0002
      if (start >>> 8 !== 0x83a176) {
        if (!isPlain && start >>> 8 !== 0xde0003) return -1
        if (view.getUint16(at + 3) !== 0xa176) return -1
        from = at + 6
        start = chunk[at + 5] as number
      }
    }
    const head = start & 0xff
    let length = head & 0x1f
    if (head < 0xa0 || head > 0xbf) {
      if (from + 2 > stop) return -1
      if (head === 0xd9) length = chunk[from++] as number
      else if (head === 0xda) {
        length = view.getUint16(from)
        from += 2
      } else return -1
    }
    const to = from + length
    if (to + 3 > stop || length > this.#limits.maxStringBytes) return -1
    if (view.getUint16(to) !== 0xa165 || ((chunk[to + 2] as number) | 1) !== 0xc3) return -1
    const ascii = asciiUntil(view, from, to)
    if (ascii < to) {
      const utf8 = this.#utf8
      const valid = utf8.check(chunk, ascii, to) === to && utf8.need === 0
      utf8.reset()
      if (!valid) return -1
    }
    if (isPlain) return to + 3
    return chunk[to + 2] === 0xc2 ? this.#annotation(chunk, to + 3, stop) : -1
  }

  /** The end of a literal's dt or ln, or -1. */
  #annotation(chunk: Uint8Array, at: number, stop: number): number {
    if (at + 4 > stop || chunk[at] !== 0xa2) return -1
    const key = this.#view.getUint16(at + 1)
    if (key === 0x6474) return this.#text(chunk, at + 3, stop, this.#datatypes)
    return key === 0x6c6e ? this.#text(chunk, at + 3, stop, this.#languages) : -1
  }

  /** The end of a string at `at` that is such a name, or -1. */
  #text(chunk: Uint8Array, at: number, stop: number, names: Names): number {
    const head = chunk[at] as number
    if (classOf[head] !== msgpack.STRING_CLASS) return -1
    const from = at + (headerSizeOf[head] as number)
    if (from > stop) return -1
    const length = readLength(chunk, at)
    const to = from + length
    if (to > stop || length > this.#limits.maxStringBytes) return -1
    if (names.valid.get(this.#view, from, to) !== true) {
      if (!this.#isName(chunk, from, to, names.rule)) return -1
      names.valid.set(this.#view, from, to, true)
    }
    this.#kernel?.learn(names.kind, chunk, from, to)
    return to
  }

  #isName(chunk: Uint8Array, from: number, to: number, rule: NameRule | undefined): boolean {
    if (rule !== undefined) {
      const state = stateAfter(rule, 0, chunk, from, to)
      if (state === REFUSED || !rule.isWhole(state)) return false
    }
    const utf8 = this.#utf8
    const isUtf8 = utf8.check(chunk, from, to) === to && utf8.need === 0
    utf8.reset()
    return isUtf8
  }

  // The automaton

  /** One token: a header that lies here whole, or its beginning, which is kept. */
  #token(chunk: Uint8Array, at: number, end: number): number {
    const first = chunk[at] as number
    const start = this.#offset + at
    if (first === 0xa1 && this.#expect === KEY && at + 2 <= end && start + 2 <= this.#limit) {
      this.#keyStart = start
      const letter = chunk[at + 1] as number
      if (letter < 128 && this.#knownKey(letter)) return at + 2
    }
    this.#checkFirst(first, start)
    if (this.#id && (this.#expect === ID || this.#expect === USER)) {
      this.#holding = true
      this.#holdFrom = at
    }
    const size = headerSizeOf[first] as number
    if (at + size <= end) {
      this.#accept(chunk, at, start)
      return at + size
    }
    this.#header.set(chunk.subarray(at, end))
    this.#headerLength = end - at
    this.#headerStart = start
    return end
  }

  #resumeHeader(chunk: Uint8Array, at: number, end: number): number {
    const size = headerSizeOf[this.#header[0] as number] as number
    const taken = Math.min(size - this.#headerLength, end - at)
    this.#header.set(chunk.subarray(at, at + taken), this.#headerLength)
    this.#headerLength += taken
    if (this.#headerLength === size) {
      this.#headerLength = 0
      this.#accept(this.#header, 0, this.#headerStart)
    }
    return at + taken
  }

  /** Refuses what a first byte alone shows to be wrong. */
  #checkFirst(first: number, start: number): void {
    if (start >= this.#limit) this.#failMessageSize()
    const found = classOf[first]
    if (found === msgpack.BAD) this.#fail(start, 'the byte 0xc1 never occurs in MessagePack')
    if (found === msgpack.EXTENSION_CLASS) {
      this.#fail(start, `extension types (0x${first.toString(16)}) are not part of a core stream`)
    }
    const wanted = classWanted[this.#expect]
    if (wanted === found) return
    if (wanted === anyClass) return this.#countExtra(start)
    const got = msgpack.describeByte(first)
    this.#fail(start, `expected ${grammar.describeExpected(this.#expect)}, found ${got}`)
  }

  #countExtra(start: number): void {
    const most = this.#limits.maxExtraValues
    if (++this.#extraValues <= most) return
    this.#fail(start, `more than ${most} values (maxExtraValues) in fields beyond the format`)
  }

  /** Takes a whole header at `at` whose first byte fits. */
  #accept(bytes: Uint8Array, at: number, start: number): void {
    const first = bytes[at] as number
    const size = headerSizeOf[first] as number
    const contentStart = start + size
    if (contentStart > this.#limit) this.#failMessageSize()
    switch (classOf[first]) {
      case msgpack.STRING_CLASS:
        return this.#openString(bytes, at, start, size)
      case msgpack.BINARY_CLASS:
        return this.#openContent(readLength(bytes, at), false, start, contentStart)
      case msgpack.ARRAY_CLASS:
        return this.#openArray(readLength(bytes, at), start, contentStart)
      case msgpack.MAP_CLASS:
        return this.#openMap(readLength(bytes, at), start, contentStart)
      default:
        if (first === 0xc3 && this.#expect === BOOLEAN) {
          this.#seen[this.#depth - 1] = (this.#seen[this.#depth - 1] as number) | grammar.ENTITY_BIT
        }
        return this.#valueDone()
    }
  }

  #openString(bytes: Uint8Array, at: number, start: number, size: number): void {
    const length = readLength(bytes, at)
    if (this.#expect === KEY && length > maxKeyBytes) {
      this.#fail(start, `a map key of ${length} bytes; at most ${maxKeyBytes} are accepted`)
    }
    this.#keptLength = 0
    this.#keeping = this.#expect === KEY || this.#expect === TYPE
    this.#name = nameRules[this.#expect]
    this.#nameState = 0
    if (length === 0 && this.#expect === GRAPH) {
      this.#fail(start, 'the name of a graph is empty; the default graph has none: leave `g` out')
    }
    if (this.#holding && length === this.#ours().length) {
      // As long as ours, so it may be ours, and then its bytes stay as they are.
      this.#keeping = true
      this.#heldHeader = size
      this.#keep(bytes, at, at + size)
    }
    this.#openContent(length, true, start, start + size)
  }

  #openContent(length: number, isText: boolean, start: number, contentStart: number): void {
    if (length > this.#limits.maxStringBytes) {
      const most = this.#limits.maxStringBytes
      this.#fail(
        start,
        `a string of ${length} bytes; at most ${most} (maxStringBytes) are accepted`,
      )
    }
    if (contentStart + length > this.#limit) this.#failMessageSize()
    this.#contentStart = start
    this.#contentIsText = isText
    this.#contentLeft = length
    if (length === 0) this.#contentDone()
  }

  #openArray(count: number, start: number, contentStart: number): void {
    const kind = this.#expect
    if (contentStart + count > this.#limit) this.#failMessageSize()
    if (kind === grammar.TRIPLES) this.triples += count
    else if (kind === grammar.EMBEDDINGS) this.entities += count
    else if (kind === grammar.VECTORS) {
      this.vectors += count
      const most = this.#mostVectors
      if (this.vectors - this.#vectorsBefore > most) this.#fail(start, tooManyVectors(most))
    } else if (kind === grammar.VECTOR && count > this.#limits.maxVectorLength) {
      const most = this.#limits.maxVectorLength
      this.#fail(start, `a vector of ${count}; at most ${most} (maxVectorLength) are accepted`)
    } else if (kind === MESSAGE && count !== 2) {
      const expected = grammar.describeExpected(MESSAGE)
      this.#fail(start, `expected ${expected}, found an array of ${count}`)
    }
    this.#open(kind, 0, count, start)
    if (count === 0) this.#close()
    else this.#expect = kind === MESSAGE ? TYPE : (grammar.elementOf[kind] as number)
  }

  #openMap(count: number, start: number, contentStart: number): void {
    if (contentStart + 2 * count > this.#limit) this.#failMessageSize()
    if (count > this.#limits.maxMapEntries) {
      const most = this.#limits.maxMapEntries
      this.#fail(start, `a map of ${count} entries; at most ${most} (maxMapEntries) are accepted`)
    }
    this.#open(this.#expect, 1, count, start)
    if (count === 0) this.#close()
    else this.#expect = KEY
  }

  #open(kind: number, isMap: number, count: number, start: number): void {
    const top = this.#depth
    if (top === this.#limits.maxDepth) {
      this.#fail(start, `arrays and maps more than ${top} (maxDepth) deep`)
    }
    this.#kinds[top] = kind
    this.#isMap[top] = isMap
    this.#total[top] = count
    this.#left[top] = count
    this.#start[top] = start
    this.#seen[top] = 0
    this.#field[top] = ''
    this.#depth = top + 1
  }

  /** The content of a string or binary, as much of it as lies here. */
  #content(chunk: Uint8Array, at: number, end: number): number {
    const to = Math.min(end, at + this.#contentLeft)
    if (this.#contentIsText) {
      const checked = this.#utf8.check(chunk, at, to)
      if (this.#name !== undefined) this.#checkName(this.#name, chunk, at, checked)
      if (checked < to) this.#fail(this.#offset + checked, 'a string is not valid UTF-8')
      if (this.#keeping) this.#keep(chunk, at, to)
    }
    this.#contentLeft -= to - at
    if (this.#contentLeft === 0) this.#contentDone()
    return to
  }

  /** More than `kept` has room for is a type indicator that is wrong anyway. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    const fits = Math.min(to - from, this.#kept.length - this.#keptLength)
    // Mostly one to eight bytes: a loop costs less than a subarray to copy from.
    for (let i = 0; i < fits; i++) this.#kept[this.#keptLength++] = bytes[from + i] as number
  }

  #checkName(rule: NameRule, chunk: Uint8Array, from: number, to: number): void {
    this.#nameState = stateAfter(rule, this.#nameState, chunk, from, to)
    if (this.#nameState === REFUSED) this.#failName(rule)
  }

  #contentDone(): void {
    if (this.#contentIsText && this.#utf8.need > 0) {
      this.#fail(this.#contentStart, 'a string ends inside a UTF-8 character')
    }
    if (this.#name !== undefined) {
      if (!this.#name.isWhole(this.#nameState)) this.#failName(this.#name)
      this.#name = undefined
    }
    if (this.#expect === KEY) this.#keyDone()
    else if (this.#expect === TYPE) this.#typeDone()
    else {
      if (this.#holding) this.#release()
      this.#valueDone()
    }
  }

  #typeDone(): void {
    const type = this.#kept.toString('latin1', 0, this.#keptLength)
    if (type !== 't' && type !== 'ge') {
      const found = quoted(this.#kept.toString('utf8', 0, this.#keptLength))
      this.#fail(this.#contentStart, `found ${found}, expected "t" or "ge"`, 'LK_CORE_TYPE')
    }
    this.#left[this.#depth - 1] = 1
    this.#expect = type === 't' ? grammar.TRIPLES_DATA : grammar.EMBEDDINGS_DATA
  }

  #keyDone(): void {
    this.#keyStart = this.#contentStart
    const code = grammar.codeOfKey(this.#kept, this.#keptLength)
    if (code >= 0 && this.#knownKey(code)) return
    const top = this.#depth - 1
    const key = this.#kept.toString('utf8', 0, this.#keptLength)
    const others = (this.#others[top] ??= new Set())
    if (others.has(key)) this.#failRepeated(key)
    others.add(key)
    this.#field[top] = key
    this.#expect = ANY
  }

  /** Takes a field of the wire tables; false where the open map has none of that name. */
  #knownKey(code: number): boolean {
    const top = this.#depth - 1
    const place = (this.#kinds[top] as number) * 256 + code
    const expected = grammar.fieldOf[place] as number
    if (expected === 0) return false
    const key = grammar.nameOfCode[code] as string
    const bit = grammar.fieldBitOf[place] as number
    const seen = this.#seen[top] as number
    if ((seen & bit) !== 0) this.#failRepeated(key)
    this.#seen[top] = seen | bit
    this.#field[top] = key
    this.#expect = expected
    return true
  }

  /** Hands on a held id or user: its own bytes where it is ours already, ours otherwise. */
  #release(): void {
    const ours = this.#ours()
    const kept = this.#kept
    let same = this.#keeping
    for (let i = 0; same && i < ours.length; i++) same = kept[this.#heldHeader + i] === ours[i]
    this.#holding = false
    // The usual case: ours already, and all of it in this chunk. It goes on with what is around it.
    if (same && this.#holdFrom >= 0) return
    if (this.#holdFrom >= 0) this.#flush(this.#chunk, this.#holdFrom)
    if (same) this.#handOn(kept, 0, this.#keptLength)
    else {
      const header = msgpack.stringHeader(ours.length)
      this.#handOn(header, 0, header.length)
      this.#handOn(ours, 0, ours.length)
    }
    this.#released = true
  }

  #ours(): Uint8Array {
    return (this.#expect === ID ? this.#id : this.#user) as Uint8Array
  }

  /** A value is complete, and with it perhaps the array or map that it is in. */
  #valueDone(): void {
    const top = this.#depth - 1
    const left = (this.#left[top] as number) - 1
    this.#left[top] = left
    if (left === 0) this.#close()
    else this.#expectIn(top)
  }

  /** The innermost array or map is complete, and perhaps those around it. */
  #close(): void {
    for (;;) {
      const top = --this.#depth
      if (this.#isMap[top] === 1) this.#checkMap(top)
      if (top === 0) break
      if (this.#isHead && this.#isItem(top)) this.#endHead()
      const left = (this.#left[top - 1] as number) - 1
      this.#left[top - 1] = left
      if (left > 0) return this.#expectIn(top - 1)
    }
    this.messages++
    this.#messageEnded = true
    this.#expect = MESSAGE
  }

  /** A triple of the message, or an embedding: no triple of its metadata. */
  #isItem(top: number): boolean {
    const kind = this.#kinds[top]
    if (kind === TRIPLE) return this.#kinds[top - 1] === grammar.TRIPLES
    return kind === grammar.EMBEDDING
  }

  #expectIn(top: number): void {
    this.#expect =
      this.#isMap[top] === 1 ? KEY : (grammar.elementOf[this.#kinds[top] as number] as number)
  }

  #checkMap(top: number): void {
    this.#others[top] = undefined
    const kind = this.#kinds[top] as number
    const seen = this.#seen[top] as number
    const required = grammar.requiredOf[kind] as number
    if (seen === required) return
    const start = this.#start[top] as number
    if ((seen & required) !== required) {
      const missing = grammar.missingFields(kind, seen).map((name) => `'${name}'`)
      this.#fail(start, `a map lacks ${missing.join(' and ')}`)
    }
    if (kind === TERM) this.#checkTerm(seen, start)
  }

  #checkTerm(seen: number, start: number): void {
    const annotations = seen & (grammar.DATATYPE_BIT | grammar.LANGUAGE_BIT)
    if (annotations === 0) return
    if (annotations === (grammar.DATATYPE_BIT | grammar.LANGUAGE_BIT)) {
      this.#fail(start, "a term has both 'dt' and 'ln'; a literal has a datatype or a language")
    }
    if ((seen & grammar.ENTITY_BIT) === 0) return
    const name = annotations === grammar.DATATYPE_BIT ? 'dt' : 'ln'
    this.#fail(start, `an entity ('e' true) has '${name}', which only literals have`)
  }

  // Errors

  #failRepeated(key: string): never {
    this.#fail(this.#keyStart, `the key ${quoted(key)} occurs twice`)
  }

  #failName(rule: NameRule): never {
    this.#fail(this.#contentStart, `expected ${rule.expected}, found another string`)
  }

  #failMessageSize(): never {
    const most = this.#limits.maxMessageBytes
    this.#fail(this.#limit, `longer than ${most} bytes (maxMessageBytes), or claims to be`)
  }

  #fail(byteOffset: number, reason: string, code: ErrorCode = 'LK_CORE_FORMAT'): never {
    const path = this.#path()
    const messageIndex = this.messages
    const guess = byteOffset === 0 ? guessFormat(this.#chunk) : undefined
    const place = `message ${messageIndex}, byte ${byteOffset}${path && ` (${path})`}`
    const message =
      guess === undefined ? reason : `${reason}; the data looks like ${guess}${adviceOn(guess)}`
    const looksLike = guess !== undefined && { looksLike: guess }
    throw new LorekeepError(code, `${place}: ${message}`, {
      details: { messageIndex, byteOffset, ...looksLike, errors: [{ path, message }] },
    })
  }

  /** The place within the message, such as `t[5].s.v`. */
  #path(): string {
    let path = ''
    for (let at = 1; at < this.#depth; at++) {
      if (this.#isMap[at] === 0)
        path += `[${(this.#total[at] as number) - (this.#left[at] as number)}]`
      else if (at < this.#depth - 1 || this.#expect !== KEY) {
        path += `${path && '.'}${this.#field[at]}`
      }
    }
    return path
  }
}

/** Names of one kind. */
interface Names {
  readonly kind: number
  readonly rule: NameRule | undefined
  /** What was found to be one. */
  readonly valid: RepeatedTexts<true>
}

function namesOf(kind: number, rule: NameRule | undefined): Names {
  return { kind, rule, valid: new RepeatedTexts() }
}

/** One for all scanners, once there are triples for it. */
let triplesKernel: TriplesKernel | undefined
/** Fewer triples, or bytes, are passed here: asking the kernel costs as much. */
const fewestPassed = 16
const fewestBytes = 2048
/** So many are where the kernel has passed fewer: most are none of its. */
const mostPassed = 128

/**
 * A place in [from, to] up to which all is ASCII. Sixteen bytes at a time, and the last ones together with some
 * that were looked at before: terms have 40 bytes or so, and four at a time take half as long again.
 */
function asciiUntil(view: DataView, from: number, to: number): number {
  let at = from
  for (const last = to - 16; at <= last; at += 16) {
    const first = view.getInt32(at, true) | view.getInt32(at + 4, true)
    const second = view.getInt32(at + 8, true) | view.getInt32(at + 12, true)
    if (((first | second) & 0x80808080) !== 0) return at
  }
  const looked = at
  let bits = 0
  for (const last = to - 4; at <= last; at += 4) bits |= view.getInt32(at, true)
  if (to - from >= 4) bits |= view.getInt32(to - 4, true)
  else while (at < to) bits |= view.getUint8(at++)
  return (bits & 0x80808080) === 0 ? to : looked
}

/** By what is expected. */
const nameRules: readonly (NameRule | undefined)[] = Array.from(
  { length: KEY + 1 },
  (_, expected) =>
    expected === DATATYPE ? aDatatype : expected === LANGUAGE ? aLanguage : undefined,
)

/** The MessagePack class that each expectation is met by. */
const anyClass = 255
const classWanted = new Uint8Array(KEY + 1).fill(msgpack.MAP_CLASS)
for (const kind of [MESSAGE, grammar.TRIPLES, grammar.METADATA_TRIPLES, grammar.EMBEDDINGS]) {
  classWanted[kind] = msgpack.ARRAY_CLASS
}
classWanted[grammar.VECTORS] = msgpack.ARRAY_CLASS
classWanted[grammar.VECTOR] = msgpack.ARRAY_CLASS
for (const kind of [TYPE, ID, USER, grammar.STRING, DATATYPE, LANGUAGE, GRAPH, KEY]) {
  classWanted[kind] = msgpack.STRING_CLASS
}
classWanted[grammar.BOOLEAN] = msgpack.BOOLEAN_CLASS
classWanted[NUMBER] = msgpack.NUMBER_CLASS
classWanted[ANY] = anyClass

/**
 * V8 throws the optimised code of a class away when its last instance is collected, and after a
 * few times gives up: a server that imports now and then scanned embeddings at 0.7 GB/s instead
 * of 2.4. So one instance stays.
 *
 * @kept Nobody imports it.
 */
export const keptScanner = new CoreScanner({ copy: () => undefined })
