/** Of an option that a program gave. */
export function checkCount(name: string, value: unknown): void {
  if (!Number.isInteger(value) || (value as number) < 1) {
    throw new TypeError(`${name} must be a whole number above 0`)
  }
}
