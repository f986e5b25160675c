// Texts that clients of the reference system load into a flow.

import type { TextDocument } from '../../flow/types.js'
import type { JsonObject } from '../../types.js'
import type { Principal } from '../auth.js'
import { namedUser } from './caller.js'
import { plainTriples } from './terms.js'

/**
 * The document, with what newer clients say in other words: the workspace in place of the user, and
 * metadata in typed terms.
 */
export function documentOf(principal: Principal, body: JsonObject): TextDocument {
  const { workspace, metadata, user, ...rest } = body
  const named = user ?? (workspace === undefined ? undefined : namedWorkspace(principal, workspace))
  const document = {
    ...rest,
    ...(named !== undefined && { user: named }),
    ...(metadata !== undefined && { metadata: plainTriples(metadata) }),
  }
  return document as unknown as TextDocument
}

/** Undefined where it is nobody's in particular. */
function namedWorkspace(principal: Principal, workspace: unknown): string | undefined {
  const body = { workspace } as JsonObject
  const user = namedUser(principal, body, '')
  return user === '' ? undefined : user
}
