// What a query may say: names, what a value has to be, and what the document of the routes says of it.

import { aRule, oneOf } from '../door/rules.js'
import type { Rule } from '../door/rules.js'
import { defaultPageLimit, maxPageLimit, type PageOptions } from '../paging.js'
import { aTime } from '../time-range.js'
import type { JsonObject } from '../types.js'

export interface Parameter<T extends string = string> {
  /** A sentence for the document. */
  readonly description: string
  /** JSON Schema of a value, as the document has it. */
  readonly schema: JsonObject
  /** A request without it is refused. */
  readonly required?: true
  /** It may be there more than once. */
  readonly repeatable?: true
  /** What a value is held to before the route runs, where the route does not read it otherwise. */
  readonly rule?: Rule<T>
}

/** By the names that a query may have, once each unless they are `repeatable`; any other is refused. */
export type Parameters = Readonly<Record<string, Parameter>>

/** Whatever text. */
export function aText(description: string): Parameter {
  return { description, schema: { type: 'string' } }
}

/** One of a few words; the first one is the default. */
export function aWord<T extends string>(description: string, ...words: readonly T[]): Parameter<T> {
  const schema = { type: 'string', enum: words, default: words[0] as string }
  return { description, schema, rule: oneOf(...words) }
}

export const user = aText(
  "Whose things are meant. The token's user where it is left out; a token for any user names one.",
)

export const coreId: Parameter = {
  description: 'Which core. Typically a URI.',
  schema: { type: 'string', minLength: 1 },
  required: true,
}

export const collection = aText(
  'Only what this collection has. A token for one collection asks about that without naming it.',
)

export const limit: Parameter = {
  description: 'How many a page may have.',
  schema: { type: 'integer', minimum: 1, maximum: maxPageLimit, default: defaultPageLimit },
  rule: aRule<string>(`a whole number from 1 to ${maxPageLimit}`, (text) => {
    return /^\d{1,4}$/.test(String(text)) && Number(text) >= 1 && Number(text) <= maxPageLimit
  }),
}

export const after = aText(
  'Only what comes behind it: `next` of the page before, asked for with the same filters.',
)

export const prefix = aText('Only what is called by a name that begins so.')

/** A time, by which some of a list is left out. */
export function aTimeParameter(description: string): Parameter {
  return { description, schema: { type: 'string' }, rule: aTime }
}

/** What a listing's query says of the page. */
export function pageIn(query: ReadonlyMap<string, string>): PageOptions {
  const behind = query.get('after')
  return { limit: limitIn(query), ...(behind !== undefined && { after: behind }) }
}

/** Those of some filters that are there. */
export function filtersIn<Names extends string>(
  query: ReadonlyMap<string, string>,
  filters: Readonly<Record<Names, Parameter>>,
): { readonly [Name in Names]?: string } {
  const found: { [Name in Names]?: string } = {}
  for (const name of Object.keys(filters) as Names[]) {
    const value = valueOf(query, name, filters[name])
    if (value !== undefined) found[name] = value
  }
  return found
}

/** The value of a parameter that the route has, which parseQuery() has checked; or undefined. */
export function valueOf<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  _parameter: Parameter<T>,
): T | undefined {
  return query.get(name) as T | undefined
}

/** How many a list may hold. */
function limitIn(query: ReadonlyMap<string, string>): number {
  return Number(valueOf(query, 'limit', limit) ?? defaultPageLimit)
}
