/** Rows of ids, each once. A Set has no key for several numbers, and room for 2^24 of them alone. */
export class RowSet {
  readonly #width: number
  #rows: Float64Array
  #count = 0
  /** Open addressing: the number of a row plus one, 0 where there is none. At most half is taken. */
  #table = new Int32Array(64)

  get bytes(): number {
    return this.#rows.byteLength + this.#table.byteLength
  }

  constructor(width: number) {
    this.#width = width
    this.#rows = new Float64Array(32 * width)
  }

  /** The row that begins at `at`; false where it was there. */
  add(ids: Float64Array, at: number): boolean {
    if (this.#count * 2 === this.#table.length) this.#grow()
    const width = this.#width
    const mask = this.#table.length - 1
    let place = hash(ids, at, width) & mask
    for (let row; (row = this.#table[place] as number) !== 0; place = (place + 1) & mask) {
      if (isSame(this.#rows, (row - 1) * width, ids, at, width)) return false
    }
    const end = this.#count * width
    for (let i = 0; i < width; i++) this.#rows[end + i] = ids[at + i] as number
    this.#table[place] = ++this.#count
    return true
  }

  #grow(): void {
    const rows = new Float64Array(this.#rows.length * 2)
    rows.set(this.#rows)
    this.#rows = rows
    this.#table = new Int32Array(this.#table.length * 2)
    const mask = this.#table.length - 1
    for (let row = 0; row < this.#count; row++) {
      let place = hash(rows, row * this.#width, this.#width) & mask
      while (this.#table[place] !== 0) place = (place + 1) & mask
      this.#table[place] = row + 1
    }
  }
}

function hash(ids: Float64Array, at: number, width: number): number {
  let h = 0
  for (let i = 0; i < width; i++) {
    const id = ids[at + i] as number
    h = Math.imul(h ^ (id >>> 0) ^ (id / 0x100000000), 0x9e3779b1)
    h ^= h >>> 15
  }
  return h
}

function isSame(
  a: Float64Array,
  atA: number,
  b: Float64Array,
  atB: number,
  width: number,
): boolean {
  for (let i = 0; i < width; i++) if (a[atA + i] !== b[atB + i]) return false
  return true
}
