// Long lists of an index are read so that others have their turn, and no longer than a query may take.

import t, { type Test } from 'tap'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryBackend } from '../../../adapters/memory.js'
import { EntryPage } from '../../../src/objects/engine/entries.js'
import type { Index, Run } from '../../../src/objects/engine/index-runs.js'
import { everything, refsAmong, refsIn, walk } from '../../../src/objects/engine/index-scan.js'
import { Pages } from '../../../src/objects/engine/pages.js'
import { Meter } from '../../../src/objects/query/rows.js'
import { PageCache } from '../../../src/page-cache.js'
import { CountedBackend } from '../../fixtures/counted-backend.js'
import { writtenRun } from '../engine/written-run.js'

const pagesOf = 100
const perPage = 10

/** An index of a thousand rows, each under its number. */
async function indexOfPages(t: Test) {
  const backend = new CountedBackend(new MemoryBackend())
  t.teardown(() => backend.close())
  const storage = await backend.open('objects')
  const entries = new Pages(storage, new PageCache(1024 * 1024), EntryPage.decode)
  const pages = Array.from({ length: pagesOf }, (_, n) => {
    const refs = Float64Array.from({ length: perPage }, (_, m) => (n + 1) * 100 + m)
    return { number: n + 1, keys: refs, refs }
  })
  const run = await writtenRun(storage, 1, pages)
  const index: Index = { path: ['n'], runs: [run] } as unknown as Index
  const all = Float64Array.from(pages.flatMap(({ refs }) => [...refs]))
  return { backend, storage, entries, index, all }
}

t.test('32 pages are read at once, and after each page others may have their turn', async (t) => {
  for (const read of ['all', 'among'] as const) {
    const { backend, entries, index, all } = await indexOfPages(t)
    const some = all.filter((_, n) => n % 7 === 0)
    const readBefore: number[] = []
    const breathe = async () => {
      readBefore.push(backend.values)
    }
    const found =
      read === 'all'
        ? await refsIn(index, [everything], entries, breathe)
        : await refsAmong(some, index, [everything], entries, breathe)
    t.strictSame(found, read === 'all' ? all : some)
    t.equal(readBefore.length, pagesOf)
    // The last one is read first: where the range ends in it.
    t.strictSame([...new Set(readBefore)], [33, 65, 97, 100])
  }
})

t.test('from above, pages that are left out or were deleted go by counting', async (t) => {
  const { storage, entries, index, all } = await indexOfPages(t)
  const [run] = index.runs as readonly [Run]
  // Of the upper half every entry is deleted, but for one.
  const kept = all.filter((_, n) => n < 500 || n === 700)
  const deleted = await writtenRun(
    storage,
    2,
    Array.from({ length: 50 }, (_, n) => {
      const refs = all.slice(500 + 10 * n, 510 + 10 * n).filter((ref) => ref !== all[700])
      return { number: 500 + n, keys: refs, refs }
    }),
  )
  const both = { ...index, runs: [run, { ...deleted, adds: run.dels, dels: deleted.adds }] }
  for (const [name, index_, expected] of [
    ['all', index, all],
    ['half', both, kept],
  ] as const) {
    const inOrder = [...expected].reverse()
    for (const skip of [0, 1, 9, 10, 11, 400, 495, 999, 1000, 5000]) {
      let turns = 0
      const breathe = async () => {
        turns++
      }
      const options = { direction: 'desc', skip, take: 15, breathe } as const
      const found = await walk(index_, [everything], entries, options)
      t.strictSame(
        found.map(({ ref }) => ref),
        inOrder.slice(skip, skip + 15),
        `${name}, without ${skip}`,
      )
      t.ok(turns <= pagesOf + 40, `${name}, without ${skip}: ${turns} steps`)
    }
  }
})

t.test('a query whose time is over reads no further', async (t) => {
  const { backend, entries, index, all } = await indexOfPages(t)
  const meter = new Meter({ maxQueryObjects: 1e6, maxQueryMs: 1 })
  await wait(20)
  const found = refsAmong(all, index, [everything], entries, () => meter.breathe())
  await t.rejects(found, { code: 'LK_QUERY_BUDGET' })
  t.equal(backend.values, 33)
})
