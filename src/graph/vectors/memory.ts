// Blocks of vectors and links that were read lately, where the kernel reaches them.

import { LorekeepError } from '../../errors.js'
import { Arenas, arenaBytes } from './arenas.js'
import { maxMemoryBytes, pageBytes } from '../../web-assembly.js'
import { createKernel, type Kernel } from './kernel.js'
import type { LinksHeader } from './types.js'
import { mostNumbers, mostWidth, type WalkRoom } from './walk.js'

/** Something that is read in blocks of at most 1 MiB. */
export interface Blocks {
  /** The file they are of: forget() drops them by it. */
  readonly file: string
  /** Within the file: no other blocks of it have this name. */
  readonly name: string
  readonly count: number
  bytes(n: number): number
  read(n: number): Promise<Uint8Array>
}

// What a question needs beside the blocks: its vector, its products with vectors, and what a walk
// along links has in hand. Any await may leave another question's there.
export const queryAt = 0
export const productsAt = arenaBytes
/** Of a block of vectors of one component: there are no more in any. */
const mostProducts = 16_384
const walkAt = productsAt + 4 * mostProducts
const visitsAt = 2 * arenaBytes
const scratchBytes = 3 * arenaBytes

/** The most codes of a vector that walks have room for. */
export const mostCodes = 32_768

const codeQueryAt = walkAt + 128
const numbersAt = codeQueryAt + 2 * mostCodes
const beamAt = numbersAt + 4 * (mostNumbers + 3)
/** The addresses of blocks of rows. */
export const tableAt = beamAt + 8 * mostWidth

export const walkRoom: WalkRoom = {
  frame: walkAt,
  query: codeQueryAt,
  numbers: numbersAt,
  beam: beamAt,
  visits: visitsAt,
}

/** With fewer a question would push out what it has just read ahead. */
const fewestArenas = 8

/** Holds nothing of the question that asked for it first: that may be over, and its parts gone. */
class LoadedBlock {
  readonly file: string
  readonly name: string
  readonly n: number
  readonly bytes: number
  /** Undefined until there is room. */
  address: number | undefined
  /** Undefined once it is loaded. */
  loading: Promise<void> | undefined
  /** How many use it or wait for it. */
  uses = 0
  /** No longer found. */
  isForgotten = false

  constructor(blocks: Blocks, n: number) {
    this.file = blocks.file
    this.name = blocks.name
    this.n = n
    this.bytes = blocks.bytes(n)
  }
}

/** Blocks of one file and name that are there, or on their way. */
class Loaded {
  readonly loaded = new Map<number, LoadedBlock>()
  /** All of them, where all were found to be there, until one goes. */
  all: readonly LoadedBlock[] | undefined
}

export class VectorMemory {
  readonly kernel: Kernel
  /** The most that blocks take. */
  readonly capacity: number
  /** Whose vector is at `queryAt`. */
  asker: object | undefined
  /** By file: what its links say of themselves. */
  readonly headers = new Map<string, LinksHeader>()
  #products = new Float32Array(0)
  readonly #arenas: Arenas
  /** By file and name. */
  readonly #files = new Map<string, Map<string, Loaded>>()
  /** Blocks that nobody uses, the longest unused first. */
  readonly #idle = new Set<LoadedBlock>()
  /** Blocks without room, in the order in which they were asked for. */
  readonly #waiting: { readonly block: LoadedBlock; readonly enter: () => void }[] = []

