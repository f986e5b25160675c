// Values of many rows, a column at a time: how blocks of objects and pages of index entries lie on
// disk. A column of numbers is read as it lies, a column of strings is one string that is cut, and
// what nobody asks for is not decoded. docs/format.md describes the bytes.
//
// Measured on 100,000 objects of 200 bytes: 0.5 us an object to encode (JSON.stringify: 1.7 us).

import { LorekeepError } from '../../errors.js'
import { parseJson } from '../../json-text.js'

/** The values of a column by row; `undefined` where a row has none. */
export type Column = ArrayLike<unknown>

/**
 * What the header says of a column. `kind`: `c` one value for all, `d` 64-bit floats, `i` 32-bit
 * integers, `b` booleans, `s` strings (`width` bytes for each length in bytes, then the text as
 * UTF-8, `ascii` where it is nothing else), `t` values of a table (a byte for each), `j` JSON.
 */
interface ColumnHeader {
  readonly name: string
  readonly kind: 'c' | 'd' | 'i' | 'b' | 's' | 't' | 'j'
  readonly at: number
  readonly bytes: number
  /** A byte a row lies before the values: 1 null, 2 missing. */
  readonly gaps?: true
  readonly width?: 1 | 2 | 4
  readonly ascii?: true
  readonly table?: readonly unknown[]
  readonly value?: unknown
}

interface Header {
  readonly rows: number
  readonly columns: readonly ColumnHeader[]
}

const present = 0
const isNull = 1
const isMissing = 2

const minTableRows = 16
const maxTableStrings = 255

/** Collects columns of one length and writes them. Make one for each block or page. */
export class ColumnWriter {
  readonly #rows: number
  readonly #headers: ColumnHeader[] = []
  readonly #parts: Uint8Array[] = []
  #bytes = 0

  constructor(rows: number) {
    this.#rows = rows
  }

  /** One value for all rows; nothing where that is missing. */
  addConstant(name: string, value: unknown): void {
    if (value !== undefined) this.#headers.push({ name, kind: 'c', at: 0, bytes: 0, value })
  }

