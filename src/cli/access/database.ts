// `--data postgres://…`: a store in a database in place of a directory.

import { PostgresBackend } from '../../../adapters/postgres/index.js'
import type { BackendSnapshot } from '../../storage.js'
import { UsageError } from '../output/failure.js'
import { databaseUrl, shownPlace } from '../config/place.js'

/** A parameter `schema` of the URL is the option of that name. */
export function openDatabase(data: string, shared = true): PostgresBackend {
  const { url, schema } = databaseUrl(data)
  try {
    return new PostgresBackend({ url, shared, ...(schema !== undefined && { schema }) })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message.replace('PostgresBackend()', '--data'), { cause: error })
  }
}

/** Looking for something in a place that is misspelt must not leave an empty store behind. */
export async function openKnownDatabase(data: string): Promise<PostgresBackend> {
  const backend = openDatabase(data)
  try {
    if (await backend.exists()) return backend
    const where = `the schema '${backend.schema}' of '${shownPlace(data)}'`
    throw new Error(`there is no store in ${where} (?schema= names another)`)
  } catch (error) {
    await backend.close()
    throw error
  }
}

/** What a store in a database holds now, whoever has it open, and however. */
export async function databaseSnapshot(data: string): Promise<BackendSnapshot> {
  const backend = await openKnownDatabase(data)
  try {
    const { partitions } = await backend.snapshot()
    return { partitions, close: () => backend.close() }
  } catch (error) {
    await backend.close()
    throw error
  }
}
