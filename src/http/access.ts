// What a principal may do, and what of cores it may ask. The stores have the rule of what is seen of
// objects, documents and jobs: they get the principal's scope.

import { LorekeepError } from '../errors.js'
import { flowSchemas } from '../objects/scope.js'
import type { Scope } from '../scope.js'
import type { JsonObject } from '../types.js'
import type { Principal } from './auth.js'
import { requestError } from './target.js'

/** What of all objects, documents and jobs this principal may see, and change. */
export function scopeOf({ user, collections, shared }: Principal): Scope {
  return {
    ...(collections !== undefined && { collections }),
    ...(user !== '*' && { user }),
    ...(shared !== undefined && { shared }),
  }
}

export function actsForAny({ user }: Principal): boolean {
  return user === '*'
}

function mayTouch({ collections }: Principal, collection: string): boolean {
  return collections === undefined || collections.includes(collection)
}

/** @throws LorekeepError `LK_HTTP_FORBIDDEN`, before anyone looked whether there is such a thing */
export function checkCollection(principal: Principal, collection: string): void {
  if (!mayTouch(principal, collection)) {
    throw forbidden(`collection '${collection}' is not one of this token's`)
  }
}

/** @throws LorekeepError `LK_HTTP_FORBIDDEN` */
export function checkMayChange({ access }: Principal): void {
  if (access === 'read') throw forbidden('this token may read, and change nothing')
}

/** The one collection that a question about cores is limited to; `undefined` is none. */
export function askedCollection(
  principal: Principal,
  named: string | undefined,
): string | undefined {
  if (named !== undefined) {
    checkCollection(principal, named)
    return named
  }
  if (principal.collections === undefined) return undefined
  const [only, another] = new Set(principal.collections)
  if (only === undefined) throw forbidden('this token is for no collection')
  if (another === undefined) return only
  throw requestError('collection', 'is missing, and this token is for several: name the one to ask')
}

/** What is no string is left to the store, which refuses it. */
export function checkImport(principal: Principal, { metadata, schema_name }: JsonObject): void {
  // Their ids can be computed: whoever took one would stand in the way of another's document.
  const isFlows = typeof schema_name === 'string' && schema_name.startsWith(flowSchemas)
  if (isFlows && !actsForAny(principal)) {
    throw forbidden(`schemas named ${flowSchemas}… are for what flows find`)
  }
  if (typeof metadata !== 'object' || metadata === null) return
  const { collection, user } = metadata as { collection?: unknown; user?: unknown }
  if (typeof collection === 'string') checkCollection(principal, collection)
  if (typeof user === 'string' && user !== principal.user && !actsForAny(principal)) {
    throw forbidden(`'metadata.user' is not the user of this token`)
  }
}

/** For what reaches beyond the objects of one user. */
export function checkActsForAny(principal: Principal): void {
  if (!actsForAny(principal))
    throw forbidden("only a token that acts for any user ('*') may do this")
}

/** For what reaches, or looks, into every collection. */
function checkAllCollections({ collections }: Principal): void {
  if (collections !== undefined) throw forbidden('only a token for all collections may do this')
}

/** For what holds for every user and every collection. */
export function checkUnlimited(principal: Principal): void {
  checkActsForAny(principal)
  checkAllCollections(principal)
}

export function forbidden(detail: string): LorekeepError {
  return new LorekeepError('LK_HTTP_FORBIDDEN', detail)
}
