// The triples of a part in three orders, by counting sorts on the ids of their terms. Each order comes
// out of the one before in a single pass, which moves pairs alone: the third id is known from where a
// pair lies.

import { setImmediate as turn } from 'node:timers/promises'

/** Triples in the order in which they came. */
interface Columns {
  readonly s: Uint32Array
  readonly p: Uint32Array
  readonly o: Uint32Array
  /** The collection of each, where there are several, or named graphs. */
  readonly c: Uint32Array | undefined
  /** The name of the graph that each is in, counted from 1, where there are named graphs; 0 is the default graph. */
  readonly g: Uint32Array | undefined
  readonly count: number
}

/** Triples in the order of one of their places, then of the others, in which the pairs have them. */
interface Permutation {
  /** By id: the first pair of the triples that have it in the first place; one more for the end. */
  readonly starts: Uint32Array
  readonly pairs: Uint32Array
}

/** Where each triple is, in the order of SPO: collections, or with graphs pairs of graph and collection. */
interface Memberships {
  readonly starts: Uint32Array
  readonly places: Uint32Array
}

/** The triples of each graph. */
interface GraphRows {
  /** Ascending, counted from 1; 0 is the default graph. */
  readonly names: Uint32Array
  /** By place in `names`; one more for the end. */
  readonly starts: Uint32Array
  /** Rows of SPO, ascending. */
  readonly rows: Uint32Array
}

interface SortedTriples {
  readonly spo: Permutation
  readonly osp: Permutation
  readonly pos: Permutation
  readonly memberships: Memberships | undefined
  readonly graphs: GraphRows | undefined
}

/** Each triple once. The event loop gets its turn between passes. */
export async function sortTriples(columns: Columns, terms: number): Promise<SortedTriples> {
  const { s, p, o, count } = columns
  const all: Permutation = {
    starts: startsOf(terms, count, (i) => s[i] as number),
    pairs: new Uint32Array(2 * count),
  }
  const places = all.starts.slice()
  for (let i = 0; i < count; i++) {
    const id = s[i] as number
    const at = 2 * (places[id] as number)
    places[id] = at / 2 + 1
    all.pairs[at] = p[i] as number
    all.pairs[at + 1] = o[i] as number
  }
  await turn()
  const spo = distinct(all)
  await turn()
  const osp = byLast(spo)
  await turn()
  const pos = byLast(osp)
  await turn()
  const { c, g } = columns
  const memberships = c && membershipsOf(columns, c, spo)
  return { spo, osp, pos, memberships, graphs: g && memberships && graphRowsOf(memberships) }
}

function startsOf(terms: number, count: number, idOf: (i: number) => number): Uint32Array {
  const starts = new Uint32Array(terms + 1)
  for (let i = 0; i < count; i++) {
    const next = idOf(i) + 1
    starts[next] = (starts[next] as number) + 1
  }
  for (let id = 1; id <= terms; id++) {
    starts[id] = (starts[id] as number) + (starts[id - 1] as number)
  }
  return starts
}

/** From triples (a, b, c) sorted by a, b and c those sorted by c, a and b. */
function byLast({ starts: from, pairs }: Permutation): Permutation {
  const terms = from.length - 1
  const starts = startsOf(terms, pairs.length / 2, (i) => pairs[2 * i + 1] as number)
  const places = starts.slice()
  const sorted = new Uint32Array(pairs.length)
  for (let a = 0; a < terms; a++) {
    const end = from[a + 1] as number
    for (let i = from[a] as number; i < end; i++) {
      const c = pairs[2 * i + 1] as number
      const at = places[c] as number
      places[c] = at + 1
      sorted[2 * at] = a
      sorted[2 * at + 1] = pairs[2 * i] as number
    }
  }
  return { starts, pairs: sorted }
}

/** Sorts the pairs of each id, and keeps one of each. In place. */
function distinct({ starts, pairs }: Permutation): Permutation {
  let kept = 0
  let from = 0
  for (let id = 0; id + 1 < starts.length; id++) {
    const to = starts[id + 1] as number
    if (to - from > mostInserted) sortLong(pairs, from, to)
    else insertInOrder(pairs, from, to)
    starts[id] = kept
    const first = kept
    for (let i = from; i < to; i++) {
      const b = pairs[2 * i] as number
      const c = pairs[2 * i + 1] as number
      if (kept > first && pairs[2 * kept - 2] === b && pairs[2 * kept - 1] === c) continue
      pairs[2 * kept] = b
      pairs[2 * kept + 1] = c
      kept++
    }
    from = to
  }
  starts[starts.length - 1] = kept
  return { starts, pairs: pairs.subarray(0, 2 * kept) }
}

