// The stores as one user has them, for assistants: of a data directory, or of a running server.

import type { UserStores } from '../../mcp/stores.js'
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

/** Assistants do not wait long for the end of a process that they have started. */
const stopTimeoutMs = 2000

export async function openUserStores(options: UserAccessOptions): Promise<UserAccess> {
  const { data, url, token, user, flow = 'default', config, create } = options
  const { userStores } = await import('../../mcp/stores.js')
  if (url !== undefined) {
    const { connectTo } = await import('./server-stores.js')
    const server = connectTo({ url, token, flow })
    return { stores: userStores(server, { user, flow }), run: () => {}, close: server.close }
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
