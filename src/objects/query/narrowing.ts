// The blocks of a table in which something may match, by what their records say of their owners. So
// a search of one user's objects costs what that user has.

import { ByOwner, type Owner } from '../engine/owners.js'
import type { Table } from '../engine/state.js'
import type { ParsedCondition } from '../filter/condition.js'

/** The table with those of its blocks alone in which something may match. */
export function narrowed(table: Table, condition: ParsedCondition): Table {
  if (!asksForOwner(condition)) return table
  const answers = new ByOwner<boolean>()
  let last: Owner | undefined
  let answer = false
  const mayMatch = (owner: Owner): boolean => {
    // Blocks that lie together are of one import mostly.
    if (last !== undefined && last[0] === owner[0] && last[1] === owner[1]) return answer
    last = owner
    const known = answers.get(owner)
    answer = known ?? ask(condition, owner) !== false
    if (known === undefined) answers.set(owner, answer)
    return answer
  }
  const blocks = table.blocks.filter(({ owners }) => owners?.some(mayMatch) ?? true)
  if (blocks.length === table.blocks.length) return table
  return { ...table, blocks, rows: blocks.reduce((rows, block) => rows + block.rows, 0) }
}

function asksForOwner(condition: ParsedCondition): boolean {
  if (condition.type === 'test') return placeOf(condition.path[0]) !== undefined
  if (condition.type === 'not') return asksForOwner(condition.condition)
  return condition.conditions.some(asksForOwner)
}

/** What the owner decides of it; `undefined` where that is open. */
function ask(condition: ParsedCondition, owner: Owner): boolean | undefined {
  if (condition.type === 'test') {
    const place = placeOf(condition.path[0])
    return place === undefined ? undefined : condition.matches(owner[place])
  }
  if (condition.type === 'not') {
    const answer = ask(condition.condition, owner)
    return answer === undefined ? undefined : !answer
  }
  // `and` is decided by one that is false, `or` by one that is true.
  const decisive = condition.type === 'or'
  let open = false
  for (const part of condition.conditions) {
    const answer = ask(part, owner)
    if (answer === decisive) return decisive
    open ||= answer === undefined
  }
  return open ? undefined : !decisive
}

function placeOf(field: string | undefined): 0 | 1 | undefined {
  if (field === '_collection') return 0
  return field === '_user' ? 1 : undefined
}
