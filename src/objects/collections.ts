// What is told of collections, and what a change of one requires.

import { checkConditions, type ChangeConditions } from '../conditions.js'
import { brief } from '../door/wording.js'
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
