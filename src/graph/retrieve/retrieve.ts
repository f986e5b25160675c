// The retrieval half of GraphRAG: the part of a graph that speaks of a question.

import { languageRank } from '../../terms.js'
import type { Term, Triple } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { Subgraph } from '../types.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { Bookkeeping } from './bookkeeping.js'
import { expand } from './expansion.js'
import { findNearest, type Nearest } from './nearest.js'
import type { Retrieval } from './query.js'
import { GraphReader, type Row } from './reader.js'
import { findSources, type SourceParts } from './sources.js'

export interface RetrieveParts extends SourceParts {
  readonly view: GraphView
  /** Of the same version of the same cores as the view. */
  readonly nearest: Nearest
}

/**
 * The nearest entities, and breadth first the triples around them: all about the nearest ones
 * before any of the next level. As in the reference system, literals and the names of predicates
 * are not gone on from, and labels are not triples of the subgraph but stand beside it.
 *
 * Knowledge alone fills the limits. Of an entity that a flow found, most triples say which passages
 * it was derived from, and of a passage all say where it lies: these become `sources`, at most as
 * many as entities. Passages that have vectors are sources as well, and take no entity's place.
 *
 * The same question to the same version of the same cores has the same answer.
 */
export async function retrieve(parts: RetrieveParts, retrieval: Retrieval): Promise<Subgraph> {
  const { view, nearest } = parts
  const reader = new GraphReader(view, retrieval.signal)
  const books = await Bookkeeping.of(view)
  const found = await findNearest(nearest, reader, books, retrieval)
  const known = found.entities.map(({ id }) => id).filter((id) => id !== NONE)
  const rows = await expand(reader, books, known, retrieval)
  const triples = await reader.each(rows, ({ s, p, o }) =>
    withBlocks((): Triple => ({ s: reader.term(s), p: reader.term(p), o: reader.term(o) })),
  )
  const sources = await findSources(parts, reader, books, found, retrieval)
  const entities = found.entities.map(({ near }) => near)
  const named = [
    ...entities.map(({ entity }) => entity),
    ...triples.flatMap(({ s, p, o }) => [s, p, o]),
    ...sources.flatMap(({ document = [] }) => document),
  ]
  const labels = await labelsOf(named, reader, books, retrieval.languages)
  return { entities, triples, labels, sources }
}

/** Names of one thing that are compared: in as many languages as there are of an encyclopedia. */
const mostLabels = 1000

/** The first of the best. */
function preferred(terms: readonly Term[], languages: readonly string[]): Term | undefined {
  const ranks = terms.map((term) => languageRank(term, languages))
  return terms[ranks.indexOf(Math.min(...ranks))]
}

async function labelsOf(
  terms: readonly Term[],
  reader: GraphReader,
  books: Bookkeeping,
  languages: readonly string[] | undefined,
): Promise<Record<string, string>> {
  const uris = new Set(terms.filter(({ e }) => e).map(({ v }) => v))
  const most = languages === undefined ? 1 : mostLabels
  const literals = { most, accepts: ({ o }: Row) => !reader.term(o).e }
  const labels = await reader.each([...uris], async (uri) => {
    const id = await withBlocks(() => reader.view.find({ v: uri, e: true }))
    const rows = await reader.take(id, books.ids.label, ANY, literals)
    const found = await withBlocks(() => rows.map(({ o }) => reader.term(o)))
    const best = languages === undefined ? found[0] : preferred(found, languages)
    return best && ([uri, best.v] as const)
  })
  return Object.fromEntries(labels.filter((label) => label !== undefined))
}
