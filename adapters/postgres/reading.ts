// What one session reads of a partition.

import type { Entry, PartitionName, Range } from '../../src/storage.js'
import { byteaArray } from './arrays.js'
import type { Connection } from './connection.js'
import type { Statements } from './statements.js'

// As the other backends have them.
const pageEntries = 1000
const pageBytes = 1024 * 1024

/** No value is as long. */
const mostBytes = 2 ** 30

const nothing = new Uint8Array(0)

export interface Page {
  readonly entries: readonly Entry[]
  /** Nothing lies behind this page. */
  readonly last: boolean
}

export class Reading {
  readonly #statements: Statements
  /** Nearly all values are long. */
  readonly #isBulk: boolean

  constructor(statements: Statements, partition: PartitionName) {
    this.#statements = statements
    this.#isBulk = partition === 'slices'
  }

  /** Large values are not compressed (tables.ts): no more of them is read than is asked for. */
  async getBytes(
    connection: Connection,
    key: Uint8Array,
    from: number,
    to: number,
  ): Promise<Uint8Array | undefined> {
    const [start, end] = [Math.min(from, mostBytes), Math.min(to, mostBytes)]
    const { getBytes } = this.#statements
    const parameters = [key, start + 1, end - start]
    const [row] = await connection.run<[Buffer]>(getBytes, parameters)
    return row && new Uint8Array(row[0])
  }

  async getMany(
    connection: Connection,
    keys: readonly Uint8Array[],
  ): Promise<(Uint8Array | undefined)[]> {
    const values: (Uint8Array | undefined)[] = new Array(keys.length).fill(undefined)
    if (!this.#isBulk) {
      const { get } = this.#statements
      const rows = await connection.run<[number, Buffer | null]>(get, [byteaArray(keys)])
      // One state: where one of them has to come the other way, all of them do.
      if (rows.every(([, value]) => value !== null)) {
        for (const [n, value] of rows) values[n - 1] = new Uint8Array(value as Buffer)
        return values
      }
    }
    for (const [n, value] of await connection.copy(this.#statements.copyOf(keys))) {
      values[new DataView(n!.buffer, n!.byteOffset).getInt32(0) - 1] = value
    }
    return values
  }

  /** The first page of a range, ready to be asked for. */
  pageOf(range: Range): (connection: Connection) => Promise<Page> {
    const rows = Math.min(range.limit ?? Infinity, pageEntries)
    if (rows === 0) return async () => ({ entries: [], last: true })
    const query = this.#statements.pageOf(range, rows, pageBytes)
    return async (connection) => {
      let bytes = 0
      const entries = (await connection.copy(query)).map(([key, value = nothing]): Entry => {
        bytes += key!.length + value.length
        return { key: key!, value }
      })
      return { entries, last: entries.length < rows && bytes <= pageBytes }
    }
  }
}
