// The retrieval half of GraphRAG: the part of a graph that speaks of a question.

import { shown } from '../../door/wording.js'
import { untilAborted } from '../../in-flight.js'
import { keyOf, languageRank } from '../../terms.js'
import type { Term, Triple } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { RankingQuestion } from '../ranking/ranking.js'
import { Sameness } from '../same/sameness.js'
import type { GraphSource, Subgraph } from '../types.js'
import { ANY, NONE, type GraphView } from '../view.js'
import type { PassageSet } from '../words/types.js'
import { Bookkeeping } from './bookkeeping.js'
import { expand } from './expansion.js'
import { nearPassages } from './near-passages.js'
import { findNearest, type Near, type Nearest } from './nearest.js'
import type { Retrieval } from './query.js'
import { rankedPassages, spokenOf } from './ranked-passages.js'
import type { Row } from '../taking.js'
import { GraphReader } from './reader.js'
import { readSources, type SourceCandidate, type SourceParts } from './sources.js'

export interface RetrieveParts extends SourceParts {
  readonly view: GraphView
  /** Of the same version of the same cores as the view, as are the passages. */
  readonly nearest: Nearest
  readonly passages: () => Promise<readonly PassageSet[]>
}

/** What the vectors' order counts beside that of words and names, each from 0 to 1. */
const vectorShare = 0.5

/**
 * Passages that answer a question, and the triples around what they speak of. Passages are found by the words of
 * the question and its names (../ranking), by vectors, or both; the entities are the nearest by vectors, those that
 * the first passages speak of, or both. From these it goes breadth first: all triples about the first ones before
 * any of the next level. As in the reference system, literals and the names of predicates are not gone on from, and
 * labels are not triples of the subgraph but stand beside it.
 *
 * Knowledge alone fills the limits. Of an entity that a flow found, most triples say which passages
 * it was derived from, and of a passage all say where it lies: these become `sources`, at most as
 * many as entities. Passages that have vectors are sources as well, and take no entity's place.
 *
 * The same question to the same version of the same cores has the same answer.
 */
export async function retrieve(parts: RetrieveParts, retrieval: Retrieval): Promise<Subgraph> {
  const { view } = parts
  const { entities: most, languages, signal } = retrieval
  const reader = new GraphReader(view, signal)
  const books = await Bookkeeping.of(view)
  const sameness = await Sameness.of(view)
  const started = await findStart(parts, reader, { books, sameness }, retrieval)
  const found = await asOne(started, reader, sameness)
  const starts = found.entities.slice(0, most)
  const known = starts.map(({ id }) => id).filter((id) => id !== NONE)
  const rows = await expand(reader, { books, sameness }, known, retrieval)
  const triples = await reader.each(rows, ({ s, p, o }) =>
    withBlocks((): Triple => ({ s: reader.term(s), p: reader.term(p), o: reader.term(o) })),
  )
  const entities = starts.map(({ near }) => near)
  const read = await readSources(parts, reader, books, found.passages, retrieval)
  const sources = await reranked(read, retrieval)
  const named = new Map<string, number | undefined>()
  for (const { id, near } of starts) named.set(near.entity.v, id)
  for (const [n, row] of rows.entries()) {
    const { s, p, o } = triples[n] as Triple
    named.set(s.v, row.s).set(p.v, row.p)
    if (o.e) named.set(o.v, row.o)
  }
  for (const { document } of sources) {
    if (document !== undefined && !named.has(document.v)) named.set(document.v, undefined)
  }
  const labels = await labelsOf(named, reader, { books, sameness }, languages)
  return { entities, triples, labels, sources }
}

interface Start {
  readonly entities: readonly Near[]
  readonly passages: readonly SourceCandidate[]
}

interface Books {
  readonly books: Bookkeeping
  readonly sameness: Sameness
}

/** Things that are one come once, as the one that speaks for them, in the place of the best. */
async function asOne(start: Start, reader: GraphReader, sameness: Sameness): Promise<Start> {
  if (sameness.isEmpty) return start
  const firsts = new Map<string, Near>()
  const named = new Map<string, Term>()
  for (const each of start.entities) {
    const { id, term } = await withBlocks(() => {
      const id = sameness.firstOf(each.id)
      return { id, term: id === each.id ? each.near.entity : reader.term(id) }
    })
    const key = keyOf(term)
    named.set(keyOf(each.near.entity), term)
    if (!firsts.has(key)) firsts.set(key, { id, near: { ...each.near, entity: term } })
  }
  const entities = [...firsts.values()]
  const passages = start.passages.map((passage) => ({
    ...passage,
    entities: distinctTerms(passage.entities.map((term) => named.get(keyOf(term)) ?? term)),
  }))
  return { entities, passages }
}

/** Where it starts, the best first. */
async function findStart(
  parts: RetrieveParts,
  reader: GraphReader,
  { books, sameness }: Books,
  retrieval: Retrieval,
): Promise<Start> {
  const { ranking, vector, embed } = retrieval
  const ranked = ranking && (await byWords(parts, reader, books, { ...retrieval, ranking }))
  const isNothing = ranked === undefined || ranked.passages.length === 0
  const asked = vector ?? (isNothing ? await embed?.() : undefined)
  if (asked === undefined) return ranked ?? { entities: [], passages: [] }
  const found = await findNearest(parts.nearest, reader, books, { ...retrieval, vector: asked })
  const passages = await nearPassages(reader, { books, sameness }, found)
  const near = { entities: found.entities, passages }
  return isNothing ? near : together(ranked, near)
}

