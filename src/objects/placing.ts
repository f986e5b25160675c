// Which lane a collection lies in. A new one goes to the lane with the fewest, where several processes share the
// storage, and to lane 0 elsewhere; it stays there until it is deleted.

import type { Committer } from './engine/committer.js'
import type { Draft } from './engine/draft.js'
import type { Change } from './engine/lane-queue.js'
import { laneCount } from './engine/lanes.js'
import type { State } from './engine/state.js'

/** A turn at making collections: without, several that come at the same time would go to one lane. */
export type Placing = () => Promise<() => void>

/** Thrown in the lane that a collection is not in, or not any more. */
class Elsewhere extends Error {}

/**
 * A change of one collection, in its lane. Where there is no such collection, that was so at some moment since the
 * call, and the lane is that of one that is made now.
 */
export async function commitIn<Result>(
  committer: Committer,
  collection: string,
  placing: Placing,
  change: Change<Result>,
  member = committer.member,
): Promise<Result> {
  for (;;) {
    try {
      const known = committer.known.collections.get(collection)
      if (known !== undefined || !committer.isShared) {
        const isThere = known !== undefined && committer.isShared
        const inIts = inLane(collection, isThere, change)
        return await committer.commit(inIts, known?.lane ?? 0, member)
      }
      const end = await placing()
      try {
        const state = await committer.look()
        const lane = state.collections.get(collection)?.lane ?? fewest(state)
        return await committer.commit(inLane(collection, false, change), lane, member)
      } finally {
        end()
      }
    } catch (error) {
      if (!(error instanceof Elsewhere)) throw error
    }
  }
}

/** @param isThere others may have made it anew, in another lane, where it is gone from this one */
function inLane<Result>(
  collection: string,
  isThere: boolean,
  change: Change<Result>,
): Change<Result> {
  return async (draft: Draft) => {
    const record = draft.collection(collection)
    const isElsewhere = record === undefined ? isThere : (record.lane ?? 0) !== draft.lane
    if (isElsewhere) throw new Elsewhere()
    return change(draft)
  }
}

function fewest({ collections }: State): number {
  const counts: number[] = new Array(laneCount).fill(0)
  for (const { lane = 0 } of collections.values()) counts[lane]!++
  return counts.indexOf(Math.min(...counts))
}
