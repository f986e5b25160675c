// Where a page ended: the order, what the last object has there, and its reference.

import { parseJson } from '../../json-text.js'
import type { SortKey } from '../filter/sort-values.js'
import type { JsonValue } from '../../types.js'

export interface Cursor {
  readonly order: readonly SortKey[]
  readonly values: readonly JsonValue[]
  readonly ref: number
}

export function encodeCursor({ order, values, ref }: Cursor): string {
  const keys = order.map(({ path, direction }) => [path.join('.'), direction])
  return Buffer.from(JSON.stringify([keys, values, ref])).toString('base64url')
}

/** `undefined` where it is none. */
export function decodeCursor(text: string): Cursor | undefined {
  let parts: unknown
  try {
    parts = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  const [keys, values, ref] = parts as unknown[]
  if (!Array.isArray(keys) || !Array.isArray(values) || keys.length !== values.length) {
    return undefined
  }
  if (!Number.isSafeInteger(ref)) return undefined
  const order: SortKey[] = []
  for (const key of keys as unknown[]) {
    if (!Array.isArray(key)) return undefined
    const [path, direction] = key as unknown[]
    if (typeof path !== 'string' || (direction !== 'asc' && direction !== 'desc')) return undefined
    order.push({ path: path.split('.'), direction })
  }
  return { order, values: values as JsonValue[], ref: ref as number }
}
