// The types of filters as callers write them: what MongoDB has of it here. The rules are those of
// docs/objects.md; src/objects/filter/ reads them, and makes a ParsedCondition of each.

import type { JsonValue } from '../types.js'

/** JSON as an operand: no operator can stand inside a value, and none is written like one. */
export type Operand =
  | null
  | boolean
  | number
  | string
  | readonly Operand[]
  | { readonly [field: string]: Operand; readonly [operator: `$${string}`]: never }

/** The values that a field of the type is compared with: an array's elements, too. */
type Compared<Value> = unknown extends Value
  ? Operand
  : Value extends readonly (infer Element)[]
    ? Value | Element | null
    : Value | null

/** What a field is asked, each operator of it. A name that is none of these does not compile. */
export interface Operators<Value = unknown> {
  readonly $eq?: Compared<Value>
  readonly $ne?: Compared<Value>
  readonly $gt?: Compared<Value>
  readonly $gte?: Compared<Value>
  readonly $lt?: Compared<Value>
  readonly $lte?: Compared<Value>
  readonly $in?: readonly Compared<Value>[]
  readonly $nin?: readonly Compared<Value>[]
  readonly $exists?: boolean | number
  /** Names or numbers of BSON's types, or several. */
  readonly $type?: string | number | readonly (string | number)[]
  /** Divisor and remainder. */
  readonly $mod?: readonly [divisor: number, remainder: number]
  readonly $regex?: string
  readonly $options?: string
  readonly $size?: number
  readonly $all?: readonly (Compared<Value> | { readonly $elemMatch: Filters | Operators })[]
  readonly $elemMatch?: Filters | Operators
  readonly $not?: Operators<Value>
}

export type Condition<Value = unknown> = Compared<Value> | Operators<Value>

/** What a text index is asked: objects with any of the words, ranked by how well they fit. */
export interface TextSearch {
  /** Words, `"a phrase"`, `-word`, `-"a phrase"`, `word*`. */
  readonly $search: string
  /** A tag such as `de`, a name such as `german`, or `none`; that of the index by default. */
  readonly $language?: string
  /** Words are compared without accents and in small letters: no other value is taken. */
  readonly $caseSensitive?: false
  readonly $diacriticSensitive?: false
}

interface Logical<T> {
  /** Once in a filter, at its top or in its `$and`. */
  readonly $text?: TextSearch
  readonly $and?: readonly Filters<T>[]
  readonly $or?: readonly Filters<T>[]
  readonly $nor?: readonly Filters<T>[]
  /** Passed over, as MongoDB does. */
  readonly $comment?: JsonValue
}

/** Of any schema: every path, and the system's fields. */
interface AnyFields {
  readonly [path: string]: Condition | readonly Filters[] | TextSearch | undefined
}

/** Of objects whose type is known: its fields, and dotted paths, which are not looked into. */
type KnownFields<T> = {
  readonly [Field in keyof T & string]?: Condition<NonNullable<T[Field]>>
} & { readonly [path: `${string}.${string}`]: Condition } & {
  readonly [field: `_${string}`]: Condition
}

/**
 * Field path → a value (equality) or an object of operators; `$and`, `$or`, `$nor`. With the type of
 * the objects, their fields and values are checked, too.
 */
export type Filters<T = unknown> = unknown extends T
  ? Logical<unknown> & AnyFields
  : Logical<T> & KnownFields<T>
