// How the blocks of a table change with a commit. A block that loses rows is written anew without
// them, so that nothing of a deleted object stays. New rows take small blocks at the end in with
// them: each row is moved seven times at most, and there are at most seven small ones.

import { Turns } from '../../turns.js'
import {
  blockBytes,
  blockRows,
  encodeBlocks,
  type Block,
  type EncodedBlock,
  type Row,
} from './block.js'
import type { Pages } from './pages.js'
import { blockOf, type BlockPlace, type Table } from './state.js'

/** By its rows, or by its bytes: of two halves of what was too long one has half of that at least. */
export function isFull({ rows, bytes }: BlockPlace): boolean {
  return rows >= blockRows / 2 || bytes >= blockBytes / 2
}

interface BlockPlan {
  /** So many blocks at the beginning of the table stay as they are. */
  readonly kept: number
  /** All behind them from now on; those without a page are to be written. */
  readonly blocks: readonly (BlockPlace | EncodedBlock)[]
  readonly replaced: readonly BlockPlace[]
}

export async function planBlocks(
  table: Table,
  added: readonly Row[],
  removed: readonly Row[],
  pages: Pages<Block>,
): Promise<BlockPlan> {
  const lost = new Map<number, Set<number>>()
  for (const { ref } of removed) {
    const at = blockOf(table, ref)
    const refs = lost.get(at) ?? new Set()
    lost.set(at, refs.add(ref))
  }
  if (added.length > 0) lost.set(table.blocks.length, new Set())
  const changed = [...lost.keys()].sort((a, b) => a - b)
  const turns = new Turns(undefined)
  const blocks: (BlockPlace | EncodedBlock)[] = []
  const replaced: BlockPlace[] = []
  // Mostly nearly all of them: each by itself they were a fiftieth of an import into a table of 100,000 rows.
  let kept = changed[0] ?? table.blocks.length
  let copied = kept
  for (const at of changed) {
    for (; copied < at; copied++) blocks.push(table.blocks[copied] as BlockPlace)
    const place = table.blocks[at]
    const gone = lost.get(at)
    const taken: BlockPlace[] = []
    let size = place === undefined ? added.length : place.rows - (gone?.size ?? 0)
    for (;;) {
      const last = blocks.at(-1) ?? table.blocks[kept - 1]
      if (last === undefined || !('page' in last)) break
      if (last.rows > size || isFull(last)) break
      taken.unshift(last)
      size += last.rows
      if (blocks.pop() === undefined) kept--
    }
    if (place !== undefined) {
      taken.push(place)
      copied++
    }
    replaced.push(...taken)
    const there = await readRows(taken, pages)
    const rows = gone?.size ? there.filter(({ ref }) => !gone.has(ref)) : there
    if (place === undefined) rows.push(...added)
    for (const block of encodeBlocks(table.schema, rows)) {
      blocks.push(block)
      // 10,000 rows of 800 bytes take 150 ms.
      if (turns.isLong) await turns.pass()
    }
  }
  for (; copied < table.blocks.length; copied++) blocks.push(table.blocks[copied] as BlockPlace)
  return { kept, blocks, replaced }
}

async function readRows(places: readonly BlockPlace[], pages: Pages<Block>): Promise<Row[]> {
  const rows: Row[] = []
  for (const block of await pages.loadMany(places.map(({ page }) => page))) {
    for (let n = 0; n < block.rows; n++) rows.push(block.row(n))
  }
  return rows
}
