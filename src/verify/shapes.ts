// What plain values of records have to be, whoever wrote them.

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** What can be a part of a key. */
export function isKeyText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
}
