// What comes and goes in the indexes of a draft: keys by index and lane, and indexes as a whole; and what that makes of
// their runs.

import type { Row } from './block.js'
import { sortEntries, sortWords } from './entries.js'
import { mergeChange, runOf, type Index, type Run } from './index-runs.js'
import { newKeys, type KeyList } from './key-list.js'
import { laneBase, laneOf } from './lanes.js'
import type { EntryPages } from './list.js'
import { laneOfRef } from './ref.js'
import { collectKeys } from './row-keys.js'
import { note, type Writing } from './writing.js'

/** In one index, of rows of one lane. */
interface KeyChanges {
  readonly added: KeyList
  readonly deleted: KeyList
  irregular: number
}

interface MergeOptions {
  readonly entries: EntryPages
  readonly takePage: () => number
  /** Gets what is to be written. */
  readonly writing: Writing
}

export class IndexChanges {
  /** By index, and by lane. */
  readonly #keys = new Map<number, Map<number, KeyChanges>>()
  readonly #dropped: Index[] = []

  /** Whether keys come to one of them, or go. */
  touches(indexes: readonly Index[]): boolean {
    return indexes.some(({ number }) => this.#keys.has(number))
  }

  get dropsAny(): boolean {
    return this.#dropped.length > 0
  }

  drop(indexes: readonly Index[]): void {
    this.#dropped.push(...indexes)
  }

  enter(index: Index, rows: readonly Row[]): void {
    for (const [lane, own] of byLane(rows)) {
      const keys = this.keysIn(index, lane)
      keys.irregular += collectKeys(index, own, keys.added)
    }
  }

  leave(index: Index, rows: readonly Row[]): void {
    for (const [lane, own] of byLane(rows)) {
      const keys = this.keysIn(index, lane)
      keys.irregular -= collectKeys(index, own, keys.deleted)
    }
  }

  /** To add to them. */
  keysIn({ number }: Index, lane: number): KeyChanges {
    let lanes = this.#keys.get(number)
    if (lanes === undefined) this.#keys.set(number, (lanes = new Map()))
    let keys = lanes.get(lane)
    if (keys === undefined) {
      keys = { added: newKeys(), deleted: newKeys(), irregular: 0 }
      lanes.set(lane, keys)
    }
    return keys
  }

  /** The indexes with the keys that come, without those that go. */
  async mergeAll(indexes: readonly Index[], options: MergeOptions): Promise<Index[]> {
    const merged: Index[] = []
    for (const index of indexes) merged.push(await this.merge(index, options))
    return merged
  }

  async merge(index: Index, options: MergeOptions): Promise<Index> {
    let merged = index
    for (const [lane, keys] of this.#keys.get(index.number) ?? []) {
      merged = await mergedIn(lane, merged, keys, options)
    }
    return merged
  }

  /** The runs of the indexes that go. */
  dropRuns(writing: Writing): void {
    for (const { number, runs } of this.#dropped) {
      for (const run of runs) dropRun(number, run, writing)
    }
  }
}

/** Runs whose rows are of the lane. */
export function runsIn({ runs }: Index, lane: number): readonly Run[] {
  return runs.filter(({ number }) => laneOf(number) === lane)
}

/** With what changes in a lane: what is added there is deleted there, and merged there. */
async function mergedIn(
  lane: number,
  index: Index,
  { added, deleted, irregular }: KeyChanges,
  { entries, takePage, writing }: MergeOptions,
): Promise<Index> {
  const isText = index.text !== undefined
  const change = {
    adds: isText ? sortWords(added) : sortEntries(added.keys, added.refs),
    dels: isText
      ? { ...sortWords(deleted), places: undefined }
      : sortEntries(deleted.keys, deleted.refs),
    irregular,
  }
  const there = runsIn(index, lane)
  const own = { ...index, runs: there }
  const merged = await mergeChange(own, change, entries, takePage)
  for (const run of merged.replaced) dropRun(index.number, run, writing)
  let number = (there.at(-1)?.number ?? laneBase(lane)) + 1
  const made = merged.records.map((record) => {
    note(writing, ['run', index.number, number, record])
    return runOf(number++, record)
  })
  writing.entryPages.push(...merged.pages)
  const before = index.runs.filter((run) => laneOf(run.number) < lane)
  const kept = there.slice(0, there.length - merged.replaced.length)
  const after = index.runs.slice(before.length + there.length)
  return { ...index, runs: [...before, ...kept, ...made, ...after] }
}

function dropRun(index: number, run: Run, writing: Writing): void {
  note(writing, ['run', index, run.number, null])
  writing.gone.push(...run.adds.pages, ...run.dels.pages)
}

/** Rows in the order of their references, or of one lane. */
function byLane(rows: readonly Row[]): Iterable<readonly [lane: number, rows: readonly Row[]]> {
  if (rows.length === 0) return []
  const first = laneOfRef((rows[0] as Row).ref)
  if (laneOfRef((rows.at(-1) as Row).ref) === first) return [[first, rows]]
  const lanes = new Map<number, Row[]>()
  for (const row of rows) {
    const lane = laneOfRef(row.ref)
    const own = lanes.get(lane)
    if (own === undefined) lanes.set(lane, [row])
    else own.push(row)
  }
  return lanes
}
