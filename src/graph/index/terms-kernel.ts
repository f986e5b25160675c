// The memory in which the terms of a part lie while a thread builds it, and what takes triples there, in WebAssembly:
// assembly/terms.ts is its source, and says which ones.
// Hot: benchmarks/graph-import.ts; change with numbers.

import {
  createSharedMemory,
  instances,
  pageBytes,
  type WebAssemblyMemory,
} from '../../web-assembly.js'
import { maxAhead, numbersAhead } from './term-table.js'
import type { TermArrays, TermMemory, TermTable } from './term-table.js'
import { kernelBytes } from './terms-kernel-bytes.js'

interface Kernel {
  place(
    starts: number,
    hashes: number,
    slots: number,
    words: number,
    termRoom: number,
    wordRoom: number,
  ): void
  enter(): number
  forget(): void
  learn(at: number, length: number, known: number): void
  tell(at: number, until: number, most: number): number
  gather(n: number, into: number, until: number, base: number): number
  readonly annotatedCount: { readonly value: number }
  readonly termCount: { value: number }
  readonly wordLength: { value: number }
  readonly count: { readonly value: number }
  readonly needed: { readonly value: number }
}

const instance = instances<Kernel>(kernelBytes, 'env')

// Addresses. What is told are three columns of ids.
const told = 0x8000
const mostTold = 4096
/** Where terms are gathered: pairs of hash and id, and then three columns. */
const mostGathered = 4096
const gathered = told + 8 * mostGathered
const input = 0x20000
/** Bytes of a core that lie there at once. */
const inputBytes = 1024 * 1024
/** Where another thread writes slices that are taken where they are. */
const slices = input + inputBytes
/** The most bytes of a slice there. */
export const sliceBytes = inputBytes
/** How many there are: some milliseconds of work. */
export const sliceCount = 8
/** Behind what is compared: it is read, and not looked at. */
const slack = 64
const table = slices + sliceCount * sliceBytes + slack

// What a literal of a datatype has more that is not among the well-known ones.
/** Nothing: it is a plain one. */
export const noMore = -1
/** The datatype's IRI. */
export const unlisted = -2

/** Entries of terms that follow each other in a part. */
export interface GatheredTerms {
  readonly entries: Int32Array
  /** Where each ends, counted as the first one's beginning is. */
  readonly ends: Uint32Array
  readonly hashes: Uint32Array
  /** The places of those that are annotated literals. */
  readonly annotated: Uint32Array
}

/** For one table at a time, of which the next one takes the memory. */
export class TermsKernel implements TermMemory {
  /** Triples that were taken last, and the ids of their terms. */
  count = 0
  s: Uint32Array = new Uint32Array(0)
  p = this.s
  o = this.s

  readonly #memory: WebAssemblyMemory<SharedArrayBuffer>
  readonly #kernel: Kernel
  #room = 0
  /** That in which the last slice lay: another one after the memory has grown, and the same memory. */
  #sliceBuffer: ArrayBufferLike | undefined
  /** [from, to) of these bytes are in the memory, where `offset` and a position in them are the address. */
  #bytes: Uint8Array | undefined
  #from = 0
  #to = 0
  #offset = 0

  constructor() {
    this.#memory = createSharedMemory(table)
    this.#kernel = instance(this.#memory)
  }

  /** For sliceOf() in another thread. */
  get buffer(): SharedArrayBuffer {
    return this.#memory.buffer
  }

