// Where a run works: a directory for LevelDB, or a schema of a PostgreSQL of its own.

import { LevelBackend } from '../../adapters/level/index.js'
import { PostgresBackend } from '../../adapters/postgres/index.js'
import { databaseUrl, isDatabase } from '../../src/cli/config/place.js'
import type { Backend } from '../../src/storage.js'
import { Cluster } from '../adapters/postgres/cluster.js'

/** For a process that is alone with it. */
export function backendAt(data: string): Backend {
  return isDatabase(data)
    ? new PostgresBackend({ ...databaseUrl(data), shared: false })
    : new LevelBackend(data)
}

/** Gives it schemas by their names. */
export async function inDatabase<Result>(
  work: (dataOf: (name: string) => string) => Promise<Result>,
): Promise<Result> {
  const cluster = await Cluster.start({ settings: ['max_wal_size = 4GB'] })
  try {
    return await work((name) => `${cluster.url}?schema=${name}`)
  } finally {
    await cluster.stop()
  }
}
