// How LevelDB writes numbers and strings in tables and in the edits of its MANIFEST.

/** Reads on from a place. Throws a RangeError where the bytes end, or a number does not. */
export class VarintReader {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get done(): boolean {
    return this.at >= this.#bytes.length
  }

  number(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 63; factor *= 128) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) throw new RangeError('the bytes end inside a number')
      value += (byte & 0x7f) * factor
      if (byte >= 0x80) continue
      // LevelDB writes none that goes on for nothing: a flipped bit makes one of the last byte and
      // the filling behind it.
      if (byte === 0 && factor > 1) throw new RangeError('a number that is longer than it need be')
      return value
    }
    throw new RangeError('a number that does not end')
  }

  /** That many bytes, as a view. */
  take(length: number): Uint8Array {
    const from = this.at
    this.at += length
    if (this.at > this.#bytes.length) throw new RangeError('a length past the end')
    return this.#bytes.subarray(from, this.at)
  }

  /** Bytes behind their length, as a view. */
  bytes(): Uint8Array {
    return this.take(this.number())
  }
}
