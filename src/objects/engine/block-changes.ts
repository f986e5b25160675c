// What rows that come and go make of the blocks of a table: pages, groups and their records.

import { placeOfBlock, type Block, type Row } from './block.js'
import { groupsIn, recordOfBlocks, regroup } from './block-groups.js'
import { planBlocks } from './block-plan.js'
import type { Pages } from './pages.js'
import { blocksIn, type Table } from './state.js'
import { note, type Writing } from './writing.js'

export interface RowChanges {
  readonly added: readonly Row[]
  /** Rows of the storage. */
  readonly removed: readonly Row[]
}

interface ChangeOptions {
  /** Which has all of the rows. */
  readonly lane: number
  readonly blocks: Pages<Block>
  readonly takePage: () => number
  /** Gets what is to be written. */
  readonly writing: Writing
}

/** The table with the rows in its blocks. */
export async function changeBlocks(
  table: Table,
  { added, removed }: RowChanges,
  { lane, blocks: pages, takePage, writing }: ChangeOptions,
): Promise<Table> {
  const [from, to] = blocksIn(table, lane)
  const isWhole = to - from === table.blocks.length
  const own = isWhole ? table : { ...table, blocks: table.blocks.slice(from, to) }
  const plan = await planBlocks(own, added, removed, pages)
  for (const { page } of plan.replaced) writing.gone.push(page)
  const blocks = plan.blocks.map((block) => {
    if ('page' in block) return block
    const page = takePage()
    writing.blockPages.push({ number: page, bytes: block.bytes })
    return placeOfBlock(block, page)
  })
  const there = own.blocks.slice(0, plan.kept).concat(blocks)
  const [front, behind] = groupsIn(table, lane)
  const known = { blocks: own.blocks, groups: table.groups.slice(front, behind) }
  const { groups, changes } = regroup(known, there, plan.kept)
  for (const [first, places] of changes) {
    note(writing, ['blocks', table.number, first, places && recordOfBlocks(places)])
  }
  return {
    ...table,
    blocks: isWhole ? there : table.blocks.slice(0, from).concat(there, table.blocks.slice(to)),
    groups: table.groups.slice(0, front).concat(groups, table.groups.slice(behind)),
    rows: table.rows + added.length - removed.length,
  }
}
