// `--data postgres://…`: a store in a database in place of a directory.

import { PostgresBackend } from '../../../adapters/postgres/index.js'
import { UsageError } from '../output/failure.js'
import { databaseUrl } from '../config/place.js'

/** A parameter `schema` of the URL is the option of that name. */
export function openDatabase(data: string): PostgresBackend {
  const { url, schema } = databaseUrl(data)
  try {
    return new PostgresBackend({ url, ...(schema !== undefined && { schema }) })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(error.message.replace('PostgresBackend()', '--data'), { cause: error })
  }
}
