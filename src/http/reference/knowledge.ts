// What clients of the reference system do with cores as wholes.

import { own } from '../../door/members.js'
import { LorekeepError } from '../../errors.js'
import type { CoreRef, KnowledgeStore } from '../../knowledge/types.js'
import type { JsonObject } from '../../types.js'
import { checkCollection, checkMayChange } from '../access.js'
import type { Principal } from '../auth.js'
import { checkFlow } from './flows.js'
import type { HasFlow } from './flows.js'
import { requestError } from '../target.js'
import { namedUser, withoutNulls } from './caller.js'

export interface KnowledgeServiceParts {
  readonly knowledge: KnowledgeStore
  readonly hasFlow: HasFlow
  readonly defaultUser: string
}

/** Answers an operation with what becomes JSON. @throws LorekeepError */
export type KnowledgeService = (principal: Principal, body: JsonObject) => Promise<object>

/** `elsewhere` says what to do for the operations that are not here. */
export function createKnowledgeService(
  { knowledge, hasFlow, defaultUser }: KnowledgeServiceParts,
  elsewhere: string,
): KnowledgeService {
  const operations = {
    'list-kg-cores': listCores,
    'delete-kg-core': deleteCore,
    'load-kg-core': loadCore,
    'unload-kg-core': loadCore,
  }

  return async (principal, sent) => {
    const body = withoutNulls(sent)
    const user = namedUser(principal, body, defaultUser)
    const operate = own<Operate>(operations, String(body['operation']))
    if (operate !== undefined && typeof body['operation'] === 'string') {
      return operate(principal, body, user)
    }
    const names = Object.keys(operations).join(', ')
    throw requestError('operation', `must be one of ${names}; ${elsewhere}`)
  }

  async function listCores(_: Principal, __: JsonObject, user: string): Promise<object> {
    const ids: string[] = []
    for await (const { id } of knowledge.list({ user })) ids.push(id)
    return { ids }
  }

  async function deleteCore(principal: Principal, body: JsonObject, user: string): Promise<object> {
    checkMayChange(principal)
    const ref = refOf(body, user)
    if (!(await knowledge.delete(ref))) throw noCore(ref)
    return {}
  }

  /** A core here can be asked as soon as it is there: nothing has to be loaded into a flow. */
  async function loadCore(principal: Principal, body: JsonObject, user: string): Promise<object> {
    const { flow = 'default', collection } = body
    if (typeof flow !== 'string') throw requestError('flow', 'must be the id of a flow')
    if (typeof collection === 'string') checkCollection(principal, collection)
    await checkFlow(hasFlow, flow)
    const ref = refOf(body, user)
    if ((await knowledge.stat(ref)) === undefined) throw noCore(ref)
    return {}
  }
}

type Operate = (principal: Principal, body: JsonObject, user: string) => Promise<object>

/** @throws LorekeepError `LK_HTTP_REQUEST` */
export function refOf({ id }: JsonObject, user: string): CoreRef {
  if (typeof id !== 'string') throw requestError('id', 'must be the id of a core')
  return { user, id }
}

function noCore({ user, id }: CoreRef): LorekeepError {
  return new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
