import { blockBytes } from './layout.js'
import type { SectionWriter } from './section-writer.js'
import { PartValues } from './sorted-values.js'
import type { GatheredTerms } from './terms-kernel.js'

/** Entries are handed on once they have so many words. */
const pieceWords = blockBytes / 4

/** Writes the terms of a part, which come in their order. */
export class DictionaryWriter {
  count = 0
  wordLength = 0
  readonly values = new PartValues()
  readonly #file: SectionWriter
  /** Entries that are not handed on yet, as words and as bytes. */
  #piece: Int32Array<ArrayBuffer>
  #bytes: Buffer
  #filled = 0
  #starts: Uint32Array<ArrayBuffer>
  #hashes: Uint32Array<ArrayBuffer>

  /** `room`: about how many terms will come. */
  constructor(file: SectionWriter, room: number) {
    this.#file = file
    // Most parts are small, and thousands may be written.
    this.#piece = new Int32Array(Math.min(2 * pieceWords, 16 * room))
    this.#bytes = Buffer.from(this.#piece.buffer)
    this.#starts = new Uint32Array(room + 2)
    this.#hashes = new Uint32Array(room + 2)
  }

  /** Once it is, call flush(). */
  get isFull(): boolean {
    return this.#filled >= pieceWords
  }

  /** The entry that is [from, to) of `words`, with how it is spelled. Returns the term's id. */
  add(words: Int32Array, from: number, to: number, hash: number): number {
    const id = this.count++
    const start = this.#filled
    const end = start + to - from
    if (end > this.#piece.length) this.#growPiece(end)
    if (id + 2 > this.#starts.length) this.#growTerms()
    const piece = this.#piece
    for (let i = from, at = start; i < to; i++, at++) piece[at] = words[i] as number
    this.#filled = end
    this.wordLength += to - from
    this.#starts[id + 1] = this.wordLength
    this.#hashes[id] = hash
    this.values.read(piece, this.#bytes, start, id)
    return id
  }

  /** Those that follow all others, of which none waits to be handed on. The caller's again when this resolves. */
  async addAll({ entries, ends, hashes, annotated }: GatheredTerms): Promise<void> {
    const first = this.count
    while (first + ends.length + 1 > this.#starts.length) this.#growTerms()
    this.#starts.set(ends, first + 1)
    this.#hashes.set(hashes, first)
    const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
    for (const n of annotated) {
      const start = n === 0 ? 0 : (ends[n - 1] as number) - this.wordLength
      this.values.read(entries, bytes, start, first + n)
    }
    this.count += ends.length
    this.wordLength += entries.length
    await this.#file.append(entries)
  }

  async flush(): Promise<void> {
    await this.#file.append(this.#piece.subarray(0, this.#filled))
    this.#filled = 0
  }

  /** Writes what is left of them. Nothing comes after it. */
  async finish(): Promise<void> {
    await this.flush()
    this.#file.end()
    this.#piece = new Int32Array(0)
    this.#bytes = Buffer.alloc(0)
    await this.#file.write(this.#starts.subarray(0, this.count + 1))
    this.#starts = new Uint32Array(0)
    await this.#file.write(this.#hashes.subarray(0, this.count))
    this.#hashes = new Uint32Array(0)
  }

  #growPiece(length: number): void {
    const larger = new Int32Array(2 * length)
    larger.set(this.#piece.subarray(0, this.#filled))
    this.#piece = larger
    this.#bytes = Buffer.from(larger.buffer)
  }

  #growTerms(): void {
    const room = 2 * this.#starts.length
    const starts = new Uint32Array(room)
    starts.set(this.#starts)
    this.#starts = starts
    const hashes = new Uint32Array(room)
    hashes.set(this.#hashes)
    this.#hashes = hashes
  }
}
