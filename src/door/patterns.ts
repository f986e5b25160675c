// Regular expressions that others write: how large they may be, whatever runs them.

/** To compile a pattern may take the square of its characters. */
const maxPatternLength = 1000

/**
 * Instructions of its program (`programSize()` of RE2JS): memory, and in the worst case that many steps for each
 * character of a text. `.{0,1000}` has 2,000.
 */
const maxPatternSteps = 3000

/** Behind the name of what it is: "`$regex` has 1001 characters; there may be 1000". */
export function whyTooLong({ length }: string): string | undefined {
  if (length <= maxPatternLength) return undefined
  return `has ${length} characters; there may be ${maxPatternLength}`
}

/** As whyTooLong(). */
export function whyTooLarge(steps: number): string | undefined {
  if (steps <= maxPatternSteps) return undefined
  return `repeats so much that it has ${steps} steps; there may be ${maxPatternSteps}`
}
