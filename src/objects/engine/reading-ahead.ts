// What whoever commits next in a lane is about to read of what others have made there: ids that they have imported,
// and small runs and blocks that are merged with new ones. It is read at once, when the turn begins: each page by
// itself, when it is met with, was a round trip, and seven of them were half of a turn.

import { isFull } from './block-plan.js'
import type { Index, Run } from './index-runs.js'
import { laneOf } from './lanes.js'
import type { Memory } from './memory.js'
import { blocksIn, type State, type Table } from './state.js'

/** Longer ones of other indexes than that of ids are seldom merged, and searches choose what they read of them. */
const shortPages = 4

/** More than this is read when it is wanted. */
const mostPages = 256

/** So that what is read takes a quarter of the memory for pages at most. */
const bytesForPage = 4 * 16 * 1024

/** Brings what there is in the lane into memory, of tables that are not as they were `before`. */
export async function readAhead(
  { blocks, entries }: Memory,
  before: State['tables'],
  { tables: there, ids }: State,
  lane: number,
): Promise<void> {
  const tables = [...there]
    .filter(([name, table]) => table !== before.get(name))
    .map(([, table]) => table)
  if (tables.length === 0) return
  const most = Math.min(mostPages, Math.floor(entries.maxBytes / bytesForPage))
  const blockPages = tables.flatMap((table) => smallBlocks(table, lane))
  const indexes = tables.flatMap((table) => table.indexes)
  const entryPages = [
    ...pagesIn(ids, lane, most),
    ...indexes.flatMap((index) => pagesIn(index, lane, shortPages)),
  ]
  const missing = entryPages.filter((page) => entries.peek(page) === undefined).slice(0, most)
  // What cannot be read, or is gone, is told to whoever needs it.
  await Promise.allSettled([blocks.loadMany(blockPages), entries.loadMany(missing)])
}

/** At the end of a table, where new rows take them in. */
function smallBlocks(table: Table, lane: number): number[] {
  const [from, to] = blocksIn(table, lane)
  const pages: number[] = []
  for (const place of table.blocks.slice(from, to).reverse()) {
    if (isFull(place)) break
    pages.push(place.page)
  }
  return pages
}

/** Of runs with at most so many pages, the newest first. */
function pagesIn({ runs }: Index, lane: number, most: number): number[] {
  const pagesOf = ({ adds, dels }: Run) => [...adds.pages, ...dels.pages]
  const inLane = runs.filter(({ number }) => laneOf(number) === lane).reverse()
  return inLane
    .map(pagesOf)
    .filter(({ length }) => length <= most)
    .flat()
}
