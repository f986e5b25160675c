// The dictionary of a part while it is built: terms from their bytes to whole numbers, counted from
// 0 in the order in which they come.
// Hot: benchmarks/graph-import.ts; change with numbers.

import { termHash } from './term-hash.js'

/** What a term is: the first byte of its entry. */
export const LITERAL = 0
export const ENTITY = 1
/** Not a term: the name of a collection. */
export const COLLECTION = 2

/**
 * Terms that would need more steps than this in the table go into a Map. There are none in practice;
 * they are those of somebody who makes thousands of terms of one hash.
 */
const maxSteps = 64

export class TermTable {
  count = 0
  /** Entries without gaps: a byte that tells the kind, then the UTF-8 of the term. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 20)
  byteLength = 0
  /** Where each entry begins; one more for where the last one ends. */
  starts = new Uint32Array(1 << 14)
  hashes = new Uint32Array(1 << 14)

  #view = new DataView(this.bytes.buffer)
  /** Ids from 1; 0 where a slot is free. */
  #slots = new Uint32Array(1 << 15)
  readonly #crowded = new Map<string, number>()

  /** The id of the term whose UTF-8 is [from, to) of `bytes`, on which `view` lies. */
  add(bytes: Uint8Array, view: DataView, from: number, to: number, kind: number): number {
    const hash = termHash(view, from, to, kind)
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = hash & mask
    for (let steps = 0; steps < maxSteps; steps++) {
      const id = (slots[slot] as number) - 1
      if (id < 0) {
        slots[slot] = this.count + 1
        return this.#append(bytes, from, to, kind, hash)
      }
      if (this.hashes[id] === hash && this.#equals(id, view, from, to, kind)) return id
      slot = (slot + 1) & mask
    }
    return this.#addCrowded(bytes, from, to, kind, hash)
  }

  /** True where the id's term is this one: cheaper than add() where it probably is. */
  is(id: number, view: DataView, from: number, to: number, kind: number): boolean {
    return id >= 0 && this.#equals(id, view, from, to, kind)
  }

  clear(): void {
    this.count = 0
    this.byteLength = 0
    this.#slots.fill(0)
    this.#crowded.clear()
  }

  #equals(id: number, view: DataView, from: number, to: number, kind: number): boolean {
    const start = this.starts[id] as number
    if ((this.starts[id + 1] as number) - start !== to - from + 1) return false
    if (this.bytes[start] !== kind) return false
    const ours = this.#view
    let at = from
    let mine = start + 1
    for (const last = to - 4; at <= last; at += 4, mine += 4) {
      if (view.getInt32(at) !== ours.getInt32(mine)) return false
    }
    for (; at < to; at++, mine++) if (view.getUint8(at) !== this.bytes[mine]) return false
    return true
  }

  #append(bytes: Uint8Array, from: number, to: number, kind: number, hash: number): number {
    const id = this.count++
    const start = this.byteLength
    const end = start + 1 + to - from
    if (end > this.bytes.length) this.#growBytes(end)
    if (id + 2 > this.starts.length) this.#growTerms()
    const mine = this.bytes
    mine[start] = kind
    // A loop costs less than a subarray to copy from, for what is short.
    if (to - from < 48)
      for (let i = from, at = start + 1; i < to;) mine[at++] = bytes[i++] as number
    else mine.set(bytes.subarray(from, to), start + 1)
    this.byteLength = end
    this.starts[id] = start
    this.starts[id + 1] = end
    this.hashes[id] = hash
    if (2 * this.count > this.#slots.length) this.#growSlots()
    return id
  }

  #addCrowded(bytes: Uint8Array, from: number, to: number, kind: number, hash: number): number {
    const key = crowdedKey(bytes, from, to, kind)
    const found = this.#crowded.get(key)
    if (found !== undefined) return found
    this.#crowded.set(key, this.count)
    return this.#append(bytes, from, to, kind, hash)
  }

  #growBytes(length: number): void {
    const larger = new Uint8Array(2 * length)
    larger.set(this.bytes.subarray(0, this.byteLength))
    this.bytes = larger
    this.#view = new DataView(larger.buffer)
  }

  #growTerms(): void {
    const starts = new Uint32Array(2 * this.starts.length)
    starts.set(this.starts)
    this.starts = starts
    const hashes = new Uint32Array(2 * this.hashes.length)
    hashes.set(this.hashes)
    this.hashes = hashes
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length)
    this.#crowded.clear()
    for (let id = 0; id < this.count; id++) this.#place(id)
  }

  #place(id: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = (this.hashes[id] as number) & mask
    for (let steps = 0; steps < maxSteps; steps++) {
      if (slots[slot] === 0) {
        slots[slot] = id + 1
        return
      }
      slot = (slot + 1) & mask
    }
    const start = this.starts[id] as number
    const end = this.starts[id + 1] as number
    this.#crowded.set(crowdedKey(this.bytes, start + 1, end, this.bytes[start] as number), id)
  }
}

function crowdedKey(bytes: Uint8Array, from: number, to: number, kind: number): string {
  return kind + Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
}
