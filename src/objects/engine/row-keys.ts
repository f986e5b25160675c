// The keys that rows have in an index.

import { irregularKeys, regularKey } from '../values/values.js'
import { member, type Row } from './block.js'
import type { KeyList } from './key-list.js'
import type { Index } from './index-runs.js'
import { addWordKeys, wordsOf, type TextField } from './word-keys.js'

/** Adds the entries of rows in an index. Gives the number of rows that are irregular there. */
export function collectKeys(
  { path, text }: Pick<Index, 'path' | 'text'>,
  rows: readonly Row[],
  found: KeyList,
): number {
  if (text !== undefined) return collectWords(text, rows, found)
  const { keys, refs } = found
  const [name = '', ...rest] = path
  const fieldOf = fieldReader(name)
  let irregular = 0
  for (const row of rows) {
    const field = fieldOf(row)
    const key = regularKey(field, rest)
    if (key !== undefined) {
      keys.push(key)
      refs.push(row.ref)
      continue
    }
    irregular++
    for (const one of irregularKeys(field, rest)) {
      keys.push(one)
      refs.push(row.ref)
    }
  }
  return irregular
}

/** Each row has several entries: all are irregular. */
function collectWords(fields: readonly TextField[], rows: readonly Row[], found: KeyList): number {
  const readers = new Map(fields.map(({ path: [name = ''] }) => [name, fieldReader(name)]))
  for (const row of rows) {
    addWordKeys(
      wordsOf(fields, (name) => readers.get(name)?.(row)),
      row.ref,
      found,
    )
  }
  return rows.length
}

/** As Block's field(), of rows that are not in one. */
function fieldReader(name: string): (row: Row) => unknown {
  switch (name) {
    case '_id':
      return ({ id }) => id
    case '_collection':
      return ({ collection }) => collection
    case '_user':
      return ({ user }) => user
    case '_created_at':
      return (row) => row.created_at
    case '_updated_at':
      return (row) => row.updated_at
    case '_metadata':
      return ({ metadata, created_at, updated_at, collection }) => {
        return { ...metadata, created_at, updated_at, collection }
      }
    default:
      return ({ object }) => member(object, name)
  }
}
