// How long a store of objects takes to open, beside what that cannot leave out.

import type { Lorekeep } from '../src/index.js'
import * as bench from './measure.js'
import { openOurs } from './objects-store.js'
import { openingName, openNeeded } from './opening-needed.js'

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
  const { ours, needed } = await bench.interleave(rounds, {
    ours: async () => {
      let keep: Lorekeep | undefined
      const time = await bench.seconds(async () => (keep = await openOurs(directory)))
      await keep?.close()
      return time
    },
    needed: () => openNeeded(directory),
  })
  const scenario = `opening ${objects}`
  const times = ours.map((time) => 1000 * time)
  bench.reportValues({ scenario, peer: 'by the wall' }, times, 'ms', { most })
  const names = { scenario, peer: openingName }
  const operations = { count: 1, unit: 'opens/s' }
  bench.report(bench.compareOperations(names, operations, ours, needed, { least: 0.8 }))
}