  /** What another thread has written to one of the slices. */
  slice(number: number, length: number): Uint8Array {
    const slice = sliceOf(this.#memory.buffer, number, length)
    this.#sliceBuffer = slice.buffer
    return slice
  }

  allocate(room: number, wordRoom: number, kept: TermArrays | undefined, used: number): TermArrays {
    const memory = this.#memory
    const from = placesFor(this.#room)
    const to = placesFor(room)
    const end = to.words + 4 * wordRoom + slack
    const missing = end - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / pageBytes))
    const { buffer } = memory
    if (kept === undefined || room > this.#room) {
      const bytes = new Uint8Array(buffer)
      if (kept !== undefined) {
        // Upwards, so what lies highest goes first.
        bytes.copyWithin(to.words, from.words, from.words + 4 * used)
        bytes.copyWithin(to.hashes, from.hashes, from.hashes + 4 * this.#room)
      }
      bytes.fill(0, to.slots, to.words)
    }
    this.#room = room
    this.#kernel.place(to.starts, to.hashes, to.slots, to.words, room, wordRoom - numbersAhead)
    this.s = new Uint32Array(buffer, told, mostTold)
    this.p = new Uint32Array(buffer, told + 4 * mostTold, mostTold)
    this.o = new Uint32Array(buffer, told + 8 * mostTold, mostTold)
    return {
      starts: new Uint32Array(buffer, to.starts, room),
      hashes: new Uint32Array(buffer, to.hashes, room),
      slots: new Uint32Array(buffer, to.slots, 4 * room),
      words: new Int32Array(buffer, to.words, wordRoom),
    }
  }

  enter(count: number): number {
    this.#kernel.termCount.value = count
    return this.#kernel.enter()
  }

  /**
   * Takes the triples that begin at `at` of `bytes`, up to one that is not there before `end` or is of another form,
   * and at most `most` and what is told at once. Returns where that begins.
   */
  take(terms: TermTable, bytes: Uint8Array, at: number, end: number, most: number): number {
    if (bytes !== this.#bytes || at < this.#from || at >= this.#to) this.#load(bytes, at, end)
    let next = this.#tell(terms, at, most)
    // Where it is cut is not where the bytes end.
    if (this.count === 0 && this.#to < end && at > this.#from) {
      this.#load(bytes, at, end)
      next = this.#tell(terms, at, most)
    }
    return next
  }

  #tell(terms: TermTable, at: number, most: number): number {
    const kernel = this.#kernel
    const offset = this.#offset
    for (;;) {
      kernel.termCount.value = terms.count
      kernel.wordLength.value = terms.wordLength
      const next = kernel.tell(at + offset, this.#to + offset, most)
      terms.count = kernel.termCount.value
      terms.wordLength = kernel.wordLength.value
      this.count = kernel.count.value
      if (this.count > 0 || kernel.needed.value === 0) return next - offset
      // As much as hasRoom() wants: of those that wait, and two.
      terms.makeRoom(maxAhead + 2, kernel.needed.value)
    }
  }

  #load(bytes: Uint8Array, from: number, end: number): void {
    const isThere = bytes.buffer === this.#sliceBuffer
    this.#bytes = bytes
    this.#from = isThere ? 0 : from
    this.#to = isThere ? end : Math.min(end, from + inputBytes)
    this.#offset = isThere ? bytes.byteOffset : input - from
    if (isThere) return
    new Uint8Array(this.#memory.buffer, input).set(bytes.subarray(from, this.#to))
  }

  /**
   * Entries of the terms whose pairs of hash and id `order` has from the `first` one on, as many as there is room for:
   * none where the first takes more. They begin at `base`, and are gone with the next call of any method.
   */
  gather(order: Uint32Array, first: number, base: number): GatheredTerms {
    this.leave()
    const { buffer } = this.#memory
    const pairs = order.subarray(2 * first, 2 * (first + mostGathered))
    new Uint32Array(buffer, told).set(pairs)
    const count = this.#kernel.gather(pairs.length / 2, input, input + inputBytes, base)
    const column = (n: number, length: number) =>
      new Uint32Array(buffer, gathered + 4 * n * mostGathered, length)
    const ends = column(0, count)
    const length = count === 0 ? 0 : (ends[count - 1] as number) - base
    return {
      entries: new Int32Array(buffer, input, length),
      ends,
      hashes: column(1, count),
      annotated: column(2, this.#kernel.annotatedCount.value),
    }
  }

  /** Call when bytes that were taken from may change. */
  leave(): void {
    this.#bytes = undefined
  }

  /** `known`: the datatype's place among the well-known ones, or else `noMore` or `unlisted`. */
  learn(datatype: Uint8Array, known: number): void {
    new Uint8Array(this.#memory.buffer, told).set(datatype.subarray(0, 4 * mostTold))
    this.#kernel.learn(told, datatype.length, known)
  }

  /** The ids of another table follow. */
  forget(): void {
    this.#kernel.forget()
  }
}

/** One of `sliceCount` in the memory of a kernel. */
export function sliceOf(memory: SharedArrayBuffer, number: number, length: number): Uint8Array {
  return new Uint8Array(memory, slices + number * sliceBytes, length)
}

/** A table for so many terms, without those themselves: that lie at the end. */
function placesFor(room: number) {
  const starts = table
  const hashes = starts + 4 * room
  const slots = hashes + 4 * room
  return { starts, hashes, slots, words: slots + 16 * room }
}
