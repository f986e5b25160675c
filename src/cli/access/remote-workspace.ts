import { openRemoteCores } from './remote-cores.js'
import { openRemoteFlows } from './remote-flows.js'
import type { WorkspaceAccess } from './workspace-access.js'

export function openRemoteWorkspace(
  url: URL,
  token: string | undefined,
  flow: string,
): WorkspaceAccess {
  return {
    cores: openRemoteCores(url, token),
    flows: openRemoteFlows(url, token, flow),
    maxJobs: 1000,
    async close() {},
  }
}
