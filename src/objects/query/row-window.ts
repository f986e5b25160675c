// Rows in windows of some thousand numbers, one window after the other: what several lists say of a row
// meets in an array, where a hash table took most of a search, and rows come out in their order.

/** Rows of a window. */
export const windowRows = 8192

/** Rows of a window, each there or not. */
export class RowBits {
  readonly #words = new Uint32Array(windowRows / 32)

  add(row: number): void {
    const word = row >>> 5
    this.#words[word] = (this.#words[word] as number) | (1 << (row & 31))
  }

  /** How many are there. None is afterwards. */
  clear(): number {
    const words = this.#words
    let count = 0
    for (let n = 0; n < words.length; n++) {
      let word = words[n] as number
      if (word === 0) continue
      words[n] = 0
      for (; word !== 0; word &= word - 1) count++
    }
    return count
  }

  /** Writes those that are there, growing, and gives how many. None is there afterwards. */
  drain(rows: Uint16Array): number {
    const words = this.#words
    let count = 0
    for (let n = 0; n < words.length; n++) {
      let word = words[n] as number
      if (word === 0) continue
      words[n] = 0
      for (; word !== 0; word &= word - 1) {
        rows[count++] = n * 32 + 31 - Math.clz32(word & -word)
      }
    }
    return count
  }
}

/** What is next in some list. */
interface Cursor {
  readonly row: number
}

/** Where the next window begins; Infinity where nothing is left. */
export function nextWindow(lists: readonly (readonly Cursor[])[]): number {
  let least = Infinity
  for (const cursors of lists) {
    for (const { row } of cursors) if (row < least) least = row
  }
  return least
}
