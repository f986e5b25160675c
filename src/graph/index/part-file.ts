import type { BlockFile, IndexBlock } from './block-cache.js'
import { blockBytes } from './layout.js'

const blockShift = Math.log2(blockBytes)

/** Bytes of a file that lie in one block, or a copy of them: [from, to) of `source`. */
interface FileBytes {
  readonly source: Buffer
  readonly from: number
  readonly to: number
}

const wordShift = blockShift - 2
const wordMask = 2 ** wordShift - 1

/** Whole numbers of a file that lie one behind the other, in blocks. */
export class FileWords {
  readonly #blocks: readonly Uint32Array[]
  readonly #first: number

  constructor(blocks: readonly Uint32Array[], first: number) {
    this.#blocks = blocks
    this.#first = first
  }

  at(n: number): number {
    const word = this.#first + n
    return (this.#blocks[word >>> wordShift] as Uint32Array)[word & wordMask] as number
  }
}

/** The main file of a part, by offsets in it. Every method throws a Miss where a block is not in memory. */
export class PartFile {
  readonly #file: BlockFile

  constructor(file: BlockFile) {
    this.#file = file
  }

  /** Offsets are multiples of 4. */
  word(offset: number): number {
    const { words } = this.#file.block(offset >>> blockShift)
    return words[(offset & (blockBytes - 1)) >>> 2] as number
  }

  /** As word(); 0 where its block is not in memory. */
  peek(offset: number): number {
    const words = this.#file.peek(offset >>> blockShift)
    return words === undefined ? 0 : (words[(offset & (blockBytes - 1)) >>> 2] as number)
  }

  /** Begins to read the blocks of [from, to). */
  bring(from: number, to: number): void {
    for (let n = from >>> blockShift; n <= (to - 1) >>> blockShift; n++) this.#file.bring(n)
  }

  /** The whole numbers of [from, to), multiples of 4. */
  words(from: number, to: number): FileWords {
    const blocks: Uint32Array[] = []
    for (let n = from >>> blockShift; n <= (to - 1) >>> blockShift; n++) {
      blocks.push(this.#file.block(n).words)
    }
    return new FileWords(blocks, (from & (blockBytes - 1)) >>> 2)
  }

  block(offset: number): IndexBlock {
    return this.#file.block(offset >>> blockShift)
  }

  /** Aligned as numbers of 32 bits are where `start` is. */
  bytes(start: number, end: number): FileBytes {
    const first = start >>> blockShift
    const last = Math.max(start, end - 1) >>> blockShift
    if (first === last) {
      const offset = first * blockBytes
      return { source: this.#file.block(first).bytes, from: start - offset, to: end - offset }
    }
    const pieces: Buffer[] = []
    for (let n = first; n <= last; n++) {
      const offset = n * blockBytes
      pieces.push(this.#file.block(n).bytes.subarray(Math.max(0, start - offset), end - offset))
    }
    // Aligned, as parts of Node's pool are not.
    const whole = Buffer.from(new ArrayBuffer(end - start))
    let at = 0
    for (const piece of pieces) at += piece.copy(whole, at)
    return { source: whole, from: 0, to: end - start }
  }

  text(start: number, length: number): string {
    const { bytes } = this.block(start)
    const from = start & (blockBytes - 1)
    const to = from + length
    if (to <= bytes.length) return bytes.toString('utf8', from, to)
    const whole = this.bytes(start, start + length)
    return whole.source.toString('utf8', whole.from, whole.to)
  }

  /** The first of [from, to) of which it is so; `to` where it is of none. Once so, it is so of all that follow. */
  first(from: number, to: number, isSo: (n: number) => boolean): number {
    let low = from
    let high = to
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isSo(middle)) high = middle
      else low = middle + 1
    }
    return low
  }
}
