import type { Balance } from '../../verify/balance.js'
import type { Index } from '../engine/index-runs.js'
import type { CompiledSchema } from '../schema/schema.js'

/** What is known of a table while it is checked. */
export interface TableCheck {
  readonly schema: CompiledSchema
  readonly indexes: readonly IndexCheck[]
  rows: number
}

export interface IndexCheck {
  readonly what: string
  readonly index: Index
  /** Undefined: without the content of rows only numbers are compared. */
  readonly balance: Balance | undefined
  /** Rows with several entries or none: by the rows, and by the runs. */
  irregular: number
  counted: number
  /** Entries by the runs' own counts. */
  entries: number
  isWhole: boolean
}