async function byWords(
  { passages }: RetrieveParts,
  reader: GraphReader,
  books: Bookkeeping,
  { ranking, entities: k }: Retrieval & { readonly ranking: Omit<RankingQuestion, 'k'> },
): Promise<Start> {
  const sets = await passages()
  if (sets.length === 0) return { entities: [], passages: [] }
  const found = await rankedPassages(reader, sets, { ...ranking, k })
  const entities = (await spokenOf(reader, books, found, ranking)).slice(0, k)
  const ofPassage = new Map<number, Term[]>(found.map(({ id }) => [id, []]))
  for (const { near, passages } of entities) {
    for (const id of passages) ofPassage.get(id)?.push(near.entity)
  }
  return {
    entities,
    passages: found.map((each) => ({ ...each, entities: ofPassage.get(each.id) ?? [] })),
  }
}

/** Both orders as one: a passage that one of them does not have gets nothing of it. */
function together(ranked: Start, near: Start): Start {
  const [best, nearest] = [ranked.passages[0]?.score ?? 1, near.passages[0]?.score ?? 1]
  // They come the nearest first; there may be more of them than a call has arguments.
  const farthest = near.passages.at(-1)?.score ?? nearest
  const byId = new Map(
    ranked.passages.map((each) => [each.id, { ...each, score: each.score / best }]),
  )
  for (const each of near.passages) {
    const share = nearest > farthest ? (each.score - farthest) / (nearest - farthest) : 1
    const known = byId.get(each.id)
    const passage = known ?? { ...each, score: 0 }
    byId.set(each.id, {
      ...passage,
      score: passage.score + vectorShare * share,
      legs: { ...passage.legs, ...each.legs },
      entities: distinctTerms([...passage.entities, ...each.entities]),
    })
  }
  const entities = new Map<string, Near>()
  for (const each of [...near.entities, ...ranked.entities]) {
    const key = keyOf(each.near.entity)
    const known = entities.get(key)
    if (known === undefined || each.near.score > known.near.score) entities.set(key, each)
  }
  return {
    entities: [...entities.values()].sort((a, b) => b.near.score - a.near.score),
    passages: [...byId.values()].sort((a, b) => b.score - a.score),
  }
}

function distinctTerms(terms: readonly Term[]): Term[] {
  return [...new Map(terms.map((term) => [keyOf(term), term])).values()]
}

/** In the order of the host's own ranker, where there is one. */
async function reranked(
  sources: readonly GraphSource[],
  { text, rerank, signal = new AbortController().signal }: Retrieval,
): Promise<readonly GraphSource[]> {
  if (rerank === undefined || text === undefined || sources.length === 0) return sources
  const scores: unknown = await untilAborted((signal) => rerank(text, sources, { signal }), signal)
  const wrong = wrongScores(scores, sources.length)
  if (wrong !== undefined) {
    const wanted = `rerank must give ${sources.length} finite numbers, one for each passage`
    throw new TypeError(`${wanted}, not ${wrong}`)
  }
  const scored = sources.map((source, n) => ({ source, score: (scores as number[])[n] as number }))
  scored.sort((a, b) => b.score - a.score)
  return scored.map(({ source, score }, n) => {
    return { ...source, score, legs: { ...source.legs, rerank: { rank: n + 1, score } } }
  })
}

/** What is given in place of so many finite numbers. */
function wrongScores(scores: unknown, count: number): string | undefined {
  if (!Array.isArray(scores)) return shown(scores)
  const given: readonly unknown[] = scores
  if (given.length !== count) return `${given.length}`
  // With the holes of a list, which findIndex() gives and others pass over.
  const wrong = given.findIndex((score) => !Number.isFinite(score))
  return wrong < 0 ? undefined : `${shown(given[wrong])} for the passage ${wrong}`
}

/** Names of one thing that are compared: in as many languages as there are of an encyclopedia. */
const mostLabels = 1000

/** The first of the best. */
function preferred(terms: readonly Term[], languages: readonly string[]): Term | undefined {
  const ranks = terms.map((term) => languageRank(term, languages))
  return terms[ranks.indexOf(Math.min(...ranks))]
}

/** By URI its number, where that is known. */
async function labelsOf(
  named: ReadonlyMap<string, number | undefined>,
  reader: GraphReader,
  { books, sameness }: Books,
  languages: readonly string[] | undefined,
): Promise<Record<string, string>> {
  const most = languages === undefined ? 1 : mostLabels
  const literals = { most, accepts: ({ o }: Row) => !reader.term(o).e }
  const labels = await reader.each([...named], ([uri, known]) =>
    reader.run((taking) => {
      const id = known ?? reader.view.find({ v: uri, e: true })
      const found: Term[] = []
      // Things that are one are called alike.
      for (const member of sameness.membersOf(id)) {
        if (found.length >= most) break
        const rows = taking.rows(member, books.ids.label, ANY, literals)
        found.push(...rows.map(({ o }) => reader.term(o)))
      }
      const best = languages === undefined ? found[0] : preferred(found, languages)
      return best && ([uri, best.v] as const)
    }),
  )
  return Object.fromEntries(labels.filter((label) => label !== undefined))
}
