// Where a page ended: the order, what the last object has there, and its reference.

import type { JsonValue } from '../../types.js'
import type { SortKey } from '../filter/sort-values.js'

export interface Cursor {
  readonly order: readonly SortKey[]
  readonly values: readonly JsonValue[]
  readonly ref: number
}

type Direction = SortKey['direction']
type Place = readonly [
  order: readonly (readonly [path: string, direction: Direction])[],
  values: readonly JsonValue[],
  ref: string,
]

/** The digits of the largest safe integer in base 36. */
const refDigits = 11

/** To be sealed: the reference counts everybody's objects. So that its length does not tell, either, all are as long. */
export function placeOf({ order, values, ref }: Cursor): JsonValue {
  const keys = order.map(({ path, direction }) => [path.join('.'), direction] as const)
  const place: Place = [keys, values, ref.toString(36).padStart(refDigits, '0')]
  return place as unknown as JsonValue
}

/** Of what was sealed. */
export function cursorAt(place: JsonValue): Cursor {
  const [keys, values, ref] = place as unknown as Place
  const order = keys.map(([path, direction]) => ({ path: path.split('.'), direction }))
  return { order, values, ref: Number.parseInt(ref, 36) }
}
