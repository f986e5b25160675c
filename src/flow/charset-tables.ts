// Charsets that are decoded by a table of our own. A table is made at first use from what Node's
// TextDecoder gives for each byte, and corrected where that is not the standard's index.

/** UTF-8, or the offset of the first byte that begins no character. */
export type Decode = (bytes: Uint8Array) => Uint8Array | number

/** For a charset of one byte per character. */
export function createSingleByteDecoder(name: string): Decode {
  const table = singleByteTable(name)
  return (bytes) => {
    const text = new Utf8Writer(bytes.length)
    for (let at = 0; at < bytes.length; at++) {
      const unit = table[bytes[at] as number] as number
      if (unit === undefinedUnit) return at
      text.push(unit)
    }
    return text.end()
  }
}

/**
 * For windows-949, which the standard means by `euc-kr`: KS X 1001, which Node has, and the other
 * 8,822 syllables of Hangul in their order, in the gaps that it leaves.
 */
export function createKoreanDecoder(): Decode {
  const table = koreanTable()
  return (bytes) => {
    const text = new Utf8Writer(bytes.length)
    for (let at = 0; at < bytes.length; at++) {
      const lead = bytes[at] as number
      if (lead < 0x80) {
        text.push(lead)
        continue
      }
      if (lead < firstLead || lead === 0xff) return at
      const trail = bytes[at + 1]
      if (trail === undefined || trail < firstTrail || trail === 0xff) return at
      const unit = table[korean(lead, trail)] as number
      if (unit === undefinedUnit) return at
      text.push(unit)
      at++
    }
    return text.end()
  }
}

/** What a decoder gives for bytes that mean nothing, and no table holds. */
const undefinedUnit = 0xfffd

/** What differs from Node's tables, from a byte on. U+FFFD: the byte means nothing. */
const corrections: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  ibm866: [
    [0x1a, '\x1a'],
    [0x1c, '\x1c'],
    [0x7f, '\x7f'],
  ],
  'koi8-u': [
    [0xae, 'ў'],
    [0xbe, 'Ў'],
  ],
  'windows-874': [
    [0xdb, '\ufffd'.repeat(4)],
    [0xfc, '\ufffd'.repeat(4)],
  ],
  // Node 20 takes it for ISO-8859-1 (nodejs/node#60888).
  'windows-1252': [[0x80, '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ']],
  'windows-1253': [[0xaa, '\ufffd']],
  'windows-1255': [[0xca, '\u05ba']],
  // What it has in place of ISO-8859-1's characters. Node does not know it.
  'iso-8859-16': [
    [0xa1, 'ĄąŁ€„Š'],
    [0xa8, 'š'],
    [0xaa, 'Ș'],
    [0xac, 'Ź'],
    [0xae, 'źŻ'],
    [0xb2, 'ČłŽ”'],
    [0xb8, 'žčș'],
    [0xbc, 'ŒœŸż'],
    [0xc3, 'Ă'],
    [0xc5, 'Ć'],
    [0xd0, 'ĐŃ'],
    [0xd5, 'Ő'],
    [0xd7, 'ŚŰ'],
    [0xdd, 'ĘȚ'],
    [0xe3, 'ă'],
    [0xe5, 'ć'],
    [0xf0, 'đń'],
    [0xf5, 'ő'],
    [0xf7, 'śű'],
    [0xfd, 'ęț'],
  ],
}

function singleByteTable(name: string): Uint16Array {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  if (name === 'x-user-defined') return Uint16Array.from(bytes, (b) => (b < 0x80 ? b : 0xf700 + b))
  const given =
    name === 'iso-8859-16' ? '' : new TextDecoder(name, { ignoreBOM: true }).decode(bytes)
  const table = Uint16Array.from(bytes, (byte) => (given === '' ? byte : given.charCodeAt(byte)))
  for (const [from, characters] of corrections[name] ?? []) {
    for (let i = 0; i < characters.length; i++) table[from + i] = characters.charCodeAt(i)
  }
  return table
}

const firstLead = 0x81
const firstTrail = 0x41
const trails = 190

function korean(lead: number, trail: number): number {
  return (lead - firstLead) * trails + trail - firstTrail
}

function koreanTable(): Uint16Array {
  const table = new Uint16Array(126 * trails).fill(undefinedUnit)
  const decoder = new TextDecoder('euc-kr')
  const known = new Set<number>()
  for (let lead = 0xa1; lead <= 0xfe; lead++) {
    for (let trail = 0xa1; trail <= 0xfe; trail++) {
      const unit = decoder.decode(Uint8Array.of(lead, trail)).charCodeAt(0)
      // Node puts characters of its user's own in the rows that are free.
      if (unit >= 0xe000 && unit < 0xf900) continue
      table[korean(lead, trail)] = unit
      known.add(unit)
    }
  }
  // Of the revision of 1998.
  table[korean(0xa2, 0xe6)] = 0x20ac
  table[korean(0xa2, 0xe7)] = 0xae
  let syllable = 0xac00
  for (let lead = firstLead; lead <= 0xc6; lead++) {
    for (let trail = firstTrail; trail <= (lead < 0xa1 ? 0xfe : 0xa0); trail++) {
      if ((trail > 0x5a && trail < 0x61) || (trail > 0x7a && trail < 0x81)) continue
      while (known.has(syllable)) syllable++
      if (syllable <= 0xd7a3) table[korean(lead, trail)] = syllable++
    }
  }
  return table
}

/** Of code units that are no surrogates. */
class Utf8Writer {
  readonly #bytes: Uint8Array
  #length = 0

  constructor(units: number) {
    this.#bytes = Buffer.allocUnsafe(units * 3)
  }

  push(unit: number): void {
    if (unit < 0x80) {
      this.#bytes[this.#length++] = unit
      return
    }
    if (unit < 0x800) this.#bytes[this.#length++] = 0xc0 | (unit >> 6)
    else {
      this.#bytes[this.#length++] = 0xe0 | (unit >> 12)
      this.#bytes[this.#length++] = 0x80 | ((unit >> 6) & 0x3f)
    }
    this.#bytes[this.#length++] = 0x80 | (unit & 0x3f)
  }

  end(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }
}