  /** It takes no more of `bytes` than it needs, and at least a few MiB. */
  constructor(bytes: number) {
    const wanted = Math.floor((bytes - scratchBytes) / arenaBytes)
    const possible = (maxMemoryBytes - scratchBytes) / arenaBytes
    const arenas = Math.min(Math.max(wanted, fewestArenas), possible)
    this.capacity = arenas * arenaBytes
    this.kernel = createKernel(scratchBytes, scratchBytes + this.capacity)
    const { memory } = this.kernel
    this.#arenas = new Arenas(scratchBytes, arenas, (end) => {
      try {
        memory.grow(Math.ceil((end - memory.buffer.byteLength) / pageBytes))
        return true
      } catch {
        // The machine has less than was allowed: what there is so far has to do.
        return false
      }
    })
  }

  /** That it has taken so far. */
  get bytes(): number {
    return this.kernel.memory.buffer.byteLength
  }

  /**
   * What `work` returns, called with the address of a block, which stays there until that is
   * settled.
   */
  async use<T>(blocks: Blocks, n: number, work: (address: number) => T | Promise<T>): Promise<T> {
    const block = this.#find(blocks, n) ?? this.#begin(blocks, n)
    block.uses++
    this.#idle.delete(block)
    try {
      await block.loading
      // It is loaded, so it has room.
      return await work(block.address as number)
    } finally {
      block.uses--
      this.#settle(block)
    }
  }

  /** Begins to read a block that is needed soon. If that fails it fails again for who needs it. */
  prefetch(blocks: Blocks, n: number): void {
    if (!this.has(blocks, n)) this.use(blocks, n, () => {}).catch(() => {})
  }

  /** Whether a block is there, or on its way. */
  has(blocks: Blocks, n: number): boolean {
    return this.#find(blocks, n) !== undefined
  }

  isLoaded(blocks: Blocks, n: number): boolean {
    const block = this.#find(blocks, n)
    return block !== undefined && block.loading === undefined
  }

  /** What the kernel wrote to `productsAt`. */
  get products(): Float32Array {
    const { buffer } = this.kernel.memory
    if (this.#products.buffer !== buffer) {
      this.#products = new Float32Array(buffer, productsAt, mostProducts)
    }
    return this.#products
  }

  /** The address of a block that is there; it stays until the next await. */
  addressOf(blocks: Blocks, n: number): number | undefined {
    const block = this.#find(blocks, n)
    if (block === undefined || block.loading !== undefined) return undefined
    if (this.#idle.delete(block)) this.#idle.add(block)
    return block.address
  }

  /** Whether all blocks are there. */
  areLoaded(blocks: Blocks): boolean {
    return this.#all(blocks) !== undefined
  }

  /** The addresses of all blocks, until the next await; undefined where one of them is not there. */
  addresses(blocks: Blocks): Uint32Array | undefined {
    const all = this.#all(blocks)
    if (all === undefined) return undefined
    const table = new Uint32Array(all.length)
    for (let n = 0; n < all.length; n++) {
      const block = all[n] as LoadedBlock
      table[n] = block.address as number
      if (this.#idle.delete(block)) this.#idle.add(block)
    }
    return table
  }

  /** Found once for as long as no block goes: questions are mostly about files that are there. */
  #all(blocks: Blocks): readonly LoadedBlock[] | undefined {
    const own = this.#files.get(blocks.file)?.get(blocks.name)
    // Of most files that do not fit.
    if (own === undefined || own.loaded.size < blocks.count) return undefined
    return (own.all ??= findAll(own.loaded, blocks.count))
  }

  /** Drops the blocks of a file; those in use as soon as they are not. */
  forget(file: string): void {
    this.headers.delete(file)
    for (const { loaded } of this.#files.get(file)?.values() ?? []) {
      for (const block of loaded.values()) {
        this.#lose(block)
        this.#settle(block)
      }
    }
  }

  #find(blocks: Blocks, n: number): LoadedBlock | undefined {
    return this.#files.get(blocks.file)?.get(blocks.name)?.loaded.get(n)
  }

  #begin(blocks: Blocks, n: number): LoadedBlock {
    const block = new LoadedBlock(blocks, n)
    const { file, name } = blocks
    let known = this.#files.get(file)
    if (known === undefined) this.#files.set(file, (known = new Map()))
    let own = known.get(name)
    if (own === undefined) known.set(name, (own = new Loaded()))
    own.loaded.set(n, block)
    block.loading = this.#load(block, blocks, n)
    return block
  }

  async #load(block: LoadedBlock, blocks: Blocks, n: number): Promise<void> {
    try {
      await this.#room(block)
      const bytes = await blocks.read(n)
      if (bytes.length !== block.bytes) {
        throw new LorekeepError(
          'LK_STORAGE_CORRUPT',
          `block ${n} of vectors ${blocks.file} has ${bytes.length} bytes and not ${block.bytes}`,
        )
      }
      new Uint8Array(this.kernel.memory.buffer, block.address, bytes.length).set(bytes)
      block.loading = undefined
    } catch (error) {
      // Who asks next has it read anew.
      this.#lose(block)
      throw error
    }
  }

  /** In turn: a large block would else wait for as long as small ones come. */
  #room(block: LoadedBlock): Promise<void> {
    return new Promise((enter) => {
      this.#waiting.push({ block, enter })
      this.#admit()
    })
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      next.block.address = this.#allocate(next.block.bytes)
      if (next.block.address === undefined) return
      this.#waiting.shift()
      next.enter()
    }
  }

  #allocate(bytes: number): number | undefined {
    for (;;) {
      const address = this.#arenas.allocate(bytes)
      if (address !== undefined) return address
      const [oldest] = this.#idle
      if (oldest === undefined) return undefined
      this.#lose(oldest)
      this.#free(oldest)
    }
  }

  #settle(block: LoadedBlock): void {
    if (block.uses > 0) return
    if (block.isForgotten) this.#free(block)
    else this.#idle.add(block)
    this.#admit()
  }

  #lose(block: LoadedBlock): void {
    if (block.isForgotten) return
    block.isForgotten = true
    const { file, name } = block
    const known = this.#files.get(file)
    const own = known?.get(name)
    if (own === undefined) return
    own.loaded.delete(block.n)
    own.all = undefined
    if (own.loaded.size === 0) known?.delete(name)
    if (known?.size === 0) this.#files.delete(file)
  }

  #free(block: LoadedBlock): void {
    this.#idle.delete(block)
    if (block.address !== undefined) this.#arenas.free(block.address, block.bytes)
    block.address = undefined
  }
}

function findAll(
  loaded: ReadonlyMap<number, LoadedBlock>,
  count: number,
): LoadedBlock[] | undefined {
  const all: LoadedBlock[] = []
  for (let n = 0; n < count; n++) {
    const block = loaded.get(n)
    if (block === undefined || block.loading !== undefined) return undefined
    all.push(block)
  }
  return all
}
