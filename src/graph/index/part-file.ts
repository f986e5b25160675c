import type { BlockFile } from './block-cache.js'
import { pieceBytes } from './layout.js'

/** Bytes of a file that lie in one piece, or a copy of them: [from, to) of `source`. */
interface FileBytes {
  readonly source: Buffer
  readonly from: number
  readonly to: number
}

const wordShift = Math.log2(pieceBytes) - 2
const wordMask = 2 ** wordShift - 1

/** Some that lie in one piece: the n-th of all is `words[n - start]`, up to `end`. */
export interface WordRun {
  readonly words: Uint32Array
  readonly start: number
  readonly end: number
}

/** Whole numbers of a file that lie one behind the other, in pieces: some of those that lie so. */
export class FileWords {
  readonly #pieces: readonly Uint32Array[]
  /** Where the first of all would be in the pieces, which may be before them. */
  readonly #first: number

  constructor(pieces: readonly Uint32Array[], first: number) {
    this.#pieces = pieces
    this.#first = first
  }

  at(n: number): number {
    const word = this.#first + n
    return (this.#pieces[word >>> wordShift] as Uint32Array)[word & wordMask] as number
  }

  run(n: number): WordRun {
    const piece = (this.#first + n) >>> wordShift
    const start = piece * 2 ** wordShift - this.#first
    return { words: this.#pieces[piece] as Uint32Array, start, end: start + 2 ** wordShift }
  }
}

/** The piece that an offset is in, which may have more than 32 bits. */
function pieceOf(offset: number): number {
  return (offset / pieceBytes) >>> 0
}

/** The main file of a part, by offsets in it. Every method throws a Miss where a piece is not in memory. */
export class PartFile {
  readonly #file: BlockFile

  constructor(file: BlockFile) {
    this.#file = file
  }

  /** Offsets are multiples of 4. */
  word(offset: number): number {
    const words = this.#file.words(pieceOf(offset))
    return words[(offset & (pieceBytes - 1)) >>> 2] as number
  }

  /** As word(); 0 where its piece is not in memory. */
  peek(offset: number): number {
    const words = this.#file.peek(pieceOf(offset))
    return words === undefined ? 0 : (words[(offset & (pieceBytes - 1)) >>> 2] as number)
  }

  /** Begins to read [from, to). */
  bring(from: number, to: number): void {
    if (from < to) this.#file.bring(pieceOf(from), pieceOf(to - 1) + 1)
  }

  /** Those in [from, to) of the whole numbers that begin at `start`; all are multiples of 4. */
  words(start: number, from: number, to: number): FileWords {
    const first = pieceOf(from)
    const end = pieceOf(to - 1) + 1
    this.#file.need(first, end)
    const pieces: Uint32Array[] = []
    for (let n = first; n < end; n++) pieces.push(this.#file.words(n))
    return new FileWords(pieces, (start - first * pieceBytes) / 4)
  }

  /** The whole numbers of the piece that this is in. */
  piece(offset: number): Uint32Array {
    return this.#file.words(pieceOf(offset))
  }

  /** Aligned as numbers of 32 bits are where `start` is. */
  bytes(start: number, end: number): FileBytes {
    const first = pieceOf(start)
    const last = pieceOf(Math.max(start, end - 1))
    if (first === last) {
      const offset = first * pieceBytes
      return { source: this.#file.bytes(first), from: start - offset, to: end - offset }
    }
    this.#file.need(first, last + 1)
    // Slow: aligned, as parts of Node's pool are not.
    const whole = Buffer.allocUnsafeSlow(end - start)
    let at = 0
    for (let n = first; n <= last; n++) {
      const offset = n * pieceBytes
      const bytes = this.#file.bytes(n)
      at += bytes.copy(whole, at, Math.max(0, start - offset), Math.min(pieceBytes, end - offset))
    }
    return { source: whole, from: 0, to: end - start }
  }

  text(start: number, length: number): string {
    const { source, from, to } = this.bytes(start, start + length)
    return source.toString('utf8', from, to)
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
