import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../../adapters/level/index.js'
import { hasCode, LorekeepError } from '../errors.js'
import type { CoreRef } from '../knowledge/types.js'
import { createLorekeep } from '../lorekeep.js'
import type { CoreAccess } from './core-access.js'
import { describe, note } from './failure.js'

export async function openLocalCores(data: string, create: boolean): Promise<CoreAccess> {
  // Looking for a core in a directory that is misspelt must not leave an empty store behind.
  if (!create) await checkDirectory(data)
  const { knowledge, close } = await open(data)
  return {
    import: (ref, source, options) => knowledge.import(ref, source, options),
    export: (ref, options) => knowledge.export(ref, options),
    list: (user) => knowledge.list({ user }),
    stat: async (ref) => (await knowledge.stat(ref)) ?? notFound(ref),
    delete: async (ref) => {
      if (!(await knowledge.delete(ref))) notFound(ref)
    },
    close,
  }
}

async function checkDirectory(data: string): Promise<void> {
  let isDirectory: boolean
  try {
    isDirectory = (await stat(data)).isDirectory()
  } catch (cause) {
    throw new Error(`there is no data directory '${data}' (--data names another)`, { cause })
  }
  if (!isDirectory) throw new Error(`'${data}' is not a directory`)
  try {
    // The file that makes a directory a LevelDB: one called `cores` may hold anything.
    await stat(join(data, 'cores', 'CURRENT'))
  } catch (cause) {
    throw new Error(`there is no store in '${data}' (--data names another)`, { cause })
  }
}

async function open(data: string) {
  try {
    const onError = (error: unknown) => note(`in the background: ${describe(error)}`)
    return await createLorekeep({ backend: new LevelBackend(data), onError })
  } catch (error) {
    if (!hasCode(error, 'LK_STORAGE_LOCKED')) throw error
    throw new Error(`${error.message} (use --url to reach a running 'lorekeep serve')`, {
      cause: error,
    })
  }
}

function notFound({ user, id }: CoreRef): never {
  throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
