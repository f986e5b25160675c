// What is told of collections, and what a change of one requires.

import { checkConditions, timeAfter, type ChangeConditions } from '../conditions.js'
import { brief } from '../door/wording.js'
import type { Draft } from './engine/draft.js'
import type { CollectionRecord } from './engine/records.js'
import type { State } from './engine/state.js'
import type { CollectionStat } from './types.js'

export function statsOf({ collections }: State): CollectionStat[] {
  return [...collections].map(([name, { created_at, schemas }]) => ({
    name,
    objects: Object.values(schemas).reduce((sum, count) => sum + count, 0),
    schemas: { ...schemas },
    created_at,
    version: versionOfCollection(created_at),
  }))
}

/** One that is being deleted is there no more, unless it was made anew since. */
export function collectionThere(draft: Draft, name: string): CollectionRecord | undefined {
  const known = draft.collection(name)
  return known?.deleting !== undefined && known.isKept !== true ? undefined : known
}

/** Makes the collection where it is not there: also one that is being deleted, which stays then. */
export function makeCollection(draft: Draft, name: string): void {
  if (collectionThere(draft, name) !== undefined) return
  const going = draft.collection(name)
  if (going === undefined) return draft.createCollection(name)
  const created_at = timeAfter(going.created_at, draft.now)
  draft.setCollection(name, { ...going, created_at, isKept: true })
}

/** @throws LorekeepError `LK_PRECONDITION` */
export function checkCollectionIs(
  conditions: ChangeConditions | undefined,
  name: string,
  there: { readonly created_at: string } | undefined,
): void {
  const now = there && {
    version: versionOfCollection(there.created_at),
    updatedAt: there.created_at,
  }
  checkConditions(conditions, now, `the collection ${brief(name)}`)
}

const versionOfCollection = (createdAt: string) => Date.parse(createdAt).toString(36)
