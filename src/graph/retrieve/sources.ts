// Where the nearest entities were said: passages of documents, the best first.

import { languageRank } from '../../terms.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { GraphSource, NearEntity } from '../types.js'
import { ANY } from '../view.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { Retrieval } from './query.js'
import type { RetrievalStart } from './nearest.js'
import type { GraphReader, Row } from './reader.js'

export interface SourceParts {
  /** The id of a core that says so: the first, where several do. May throw a Miss. */
  readonly coreOf: (s: number, p: number, o: number) => string
}

interface Candidate {
  readonly id: number
  /** How near it is itself, where it is among the nearest. */
  readonly own: NearEntity | undefined
  /** What says that it is a source, where it is one of an entity. */
  readonly from: Row | undefined
  /** Nearest first. */
  readonly entities: NearEntity[]
}

/** Passages of which the language is looked up, for each that is told. */
const looksForEach = 4

/** Passages that one entity contributes by each predicate: some are on every page. */
const mostOfEntity = 1000

/**
 * The passages that are near themselves, and those that the entities were derived from or are the
 * subject of; at most `most`.
 *
 * The score is the mean of two cosines, that of the passage and that of its nearest entity: by its
 * own alone, a passage that names what was asked for once among a hundred other things is as far
 * away as any other; by its entities' alone, all of those that name it are equally near. Where one
 * of the two is not known, because it is not among the nearest, it counts as the farthest of those.
 * Where no passage is among the nearest, or no entity, the other alone is the score.
 *
 * Where languages are asked for, passages of documents in these come first, then those of which no
 * language is known; in each the nearest first.
 */
export async function findSources(
  parts: SourceParts,
  reader: GraphReader,
  books: Bookkeeping,
  found: RetrievalStart,
  { entities: most, languages }: Pick<Retrieval, 'entities' | 'languages'>,
): Promise<GraphSource[]> {
  const candidates = new Map<number, Candidate>()
  for (const { id, near: own } of found.passages) {
    candidates.set(id, { id, own, from: undefined, entities: [] })
  }
  const { wasDerivedFrom, subjectOf } = books.ids
  const uris = { most: mostOfEntity, accepts: ({ o }: Row) => reader.term(o).e }
  const origins = await reader.each(found.entities, async ({ id, near }) => {
    const rows = [
      ...(await reader.take(id, wasDerivedFrom, ANY, uris)),
      ...(await reader.take(id, subjectOf, ANY, uris)),
    ]
    return { near, rows }
  })
  for (const { near, rows } of origins) {
    for (const from of rows) {
      const known = candidates.get(from.o)
      const candidate = known ?? { id: from.o, own: undefined, from, entities: [] }
      if (candidate.entities.at(-1) !== near) candidate.entities.push(near)
      candidates.set(from.o, candidate)
    }
  }
  const scored = [...candidates.values()].map((candidate) => ({
    candidate,
    score: scoreOf(candidate, found),
    entities: candidate.entities.reduce((sum, { score }) => sum + score, 0),
  }))
  // Equally near: what more entities speak for. The sort is stable.
  scored.sort((a, b) => b.score - a.score || b.entities - a.entities)
  const best = languages === undefined ? scored : await inLanguages(scored, languages)
  return reader.each(best.slice(0, most), ({ candidate, score }) => describe(candidate, score))

  /** The nearest, those in the languages before others. */
  async function inLanguages(
    nearest: typeof scored,
    ranges: readonly string[],
  ): Promise<typeof scored> {
    const ranked = await reader.each(nearest.slice(0, looksForEach * most), async (each) => {
      const ln = await languageOf(each.candidate.id)
      return { each, rank: languageRank({ v: '', e: false, ...(ln && { ln }) }, ranges) }
    })
    return ranked.sort((a, b) => a.rank - b.rank).map(({ each }) => each)
  }

  /** Of a passage or its document, where the core says so: a tag. */
  async function languageOf(id: number): Promise<string | undefined> {
    const document = await documentIdOf(id)
    for (const each of document === undefined ? [id] : [id, document]) {
      for (const p of [books.ids.language, books.ids.inLanguage, books.ids.dcLanguage]) {
        const tag = await literalOf(each, p, isLanguage)
        if (tag !== undefined) return tag
      }
    }
    return undefined
  }

  async function describe(candidate: Candidate, score: number): Promise<GraphSource> {
    const { id, own, from } = candidate
    const chunk = await withBlocks(() => reader.term(id))
    const core = own?.core ?? (await withBlocks(() => parts.coreOf(...placesOf(from as Row))))
    const documentId = await documentIdOf(id)
    const document =
      documentId === undefined ? undefined : await withBlocks(() => reader.term(documentId))
    const language = await languageOf(id)
    const start = await literalOf(id, books.ids.beginIndex, isOffset)
    const end = await literalOf(id, books.ids.endIndex, isOffset)
    const heading = await literalOf(id, books.ids.articleSection, isLiteral)
    const page = await literalOf(id, books.ids.pageStart, isOffset)
    const text = await literalOf(id, books.ids.text, isLiteral)
    return {
      chunk,
      ...(document !== undefined && { document }),
      ...(language !== undefined && { language }),
      core,
      ...(heading !== undefined && { heading }),
      ...(page !== undefined && { page: Number(page) }),
      ...(start !== undefined && { start: Number(start) }),
      ...(end !== undefined && { end: Number(end) }),
      ...(text !== undefined && { text }),
      score,
      entities: candidate.entities.map(({ entity }) => entity),
    }
  }

  async function documentIdOf(id: number): Promise<number | undefined> {
    const accepts = ({ o }: Row) => o !== id && reader.term(o).e
    for (const p of [wasDerivedFrom, books.ids.isPartOf]) {
      const [row] = await reader.take(id, p, ANY, { most: 1, accepts })
      if (row !== undefined) return row.o
    }
    // In cores of the reference system entities are the subject of the document itself.
    const { type, DigitalDocument } = books.ids
    const isOne = await withBlocks(() => reader.view.has(id, type, DigitalDocument))
    return isOne ? id : undefined
  }

  /** The first that a passage has by this predicate. */
  async function literalOf(
    id: number,
    p: number,
    is: (term: Term) => boolean,
  ): Promise<string | undefined> {
    const [row] = await reader.take(id, p, ANY, { most: 1, accepts: ({ o }) => is(reader.term(o)) })
    return row && (await withBlocks(() => reader.term(row.o))).v
  }
}

function scoreOf({ own, entities }: Candidate, found: RetrievalStart): number {
  const ofEntity = entities[0]?.score ?? found.entities.at(-1)?.near.score
  const ofPassage = own?.score ?? (found.passages.length > 0 ? found.farthest : undefined)
  if (ofPassage === undefined || ofEntity === undefined) return ofPassage ?? ofEntity ?? 0
  return (ofPassage + ofEntity) / 2
}

const isLiteral = ({ e }: Term) => !e

const isLanguage = ({ v, e }: Term) => !e && /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(v)

function isOffset({ v, e }: Term): boolean {
  return !e && /^\d{1,15}$/.test(v)
}

function placesOf({ s, p, o }: Row): [number, number, number] {
  return [s, p, o]
}
