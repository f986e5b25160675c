// What clients of the reference system ask about cores as wholes.

import { LorekeepError } from '../../errors.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import type { JsonObject } from '../../types.js'
import { actingUser } from '../auth.js'
import type { Principal } from '../auth.js'
import { actsForAny, checkMayChange } from '../access.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { requestError } from '../target.js'
import { shown } from '../../door/wording.js'

interface KnowledgeServiceRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly defaultUser: string
}

export function knowledgeServiceRoutes(options: KnowledgeServiceRoutesOptions): readonly Route[] {
  const { prefix, knowledge, defaultUser } = options

  return [{ access: 'read', method: 'POST', path: `${prefix}/knowledge`, run: operate }]

  async function operate(exchange: Exchange): Promise<void> {
    const { request, response, principal } = exchange
    const body = await readJson(exchange, options)
    const user = namedUser(principal, body, defaultUser)
    const { operation, id } = body
    if (operation === 'list-kg-cores') {
      const ids: string[] = []
      for await (const { id } of knowledge.list({ user })) ids.push(id)
      await answerJson(request, response, 200, { ids })
      return
    }
    if (operation === 'delete-kg-core') {
      checkMayChange(principal)
      if (typeof id !== 'string') throw requestError('id', 'must be the id of a core')
      if (!(await knowledge.delete({ user, id }))) {
        throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
      }
      await answerJson(request, response, 200, {})
      return
    }
    throw requestError(
      'operation',
      'must be list-kg-cores or delete-kg-core; cores come in by import-core and go out by export-core',
    )
  }
}

/** Whose cores a body names: those of the default user where a token for anyone leaves it open. */
export function namedUser(principal: Principal, { user }: JsonObject, defaultUser: string): string {
  if (user !== undefined && user !== null && typeof user !== 'string') {
    throw requestError('user', `must be a string, not ${shown(user)}`)
  }
  return actingUser(principal, user ?? (actsForAny(principal) ? defaultUser : undefined))
}
