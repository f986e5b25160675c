// The rows of an approximate index, one for each vector, of this many bytes each:
//
//   links      3 bytes each, little-endian: numbers of vectors; `none` ends them
//   factor     of the codes, a float of 32 bits
//   equal      the next vector that is the same, or `none`
//   above      where the vector's rows above level 0 begin
//   codes      the vector in 8 bits a component
//
// Links and codes lie together: one look-up finds both, and one file has all that a walk needs.

import { codeBytes } from './codes.js'

export const none = 0xff_ffff
/** Vectors that three bytes can name, and less: what a walk remembers has to fit as well. */
export const mostVectors = 2 ** 23

const linkBytes = 3
const factsBytes = 12

export class Rows {
  readonly links: number
  readonly codes: number
  /** Where in a row they begin. */
  readonly codesAt: number
  readonly bytes: number

  /** `links` is how many there is room for. */
  constructor(dimensions: number, links: number) {
    this.links = links
    this.codes = codeBytes(dimensions)
    this.codesAt = Math.ceil((linkBytes * links) / 4) * 4 + factsBytes
    // Multiples of 16, as most rows are anyway.
    this.codesAt = Math.ceil(this.codesAt / 16) * 16
    this.bytes = this.codesAt + this.codes
  }
}

/** Facts of a row, in bytes before its codes. */
export const factorBefore = 12
export const equalBefore = 8
export const aboveBefore = 4

/** The numbers at an address, up to `none`. */
export function readLinks(
  bytes: Uint8Array,
  at: number,
  most: number,
  numbers: Uint32Array,
): number {
  for (let n = 0; n < most; n++) {
    const byte = at + linkBytes * n
    const number =
      (bytes[byte] as number) |
      ((bytes[byte + 1] as number) << 8) |
      ((bytes[byte + 2] as number) << 16)
    if (number === none) return n
    numbers[n] = number
  }
  return most
}

export function writeLink(bytes: Uint8Array, at: number, n: number, number: number): void {
  const byte = at + linkBytes * n
  bytes[byte] = number
  bytes[byte + 1] = number >>> 8
  bytes[byte + 2] = number >>> 16
}

/** `numbers` and `none` after them, where there is room for more. */
export function writeLinks(
  bytes: Uint8Array,
  at: number,
  most: number,
  numbers: ArrayLike<number>,
  count: number,
) {
  for (let n = 0; n < count; n++) writeLink(bytes, at, n, numbers[n] as number)
  bytes.fill(0xff, at + linkBytes * count, at + linkBytes * most)
}
