// Passages by vectors: the nearest themselves, and those that the nearest entities were derived from.

import type { Sameness } from '../same/sameness.js'
import type { NearEntity } from '../types.js'
import { ANY } from '../view.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { RetrievalStart } from './nearest.js'
import type { Row } from '../taking.js'
import type { GraphReader } from './reader.js'
import type { SourceCandidate } from './sources.js'

/** Passages that one entity contributes by each predicate: some are on every page. */
const mostOfEntity = 1000

interface Near {
  readonly id: number
  /** How near it is itself, where it is among the nearest. */
  readonly own: NearEntity | undefined
  /** What says that it is a source, where it is one of an entity. */
  readonly from: Row | undefined
  /** Nearest first. */
  readonly entities: NearEntity[]
}

/**
 * The score is the mean of two cosines, that of the passage and that of its nearest entity: by its
 * own alone, a passage that names what was asked for once among a hundred other things is as far
 * away as any other; by its entities' alone, all of those that name it are equally near. Where one
 * of the two is not known, because it is not among the nearest, it counts as the farthest of those.
 * Where no passage is among the nearest, or no entity, the other alone is the score.
 */
export async function nearPassages(
  reader: GraphReader,
  { books, sameness }: { readonly books: Bookkeeping; readonly sameness: Sameness },
  found: RetrievalStart,
): Promise<SourceCandidate[]> {
  const passages = new Map<number, Near>()
  for (const { id, near: own } of found.passages) {
    passages.set(id, { id, own, from: undefined, entities: [] })
  }
  const uris = { most: mostOfEntity, accepts: ({ o }: Row) => reader.term(o).e }
  const origins = await reader.each(found.entities, ({ id, near }) =>
    reader.run((taking) => {
      const rows = sameness
        .membersOf(id)
        .flatMap((member) => books.roles.from.flatMap((p) => taking.rows(member, p, ANY, uris)))
      return { near, rows }
    }),
  )
  for (const { near, rows } of origins) {
    for (const from of rows) {
      const known = passages.get(from.o)
      const passage = known ?? { id: from.o, own: undefined, from, entities: [] }
      if (passage.entities.at(-1) !== near) passage.entities.push(near)
      passages.set(from.o, passage)
    }
  }
  const scored = [...passages.values()].map((passage) => ({
    passage,
    score: scoreOf(passage, found),
    entities: passage.entities.reduce((sum, { score }) => sum + score, 0),
  }))
  // Equally near: what more entities speak for. The sort is stable.
  scored.sort((a, b) => b.score - a.score || b.entities - a.entities)
  return scored.map(({ passage: { id, own, from, entities }, score }, n) => ({
    id,
    core: own?.core,
    from,
    score,
    legs: { vectors: { rank: n + 1, score } },
    via: [],
    entities: entities.map(({ entity }) => entity),
  }))
}

function scoreOf({ own, entities }: Near, found: RetrievalStart): number {
  const ofEntity = entities[0]?.score ?? found.entities.at(-1)?.near.score
  const ofPassage = own?.score ?? (found.passages.length > 0 ? found.farthest : undefined)
  if (ofPassage === undefined || ofEntity === undefined) return ofPassage ?? ofEntity ?? 0
  return (ofPassage + ofEntity) / 2
}
