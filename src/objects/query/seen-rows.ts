// The rows of a table that are there for somebody. Words are counted in these alone: from how scores
// change with what others store, one could read it.

import type { Index } from '../engine/index-runs.js'
import { RefTable } from '../engine/ref-table.js'
import type { Memory } from '../engine/memory.js'
import type { Table } from '../engine/state.js'
import { wordsOf, type TextField } from '../engine/word-keys.js'
import { lengthOf } from '../engine/word-lists.js'
import { eachText } from '../values/texts.js'
import { narrowed } from './narrowing.js'
import type { Seen } from './seen.js'
import { visitRows, type Meter } from './rows.js'

export interface SeenRows {
  readonly rows: number
  /** Words of all of them. */
  readonly length: number
  readonly has: (ref: number) => boolean
}

/** Of states of an index, which never change: a commit makes the next. */
const known = new WeakMap<Index, Map<string, SeenRows>>()

/** Rows that are kept of one state, of all who see some of it: 20 bytes each. */
const mostKnown = 2 ** 20

/** About how many entries of the index can be looked at while the words of a text are counted, one that is short. */
const entriesPerText = 256

/** And for each of its characters: a long one takes as long as thousands of short ones. */
const entriesPerCharacter = 1

export async function seenRows(
  table: Table,
  index: Index,
  { name, condition }: Seen,
  memory: Memory,
  meter: Meter,
): Promise<SeenRows> {
  const ofIndex = known.get(index) ?? new Map<string, SeenRows>()
  known.set(index, ofIndex)
  const before = ofIndex.get(name)
  if (before !== undefined) return before
  const refs = new RefTable(0)
  let text = index.text
  let length = 0
  let characters = 0
  const visit = {
    table: narrowed(table, condition),
    pages: memory.blocks,
    seen: condition,
    filter: undefined,
    meter,
  }
  await visitRows(visit, async (block, rows) => {
    for (const n of rows) refs.place(block.refs[n] as number)
    if (refs.count * entriesPerText > table.rows) text = undefined
    for (const n of rows) {
      if (text === undefined) break
      const fieldOf = (name: string) => block.field(name)[n]
      characters += charactersIn(text, fieldOf)
      if (characters * entriesPerCharacter > table.rows) text = undefined
      else length += wordsOf(text, fieldOf).length
      await meter.breathe()
    }
    return true
  })
  const has = (ref: number) => refs.find(ref) >= 0
  if (text === undefined) {
    length = await lengthOf(index, has, memory.entries, () => meter.breathe())
  }
  const found = { rows: refs.count, length, has }
  let kept = found.rows
  for (const { rows } of ofIndex.values()) kept += rows
  if (kept > mostKnown) ofIndex.clear()
  if (found.rows <= mostKnown) ofIndex.set(name, found)
  return found
}

function charactersIn(fields: readonly TextField[], fieldOf: (name: string) => unknown): number {
  let characters = 0
  for (const { path } of fields) {
    eachText(fieldOf(path[0] as string), path.slice(1), ({ length }) => (characters += length))
  }
  return characters
}
