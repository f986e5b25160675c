// What somebody sees of the objects of a schema, as a condition of their queries.

import type { Scope } from '../../scope.js'
import type { ParsedCondition } from '../filter/condition.js'
import { equals, isOneOf, makeTest } from '../filter/tests.js'
import { sharedIn } from '../scope.js'

export interface Seen {
  /** Tells one from another. */
  readonly name: string
  readonly condition: ParsedCondition
}

/** `undefined` where it is all. Not by way of a filter: there may be more collections than one may name. */
export function seenCondition(scope: Scope, schema: string): Seen | undefined {
  const { collections, user } = scope
  if (collections === undefined && user === undefined) return undefined
  const shared = sharedIn(scope, schema)
  const conditions: ParsedCondition[] = []
  if (collections !== undefined) conditions.push(isIn(collections))
  if (user !== undefined) {
    const isOwner = makeTest(['_user'], false, '$eq', user, equals(user))
    conditions.push(
      shared.length === 0 ? isOwner : { type: 'or', conditions: [isOwner, isIn(shared)] },
    )
  }
  const name = JSON.stringify([collections ?? null, user ?? null, shared])
  const [only] = conditions
  return { name, condition: conditions.length === 1 && only ? only : { type: 'and', conditions } }
}

function isIn(collections: readonly string[]): ParsedCondition {
  return makeTest(['_collection'], false, '$in', collections, isOneOf(collections))
}
