// The texts of a value: what a text index takes the words of.

import { leadsTo, type Path } from './path.js'

/** Calls with each string that the rest of a path leads to from its first field, in their order. */
export function eachText(field: unknown, rest: Path, take: (text: string) => void): void {
  const takeOne = (value: unknown) => {
    if (typeof value === 'string') take(value)
    return false
  }
  const takeAny = (value: unknown) => {
    if (typeof value === 'string') take(value)
    else if (Array.isArray(value)) for (const element of value) takeOne(element)
    return false
  }
  leadsTo(field, rest, takeAny, takeOne)
}
