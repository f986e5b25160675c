// Passes whole triples in WebAssembly: assembly/triples.ts is its source, and says which ones.
// Hot: benchmarks/scanner.ts; change with numbers.

import { createMemory, instances } from '../web-assembly.js'
import { kernelBytes } from './triples-kernel-bytes.js'

interface Kernel {
  pass(at: number, until: number, most: number, longestString: number): number
  learn(kind: number, at: number, length: number): void
  readonly count: { readonly value: number }
}

/** What is checked once, and then known by its bytes. */
export const DATATYPE = 1
export const LANGUAGE = 2
export const GRAPH = 3

// Addresses.
const name = 0x5000
const mostName = 120
const input = 0x8000
/** Bytes that lie there at once: they stay in the processor's second cache. */
const inputBytes = 64 * 1024
/** Behind what is compared: it is read, and not looked at. */
const slack = 64
const memoryBytes = input + inputBytes + slack

/** A triple that may have been cut where the bytes there end. A longer one is none of these. */
const mostCut = 4096
/** More than most triples have: what lies behind the last one was copied for nothing. */
const bytesOfOne = 256

const instance = instances<Kernel>(kernelBytes, 'env')

/** What it has of a chunk is of use until that may change: then call leave(). */
export class TriplesKernel {
  /** Triples that were passed last. */
  count = 0

  readonly #kernel: Kernel
  readonly #memory: Uint8Array
  /** [from, to) of these bytes are in the memory. */
  #bytes: Uint8Array | undefined
  #from = 0
  #to = 0

  constructor() {
    const memory = createMemory(memoryBytes, memoryBytes)
    this.#memory = new Uint8Array(memory.buffer)
    this.#kernel = instance(memory)
  }

  /**
   * Passes the triples that begin at `at` of `bytes`, at most `most`, up to one that lies beyond `end` or is of another
   * form, or has a string of more than `longestString` bytes. Returns where that begins.
   */
  pass(bytes: Uint8Array, at: number, end: number, most: number, longestString: number): number {
    const isThere = bytes === this.#bytes && at >= this.#from && at < this.#to
    if (!isThere) this.#load(bytes, at, end, most)
    this.count = 0
    for (;;) {
      const offset = input - this.#from
      const until = Math.min(end, this.#to) + offset
      at = this.#kernel.pass(at + offset, until, most - this.count, longestString) - offset
      this.count += this.#kernel.count.value
      // Where it is cut is not where the bytes end.
      if (this.count === most || this.#to >= end || this.#to - at > mostCut) return at
      this.#load(bytes, at, end, most - this.count)
    }
  }

  #load(bytes: Uint8Array, from: number, end: number, most: number): void {
    const length = Math.min(inputBytes, Math.max(2 * mostCut, bytesOfOne * most))
    this.#bytes = bytes
    this.#from = from
    this.#to = Math.min(end, from + length)
    this.#memory.set(bytes.subarray(from, this.#to), input)
  }

  /** Names of this kind are good ones if they have the bytes [from, to). */
  learn(kind: number, bytes: Uint8Array, from: number, to: number): void {
    if (to - from > mostName) return
    this.#memory.set(bytes.subarray(from, to), name)
    this.#kernel.learn(kind, name, to - from)
  }

  leave(): void {
    this.#bytes = undefined
  }
}