  /** A column whose values are all missing is left out. */
  add(name: string, values: Column): void {
    const { length } = values
    if (values instanceof Float64Array || values instanceof Int32Array) {
      const kind = values instanceof Float64Array ? 'd' : 'i'
      this.#push({ name, kind }, [bytesOf(values)])
      return
    }
    const first = values[0]
    let numbers = 0
    let integers = 0
    let strings = 0
    let booleans = 0
    let nulls = 0
    let missing = 0
    let same = true
    for (let n = 0; n < length; n++) {
      const value = values[n]
      // As of JSON's numbers -0 is one, and a constant would be the one or the other.
      if (same && !Object.is(value, first)) same = false
      if (typeof value === 'number') {
        numbers++
        if ((value | 0) === value && !Object.is(value, -0)) integers++
      } else if (typeof value === 'string') strings++
      else if (typeof value === 'boolean') booleans++
      else if (value === null) nulls++
      else if (value === undefined) missing++
    }
    if (missing === length) return
    if (same && !Object.is(first, -0)) {
      this.addConstant(name, first)
      return
    }
    const given = length - nulls - missing
    const gaps = given === length ? undefined : gapsOf(values)
    const parts = gaps === undefined ? [] : [gaps]
    const flags = gaps === undefined ? undefined : ({ gaps: true } as const)
    if (numbers === given) {
      const array = integers === given ? new Int32Array(length) : new Float64Array(length)
      for (let n = 0; n < length; n++) {
        const value = values[n]
        if (typeof value === 'number') array[n] = value
      }
      this.#push({ name, kind: integers === given ? 'i' : 'd', ...flags }, [
        ...parts,
        bytesOf(array),
      ])
    } else if (strings === given) this.#addStrings(name, values, parts, flags)
    else if (booleans === given) {
      const bytes = new Uint8Array(length)
      for (let n = 0; n < length; n++) if (values[n] === true) bytes[n] = 1
      this.#push({ name, kind: 'b', ...flags }, [...parts, bytes])
    } else {
      // Of one import mostly, or short lists.
      const texts = Array.from(values, (value) => JSON.stringify(value ?? null))
      const table = tableOf(texts)
      if (table !== undefined) {
        const codes = Uint8Array.from(texts, (text) => table.get(text) as number)
        const parsed = [...table.keys()].map((text) => parseJson(text))
        this.#push({ name, kind: 't', table: parsed, ...flags }, [...parts, codes])
        return
      }
      const text = `[${texts.join()}]`
      this.#push({ name, kind: 'j', ...flags }, [...parts, Buffer.from(text, 'utf8')])
    }
  }

  /** Strings that lie one behind the other, whatever comes how often: no table has to be read with the header. */
  addTexts(name: string, values: readonly string[]): void {
    this.#pushTexts(name, values, [], undefined)
  }

  finish(): Uint8Array {
    const header = Buffer.from(
      JSON.stringify({ rows: this.#rows, columns: this.#headers } satisfies Header),
      'utf8',
    )
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32LE(header.length)
    return Buffer.concat([length, header, ...this.#parts], 4 + header.length + this.#bytes)
  }

  #addStrings(
    name: string,
    values: Column,
    parts: readonly Uint8Array[],
    flags: { readonly gaps: true } | undefined,
  ): void {
    const { length } = values
    const table = tableOf(values)
    if (table !== undefined) {
      const codes = new Uint8Array(length)
      for (let n = 0; n < length; n++) {
        const value = values[n]
        if (typeof value === 'string') codes[n] = table.get(value) as number
      }
      this.#push({ name, kind: 't', table: [...table.keys()], ...flags }, [...parts, codes])
      return
    }
    this.#pushTexts(name, values, parts, flags)
  }

  #pushTexts(
    name: string,
    values: Column,
    parts: readonly Uint8Array[],
    flags: { readonly gaps: true } | undefined,
  ): void {
    const { length } = values
    let longest = 0
    let text = ''
    for (let n = 0; n < length; n++) {
      const value = values[n]
      if (typeof value !== 'string') continue
      if (value.length > longest) longest = value.length
      text += value
    }
    const content = Buffer.from(text, 'utf8')
    const isAscii = content.length === text.length
    // A unit of UTF-16 takes three bytes at most.
    const most = isAscii ? longest : longest * 3
    const width = most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : 4
    const lengths = lengthsOf(width, length)
    for (let n = 0; n < length; n++) {
      const value = values[n]
      if (typeof value !== 'string') continue
      lengths[n] = isAscii ? value.length : Buffer.byteLength(value, 'utf8')
    }
    this.#push({ name, kind: 's', width, ...(isAscii && { ascii: true }), ...flags }, [
      ...parts,
      bytesOf(lengths),
      content,
    ])
  }

  #push(header: Omit<ColumnHeader, 'at' | 'bytes'>, parts: readonly Uint8Array[]): void {
    let bytes = 0
    for (const part of parts) bytes += part.length
    this.#headers.push({ ...header, at: this.#bytes, bytes })
    this.#parts.push(...parts)
    this.#bytes += bytes
  }
}

