// How long a store of objects takes to open, beside what that cannot leave out: all tables read and summed, as LevelDB
// does not look whether they are damaged, and LevelDB itself opened. That is done to a copy: LevelDB changes what it opens.

import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Lorekeep } from '../src/index.js'
import * as bench from './measure.js'
import { openOurs } from './objects-store.js'
import { openRaw, rawOptions, type RawLevel } from './peers.js'

const rounds = 9

/**
 * @param objects how many, for people
 * @param most milliseconds
 */
export async function measureOpening(
  directory: string,
  objects: string,
  most: number,
): Promise<void> {
  bench.note(`  opening ${objects}`)
  await bench.inDirectory(async (copy) => {
    await cp(directory, copy, { recursive: true })
    const { ours, needed } = await bench.interleave(rounds, {
      ours: async () => {
        let keep: Lorekeep | undefined
        const time = await bench.seconds(async () => (keep = await openOurs(directory)))
        await keep?.close()
        return time
      },
      needed: async () => {
        let levels: readonly RawLevel[] = []
        const time = await bench.seconds(async () => (levels = await doWhatIsNeeded(copy)))
        await Promise.all(levels.map((level) => level.close()))
        return time
      },
    })
    const scenario = `opening ${objects}`
    const times = ours.map((time) => 1000 * time)
    bench.reportValues({ scenario, peer: 'by the wall' }, times, 'ms', { most })
    const names = { scenario, peer: 'all tables summed, and LevelDB opened' }
    const operations = { count: 1, unit: 'opens/s' }
    bench.report(bench.compareOperations(names, operations, ours, needed, { least: 0.8 }))
  })
}

function doWhatIsNeeded(directory: string): Promise<RawLevel[]> {
  const partitions = readdirSync(directory).map((name) => join(directory, name))
  const stores = partitions.filter((path) => existsSync(join(path, 'CURRENT')))
  for (const store of stores) {
    for (const name of readdirSync(store)) if (name.endsWith('.ldb')) sum(join(store, name))
  }
  return Promise.all(stores.map((store) => openRaw(store, rawOptions.default)))
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
