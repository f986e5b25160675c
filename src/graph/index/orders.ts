// The triples of a part that was built, by the numbers of their terms, in three orders: here, or in a thread.
// Hot: benchmarks/graph-import.ts; change with numbers.

import type { Turns } from '../../turns.js'
import { byLast, inHeap, roomForRows } from './permutations.js'
import type { Allocate, CollectedRows, Permutation } from './permutations.js'
import type { RowTable, SortedRows } from './permutations.js'

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

/** Triples by their terms' numbers in their order, and those of their places. */
export function rowsOf(
  { columns, count, ranks, numbers }: Unsorted,
  allocate = inHeap,
): CollectedRows {
  const terms = ranks.length
  // By ids as they were given, since what is said of a subject comes in runs, and new subjects one after the other: by
  // their numbers in the order each step went elsewhere (1,000,000 triples: 70 ms, now 50).
  const at = allocate(terms)
  countIds(columns.s, count, at)
  const counts = allocate(terms + 1)
  for (let id = 0; id < terms; id++) counts[(ranks[id] as number) + 1] = at[id] as number
  const rows = roomForRows(counts, columns.places !== undefined, allocate)
  const { next } = rows
  for (let id = 0; id < terms; id++) at[id] = next[ranks[id] as number] as number
  scatterRows({ columns, count, ranks, numbers }, at, rows)
  // All have come that were counted: each ends where the next begins.
  next.copyWithin(0, 1)
  next[terms - 1] = count
  return rows
}

function countIds(ids: Uint32Array, count: number, counts: Uint32Array): void {
  for (let i = 0; i < count; i++) {
    const id = ids[i] as number
    counts[id] = (counts[id] as number) + 1
  }
}

/** `at`: by subject where its next pair goes. */
function scatterRows(
  { columns: { s, p, o, places }, count, ranks, numbers }: Unsorted,
  at: Uint32Array,
  { pairs, places: sorted }: CollectedRows,
): void {
  for (let i = 0; i < count; i++) {
    const id = s[i] as number
    const n = at[id] as number
    at[id] = n + 1
    pairs[2 * n] = ranks[p[i] as number] as number
    pairs[2 * n + 1] = ranks[o[i] as number] as number
    if (places !== undefined && sorted !== undefined)
      sorted[n] = numbers[places[i] as number] as number
  }
}
