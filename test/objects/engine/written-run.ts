// A run of an index that no commit has made.

import { EntryPage } from '../../../src/objects/engine/entries.js'
import { runOf, type Run } from '../../../src/objects/engine/index-runs.js'
import { pageKey } from '../../../src/objects/engine/records.js'
import type { Storage } from '../../../src/storage.js'

interface WrittenPage {
  readonly number: number
  readonly keys: Float64Array
  readonly refs: Float64Array
}

export async function writtenRun(
  storage: Storage,
  number: number,
  pages: readonly WrittenPage[],
): Promise<Run> {
  await storage.write(
    pages.map(({ number: page, ...entries }) => {
      return { type: 'put', key: pageKey(page), value: EntryPage.encode(entries) }
    }),
    { durable: false },
  )
  const adds = {
    pages: pages.map(({ number: page }) => page),
    counts: pages.map(({ refs }) => refs.length),
    keys: pages.map(({ keys }) => keys[0]!),
    refs: pages.map(({ refs }) => refs[0]!),
  }
  return runOf(number, {
    adds,
    dels: { pages: [], counts: [], keys: [], refs: [] },
    irregular: 0,
  })
}
