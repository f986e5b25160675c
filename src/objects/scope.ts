// What of all objects somebody may see, and change: those that are private to others are not there.

import { brief } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import { isOwn, outsideOf, type Owned, type Scope } from '../scope.js'

/** What the schemas of the flows' own step `index` begin with: texts of users, which nobody shares. */
export const flowSchemas = 'lorekeep_'

export function isSeen(scope: Scope, { user, collection }: Owned, schema: string): boolean {
  if (scope.collections?.includes(collection) === false) return false
  if (scope.user === undefined || scope.user === user) return true
  return sharedIn(scope, schema).includes(collection)
}

/**
 * Whether it may be changed; false where it is not there for whoever asks.
 * @throws LorekeepError `LK_OBJECT_ACCESS` where it may be read, and no more
 */
export function isChangeable(
  scope: Scope,
  owned: Owned & { id: unknown },
  schema: string,
): boolean {
  if (!isSeen(scope, owned, schema)) return false
  checkOwners(scope, [owned])
  return true
}

/** Of an import. @throws LorekeepError `LK_OBJECT_ACCESS` where it goes elsewhere, or is another's */
export function checkTarget(scope: Scope, target: Owned, count: number): void {
  const outside = outsideOf(scope, target)
  if (outside === undefined) return
  throw new LorekeepError('LK_OBJECT_ACCESS', outside, { details: { ids: [], count } })
}

/** @throws LorekeepError `LK_OBJECT_ACCESS` where some are another user's, or lie elsewhere */
export function checkOwners(scope: Scope, rows: readonly (Owned & { id: unknown })[]): void {
  const others = rows.filter((row) => !isOwn(scope, row))
  if (others.length === 0) return
  const ids = others.slice(0, 100).map(({ id }) => id)
  throw new LorekeepError('LK_OBJECT_ACCESS', `${brief(ids[0])} is another user's`, {
    details: { ids, count: others.length },
  })
}

/** Collections whose objects of other users may be read. */
export function sharedIn({ shared = [] }: Scope, schema: string): readonly string[] {
  return schema.startsWith(flowSchemas) ? [] : shared
}
