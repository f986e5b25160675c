// What the opening of a store cannot leave out: all tables read and summed, as LevelDB does not look whether they are
// damaged, and LevelDB itself opened. That is done to a copy each time: LevelDB changes what it opens.

import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import * as bench from './measure.js'
import { openRaw, type RawLevel } from './peers.js'

/** As lorekeep's: a log becomes one table. */
const options = { writeBufferSize: 16 * bench.MiB }

export const openingName = 'all tables summed, and LevelDB opened'

/** The seconds that it takes for a store that is closed. Value files are not looked at. */
export function openNeeded(directory: string): Promise<number> {
  return bench.inDirectory(async (copy) => {
    const filter = (path: string) => basename(path) !== 'values'
    await cp(directory, copy, { recursive: true, filter })
    // LevelDB would wait for what is still to be written of the copy. Windows has no such command.
    if (process.platform !== 'win32') execFileSync('sync')
    let levels: readonly RawLevel[] = []
    const time = await bench.seconds(async () => (levels = await doWhatIsNeeded(copy)))
    await Promise.all(levels.map((level) => level.close()))
    return time
  })
}

function doWhatIsNeeded(directory: string): Promise<RawLevel[]> {
  const partitions = readdirSync(directory).map((name) => join(directory, name))
  const stores = partitions.filter((path) => existsSync(join(path, 'CURRENT')))
  for (const store of stores) {
    for (const name of readdirSync(store)) if (name.endsWith('.ldb')) sum(join(store, name))
  }
  return Promise.all(stores.map((store) => openRaw(store, options)))
}

let space = Buffer.alloc(0)

function sum(path: string): void {
  const { size } = statSync(path)
  if (size > space.length) space = Buffer.allocUnsafeSlow(size)
  const file = openSync(path, 'r')
  const read = readSync(file, space, 0, size, 0)
  closeSync(file)
  bench.check(read === size && crc32(space.subarray(0, size)) !== 0, 'a table')
}