/** Columns as they were written; each is decoded when it is first asked for. */
export class ColumnReader {
  readonly rows: number
  readonly #body: Buffer
  readonly #headers = new Map<string, ColumnHeader>()
  readonly #decoded = new Map<string, Column>()
  readonly #texts = new Map<string, Texts>()

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` */
  constructor(bytes: Uint8Array) {
    try {
      const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const end = 4 + view.readUInt32LE(0)
      const header = parseJson(view.toString('utf8', 4, end)) as Header
      this.rows = header.rows
      for (const column of header.columns) this.#headers.set(column.name, column)
      this.#body = view.subarray(end)
    } catch (cause) {
      throw new LorekeepError('LK_STORAGE_CORRUPT', 'a page is not made of columns', { cause })
    }
  }

  get names(): Iterable<string> {
    return this.#headers.keys()
  }

  has(name: string): boolean {
    return this.#headers.has(name)
  }

  /** The value that all rows have, where the column holds one alone. */
  constant(name: string): { readonly value: unknown } | undefined {
    const header = this.#headers.get(name)
    if (header === undefined) return { value: undefined }
    return header.kind === 'c' ? { value: header.value } : undefined
  }

  /** Of missing values where nothing was written under that name. */
  column(name: string): Column {
    let column = this.#decoded.get(name)
    if (column === undefined) {
      const header = this.#headers.get(name)
      column = header === undefined ? new Array(this.rows).fill(undefined) : this.#decode(header)
      this.#decoded.set(name, column)
    }
    return column
  }

  /** One row of a column, which is not decoded for that. */
  value(name: string, row: number): unknown {
    const decoded = this.#decoded.get(name)
    if (decoded !== undefined) return decoded[row]
    const header = this.#headers.get(name)
    if (header === undefined) return undefined
    if (header.kind === 'c') return header.value
    if (header.kind === 'j') return this.column(name)[row]
    const { rows } = this
    const { kind, at, bytes, gaps } = header
    if (gaps && this.#body[at + row] !== present) {
      return this.#body[at + row] === isNull ? null : undefined
    }
    const from = gaps ? at + rows : at
    switch (kind) {
      case 'd':
        return this.#body.readDoubleLE(from + 8 * row)
      case 'i':
        return this.#body.readInt32LE(from + 4 * row)
      case 'b':
        return this.#body[from + row] === 1
      case 't':
        return header.table?.[this.#body[from + row] as number]
      case 's': {
        const { ends, text } = this.#textOf(header, from, at + bytes)
        const encoding = header.ascii ? 'latin1' : 'utf8'
        return text.toString(encoding, row === 0 ? 0 : (ends[row - 1] as number), ends[row])
      }
    }
  }

  /**
   * Reads the strings of a column one at a time, and keeps none; `undefined` where it has others.
   * Of a page of words a search looks at some ten: making all takes 100 us and 50 KB.
   */
  stringReader(name: string): ((row: number) => string) | undefined {
    const header = this.#headers.get(name)
    if (header === undefined || header.gaps) return undefined
    const { kind, at, bytes, table = [] } = header
    const content = this.#body.subarray(at, at + bytes)
    if (kind === 't' && table.every((value) => typeof value === 'string')) {
      return (row) => table[content[row] as number] as string
    }
    if (kind !== 's') return undefined
    const { ends, text } = this.#textOf(header, at, at + bytes)
    const encoding = header.ascii ? 'latin1' : 'utf8'
    return (row) =>
      text.toString(encoding, row === 0 ? 0 : (ends[row - 1] as number), ends[row] as number)
  }

  /**
   * Compares the strings of a column with others, by their UTF-16 units, and makes none: of a search
   * for a place in a page that is most of the time. `undefined` where it has others.
   */
  stringComparer(name: string): ((row: number, other: string) => number) | undefined {
    const header = this.#headers.get(name)
    if (header === undefined || header.gaps || header.kind !== 's' || !header.ascii) {
      const read = this.stringReader(name)
      if (read === undefined) return undefined
      return (row, other) => {
        const own = read(row)
        return own < other ? -1 : own > other ? 1 : 0
      }
    }
    const { at, bytes } = header
    const { ends, text } = this.#textOf(header, at, at + bytes)
    return (row, other) => {
      const from = row === 0 ? 0 : (ends[row - 1] as number)
      const length = (ends[row] as number) - from
      const least = Math.min(length, other.length)
      for (let n = 0; n < least; n++) {
        const order = (text[from + n] as number) - other.charCodeAt(n)
        if (order !== 0) return order
      }
      return length - other.length
    }
  }

  /** As column(), and it is not kept. */
  decoded(name: string): Column {
    const header = this.#headers.get(name)
    return header === undefined ? [] : (this.#decoded.get(name) ?? this.#decode(header))
  }

  /** Columns of one row. */
  single(names: readonly string[], row: number): Column[] {
    return names.map((name) => [this.value(name, row)])
  }

  #decode(header: ColumnHeader): Column {
    const { rows } = this
    const { kind, at, bytes } = header
    if (kind === 'c') return new Array<unknown>(rows).fill(header.value)
    const gaps = header.gaps ? this.#body.subarray(at, at + rows) : undefined
    const from = gaps === undefined ? at : at + rows
    const content = this.#body.subarray(from, at + bytes)
    switch (kind) {
      case 'd':
        return withGaps(copyInto(new Float64Array(rows), content), gaps)
      case 'i':
        return withGaps(copyInto(new Int32Array(rows), content), gaps)
      case 'b':
        return withGaps(
          Array.from(content, (byte) => byte === 1),
          gaps,
        )
      case 't': {
        const { table = [] } = header
        return withGaps(
          Array.from(content, (code) => table[code]),
          gaps,
        )
      }
      case 's':
        return withGaps(this.#strings(header, from), gaps)
      case 'j':
        return withGaps(parseJson(Buffer.from(content).toString('utf8')) as unknown[], gaps)
    }
  }

  #strings(header: ColumnHeader, from: number): Column {
    const { rows } = this
    const { ends, text } = this.#textOf(header, from, header.at + header.bytes)
    const strings = new Array<string>(rows)
    // One string that is cut: a tenth of the time of making each from bytes.
    const whole = header.ascii ? text.toString('latin1') : undefined
    for (let n = 0, at = 0; n < rows; n++) {
      const end = ends[n] as number
      strings[n] = whole === undefined ? text.toString('utf8', at, end) : whole.substring(at, end)
      at = end
    }
    return strings
  }

  /** Where each string of a column ends, and all of them: they lie between two places of the body. */
  #textOf({ name, width = 1 }: ColumnHeader, from: number, to: number): Texts {
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const { rows } = this
    const at = from + rows * width
    const lengths = copyInto(lengthsOf(width, rows), this.#body.subarray(from, at))
    const ends = Uint32Array.from(lengths)
    for (let n = 1; n < rows; n++) ends[n] = (ends[n] as number) + (ends[n - 1] as number)
    const found = { ends, text: this.#body.subarray(at, to) }
    this.#texts.set(name, found)
    return found
  }
}

/** The strings of a column, one behind the other. */
interface Texts {
  readonly ends: Uint32Array
  readonly text: Buffer
}

function lengthsOf(width: 1 | 2 | 4, rows: number): Uint8Array | Uint16Array | Uint32Array {
  if (width === 1) return new Uint8Array(rows)
  return width === 2 ? new Uint16Array(rows) : new Uint32Array(rows)
}

/** `undefined` where a table would not be shorter. */
function tableOf(values: Column): Map<string, number> | undefined {
  const { length } = values
  if (length < minTableRows) return undefined
  const most = Math.min(maxTableStrings, length >> 2)
  const table = new Map<string, number>()
  for (let n = 0; n < length; n++) {
    const value = values[n]
    if (typeof value !== 'string' || table.has(value)) continue
    if (table.size === most) return undefined
    table.set(value, table.size)
  }
  return table
}

function gapsOf(values: Column): Uint8Array {
  const gaps = new Uint8Array(values.length)
  for (let n = 0; n < gaps.length; n++) {
    const value = values[n]
    gaps[n] = value === undefined ? isMissing : value === null ? isNull : present
  }
  return gaps
}

function withGaps(values: Column, gaps: Uint8Array | undefined): Column {
  if (gaps === undefined) return values
  return Array.from(values, (value, n) => {
    if (gaps[n] === present) return value
    return gaps[n] === isNull ? null : undefined
  })
}

// Typed arrays lie in the order of the machine's bytes, which is little-endian wherever there is
// a prebuilt LevelDB for Node.
function bytesOf(array: Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array) {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** A copy: the bytes may lie at an address that the array cannot begin at. */
function copyInto<A extends Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array>(
  array: A,
  bytes: Uint8Array,
): A {
  bytesOf(array).set(bytes)
  return array
}
