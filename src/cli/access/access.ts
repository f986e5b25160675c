// Where a command works: `--data`, or `--url`, `--token` and `--flow`. What the one needs is not
// loaded for the other: a store takes 130 ms to load.

import { referenceUser } from '../../defaults.js'
import { variable } from '../config/environment.js'
import type { CoreAccess } from './core-access.js'
import type { FlowAccess } from './flow-access.js'
import type { GraphAccess } from './graph-access.js'
import type { ObjectAccess } from './object-access.js'
import type { WorkspaceAccess } from './workspace-access.js'

export interface AccessOptions {
  readonly data: string
  readonly url?: URL
  readonly token?: string
  /** Whose documents and jobs; of objects, whose paths are used on a server. */
  readonly flow?: string
  /** In a directory, the config file that a server of it would have. */
  readonly config?: string
}

interface Closable {
  close(): Promise<void>
}

interface OpenOptions {
  /** A data directory that does not exist is made; else that is an error. */
  readonly create: boolean
}

/** Whose things are meant where no user is named. */
export async function ownUser({ url, token, config }: AccessOptions): Promise<string> {
  const named = variable('LOREKEEP_USER')
  if (named !== undefined) return named
  if (url === undefined) {
    if (config === undefined) return referenceUser
    const { readConfig } = await import('../config/config.js')
    return (await readConfig(config)).defaultUser ?? referenceUser
  }
  const { ServerClient } = await import('./server-client.js')
  return new ServerClient(url, token).ownUser()
}

export const withCores = opening(openCores)
export const withObjects = opening(openObjects)
export const withFlows = opening(openFlows)
export const withWorkspace = opening(openWorkspace)

async function openCores(
  { data, url, token }: AccessOptions,
  create: boolean,
): Promise<CoreAccess> {
  if (url !== undefined) {
    const { openRemoteCores } = await import('./remote-cores.js')
    return openRemoteCores(url, token)
  }
  const { openLocalCores } = await import('./local-cores.js')
  return openLocalCores(data, create)
}

async function openObjects(
  { data, url, token, flow = 'default' }: AccessOptions,
  create: boolean,
): Promise<ObjectAccess> {
  if (url !== undefined) {
    const { openRemoteObjects } = await import('./remote-objects.js')
    return openRemoteObjects(url, token, flow)
  }
  const { openLocalObjects } = await import('./local-objects.js')
  return openLocalObjects(data, create)
}

async function openFlows(
  { data, url, token, flow = 'default', config }: AccessOptions,
  create: boolean,
): Promise<FlowAccess> {
  if (url !== undefined) {
    const { openRemoteFlows } = await import('./remote-flows.js')
    return openRemoteFlows(url, token, flow)
  }
  const { openLocalFlows } = await import('./local-flows.js')
  return openLocalFlows(data, flow, create, config)
}

async function openWorkspace(options: AccessOptions, create: boolean): Promise<WorkspaceAccess> {
  const { data, url, token, flow = 'default' } = options
  if (url !== undefined) {
    const { openRemoteWorkspace } = await import('./remote-workspace.js')
    return openRemoteWorkspace(url, token, flow)
  }
  const { openLocalWorkspace } = await import('./local-workspace.js')
  return openLocalWorkspace(data, flow, create)
}

export async function withGraph<T>(
  options: AccessOptions,
  work: (graph: GraphAccess) => Promise<T>,
): Promise<T> {
  return whileOpen(await openGraph(options), work)
}

async function openGraph({ data, url, token, config }: AccessOptions): Promise<GraphAccess> {
  if (url !== undefined) {
    const { openRemoteGraph } = await import('./remote-graph.js')
    return openRemoteGraph(url, token)
  }
  const { openLocalGraph } = await import('./local-graph.js')
  return openLocalGraph(data, config)
}

/** Opens, works, and closes whatever came of it. */
function opening<A extends Closable>(
  open: (options: AccessOptions, create: boolean) => Promise<A>,
) {
  return async <T>(
    options: AccessOptions,
    { create }: OpenOptions,
    work: (access: A) => Promise<T>,
  ): Promise<T> => whileOpen(await open(options, create), work)
}

async function whileOpen<A extends Closable, T>(
  access: A,
  work: (access: A) => Promise<T>,
): Promise<T> {
  try {
    return await work(access)
  } finally {
    await access.close()
  }
}
