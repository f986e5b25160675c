// Where a command works: `--data`, or `--url`, `--token` and `--flow`.

import type { CoreAccess } from './core-access.js'
import { openLocalCores } from './local-cores.js'
import { openLocalObjects } from './local-objects.js'
import type { ObjectAccess } from './object-access.js'
import { openRemoteCores } from './remote-cores.js'
import { openRemoteObjects } from './remote-objects.js'

export interface AccessOptions {
  readonly data: string
  readonly url?: URL
  readonly token?: string
  /** Whose paths are used for objects on a server. */
  readonly flow?: string
}

interface OpenOptions {
  /** A data directory that does not exist is made; else that is an error. */
  readonly create: boolean
}

export async function openCores(
  options: AccessOptions,
  { create }: OpenOptions,
): Promise<CoreAccess> {
  if (options.url !== undefined) return openRemoteCores(options.url, options.token)
  return openLocalCores(options.data, create)
}

/** Opens, works, and closes whatever came of it. */
export async function withObjects<T>(
  options: AccessOptions,
  { create }: OpenOptions,
  work: (objects: ObjectAccess) => Promise<T>,
): Promise<T> {
  const { data, url, token, flow = 'default' } = options
  const objects =
    url === undefined ? await openLocalObjects(data, create) : openRemoteObjects(url, token, flow)
  try {
    return await work(objects)
  } finally {
    await objects.close()
  }
}
