// An object by its collection and id: the hash gives references, and the rows tell which it is.

import type { Block, Row } from './block.js'
import type { IdFilters } from './id-filters.js'
import type { Memory } from './memory.js'
import type { Index } from './index-runs.js'
import { HeldPages, lacking, type PageSource } from './list.js'
import { tableOf } from './ref.js'
import { blockOf, tableNumbered, type State } from './state.js'

/** The row under an id of a collection. @throws StalePage where the state is not the newest */
export async function findStored(
  state: Pick<State, 'tables' | 'ids'>,
  memory: Memory,
  collection: string,
  id: string,
): Promise<Row | undefined> {
  const place = await findPlace(state, memory, collection, id)
  return place?.block.row(place.n)
}

/** Where an object lies. */
export interface RowPlace {
  readonly block: Block
  readonly n: number
}

export async function findPlace(
  state: Pick<State, 'tables' | 'ids'>,
  memory: Memory,
  collection: string,
  id: string,
): Promise<RowPlace | undefined> {
  const { blocks, entries, filters, hash } = memory
  const key = hash.of(collection, id)
  const refs: number[] = []
  let missing = tryRefs(state.ids, key, entries, filters, refs)
  if (missing < 0) {
    const held = new HeldPages(entries)
    do await held.load(lacking(missing))
    while ((missing = tryRefs(state.ids, key, held, filters, refs)) < 0)
  }
  for (const ref of refs) {
    const table = tableNumbered(state, tableOf(ref))
    const place = table.blocks[blockOf(table, ref)]
    if (place === undefined) continue
    const block = await blocks.get(place.page)
    const n = block.find(ref)
    if (n < 0) continue
    // Another id may have the same hash.
    if (block.isObject(n, collection, id)) return { block, n }
  }
  return undefined
}

/** References under a hash that were not deleted; a negative number as tryCollect() gives it. */
function tryRefs(
  { runs }: Index,
  key: number,
  entries: PageSource,
  filters: IdFilters,
  refs: number[],
): number {
  refs.length = 0
  for (const run of runs) {
    if (filters.peek(run)?.mayHave(key) === false) continue
    const missing = run.adds.tryCollect(key, entries, refs)
    if (missing < 0) return missing
  }
  if (refs.length === 0) return 0
  const deleted: number[] = []
  for (const { dels } of runs) {
    if (dels.length === 0) continue
    const missing = dels.tryCollect(key, entries, deleted)
    if (missing < 0) return missing
  }
  if (deleted.length > 0) refs.splice(0, refs.length, ...refs.filter((r) => !deleted.includes(r)))
  return 0
}
