// Where a retrieval starts: the nearest entities, and the nearest passages of texts beside them.

import type { Vector } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { NearEntity } from '../types.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { GraphReader } from './reader.js'

export type Nearest = (
  vector: Vector,
  options: { readonly k: number; readonly signal: AbortSignal | undefined },
) => Promise<readonly NearEntity[]>

/** Something near; its id is `NONE` where no triple has it. */
export interface Near {
  readonly id: number
  readonly near: NearEntity
}

export interface RetrievalStart {
  readonly entities: readonly Near[]
  readonly passages: readonly Near[]
  /** The score of the last one that was looked at: nothing else with a vector is nearer. */
  readonly farthest: number
}

interface NearQuestion {
  readonly vector: Vector
  /** How many. */
  readonly entities: number
  readonly signal: AbortSignal | undefined
}

/** How many more are asked for than entities are wanted, at first, and at most. */
const first = 4
const most = 64

/**
 * Cores of flows have vectors of passages, too, and of these hundreds may be nearer than the
 * entities that the places are for. So more and more are asked for, until there are enough entities.
 */
export async function findNearest(
  nearest: Nearest,
  reader: GraphReader,
  books: Bookkeeping,
  { vector, entities: wanted, signal }: NearQuestion,
): Promise<RetrievalStart> {
  for (let factor = first; ; factor *= 4) {
    const k = wanted * factor
    const all = await nearest(vector, { k, signal })
    const found = await reader.each(all, (near) =>
      withBlocks(() => {
        const id = reader.view.find(near.entity)
        return { id, near, isPassage: books.isPassage(id) }
      }),
    )
    const entities = found.filter(({ isPassage }) => !isPassage)
    if (entities.length < wanted && all.length === k && factor < most) continue
    return {
      entities: entities.slice(0, wanted),
      passages: found.filter(({ isPassage }) => isPassage),
      farthest: all.at(-1)?.score ?? 0,
    }
  }
}
