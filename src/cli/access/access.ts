// Where a command works: `--data`, or `--url`, `--token` and `--flow`. What the one needs is not
// loaded for the other: a store takes 130 ms to load.

import { referenceUser } from '../../defaults.js'
import { variable } from '../config/environment.js'
import { coresIn } from './core-access.js'
import { flowsIn } from './flow-access.js'
import { graphIn } from './graph-access.js'
import type { GraphAccess } from './graph-access.js'
import { objectsIn } from './object-access.js'
import type { Stores } from './stores.js'
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

type AccessOf<A> = (stores: Stores, options: AccessOptions) => A

const defaultFlow = 'default'

/** Whose things are meant where no user is named. */
export async function ownUser({ url, token, config }: AccessOptions): Promise<string> {
  const named = variable('LOREKEEP_USER')
  if (named !== undefined) return named
  if (url === undefined) {
    if (config === undefined) return referenceUser
    const { readConfig } = await import('../config/config.js')
    return (await readConfig(config)).defaultUser ?? referenceUser
  }
  const { userOfToken } = await import('./server-stores.js')
  return userOfToken({ url, token })
}

export const withCores = opening(coresIn)
export const withObjects = opening(objectsIn)
export const withFlows = opening((stores, { flow = defaultFlow }) => flowsIn(stores, flow))
export const withWorkspace = opening(workspaceIn)

export async function withGraph<T>(
  options: AccessOptions,
  work: (graph: GraphAccess) => Promise<T>,
): Promise<T> {
  return withAccess(graphIn, options, { create: false }, work)
}

function opening<A extends Closable>(accessOf: AccessOf<A>) {
  return <T>(options: AccessOptions, how: OpenOptions, work: (access: A) => Promise<T>) =>
    withAccess(accessOf, options, how, work)
}

/** Opens, works, and closes whatever came of it. */
async function withAccess<A extends Closable, T>(
  accessOf: AccessOf<A>,
  options: AccessOptions,
  { create }: OpenOptions,
  work: (access: A) => Promise<T>,
): Promise<T> {
  const access = accessOf(await openStores(options, create), options)
  try {
    return await work(access)
  } finally {
    await access.close()
  }
}

async function openStores(
  { data, url, token, flow, config }: AccessOptions,
  create: boolean,
): Promise<Stores> {
  if (url !== undefined) {
    const { openServerStores } = await import('./server-stores.js')
    return openServerStores({ url, token, flow })
  }
  const { openLocalStores } = await import('./local-stores.js')
  return openLocalStores(data, create, config)
}

function workspaceIn(stores: Stores, options: AccessOptions): WorkspaceAccess {
  const { flow = defaultFlow } = options
  return {
    cores: coresIn(stores, options),
    flows: flowsIn(stores, flow),
    close: stores.close,
  }
}
