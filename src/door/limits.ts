// Bounds that a host may change: each with what it is otherwise, and what it may be.

import { aCount, type Rule } from './rules.js'

export interface Limit {
  readonly otherwise: number
  readonly rule: Rule<number>
}

export type LimitTable<T> = { readonly [Name in keyof T]-?: Limit }

export function limit(otherwise: number, least = 1, most = Number.MAX_SAFE_INTEGER): Limit {
  return { otherwise, rule: aCount(least, most) }
}

/** For checkOptions(). */
export function rulesOf<Name extends string>(
  table: Readonly<Record<Name, Limit>>,
): Readonly<Record<Name, Rule<number>>> {
  const rules = Object.entries<Limit>(table).map(([name, { rule }]) => [name, rule])
  return Object.fromEntries(rules) as Record<Name, Rule<number>>
}

/** The limits of a table, the defaults filled in; what else was given is for others. */
export function limitsOf<Name extends string>(
  table: Readonly<Record<Name, Limit>>,
  given: NoInfer<{ readonly [Limited in Name]?: number | undefined }> = {},
): Readonly<Record<Name, number>> {
  const entries = Object.entries<Limit>(table).map(([name, { otherwise }]) => {
    return [name, given[name as Name] ?? otherwise]
  })
  return Object.fromEntries(entries) as Record<Name, number>
}

/** Those that were given, of a table. */
export function givenLimits<Name extends string>(
  table: Readonly<Record<Name, Limit>>,
  given: Readonly<Record<string, number>>,
): Partial<Readonly<Record<Name, number>>> {
  const entries = Object.entries(given).filter(([name]) => Object.hasOwn(table, name))
  return Object.fromEntries(entries) as Partial<Record<Name, number>>
}
