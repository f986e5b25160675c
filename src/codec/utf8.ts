// Well-formed UTF-8 (RFC 3629, Unicode table 3-7), byte by byte, so that a string may be cut
// anywhere between two chunks.

/**
 * Where in a character a string was cut. `need` continuation bytes are still to come, the next
 * one within [low, high].
 */
export class Utf8State {
  need = 0
  low = 0x80
  high = 0xbf

  /** Checks [from, to). Returns `to`, or the position of the byte that cannot stand there. */
  check(bytes: Uint8Array, from: number, to: number): number {
    let at = from
    while (at < to) {
      if (this.need === 0) {
        while (at < to && (bytes[at] as number) < 0x80) at++
        if (at === to) return to
        if (!this.#lead(bytes[at] as number)) return at
      } else {
        const byte = bytes[at] as number
        if (byte < this.low || byte > this.high) return at
        this.need--
        this.low = 0x80
        this.high = 0xbf
      }
      at++
    }
    return to
  }

  #lead(byte: number): boolean {
    this.low = 0x80
    this.high = 0xbf
    if (byte >= 0xc2 && byte <= 0xdf) this.need = 1
    else if (byte >= 0xe0 && byte <= 0xef) {
      this.need = 2
      if (byte === 0xe0) this.low = 0xa0
      else if (byte === 0xed) this.high = 0x9f
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      this.need = 3
      if (byte === 0xf0) this.low = 0x90
      else if (byte === 0xf4) this.high = 0x8f
    } else return false
    return true
  }

  reset(): void {
    this.need = 0
    this.low = 0x80
    this.high = 0xbf
  }
}
