// What `lorekeep verify` reads of a store in a database: the engine answers for its own files.

import { partitions as names } from '../../../backup/format.js'
import type { Storage, PartitionName } from '../../../storage.js'
import { openDatabase } from '../../access/database.js'
import { shownPlace } from '../../config/place.js'

/** Opens the store, so that nobody else writes meanwhile. */
export async function openDatabaseFiles(data: string) {
  const backend = openDatabase(data)
  try {
    if (!(await backend.exists())) {
      throw new Error(
        `there is no store in the schema '${backend.schema}' of '${shownPlace(data)}'`,
      )
    }
    const opened: [PartitionName, Storage][] = []
    for (const name of names) opened.push([name, await backend.open(name)])
    const partitions = Object.fromEntries(opened) as Record<PartitionName, Storage>
    return { partitions, close: () => backend.close() }
  } catch (error) {
    await backend.close()
    throw error
  }
}
