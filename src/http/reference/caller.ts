// Whom a client of the reference system acts for.

import { shown } from '../../door/wording.js'
import type { JsonObject } from '../../types.js'
import { actsForAny } from '../access.js'
import { actingUser } from '../auth.js'
import type { Principal } from '../auth.js'
import { requestError } from '../target.js'

/** The workspace of clients that were told of none. */
const anyWorkspace = 'default'

/**
 * Whose cores a body names: its `user` or, from 2.4 on, its `workspace`. Where it names none, and in
 * the workspace `default`, it is the token's own user, and of a token for anyone the default user.
 * @throws LorekeepError `LK_HTTP_FORBIDDEN`, `LK_HTTP_REQUEST`
 */
export function namedUser(principal: Principal, body: JsonObject, defaultUser: string): string {
  const workspace = textOf(body, 'workspace')
  const named = textOf(body, 'user') ?? (workspace === anyWorkspace ? undefined : workspace)
  return actingUser(principal, named ?? (actsForAny(principal) ? defaultUser : undefined))
}

function textOf(body: JsonObject, name: string): string | undefined {
  const value = body[name]
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw requestError(name, `must be a string, not ${shown(value)}`)
}

/** Clients leave a member out by sending null. */
export function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}
