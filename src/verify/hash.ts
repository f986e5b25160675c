import { randomInt } from 'node:crypto'

// Not known to whoever makes the texts, who could make two that meet otherwise.
const seedA = randomInt(2 ** 32) | 0
const seedB = randomInt(2 ** 32) | 0

/** What hashText() came to: it makes no object. */
export const hash = new Int32Array(2)

/** Hashes a text to 64 bits, in `hash`; the same text to the same ones in this process alone. */
export function hashText(text: string): void {
  let a = seedA
  let b = seedB
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    a = Math.imul(a ^ unit, 0x85eb_ca6b)
    a ^= a >>> 15
    b = Math.imul(b ^ unit, 0xc2b2_ae35)
    b ^= b >>> 13
  }
  a = mixed(a ^ text.length)
  hash[0] = a
  hash[1] = mixed(b ^ a)
}

/** The end of MurmurHash3 (Appleby, public domain). */
function mixed(bits: number): number {
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35)
  return bits ^ (bits >>> 16)
}

/** 53 bits of `hash` as a number. */
export function hashNumber(): number {
  return ((hash[0] as number) >>> 0) * 2 ** 21 + ((hash[1] as number) >>> 11)
}
