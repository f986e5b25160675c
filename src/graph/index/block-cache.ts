import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import { Miss } from '../miss.js'
import { blockBytes, pieceBytes } from './layout.js'

const perBlock = blockBytes / pieceBytes

/** Of two sections that are read side by side: some blocks ahead, and some behind. */
const fleetingBytes = 16 * blockBytes

type Source = Pick<Storage, 'get' | 'getBytes'>

/** Pieces [from, to) of a file that were read at once, and lie in the same memory. */
interface Run {
  readonly file: BlockFile
  readonly from: number
  readonly to: number
}

/**
 * Pieces of the blocks of all files together, up to a number of bytes. Which one goes is found as a clock
 * does it (second chance): an access then costs a flag, and not the moving of a list. Of a run of which some are
 * used these are copied, as memory is given back as it was taken.
 */
export class BlockCache {
  readonly #storage: Source
  readonly #maxBytes: number
  #bytes = 0
  readonly #held: Run[] = []
  #hand = 0

  constructor(storage: Source, maxBytes: number) {
    this.#storage = storage
    this.#maxBytes = maxBytes
  }

  /** For who reads files from their beginning to their end: what is kept of them here would take the place of all else. */
  fleeting(): BlockCache {
    return new BlockCache(this.#storage, Math.min(this.#maxBytes, fleetingBytes))
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether there is room for so much more, and half of it is left. */
  hasRoom(bytes: number): boolean {
    return 2 * (this.#bytes + bytes) <= this.#maxBytes
  }

  /** One of so many bytes. */
  file(keyOf: (block: number) => Uint8Array, bytes: number): BlockFile {
    return new BlockFile(this, keyOf, bytes)
  }

  /** A value that is kept elsewhere, or not at all. @throws LorekeepError `LK_STORAGE_*` */
  async read(key: Uint8Array): Promise<Uint8Array> {
    return there(await this.#storage.get(key))
  }

  /** The same of some of its bytes. */
  async readBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array> {
    return there(await this.#storage.getBytes(key, from, to))
  }

  /** Lets go of a file that nobody reads any more. */
  forget(file: BlockFile): void {
    let kept = 0
    for (const held of this.#held) {
      if (held.file === file) this.#bytes -= file.drop(held.from, held.to)
      else this.#held[kept++] = held
    }
    this.#held.length = kept
  }

  /** Makes room for pieces that were read. */
  keep(file: BlockFile, from: number, to: number, bytes: number): void {
    this.#bytes += bytes
    // Twice round: by then all that is left is in use.
    for (let looks = 2 * this.#held.length; looks > 0; looks--) {
      if (this.#bytes <= this.#maxBytes || this.#held.length === 0) break
      if (this.#hand >= this.#held.length) this.#hand = 0
      const { file, from, to } = this.#held[this.#hand] as Run
      const kept = file.spared(from, to)
      if (kept.length === to - from) {
        this.#hand++
        continue
      }
      const last = this.#held.pop() as Run
      if (this.#hand < this.#held.length) this.#held[this.#hand] = last
      this.#bytes -= file.drop(from, to, kept)
      for (const piece of kept) this.#held.push({ file, from: piece, to: piece + 1 })
    }
    this.#held.push({ file, from, to })
  }
}

function there(value: Uint8Array | undefined): Uint8Array {
  if (value !== undefined) return value
  throw new LorekeepError('LK_STORAGE_CORRUPT', 'a block of an index is missing')
}

/** The pieces of the block that a piece is in: [from, to). */
function blockOf(piece: number): [from: number, to: number] {
  const from = piece - (piece % perBlock)
  return [from, from + perBlock]
}

/**
 * A file of an index: it is stored in blocks, of which pieces are read, as most of what is asked for lies far
 * from everything else. Those of them that are in memory are at hand.
 */
export class BlockFile {
  readonly #cache: BlockCache
  readonly #keyOf: (block: number) => Uint8Array
  // By piece: its whole numbers of 32 bits, and the same as bytes. Of all that there may be from the beginning: an
  // array that is filled here and there becomes a table of hashes, and each number of a file is looked for in it.
  readonly #words: (Uint32Array | undefined)[]
  readonly #bytes: (Buffer | undefined)[]
  /** By piece: 1 where it was used since the clock's hand came by. */
  readonly #used: Uint8Array
  readonly #loading = new Map<number, Promise<void>>()
  /** By piece: how much work that is under way has missed it. It stays until that is done. */
  readonly #holders = new Map<number, number>()
  readonly #fits: boolean

  constructor(cache: BlockCache, keyOf: (block: number) => Uint8Array, length: number) {
    this.#cache = cache
    this.#keyOf = keyOf
    this.#fits = length <= cache.maxBytes
    const pieces = Math.ceil(length / blockBytes) * perBlock
    this.#words = new Array<Uint32Array | undefined>(pieces).fill(undefined)
    this.#bytes = new Array<Buffer | undefined>(pieces).fill(undefined)
    this.#used = new Uint8Array(pieces)
  }

  /** The whole numbers of a piece. @throws Miss */
  words(n: number): Uint32Array {
    const words = this.#words[n]
    if (words === undefined) throw this.#missed(n, n + 1)
    this.#used[n] = 1
    return words
  }

  /** @throws Miss */
  bytes(n: number): Buffer {
    const bytes = this.#bytes[n]
    if (bytes === undefined) throw this.#missed(n, n + 1)
    this.#used[n] = 1
    return bytes
  }

  /** Returns where the pieces [from, to) are in memory. @throws Miss that brings all of them at once */
  need(from: number, to: number): void {
    for (let n = from; n < to; n++) if (this.#words[n] === undefined) throw this.#missed(from, to)
  }

  #missed(from: number, to: number): Miss {
    return new Miss(
      () => this.#hold(from, to),
      () => this.#release(from, to),
    )
  }

  /** The words of a piece, where it is in memory. */
  peek(n: number): Uint32Array | undefined {
    return this.#words[n]
  }

  /**
   * Begins to read pieces [from, to) that are needed soon, and what follows them in their block. If that fails it
   * fails again for who needs them.
   */
  bring(from: number, to: number): void {
    const end = Math.ceil(to / perBlock) * perBlock
    for (const loading of this.#load(from, end)) loading.catch(() => undefined)
  }

  /** @throws LorekeepError `LK_STORAGE_*` */
  async #hold(from: number, to: number): Promise<void> {
    for (let n = from; n < to; n++) this.#holders.set(n, (this.#holders.get(n) ?? 0) + 1)
    if (to - from === 1 && this.#readsBlocks) await Promise.all(this.#load(...blockOf(from)))
    else await Promise.all(this.#load(from, Math.max(to, this.#ahead(from))))
  }

  /**
   * Whether whole blocks are read: a file that fits is soon there, and to read a piece takes half as long as to read
   * all of its block. Of one that does not, most blocks are asked for one thing.
   */
  get #readsBlocks(): boolean {
    return this.#fits && this.#cache.hasRoom(blockBytes)
  }

  /**
   * Who reads one piece after the other, and not one here and there, reads more of them at once: as many as
   * there are before this one.
   */
  #ahead(from: number): number {
    let n = from
    while (this.#words[n] !== undefined) n++
    let before = 0
    while (before < perBlock - 1 && this.#words[n - 1 - before] !== undefined) before++
    return Math.min(n + 1 + before, Math.ceil((n + 1) / perBlock) * perBlock)
  }

  /** Reads those of [from, to) that are not in memory: what lies side by side in a block, at once. */
  #load(from: number, to: number): Promise<void>[] {
    const loads = new Set<Promise<void>>()
    for (let n = from; n < to; n++) {
      if (this.#words[n] !== undefined) continue
      const loading = this.#loading.get(n)
      if (loading !== undefined) {
        loads.add(loading)
        continue
      }
      const first = n
      const end = Math.min(to, Math.ceil((n + 1) / perBlock) * perBlock)
      while (n + 1 < end && this.#isAway(n + 1)) n++
      const last = n + 1
      const load = this.#read(first, last).finally(() => {
        for (let n = first; n < last; n++) this.#loading.delete(n)
      })
      for (let n = first; n < last; n++) this.#loading.set(n, load)
      loads.add(load)
    }
    return [...loads]
  }

  #isAway(n: number): boolean {
    return this.#words[n] === undefined && !this.#loading.has(n)
  }

  #release(from: number, to: number): void {
    for (let n = from; n < to; n++) {
      const left = (this.#holders.get(n) ?? 1) - 1
      if (left > 0) this.#holders.set(n, left)
      else this.#holders.delete(n)
    }
  }

  /** Pieces [from, to) of one block. Behind the end of the file they are empty. */
  async #read(from: number, to: number): Promise<void> {
    const block = Math.floor(from / perBlock)
    const first = block * perBlock
    const value = await this.#cache.readBytes(
      this.#keyOf(block),
      (from - first) * pieceBytes,
      (to - first) * pieceBytes,
    )
    // Where it is part of something larger, that would be kept with it.
    const spare = value.buffer.byteLength - value.length
    const isOwn = value.byteOffset % 4 === 0 && spare < pieceBytes
    const { buffer, byteOffset } = isOwn ? value : new Uint8Array(value)
    for (let n = from; n < to; n++) {
      const at = Math.min(value.length, (n - from) * pieceBytes)
      this.#set(n, buffer, byteOffset + at, Math.min(pieceBytes, value.length - at))
      this.#used[n] = 1
    }
    this.#cache.keep(this, from, to, value.length)
  }

  /** Of pieces [from, to) those that are held, or were used since the last time: they stay for another round. */
  spared(from: number, to: number): number[] {
    const spared: number[] = []
    for (let n = from; n < to; n++) {
      if (this.#used[n] === 1 || this.#holders.has(n)) spared.push(n)
      this.#used[n] = 0
    }
    return spared
  }

  /** Lets go of pieces [from, to) but for some, which get memory of their own; returns the bytes of the others. */
  drop(from: number, to: number, kept: readonly number[] = []): number {
    let bytes = 0
    let next = 0
    for (let n = from; n < to; n++) {
      const piece = this.#bytes[n] as Buffer
      if (n === kept[next]) {
        const { buffer, byteOffset, length } = new Uint8Array(piece)
        this.#set(n, buffer, byteOffset, length)
        next++
      } else {
        this.#words[n] = undefined
        this.#bytes[n] = undefined
        bytes += piece.length
      }
    }
    return bytes
  }

  #set(n: number, buffer: ArrayBufferLike, from: number, length: number): void {
    const isEmpty = length === 0
    this.#bytes[n] = isEmpty ? noBytes : Buffer.from(buffer, from, length)
    this.#words[n] = isEmpty ? noWords : new Uint32Array(buffer, from, Math.floor(length / 4))
  }
}

// What lies behind the end of a file.
const noBytes = Buffer.alloc(0)
const noWords = new Uint32Array(0)
