// A filter once it is understood: what filter.ts makes of it, and planner.ts and query.ts read.

import type { Operators } from '../filter-types.js'
import type { Path } from '../values/path.js'

/** Those of which a test is made: of the others, conditions are. */
export type TestOperator = Exclude<keyof Operators, '$not' | '$all' | '$options'>

/** One operator on one path. */
export interface Test {
  readonly type: 'test'
  readonly path: Path
  readonly operator: TestOperator
  /** A JSON value; of `$exists` whether, of `$type` the names of types, of `$regex` a Regex, of `$elemMatch` the condition of an element. */
  readonly operand: unknown
  /** Of the value of its first field, `undefined` where it is missing; in `$elemMatch` the element. */
  readonly matches: (field: unknown) => boolean
}

export type ParsedCondition =
  | Test
  /** `and` of nothing is true, `or` of nothing false. */
  | { readonly type: 'and' | 'or'; readonly conditions: readonly ParsedCondition[] }
  | { readonly type: 'not'; readonly condition: ParsedCondition }
