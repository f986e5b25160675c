// The triples of a part in three orders, by counting sorts on the ids of their terms (LSD radix sort
// with an id as a digit). Each order comes out of the one before in a single pass.

import { setImmediate as turn } from 'node:timers/promises'

/** Triples as three columns, and a fourth: the collection of each, where there are several. */
export class Columns {
  s: Uint32Array<ArrayBuffer>
  p: Uint32Array<ArrayBuffer>
  o: Uint32Array<ArrayBuffer>
  c: Uint32Array<ArrayBuffer> | undefined

  constructor(room: number, hasCollections: boolean) {
    this.s = new Uint32Array(room)
    this.p = new Uint32Array(room)
    this.o = new Uint32Array(room)
    this.c = hasCollections ? new Uint32Array(room) : undefined
  }
}

/** Triples sorted by the first of three columns, then by the others. */
export interface Permutation {
  /** Where those of each id of the first column begin; one more for the end. */
  readonly starts: Uint32Array
  readonly second: Uint32Array
  readonly third: Uint32Array
  readonly count: number
}

/** The collections of each triple in the order of its first permutation. */
export interface Memberships {
  readonly starts: Uint32Array
  readonly collections: Uint32Array
}

/**
 * Gives the orders SPO, OSP and POS of distinct triples, one after another: each is to be used before
 * the next is asked for, as they take each other's place. It returns memberships, where the
 * triples have collections. `columns` are used up. The event loop gets its turn between passes.
 */
export async function* sortTriples(
  columns: Columns,
  given: number,
  terms: number,
): AsyncGenerator<Permutation, Memberships | undefined, undefined> {
  let from = columns
  let to = new Columns(given, columns.c !== undefined)
  const starts = new Uint32Array(terms + 1)
  const places = new Uint32Array(terms + 1)
  let count = given
  const sortBy = async (key: Uint32Array) => {
    fillStarts(starts, key, count)
    places.set(starts)
    move(from, to, key, places, count)
    const moved = to
    to = from
    from = moved
    await turn()
  }
  if (from.c !== undefined) await sortBy(from.c)
  await sortBy(from.o)
  await sortBy(from.p)
  await sortBy(from.s)
  const memberships = from.c && membershipsOf(from, from.c, count)
  count = withoutRepeats(from, count)
  fillStarts(starts, from.s, count)
  yield { starts, second: from.p, third: from.o, count }
  await sortBy(from.o)
  // Those of one object are in the order of their subjects still, and those in that of predicates.
  fillStarts(starts, from.o, count)
  yield { starts, second: from.s, third: from.p, count }
  await sortBy(from.p)
  fillStarts(starts, from.p, count)
  yield { starts, second: from.o, third: from.s, count }
  return memberships
}

function move(
  from: Columns,
  to: Columns,
  key: Uint32Array,
  places: Uint32Array,
  count: number,
): void {
  const { s, p, o, c } = from
  const { s: toS, p: toP, o: toO, c: toC } = to
  for (let i = 0; i < count; i++) {
    const id = key[i] as number
    const at = places[id] as number
    places[id] = at + 1
    toS[at] = s[i] as number
    toP[at] = p[i] as number
    toO[at] = o[i] as number
    if (toC !== undefined && c !== undefined) toC[at] = c[i] as number
  }
}

/** Where those of each id begin when they are sorted by it. */
function fillStarts(starts: Uint32Array, key: Uint32Array, count: number): void {
  starts.fill(0)
  for (let i = 0; i < count; i++) {
    const next = (key[i] as number) + 1
    starts[next] = (starts[next] as number) + 1
  }
  for (let id = 1; id < starts.length; id++) {
    starts[id] = (starts[id] as number) + (starts[id - 1] as number)
  }
}

/** Keeps one of each; returns how many those are. */
function withoutRepeats({ s, p, o }: Columns, count: number): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    if (i > 0 && isRepeat(s, p, o, i)) continue
    s[kept] = s[i] as number
    p[kept] = p[i] as number
    o[kept] = o[i] as number
    kept++
  }
  return kept
}

function membershipsOf({ s, p, o }: Columns, c: Uint32Array, count: number): Memberships {
  const starts = new Uint32Array(count + 1)
  const collections = new Uint32Array(count)
  let triples = 0
  let members = 0
  for (let i = 0; i < count; i++) {
    const isNew = i === 0 || !isRepeat(s, p, o, i)
    if (isNew) starts[triples++] = members
    // Sorted by collection first, so that equal ones are next to each other.
    if (isNew || collections[members - 1] !== c[i]) collections[members++] = c[i] as number
  }
  starts[triples] = members
  return { starts: starts.subarray(0, triples + 1), collections: collections.subarray(0, members) }
}

/** True where a triple is the one before. Compared where it was: what is kept moves to the front. */
function isRepeat(s: Uint32Array, p: Uint32Array, o: Uint32Array, i: number): boolean {
  return s[i] === s[i - 1] && p[i] === p[i - 1] && o[i] === o[i - 1]
}

/** Terms by their hashes, as pairs of hash and id, for finding one. */
export function sortByHash(hashes: Uint32Array, count: number): Uint32Array {
  let from = new Uint32Array(2 * count)
  let to = new Uint32Array(2 * count)
  for (let id = 0; id < count; id++) {
    from[2 * id] = hashes[id] as number
    from[2 * id + 1] = id
  }
  const places = new Uint32Array(2049)
  for (let shift = 0; shift < 32; shift += 11) {
    places.fill(0)
    for (let i = 0; i < count; i++) {
      const next = (((from[2 * i] as number) >>> shift) & 2047) + 1
      places[next] = (places[next] as number) + 1
    }
    for (let digit = 1; digit < 2049; digit++) {
      places[digit] = (places[digit] as number) + (places[digit - 1] as number)
    }
    for (let i = 0; i < count; i++) {
      const hash = from[2 * i] as number
      const digit = (hash >>> shift) & 2047
      const at = places[digit] as number
      places[digit] = at + 1
      to[2 * at] = hash
      to[2 * at + 1] = from[2 * i + 1] as number
    }
    const next = from
    from = to
    to = next
  }
  return from
}
