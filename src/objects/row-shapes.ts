// Objects are put together from columns by a function made for their fields: with the names as
// constants V8 gives all of them one hidden class. MEASURE

import type { Column } from './columns.js'
import type { JsonValue } from './types.js'

/** Makes the object of a row from columns given in the order of the names. */
export type RowMaker = (
  columns: readonly Column[],
  n: number,
  copy: (value: JsonValue) => JsonValue,
) => Record<string, JsonValue>

export interface Member {
  readonly name: string
  /** Every row has it. */
  readonly isAlways: boolean
}

/** Makers by members. There are as many as there were lists of fields. */
export class RowShapes {
  readonly #makers = new Map<string, RowMaker>()

  maker(members: readonly Member[]): RowMaker {
    const key = JSON.stringify(members)
    let maker = this.#makers.get(key)
    if (maker === undefined) {
      if (this.#makers.size >= maxMakers) this.#makers.clear()
      maker = createMaker(members)
      this.#makers.set(key, maker)
    }
    return maker
  }
}

const maxMakers = 1000

function createMaker(members: readonly Member[]): RowMaker {
  // JSON is JavaScript: a name is a string literal whatever is in it. `__proto__`, which would be
  // no member in a literal, is no name of a field.
  const lines = members.map(({ name, isAlways }, n) => {
    const assign = `row[${JSON.stringify(name)}] = typeof v === 'object' && v !== null ? copy(v) : v`
    return `v = columns[${n}][n]; ${isAlways ? assign : `if (v !== undefined) ${assign}`}`
  })
  const body = ['let v', 'const row = {}', ...lines, 'return row'].join('\n')
  return new Function('columns', 'n', 'copy', body) as RowMaker
}
