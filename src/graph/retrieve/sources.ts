// Passages as they are told: with what their cores say of them.

import { languageRank } from '../../terms.js'
import type { Term } from '../../types.js'
import type { GraphSource } from '../types.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { Retrieval } from './query.js'
import type { Row, Taking } from '../taking.js'
import type { GraphReader } from './reader.js'

export interface SourceParts {
  /** The id of a core that says so: the first, where several do. May throw a Miss. */
  readonly coreOf: (s: number, p: number, o: number) => string
}

/** A passage before it is read. */
export interface SourceCandidate extends Pick<GraphSource, 'score' | 'legs' | 'via' | 'entities'> {
  readonly id: number
  /** A core that says it, or else what says that it is a source. */
  readonly core: string | undefined
  readonly from: Row | undefined
}

/** Passages of which the language is looked up, for each that is told. */
const looksForEach = 4

/**
 * The first of these, at most `most`. Where languages are asked for, passages of documents in these come first,
 * then those of which no language is known; in each in the order that they have.
 */
export async function readSources(
  parts: SourceParts,
  reader: GraphReader,
  books: Bookkeeping,
  candidates: readonly SourceCandidate[],
  { entities: most, languages }: Pick<Retrieval, 'entities' | 'languages'>,
): Promise<GraphSource[]> {
  const best = languages === undefined ? candidates : await inLanguages(languages)
  return reader.each(best.slice(0, most), describe)

  async function inLanguages(ranges: readonly string[]): Promise<SourceCandidate[]> {
    const some = candidates.slice(0, looksForEach * most)
    const ranked = await reader.each(some, (each) =>
      reader.run((taking) => {
        const ln = languageOf(taking, each.id, documentIdOf(taking, each.id))
        return { each, rank: languageRank({ v: '', e: false, ...(ln && { ln }) }, ranges) }
      }),
    )
    return ranked.sort((a, b) => a.rank - b.rank).map(({ each }) => each)
  }

  function describe(candidate: SourceCandidate): GraphSource | Promise<GraphSource> {
    return reader.run((taking) => {
      const { id, from, score, legs, via, entities } = candidate
      const core = candidate.core ?? parts.coreOf(...placesOf(from as Row))
      const documentId = documentIdOf(taking, id)
      const document = documentId === undefined ? undefined : reader.term(documentId)
      const title = titleOf(taking, documentId ?? id)
      const language = languageOf(taking, id, documentId)
      const start = literalOf(taking, id, books.roles.begin, isOffset)
      const end = literalOf(taking, id, books.roles.end, isOffset)
      const heading = literalOf(taking, id, books.roles.heading, isLiteral)
      const page = literalOf(taking, id, books.roles.page, isOffset)
      const text = literalOf(taking, id, books.roles.text, isLiteral)
      return {
        chunk: reader.term(id),
        ...(document !== undefined && { document }),
        ...(title !== undefined && { title }),
        ...(language !== undefined && { language }),
        core,
        ...(heading !== undefined && { heading }),
        ...(page !== undefined && { page: Number(page) }),
        ...(start !== undefined && { start: Number(start) }),
        ...(end !== undefined && { end: Number(end) }),
        ...(text !== undefined && { text }),
        score,
        legs,
        via,
        entities,
      }
    })
  }

  /** Of a passage or its document, where the core says so: a tag. */
  function languageOf(
    taking: Taking,
    id: number,
    document: number | undefined,
  ): string | undefined {
    const { language, inLanguage, dcLanguage } = books.ids
    for (const each of document === undefined ? [id] : [id, document]) {
      const tag = literalOf(taking, each, [language, inLanguage, dcLanguage], isLanguage)
      if (tag !== undefined) return tag
    }
    return undefined
  }

  function titleOf(taking: Taking, id: number): string | undefined {
    return literalOf(taking, id, [...books.roles.title, books.ids.label], isLiteral)
  }

  function documentIdOf(taking: Taking, id: number): number | undefined {
    const isOther = ({ o }: Row) => o !== id && reader.term(o).e
    for (const p of [books.ids.wasDerivedFrom, ...books.roles.partOf]) {
      const document = taking.object(id, p, isOther)
      if (document !== undefined) return document
    }
    // In cores of the reference system entities are the subject of the document itself.
    const { type, DigitalDocument } = books.ids
    return reader.view.has(id, type, DigitalDocument) ? id : undefined
  }

  /** The first that a passage has by the first of these predicates that gives one. */
  function literalOf(
    taking: Taking,
    id: number,
    predicates: readonly number[],
    is: (term: Term) => boolean,
  ): string | undefined {
    for (const p of predicates) {
      const object = taking.object(id, p, ({ o }) => is(reader.term(o)))
      if (object !== undefined) return reader.term(object).v
    }
    return undefined
  }
}

const isLiteral = ({ e }: Term) => !e

const isLanguage = ({ v, e }: Term) => !e && /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(v)

function isOffset({ v, e }: Term): boolean {
  return !e && /^\d{1,15}$/.test(v)
}

function placesOf({ s, p, o }: Row): [number, number, number] {
  return [s, p, o]
}
