// Random values that are often alike, and what it is to be the same, said plainly.

import fc from 'fast-check'
import type { JsonValue } from '../../../src/types.js'

const names = ['a', 'b', '1', '__proto__']
const scalar = fc.constantFrom<JsonValue>(null, 0, -0, 1, -1.5, '', 'a', '1', true, false)

/** Also objects with many fields. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), tie('value')), {
        selector: ([name]) => name,
        maxLength: 3,
      })
      .map((fields) => Object.fromEntries(fields)),
    fc
      .tuple(fc.constantFrom('', 'x'), fc.constantFrom(15, 16, 20), tie('value'))
      .map(([before, count, last]) =>
        Object.fromEntries([
          ...Array.from({ length: count - 1 }, (_, n) => [`${before}${n}`, n]),
          ['last', last],
        ]),
      ),
  ),
})).value

export function areSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [fields, others] = [Object.entries(a), Object.entries(b)]
  return (
    fields.length === others.length &&
    fields.every(([name, value], n) => name === others[n]?.[0] && areSame(value, others[n][1]))
  )
}
