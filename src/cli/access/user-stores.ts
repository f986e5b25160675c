// The stores as one user has them, for assistants: of a data directory, or of a running server.

import type { UserStores } from '../../mcp/stores.js'
import type { ObjectQuery } from '../../objects/types.js'
import type { AccessOptions } from './access.js'

export interface UserAccess {
  readonly stores: UserStores
  /** Processes what is loaded, until it is closed; a server does so by itself. */
  run(): void
  close(): Promise<void>
}

export interface UserAccessOptions extends AccessOptions {
  readonly user: string
  /** Whether a data directory that does not exist is made. */
  readonly create: boolean
}

/** To a token that acts for any user the objects of all are there. */
function ofUser(query: ObjectQuery, user: string): ObjectQuery {
  const { filters } = query
  const own = { _user: user }
  return { ...query, filters: filters === undefined ? own : { $and: [filters, own] } }
}

/** Assistants do not wait long for the end of a process that they have started. */
const stopTimeoutMs = 2000

export async function openUserStores(options: UserAccessOptions): Promise<UserAccess> {
  const { data, url, token, user, flow = 'default', config, create } = options
  const { userStores } = await import('../../mcp/stores.js')
  if (url !== undefined) {
    const { actsForAny, connectTo } = await import('./server-stores.js')
    const at = { url, token, flow }
    const server = connectTo(at)
    const stores = userStores(server, { user, flow })
    let isForAny: boolean | undefined
    const query = async (asked: ObjectQuery) => {
      isForAny ??= await actsForAny(at)
      return stores.query(isForAny ? ofUser(asked, user) : asked)
    }
    return { stores: { ...stores, query }, run: () => {}, close: server.close }
  }
  const { openLocalStore } = await import('./local-store.js')
  const keep = await openLocalStore(data, create, config)
  let stopped = async () => {}
  return {
    stores: userStores(keep, { user, flow, scope: { user } }),
    run() {
      const runner = keep.flows.run()
      stopped = () => runner.stop({ timeoutMs: stopTimeoutMs })
    },
    async close() {
      await stopped()
      await keep.close()
    },
  }
}
