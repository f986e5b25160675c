// What is drawn of a graph: things as nodes, statements between them as links. Literals are no nodes: they are told
// of the thing that they belong to.

import type { Term, Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import { shortened } from './names.js'

/** So many things are drawn; of more a part is shown. */
export const mostNodes = 5000

export interface Shown {
  readonly triples: readonly Triple[]
  /** By IRI, where something is called otherwise than by its IRI. */
  readonly names: ReadonlyMap<string, string>
  /** By IRI: of what type it is. */
  readonly kinds: ReadonlyMap<string, string>
  /** Those of which every neighbour that was asked for is there. `true` stands for all. */
  readonly expanded: ReadonlySet<string> | true
  /** Those whose leaves are put away. */
  readonly collapsed: ReadonlySet<string>
}

export interface Node {
  readonly id: string
  readonly name: string
  /** An IRI, or `''` where nothing says it. */
  readonly kind: string
  /** How many links it has, of those that are shown. */
  readonly degree: number
}

/** All that is said from one node of another. Ends are places among the nodes. */
export interface Link {
  readonly from: number
  readonly to: number
  readonly triples: readonly Triple[]
}

export interface Drawn {
  readonly nodes: readonly Node[]
  /** How many things that is of: `mostNodes` are drawn at the most. */
  readonly all: number
  readonly links: readonly Link[]
  /** By id. */
  readonly places: ReadonlyMap<string, number>
}

export const nothing: Shown = {
  triples: [],
  names: new Map(),
  kinds: new Map(),
  expanded: new Set(),
  collapsed: new Set(),
}

/** The same with more statements, and what they say of names and types. */
export function withTriples(shown: Shown, more: readonly Triple[]): Shown {
  const known = new Set(shown.triples.map(keyOf))
  const triples = [...shown.triples]
  const names = new Map(shown.names)
  const kinds = new Map(shown.kinds)
  for (const triple of more) {
    const key = keyOf(triple)
    if (known.has(key)) continue
    known.add(key)
    triples.push(triple)
    const { s, p, o } = triple
    if (p.v === vocabulary.label && !o.e && !names.has(s.v)) names.set(s.v, o.v)
    if (p.v === vocabulary.type && o.e && !kinds.has(s.v)) kinds.set(s.v, o.v)
  }
  return { ...shown, triples, names, kinds }
}

/** Statements that join two things, and no more than say what something is. */
export function isLink({ s, p, o }: Triple): boolean {
  return s.e && o.e && p.v !== vocabulary.type
}

export interface Filter {
  readonly kinds: ReadonlySet<string>
  readonly relations: ReadonlySet<string>
}

/** @param hidden kinds and relations that are put away */
export function drawnOf(shown: Shown, hidden: Filter): Drawn {
  const kindOf = (id: string) => shown.kinds.get(id) ?? ''
  const things = [...allThings(shown)].filter((id) => !hidden.kinds.has(kindOf(id)))
  const numbers = new Map(things.map((id, at) => [id, at]))
  // By number, not by a text of both: a graph has many more links than things.
  const pairs = new Map<number, { from: number; to: number; triples: Triple[] }>()
  for (const triple of shown.triples) {
    if (!isLink(triple) || hidden.relations.has(triple.p.v)) continue
    const [from, to] = [numbers.get(triple.s.v), numbers.get(triple.o.v)]
    if (from === undefined || to === undefined) continue
    const key = from * things.length + to
    const pair = pairs.get(key)
    if (pair === undefined) pairs.set(key, { from, to, triples: [triple] })
    else pair.triples.push(triple)
  }
  const leaves = leavesOf(shown.collapsed, numbers, pairs.values())
  const wanted = [...things.keys()].filter((at) => !leaves.has(at))
  const seen = new Set(wanted.slice(0, mostNodes))
  const kept = [...pairs.values()].filter(({ from, to }) => seen.has(from) && seen.has(to))
  const degrees = new Uint32Array(things.length)
  for (const { from, to } of kept) {
    degrees[from] = (degrees[from] as number) + 1
    degrees[to] = (degrees[to] as number) + 1
  }
  const nodes: Node[] = []
  const places = new Map<string, number>()
  for (const at of seen) {
    const id = things[at] as string
    const name = shown.names.get(id) ?? shortened(id)
    places.set(id, nodes.length)
    nodes.push({ id, name, kind: kindOf(id), degree: degrees[at] as number })
  }
  const placeOf = (thing: number) => places.get(things[thing] as string) as number
  const links =
    seen.size === things.length
      ? kept
      : kept.map((link) => ({ ...link, from: placeOf(link.from), to: placeOf(link.to) }))
  return { nodes, all: wanted.length, links, places }
}

/** What is said from one thing of another, where that is drawn. */
export function linkBetween({ links, places }: Drawn, from: string, to: string): Link | undefined {
  const [start, end] = [places.get(from), places.get(to)]
  if (start === undefined || end === undefined) return undefined
  return links.find((link) => link.from === start && link.to === end)
}

/** Whatever something is said of, and what that is joined to. */
export function allThings({ triples }: Pick<Shown, 'triples'>): ReadonlySet<string> {
  const things = new Set<string>()
  for (const triple of triples) {
    if (triple.s.e) things.add(triple.s.v)
    if (isLink(triple)) things.add(triple.o.v)
  }
  return things
}

/** What hangs on one of those alone whose leaves are put away. */
function leavesOf(
  collapsed: ReadonlySet<string>,
  numbers: ReadonlyMap<string, number>,
  pairs: Iterable<{ readonly from: number; readonly to: number }>,
): ReadonlySet<number> {
  if (collapsed.size === 0) return new Set()
  const centres = new Set([...collapsed].map((id) => numbers.get(id)))
  const neighbours = new Map<number, Set<number>>()
  const note = (thing: number, other: number) => {
    const found = neighbours.get(thing) ?? new Set<number>()
    neighbours.set(thing, found.add(other))
  }
  for (const { from, to } of pairs) {
    if (from === to) continue
    note(from, to)
    note(to, from)
  }
  return new Set(
    [...neighbours]
      .filter(([thing, others]) => others.size === 1 && !centres.has(thing))
      .filter(([, others]) => [...others].some((other) => centres.has(other)))
      .map(([thing]) => thing),
  )
}

/** The statements of what is drawn, with what they say of its nodes. */
export function triplesOf({ links, places }: Drawn, shown: Shown): readonly Triple[] {
  const said = shown.triples.filter((triple) => !isLink(triple) && places.has(triple.s.v))
  return [...said, ...links.flatMap(({ triples }) => triples)]
}

/** Whatever has the most links of all that is there. */
export function mostConnected(
  triples: readonly Triple[],
  kinds: Shown['kinds'],
): string | undefined {
  const degrees = new Map<string, number>()
  const count = ({ v }: Term) => degrees.set(v, (degrees.get(v) ?? 0) + 1)
  for (const triple of triples) {
    if (!isLink(triple)) continue
    count(triple.s)
    count(triple.o)
  }
  const things = [...degrees].filter(([id]) => !isOfTexts(kinds.get(id)))
  const among = things.length === 0 ? [...degrees] : things
  let best: readonly [string, number] | undefined
  for (const one of among) if (best === undefined || one[1] > best[1]) best = one
  return best?.[0]
}

/** Passages and documents: where things were said, and no thing that they speak of. */
export function isOfTexts(kind: string | undefined): boolean {
  return kind === vocabulary.String || kind === vocabulary.DigitalDocument
}

/** Those nodes by which one comes from one to another by the fewest links, whichever way these go. */
export function pathBetween({ nodes, links }: Drawn, from: number, to: number): readonly number[] {
  const next: number[][] = nodes.map(() => [])
  for (const link of links) {
    next[link.from]?.push(link.to)
    next[link.to]?.push(link.from)
  }
  const cameFrom = new Map<number, number>([[from, from]])
  const queue = [from]
  for (const at of queue) {
    if (at === to) break
    for (const other of next[at] ?? []) {
      if (cameFrom.has(other)) continue
      cameFrom.set(other, at)
      queue.push(other)
    }
  }
  if (!cameFrom.has(to)) return []
  const path = [to]
  while (path[0] !== from) path.unshift(cameFrom.get(path[0] as number) as number)
  return path
}

function keyOf({ s, p, o, g }: Triple): string {
  return JSON.stringify([s.v, p.v, o.v, o.e, o.dt, o.ln, g])
}
