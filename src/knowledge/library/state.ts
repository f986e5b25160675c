// How much of a core, or of all that a user has, is indexed, and what that takes.

import { choose, type Choice } from '../../graph/index/chosen.js'
import { layoutOf } from '../../graph/index/layout.js'
import type { Part } from '../../graph/index/part.js'
import { withBlocks } from '../../graph/miss.js'
import type { IndexState, LibraryIndexState } from '../../graph/types.js'
import { areFollowed } from '../../graph/vectors/links.js'
import { columnOf } from '../../graph/words/columns.js'
import type { Waiting } from './library.js'

/** Vectors, or passages, that are looked at before others get their turn. */
const atOnce = 4096

/** Of one generation of a core. */
export async function stateOfCore(
  parts: readonly Part[],
  generation: string,
  waiting: readonly Waiting[],
  segments: number,
): Promise<IndexState> {
  const indexedSegments = segments - waiting.length
  return {
    state: indexedSegments === segments ? 'complete' : indexedSegments > 0 ? 'partial' : 'none',
    segments,
    indexedSegments,
    ...(await totalOf(parts, { only: [generation] })),
  }
}

/** Of all that a user has. */
export async function stateOfLibrary(
  parts: readonly Part[],
  retired: ReadonlySet<string>,
  waiting: readonly Waiting[],
): Promise<LibraryIndexState> {
  const bytes = waiting.reduce((sum, segment) => sum + segment.bytes, 0)
  const not = retired.size > 0 ? [...retired] : undefined
  const total = await totalOf(parts, { not })
  return {
    state: waiting.length === 0 ? 'complete' : parts.length > 0 ? 'partial' : 'none',
    waiting: { segments: waiting.length, bytes },
    ...total,
    // All of them lie there, also what nobody says any more.
    parts: parts.length,
    bytes: parts.reduce((sum, part) => sum + bytesOf(part), 0),
  }
}

type Total = Pick<
  IndexState,
  'triples' | 'vectors' | 'passages' | 'approximate' | 'parts' | 'bytes'
>

async function totalOf(parts: readonly Part[], choice: Choice): Promise<Total> {
  const total = { triples: 0, vectors: 0, passages: 0, approximate: 0, parts: 0, bytes: 0 }
  for (const part of parts) {
    const chosen = await choose(part, choice)
    if (chosen === undefined) continue
    const { vectors, passages, triples } = part.record
    total.parts++
    if (passages !== undefined) {
      const count = await countIn(part, passages.count, chosen.accepts)
      total.passages += count
      total.bytes += Math.round((bytesOf(part) * count) / passages.count)
      continue
    }
    if (vectors === undefined) {
      const rows = Math.min(triples, chosen.rows)
      total.triples += rows
      total.bytes += Math.round((bytesOf(part) * rows) / triples)
      continue
    }
    const count = await countIn(part, vectors.count, chosen.accepts)
    total.vectors += count
    if (areFollowed(vectors.links)) total.approximate += count
    total.bytes += Math.round((bytesOf(part) * count) / vectors.count)
  }
  return total
}

/** Vectors, or passages, that are seen. */
async function countIn(part: Part, all: number, accepts: Uint8Array | undefined): Promise<number> {
  const { passages } = part
  const placeOf = (n: number) => passages?.at(columnOf.place, n) ?? part.placeOfVector(n)
  if (accepts === undefined) return all
  let count = 0
  for (let from = 0; from < all; from += atOnce) {
    let n = from
    const to = Math.min(all, from + atOnce)
    await withBlocks(() => {
      for (; n < to; n++) count += accepts[placeOf(n)] as number
    })
  }
  return count
}

/** Of its file and its vectors, before they are packed. */
function bytesOf({ record }: Part): number {
  const { vectors } = record
  const floats = vectors === undefined ? 0 : 4 * vectors.dimensions * vectors.count + vectors.links
  return layoutOf(record).end + floats
}
