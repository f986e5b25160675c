// A condition over the columns of a block: a test is asked of a whole column in one go, and of a
// column with one value for all rows once.

import type { Block } from '../engine/block.js'
import type { ParsedCondition, Test } from '../filter/condition.js'

/**
 * A byte a row: 1 where it matches. The caller's own. Where `rows` are given, others are not looked at,
 * and what is said of them means nothing: how long a hidden value takes would tell what it is.
 */
export function evaluate(
  condition: ParsedCondition,
  block: Block,
  rows?: readonly number[],
): Uint8Array {
  switch (condition.type) {
    case 'test':
      return evaluateTest(condition, block, rows)
    case 'not':
      return inverted(evaluate(condition.condition, block, rows))
    case 'and': {
      let all: Uint8Array | undefined
      for (const part of condition.conditions) {
        if (all !== undefined && !all.includes(1)) return all
        const next = evaluate(part, block, rows)
        if (all === undefined) all = next
        else for (let n = 0; n < all.length; n++) if (next[n] === 0) all[n] = 0
      }
      return all ?? filled(block.rows, 1)
    }
    case 'or': {
      const any = filled(block.rows, 0)
      for (const part of condition.conditions) {
        const next = evaluate(part, block, rows)
        for (let n = 0; n < any.length; n++) if (next[n] === 1) any[n] = 1
      }
      return any
    }
  }
}

function evaluateTest(
  { path, matches }: Test,
  block: Block,
  rows: readonly number[] | undefined,
): Uint8Array {
  const name = path[0] ?? ''
  const constant = block.constant(name)
  if (constant !== undefined) return filled(block.rows, matches(constant.value) ? 1 : 0)
  const column = block.field(name)
  const result = new Uint8Array(block.rows)
  if (rows === undefined) {
    for (let n = 0; n < result.length; n++) if (matches(column[n])) result[n] = 1
  } else for (const n of rows) if (matches(column[n])) result[n] = 1
  return result
}

function inverted(bits: Uint8Array): Uint8Array {
  for (let n = 0; n < bits.length; n++) bits[n] = bits[n] === 0 ? 1 : 0
  return bits
}

function filled(length: number, bit: 0 | 1): Uint8Array {
  return new Uint8Array(length).fill(bit)
}
