// Statements of stored cores, as much of them as can be drawn.

import type { RemoteGraph } from '../../client/index.js'
import type { QueryPattern } from '../../graph/types.js'
import type { Term, Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import {
  isLink,
  isOfTexts,
  mostConnected,
  mostNodes,
  nothing,
  withTriples,
  type Shown,
} from './model.js'

/** So many statements are read to see whether that is all. */
const mostTriples = 40_000

/** Of one thing, in each direction, and as many more each time that it is expanded. */
const mostNeighbours = 200

/** What a part grows to by itself. */
const startNodes = 150

export interface Found {
  readonly shown: Shown
  /** Where it is a part: of how many statements, and around what. */
  readonly part?: { readonly triples: number; readonly around: string | undefined }
}

/** All of a graph, or where that is too much what is around the thing in it with the most links. */
export async function readWhole(graph: RemoteGraph, signal: AbortSignal): Promise<Found> {
  const triples: Triple[] = []
  const things = new Set<string>()
  for await (const triple of graph.match({}, { limit: mostTriples, signal })) {
    triples.push(triple)
    if (triple.s.e) things.add(triple.s.v)
    if (triple.o.e) things.add(triple.o.v)
    if (triples.length % 1000 === 0) await turn()
  }
  await turn()
  if (triples.length < mostTriples && things.size <= mostNodes) {
    const shown = { ...withTriples(nothing, triples), expanded: true } as const
    await turn()
    return { shown }
  }
  const [all, kinds] = [await graph.count({}, { signal }), kindsIn(triples)]
  const around = mostConnected(triples, kinds)
  if (around === undefined) return { shown: nothing, part: { triples: all, around } }
  return { ...(await readAround(graph, [around], signal)), part: { triples: all, around } }
}

/** Others get theirs while much is read. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

/** What is around some things: they, what is next to them, and so on while that is little. */
export async function readAround(
  graph: RemoteGraph,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Found> {
  let shown = nothing
  let [edge, isFirst] = [ids, true]
  const [done, whole] = [new Set<string>(), new Set<string>()]
  while (edge.length > 0) {
    for (const id of edge) {
      if (signal.aborted) throw signal.reason
      if (!isFirst && thingsIn(shown).length >= startNodes) return { shown }
      const near = await neighboursOf(graph, id, mostNeighbours, signal)
      done.add(id)
      if (near.isAll) whole.add(id)
      shown = { ...withTriples(shown, near.triples), expanded: new Set(whole) }
    }
    if (!isFirst) break
    const { kinds } = shown
    edge = thingsIn(shown).filter((id) => !done.has(id) && !isOfTexts(kinds.get(id)))
    isFirst = false
  }
  return { shown }
}

function thingsIn({ triples }: Shown): readonly string[] {
  const links = triples.filter(isLink)
  return [...new Set(links.flatMap(({ s, o }) => [s.v, o.v]))]
}

/** The same with all that is next to a thing, or with more of it where that is much: then it can be expanded again. */
export async function expand(
  graph: RemoteGraph,
  shown: Shown,
  id: string,
  signal?: AbortSignal,
): Promise<Shown> {
  const collapsed = new Set(shown.collapsed)
  collapsed.delete(id)
  if (shown.expanded === true || shown.expanded.has(id)) return { ...shown, collapsed }
  const { triples } = shown
  const known = Math.max(
    triples.filter(({ s }) => s.v === id).length,
    triples.filter(({ o }) => o.v === id).length,
  )
  const near = await neighboursOf(graph, id, known + mostNeighbours, signal)
  const expanded = near.isAll ? new Set([...shown.expanded, id]) : shown.expanded
  return { ...withTriples(shown, near.triples), collapsed, expanded }
}

interface Neighbours {
  /** About the thing, and what those that are next to it are called, and are. */
  readonly triples: readonly Triple[]
  readonly isAll: boolean
}

/** @param most so many statements in each direction */
async function neighboursOf(
  graph: RemoteGraph,
  id: string,
  most: number,
  signal?: AbortSignal,
): Promise<Neighbours> {
  const self = iri(id)
  const options = { limit: most, signal }
  const [label, type] = [iri(vocabulary.label), iri(vocabulary.type)]
  const [out, into] = await Promise.all([
    Array.fromAsync(graph.match({ s: self }, options)),
    Array.fromAsync(graph.match({ o: self }, options)),
  ])
  const told = async (next: QueryPattern, p: Term): Promise<readonly Triple[]> => {
    const patterns = [next, { s: '?other', p, o: '?value' } as const]
    const select = ['?other', '?value'] as const
    const answers = graph.solve(patterns, { ...options, limit: 3 * most, select })
    const found: Triple[] = []
    for await (const { other, value } of answers) {
      if (other !== undefined && value !== undefined) found.push({ s: other, p, o: value })
    }
    return found
  }
  const leaving = { s: self, p: '?p', o: '?other' } as const
  const coming = { s: '?other', p: '?p', o: self } as const
  const details = await Promise.all([
    told(leaving, label),
    told(leaving, type),
    told(coming, label),
    told(coming, type),
  ])
  const near = new Set([...out, ...into].flatMap(({ s, o }) => [s.v, o.v]))
  // Of more neighbours than are shown nothing is to be told.
  return {
    triples: [...out, ...into, ...details.flat().filter(({ s }) => near.has(s.v))],
    isAll: out.length < most && into.length < most,
  }
}

/** A passage that a statement may come from: both that it joins were found there. */
export interface Passage {
  readonly chunk: string
  readonly text: string
}

export async function passagesOf(
  graph: RemoteGraph,
  { s, o }: Triple,
  signal: AbortSignal,
): Promise<readonly Passage[]> {
  const chunk = '?chunk'
  const text = { s: chunk, p: iri(vocabulary.text), o: '?text' } as const
  const derived = iri(vocabulary.wasDerivedFrom)
  const from = (term: Term) => ({ s: term, p: derived, o: chunk }) as const
  const patterns = o.e && o.v !== s.v ? [from(s), from(o), text] : [from(s), text]
  const found = graph.solve(patterns, { limit: 20, signal })
  const passages = new Map<string, Passage>()
  for await (const { chunk, text } of found) {
    if (chunk !== undefined && text !== undefined)
      passages.set(chunk.v, { chunk: chunk.v, text: text.v })
  }
  return [...passages.values()]
}

function kindsIn(triples: readonly Triple[]): ReadonlyMap<string, string> {
  return withTriples(nothing, triples).kinds
}

function iri(v: string): Term {
  return { v, e: true }
}
