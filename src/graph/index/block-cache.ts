import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import { Miss } from '../miss.js'

/** A block of a file, as bytes and as whole numbers of 32 bits. */
export interface IndexBlock {
  readonly bytes: Buffer
  readonly words: Uint32Array
}

/**
 * Blocks of all files together, up to a number of bytes. Which one goes is found as a clock does it
 * (second chance): an access then costs a flag, and not the moving of a list.
 */
export class BlockCache {
  readonly #storage: Pick<Storage, 'get'>
  readonly #maxBytes: number
  #bytes = 0
  readonly #held: { readonly file: BlockFile; readonly block: number }[] = []
  #hand = 0

  constructor(storage: Pick<Storage, 'get'>, maxBytes: number) {
    this.#storage = storage
    this.#maxBytes = maxBytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  file(keyOf: (block: number) => Uint8Array): BlockFile {
    return new BlockFile(this, keyOf)
  }

  /** A value that is kept elsewhere, or not at all. @throws LorekeepError `LK_STORAGE_*` */
  async read(key: Uint8Array): Promise<Uint8Array> {
    const value = await this.#storage.get(key)
    if (value !== undefined) return value
    throw new LorekeepError('LK_STORAGE_CORRUPT', 'a block of an index is missing')
  }

  /** Lets go of a file that nobody reads any more. */
  forget(file: BlockFile): void {
    let kept = 0
    for (const held of this.#held) {
      if (held.file === file) this.#bytes -= file.drop(held.block)
      else this.#held[kept++] = held
    }
    this.#held.length = kept
  }

  /** Makes room for a block that was read. */
  keep(file: BlockFile, block: number, bytes: number): void {
    this.#bytes += bytes
    // Twice round: by then all that is left is in use.
    for (let looks = 2 * this.#held.length; looks > 0; looks--) {
      if (this.#bytes <= this.#maxBytes || this.#held.length === 0) break
      if (this.#hand >= this.#held.length) this.#hand = 0
      const held = this.#held[this.#hand] as { file: BlockFile; block: number }
      if (held.file.spare(held.block)) this.#hand++
      else {
        this.#bytes -= held.file.drop(held.block)
        const last = this.#held.pop() as { file: BlockFile; block: number }
        if (this.#hand < this.#held.length) this.#held[this.#hand] = last
      }
    }
    this.#held.push({ file, block })
  }
}

/** A file of an index: its blocks, those of them that are in memory at hand. */
export class BlockFile {
  readonly #cache: BlockCache
  readonly #keyOf: (block: number) => Uint8Array
  readonly #blocks: (IndexBlock | undefined)[] = []
  /** By block: 1 where it was used since the clock's hand came by. */
  readonly #used: number[] = []
  readonly #loading = new Map<number, Promise<void>>()
  /** By block: how much work that is under way has missed it. It stays until that is done. */
  readonly #holders = new Map<number, number>()

  constructor(cache: BlockCache, keyOf: (block: number) => Uint8Array) {
    this.#cache = cache
    this.#keyOf = keyOf
  }

  /** @throws Miss */
  block(n: number): IndexBlock {
    const block = this.#blocks[n]
    if (block === undefined) {
      throw new Miss(
        () => this.#hold(n),
        () => this.#release(n),
      )
    }
    this.#used[n] = 1
    return block
  }

  /** The words of a block, where it is in memory. */
  peek(n: number): Uint32Array | undefined {
    return this.#blocks[n]?.words
  }

  /** Begins to read a block that is needed soon. If that fails it fails again for who needs it. */
  bring(n: number): void {
    if (this.#blocks[n] === undefined) this.#load(n).catch(() => undefined)
  }

  /** @throws LorekeepError `LK_STORAGE_*` */
  #hold(n: number): Promise<void> {
    this.#holders.set(n, (this.#holders.get(n) ?? 0) + 1)
    return this.#blocks[n] === undefined ? this.#load(n) : Promise.resolve()
  }

  #load(n: number): Promise<void> {
    const loading = this.#loading.get(n) ?? this.#read(n).finally(() => this.#loading.delete(n))
    this.#loading.set(n, loading)
    return loading
  }

  #release(n: number): void {
    const left = (this.#holders.get(n) ?? 1) - 1
    if (left > 0) this.#holders.set(n, left)
    else this.#holders.delete(n)
  }

  async #read(n: number): Promise<void> {
    const value = await this.#cache.read(this.#keyOf(n))
    const aligned = value.byteOffset % 4 === 0 ? value : new Uint8Array(value)
    this.#cache.keep(this, n, aligned.length)
    const { buffer, byteOffset, length } = aligned
    this.#blocks[n] = {
      bytes: Buffer.from(buffer, byteOffset, length),
      words: new Uint32Array(buffer, byteOffset, Math.floor(length / 4)),
    }
    this.#used[n] = 1
  }

  /** True where the block is held, or was used since the last time: it stays for another round. */
  spare(n: number): boolean {
    const used = this.#used[n] === 1
    this.#used[n] = 0
    return used || this.#holders.has(n)
  }

  /** Lets go of a block; returns its bytes. */
  drop(n: number): number {
    const bytes = this.#blocks[n]?.bytes.length ?? 0
    this.#blocks[n] = undefined
    return bytes
  }
}
