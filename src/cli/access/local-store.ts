// The stores of a data directory or a database, for a command that has it to itself.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { partitions } from '../../backup/format.js'
import { hasCode } from '../../errors.js'
import { createLorekeep } from '../../lorekeep.js'
import type { Lorekeep, LorekeepOptions } from '../../lorekeep.js'
import type { Backend } from '../../storage.js'
import { fileError, noteError } from '../output/failure.js'
import { isDatabase } from '../config/place.js'

/** With `create` a directory that does not exist is made; else that is an error. */
export async function openLocalStore(
  data: string,
  create: boolean,
  configFile?: string,
): Promise<Lorekeep> {
  // What a server of this directory would go by.
  const options = configFile === undefined ? {} : await configured(configFile)
  const backend = isDatabase(data)
    ? await openedDatabase(data, create)
    : await openedDirectory(data, create)
  try {
    const onError: LorekeepOptions['onError'] = (error, { count }) => {
      noteError('in the background', error, count)
    }
    return await createLorekeep({ ...options, backend, onError })
  } catch (error) {
    await backend.close()
    if (!hasCode(error, 'LK_STORAGE_LOCKED')) throw error
    throw new Error(`${error.message} (use --url to reach a running 'lorekeep serve')`, {
      cause: error,
    })
  }
}

/** Loaded where there is one: the file of a server speaks of all that a server has. */
async function configured(file: string): Promise<Omit<LorekeepOptions, 'backend'>> {
  const { readConfig, storeOptionsOf } = await import('../config/config.js')
  return storeOptionsOf(await readConfig(file))
}

// Looking for something in a place that is misspelt must not leave an empty store behind.

async function openedDirectory(data: string, create: boolean): Promise<Backend> {
  if (!create) await checkDirectory(data)
  const { LevelBackend } = await import('../../../adapters/level/index.js')
  return new LevelBackend(data)
}

async function openedDatabase(data: string, create: boolean): Promise<Backend> {
  const { openDatabase, openKnownDatabase } = await import('./database.js')
  return create ? openDatabase(data) : openKnownDatabase(data)
}

async function checkDirectory(data: string): Promise<void> {
  let isDirectory: boolean
  try {
    isDirectory = (await stat(data)).isDirectory()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw fileError(cause, data, 'read')
    throw new Error(`there is no data directory '${data}' (--data names another)`, { cause })
  }
  if (!isDirectory) throw new Error(`'${data}' is not a directory`)
  for (const partition of partitions) {
    try {
      // The file that makes a directory a LevelDB: one called `cores` may hold anything. One partition
      // is enough: what became of the others is told by whoever opens them.
      await stat(join(data, partition, 'CURRENT'))
      return
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EACCES') throw fileError(cause, data, 'read')
    }
  }
  throw new Error(`there is no store in '${data}' (--data names another)`)
}
