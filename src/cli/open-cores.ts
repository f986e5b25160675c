import type { CoreAccess } from './core-access.js'
import { openLocalCores } from './local-cores.js'
import { openRemoteCores } from './remote-cores.js'

export interface AccessOptions {
  readonly data: string
  readonly url?: URL
  readonly token?: string
}

/** With `create` a data directory that does not exist is made; else that is an error. */
export async function openCores(
  options: AccessOptions,
  { create }: { readonly create: boolean },
): Promise<CoreAccess> {
  if (options.url !== undefined) return openRemoteCores(options.url, options.token)
  return openLocalCores(options.data, create)
}
