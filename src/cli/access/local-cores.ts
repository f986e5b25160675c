import { LorekeepError } from '../../errors.js'
import type { CoreRef } from '../../knowledge/types.js'
import type { Lorekeep } from '../../lorekeep.js'
import type { CoreAccess } from './core-access.js'
import { openLocalStore } from './local-store.js'

export async function openLocalCores(data: string, create: boolean): Promise<CoreAccess> {
  return coresIn(await openLocalStore(data, create))
}

export function coresIn({ knowledge, close }: Lorekeep): CoreAccess {
  return {
    import: (ref, source, { dialect, ...options }) =>
      knowledge.import(ref, source, { ...options, ...(dialect && { dialect }) }),
    export: (ref, options) => knowledge.export(ref, options),
    list: (query) => knowledge.list(query),
    stat: async (ref) => (await knowledge.stat(ref)) ?? notFound(ref),
    delete: async (ref) => {
      if (!(await knowledge.delete(ref))) notFound(ref)
    },
    close,
  }
}

function notFound({ user, id }: CoreRef): never {
  throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
