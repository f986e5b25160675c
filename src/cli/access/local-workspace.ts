import { coresIn } from './local-cores.js'
import { flowsIn } from './local-flows.js'
import { openLocalStore } from './local-store.js'
import type { WorkspaceAccess } from './workspace-access.js'

export async function openLocalWorkspace(
  data: string,
  flow: string,
  create: boolean,
): Promise<WorkspaceAccess> {
  const keep = await openLocalStore(data, create)
  return {
    cores: coresIn(keep),
    flows: flowsIn(keep, flow),
    maxJobs: undefined,
    close: keep.close,
  }
}
