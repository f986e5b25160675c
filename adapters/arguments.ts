// What every adapter is given, checked and copied: callers may go on to change their bytes.

import type { Operation, Precondition, Range } from '../src/storage.js'

export function assertKey(key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length === 0) {
    throw new TypeError('a key must be one byte or more')
  }
}

export function assertBytes(from: number, to: number): void {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to)) {
    throw new TypeError('bytes of a value are from a whole number to one that is not below it')
  }
}

export function assertOperations(operations: readonly Operation[]): void {
  for (const operation of operations) {
    assertKey(operation.key)
    if (operation.type === 'put') assertValue(operation.value)
    else if (operation.type !== 'del') {
      throw new TypeError("the type of an operation must be 'put' or 'del'")
    }
  }
}

export function assertPreconditions(require: readonly Precondition[]): void {
  for (const precondition of require) {
    assertKey(precondition.key)
    if (precondition.type === 'equals') assertValue(precondition.value)
    else if (precondition.type !== 'absent') {
      throw new TypeError("the type of a precondition must be 'absent' or 'equals'")
    }
  }
}

export function assertLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new TypeError('a limit must be a whole number, 0 or more')
  }
}

export function copyBounds(range: Range): Range {
  const bounds: { -readonly [K in keyof Range]: Range[K] } = { ...range }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (bounds[name] === undefined) delete bounds[name]
    else if (!(bounds[name] instanceof Uint8Array)) throw new TypeError('a bound must be bytes')
    else bounds[name] = copyOf(bounds[name])
  }
  return bounds
}

/** The rest of a range once `last` was given out. */
export function after(range: Range, last: Uint8Array, limit: number): Range {
  const rest = { ...range, ...(limit !== Infinity && { limit }) }
  return range.reverse ? { ...rest, lt: last } : { ...rest, gt: last }
}

/** A plain Uint8Array; `slice()` of a Buffer would share its memory. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

function assertValue(value: Uint8Array): void {
  if (!(value instanceof Uint8Array)) throw new TypeError('a value must be bytes')
  // Whose buffer was transferred looks like an empty one, and throws a TypeError when it is copied.
  if (value.length === 0) copyOf(value)
}
