// What a commit is found to write, bit by bit.

import { encodeRecord } from '../../record.js'
import type { Operation } from '../../storage.js'
import type { WrittenEntries } from './index-runs.js'
import { keyOf, type RecordChange } from './records.js'

export interface WrittenBlock {
  readonly number: number
  readonly bytes: Uint8Array
}

export interface Writing {
  readonly operations: Operation[]
  readonly gone: number[]
  readonly blockPages: WrittenBlock[]
  readonly entryPages: WrittenEntries[]
  readonly changes: RecordChange[]
}

export const put = (key: Uint8Array, value: Uint8Array): Operation => ({ type: 'put', key, value })
export const del = (key: Uint8Array): Operation => ({ type: 'del', key })

/** Puts a record, or deletes it. */
export function note({ operations, changes }: Writing, change: RecordChange): void {
  const record = change.at(-1) as object | null
  const key = keyOf(change)
  operations.push(record === null ? del(key) : put(key, encodeRecord(record)))
  changes.push(change)
}
