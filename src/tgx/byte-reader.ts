const empty = new Uint8Array(0)

/** Chunks, taken in pieces of whatever length. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array, void>
  #chunk: Uint8Array = empty
  #offset = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** How many were taken. */
  get offset(): number {
    return this.#offset
  }

  /** So many at the most, and one at least; undefined at the end. */
  async upTo(length: number): Promise<Uint8Array | undefined> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) return undefined
      this.#chunk = value
    }
    const piece = this.#chunk.subarray(0, length)
    this.#chunk = this.#chunk.subarray(piece.length)
    this.#offset += piece.length
    return piece
  }

  /** So many, or fewer at the end. */
  async take(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for (let left = length; left > 0;) {
      const piece = await this.upTo(left)
      if (piece === undefined) break
      pieces.push(piece)
      left -= piece.length
    }
    return Buffer.concat(pieces)
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}