/** Longer lists of pairs are sorted by the engine. */
const mostInserted = 24

function insertInOrder(pairs: Uint32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const b = pairs[2 * i] as number
    const c = pairs[2 * i + 1] as number
    let at = i
    for (; at > from; at--) {
      const before = pairs[2 * at - 2] as number
      if (before < b || (before === b && (pairs[2 * at - 1] as number) <= c)) break
      pairs[2 * at] = before
      pairs[2 * at + 1] = pairs[2 * at - 1] as number
    }
    pairs[2 * at] = b
    pairs[2 * at + 1] = c
  }
}

/** Two ids as one number: a part has fewer than 2^26 terms. */
const shift = 2 ** 26

function sortLong(pairs: Uint32Array, from: number, to: number): void {
  const keys = new Float64Array(to - from)
  for (let i = from; i < to; i++) {
    keys[i - from] = (pairs[2 * i] as number) * shift + (pairs[2 * i + 1] as number)
  }
  keys.sort()
  for (let i = from; i < to; i++) {
    const key = keys[i - from] as number
    pairs[2 * i] = Math.floor(key / shift)
    pairs[2 * i + 1] = key % shift
  }
}

function membershipsOf(
  { s, p, o, g, count }: Columns,
  c: Uint32Array,
  spo: Permutation,
): Memberships {
  const rows = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    rows[i] = rowOf(spo, s[i] as number, p[i] as number, o[i] as number)
  }
  const starts = startsOf(spo.pairs.length / 2, count, (i) => rows[i] as number)
  const places = starts.slice()
  // Graph and collection as one number: a part has fewer than 2^26 terms.
  const members = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number
    const at = places[row] as number
    places[row] = at + 1
    members[at] = (g === undefined ? 0 : (g[i] as number)) * shift + (c[i] as number)
  }
  let kept = 0
  let from = 0
  for (let row = 0; row + 1 < starts.length; row++) {
    const to = starts[row + 1] as number
    starts[row] = kept
    const first = kept
    for (const member of members.subarray(from, to).sort()) {
      if (kept === first || members[kept - 1] !== member) members[kept++] = member
    }
    from = to
  }
  starts[starts.length - 1] = kept
  const width = g === undefined ? 1 : 2
  const found = new Uint32Array(width * kept)
  for (let i = 0; i < kept; i++) {
    const member = members[i] as number
    if (width === 2) found[2 * i] = Math.floor(member / shift)
    found[width * i + width - 1] = member % shift
  }
  return { starts, places: found }
}

/** Of pairs of graph and collection. */
function graphRowsOf({ starts, places }: Memberships): GraphRows {
  const counts = new Map<number, number>()
  const each = (tell: (graph: number, row: number) => void) => {
    for (let row = 0; row + 1 < starts.length; row++) {
      let last = -1
      for (let i = starts[row] as number; i < (starts[row + 1] as number); i++) {
        const graph = places[2 * i] as number
        if (graph !== last) tell(graph, row)
        last = graph
      }
    }
  }
  each((graph) => counts.set(graph, (counts.get(graph) ?? 0) + 1))
  const names = Uint32Array.from(counts.keys()).sort()
  const ends = new Uint32Array(names.length + 1)
  const next = new Map<number, number>()
  for (const [n, graph] of names.entries()) {
    next.set(graph, ends[n] as number)
    ends[n + 1] = (ends[n] as number) + (counts.get(graph) as number)
  }
  const rows = new Uint32Array(ends[names.length] as number)
  each((graph, row) => {
    const at = next.get(graph) as number
    next.set(graph, at + 1)
    rows[at] = row
  })
  return { names, starts: ends, rows }
}

function rowOf({ starts, pairs }: Permutation, s: number, p: number, o: number): number {
  let low = starts[s] as number
  let high = starts[s + 1] as number
  while (low < high) {
    const middle = (low + high) >>> 1
    const b = pairs[2 * middle] as number
    if (b < p || (b === p && (pairs[2 * middle + 1] as number) < o)) low = middle + 1
    else high = middle
  }
  return low
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
