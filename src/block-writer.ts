// Bytes that come in pieces, stored in blocks of one size under keys of their own.

import { giveBackBlock, takeBlock } from './blocks.js'
import type { Storage } from './storage.js'

/** Writes that are under way while the next blocks fill: enough to keep the disk busy. */
const maxWriting = 8
const maxWritingBytes = 16 * 1024 * 1024
/**
 * Those of all writers. Above it each has one at a time, and does not wait for more blocks to write together: many
 * imports at once keep the disk busy anyway.
 */
const maxWritingOfAll = 24
let writingOfAll = 0
/** Of blocks that have ended, until they are written or dropped. */
const maxHeldOfAll = 24 * 1024 * 1024
let heldOfAll = 0

/**
 * What is written together: a write waits for the disk some three times, whatever it brings, and an engine may
 * put it into one file. Twice as much is no faster.
 */
export const bytesTogether = 4 * 1024 * 1024

/** What is written together where many wait. */
const crowdedBytes = 1024 * 1024

/** The first block grows from here: most files are small, and thousands may be written at once. */
const firstBytes = 64 * 1024

/** What is needed of a storage to write blocks and read them. */
export interface BlockStorage extends Pick<Storage, 'get' | 'write'> {
  /** Where what is read is copied from another thread: so that each read need not be memory of its own. */
  readonly lender?: BlockLender
}

/** Gives values as get() does, in memory that is lent. */
interface BlockLender {
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  /** To be called for each once nobody looks at it any more: the next one may lie there. */
  giveBack(value: Uint8Array): void
}

interface BlockWriterParts {
  readonly storage: BlockStorage
  readonly keyOf: (block: number) => Uint8Array
  readonly blockBytes: number
  /** Blocks are written together once they have so many bytes. */
  readonly writeBytes?: number
  /** Is told of each block when it is full, before it is written. */
  readonly onBlock?: (block: Uint8Array) => void
}

/**
 * Cuts what it gets into blocks and writes them as they fill, each durable. All of them will be deleted
 * together. Holds the block that is filling, what waits to be written together, and what is being written. The
 * first block takes no more memory than twice what is in it.
 */
export class BlockWriter {
  bytes = 0
  /** Blocks begun; the last one may not be full. */
  blocks = 0

  readonly #storage: BlockStorage
  readonly #keyOf: (block: number) => Uint8Array
  readonly #blockBytes: number
  readonly #writeBytes: number
  readonly #onBlock: ((block: Uint8Array) => void) | undefined
  #block: Buffer | undefined
  #filled = 0
  readonly #full: Buffer[] = []
  readonly #writing = new Set<Promise<void>>()
  #writingBytes = 0
  #failure: { readonly error: unknown } | undefined
  #written = 0

  constructor({ storage, keyOf, blockBytes, writeBytes = 0, onBlock }: BlockWriterParts) {
    this.#storage = storage
    this.#keyOf = keyOf
    this.#blockBytes = blockBytes
    this.#writeBytes = writeBytes
    this.#onBlock = onBlock
  }

  copy(bytes: Uint8Array, from: number, to: number): void {
    let at = from
    while (at < to) {
      if (!this.#block) {
        const bytes = this.blocks === 0 ? Math.min(firstBytes, this.#blockBytes) : this.#blockBytes
        this.#block = takeBlock(bytes)
        this.#filled = 0
        this.blocks++
      }
      const wanted = Math.min(this.#filled + to - at, this.#blockBytes)
      if (wanted > this.#block.length) this.#grow(wanted)
      const fits = Math.min(to - at, this.#blockBytes - this.#filled)
      this.#block.set(bytes.subarray(at, at + fits), this.#filled)
      this.#filled += fits
      at += fits
      if (this.#filled === this.#blockBytes) this.end()
    }
    this.bytes += to - from
  }

  #grow(wanted: number): void {
    const smaller = this.#block as Buffer
    let { length } = smaller
    while (length < wanted) length = Math.min(this.#blockBytes, 2 * length)
    this.#block = takeBlock(length)
    this.#block.set(smaller.subarray(0, this.#filled))
    giveBackBlock(smaller)
  }

  /** True once a block waits to be written. */
  get hasFull(): boolean {
    return this.#full.length > 0
  }

  /** Ends the block that is filling, before its full size. */
  end(): void {
    if (!this.#block) return
    const block = this.#block.subarray(0, this.#filled)
    this.#onBlock?.(block)
    this.#full.push(block)
    heldOfAll += block.length
    this.#block = undefined
  }

  /** All that came, where it has ended as one block that is not being written; the writer's, until drop(). */
  get held(): Uint8Array | undefined {
    const isOne = this.blocks === 1 && this.#block === undefined
    return isOne ? this.#full[0] : undefined
  }

  /** Gives up the blocks that are not being written: they will not be. */
  drop(): void {
    const dropped = this.#full.splice(0)
    heldOfAll -= sizeOf(dropped)
    for (const block of dropped) giveBackBlock(block)
  }

  /** Starts writing the full blocks, and waits while too many are under way. */
  async writeFull(): Promise<void> {
    const isCrowded = heldOfAll >= maxHeldOfAll
    await this.#writeAll(isCrowded ? Math.min(this.#writeBytes, crowdedBytes) : this.#writeBytes)
  }

  /** Ends the last block, and resolves when every block is durable. */
  async finish(): Promise<void> {
    this.end()
    await this.#writeAll(0)
    await this.settle()
    if (this.#failure) throw this.#failure.error
  }

  async #writeAll(fewestBytes: number): Promise<void> {
    for (;;) {
      if (this.#failure) throw this.#failure.error
      const blocks = this.#nextBlocks(fewestBytes)
      if (blocks.length === 0) return
      this.#write(blocks)
      while (this.#isAhead) await Promise.race(this.#writing)
    }
  }

  /** Full blocks that are written together; none where they have fewer bytes. */
  #nextBlocks(fewestBytes: number): Buffer[] {
    let bytes = 0
    let count = 0
    while (count < this.#full.length && (count === 0 || bytes < this.#writeBytes)) {
      bytes += (this.#full[count++] as Buffer).length
    }
    return bytes < fewestBytes ? [] : this.#full.splice(0, count)
  }

  /** Gives up what is not being written; resolves when no write is under way, whatever became of it. */
  async settle(): Promise<void> {
    this.drop()
    await Promise.all(this.#writing)
  }

  get #isAhead(): boolean {
    const { size } = this.#writing
    if (size >= maxWriting || this.#writingBytes >= maxWritingBytes) return true
    return size > 0 && (writingOfAll >= maxWritingOfAll || heldOfAll >= maxHeldOfAll)
  }

  #write(blocks: readonly Buffer[]): void {
    const puts = blocks.map((value) => ({
      type: 'put' as const,
      key: this.#keyOf(this.#written++),
      value,
    }))
    const bytes = sizeOf(blocks)
    const write = this.#storage
      .write(puts, { durable: true, together: true })
      .then(
        () => {
          for (const block of blocks) giveBackBlock(block)
        },
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
      .finally(() => {
        writingOfAll--
        heldOfAll -= bytes
        this.#writingBytes -= bytes
        this.#writing.delete(write)
      })
    writingOfAll++
    this.#writingBytes += bytes
    this.#writing.add(write)
  }
}

function sizeOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((bytes, { length }) => bytes + length, 0)
}
