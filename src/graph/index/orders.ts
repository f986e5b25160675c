// The triples of a part that was built, by the numbers of their terms, in three orders: here, or in a thread.
// Hot: benchmarks/graph-import.ts; change with numbers.

import type { Turns } from '../../turns.js'
import { byLast, inHeap, RowTable } from './permutations.js'
import type { Allocate, Permutation, SortedRows } from './permutations.js'

/** Triples as they came, by the ids that their terms were given. */
export interface Columns {
  readonly s: Uint32Array
  readonly p: Uint32Array
  readonly o: Uint32Array
  /** The place of each, where there are several. */
  places: Uint32Array | undefined
}

/** What the triples of a part are made of. */
export interface Unsorted {
  readonly columns: Columns
  readonly count: number
  /** By id of a term its number in their order. */
  readonly ranks: Uint32Array
  /** By place its number in their order. */
  readonly numbers: Uint32Array
}

/** In the order in which they are asked for, each once. */
export interface Orders {
  rows(): Promise<SortedRows>
  osp(): Promise<Permutation>
  /** What rows() gave may be gone then. */
  pos(): Promise<Permutation>
}

/** Each is made when it is asked for. */
export class OrdersHere implements Orders {
  readonly #table: () => RowTable
  readonly #turns: Turns
  readonly #allocate: Allocate | undefined
  #spo: Permutation | undefined
  #osp: Permutation | undefined

  /** Without `allocate` the last order takes the memory of the first. */
  constructor(table: () => RowTable, turns: Turns, allocate?: Allocate) {
    this.#table = table
    this.#turns = turns
    this.#allocate = allocate
  }

  async rows(): Promise<SortedRows> {
    const sorted = await this.#table().sorted(this.#turns)
    this.#spo = sorted.spo
    return sorted
  }

  async osp(): Promise<Permutation> {
    this.#osp = await byLast(this.#spo as Permutation, this.#turns, this.#allocate ?? inHeap)
    return this.#osp
  }

  async pos(): Promise<Permutation> {
    const kept = [this.#spo?.starts, this.#spo?.pairs]
    const again = (length: number) => (kept.shift() as Uint32Array).subarray(0, length).fill(0)
    return byLast(this.#osp as Permutation, this.#turns, this.#allocate ?? again)
  }
}

/** Triples by their terms' numbers in their order, and those of their places. What `s` has is gone then. */
export function rowsOf({ columns, count, ranks, numbers }: Unsorted, allocate = inHeap): RowTable {
  const { s, p, o, places } = columns
  const counts = allocate(ranks.length + 1)
  for (let i = 0; i < count; i++) {
    const id = ranks[s[i] as number] as number
    s[i] = id
    counts[id + 1] = (counts[id + 1] as number) + 1
  }
  const rows = new RowTable(counts, places !== undefined, allocate)
  const { next, pairs } = rows
  for (let i = 0; i < count; i++) {
    const id = s[i] as number
    const at = next[id] as number
    next[id] = at + 1
    pairs[2 * at] = ranks[p[i] as number] as number
    pairs[2 * at + 1] = ranks[o[i] as number] as number
    if (places !== undefined && rows.places !== undefined) {
      rows.places[at] = numbers[places[i] as number] as number
    }
  }
  return rows
}
