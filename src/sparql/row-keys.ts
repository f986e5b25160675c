// What tells rows apart that are grouped, taken away or counted once. The engine joins the texts of their terms with
// little or nothing between them: those of another row may read the same, and a row that lacks the first of two terms
// as one that lacks the second.

import type { Term } from '@rdfjs/types'
import { mediatorOf } from './mediator.js'

export interface Row {
  get(variable: object): Term | undefined
}

/** A text that no other term has. */
export type Write = (term: Term) => string

/** A text that no other list of texts has. */
export function rowKey(texts: readonly (string | undefined)[]): string {
  let key = ''
  for (const text of texts) key += text === undefined ? '-' : `${text.length}:${text}`
  return key
}

/** `undefined` where a row lacks a variable. */
export function textsOf(
  row: Row,
  variables: readonly object[],
  write: Write,
): (string | undefined)[] {
  return variables.map((variable) => {
    const term = row.get(variable)
    return term === undefined || term.termType === 'Variable' ? undefined : write(term)
  })
}

/** By the engine's names. That of statements needs nothing: their IRIs have no spaces, which part them. */
interface DistinctActor {
  newIdentityFilter(variables: readonly object[]): Promise<(row: Row) => boolean>
}

/** By the engine's names: GROUP BY. */
export interface RowTexts {
  bindingsToCompactString(row: Row, variables: readonly object[]): string
}

/** By the engine's names: COUNT(DISTINCT *). */
export interface RowCounter {
  readonly distinct: boolean
  readonly bindingValues: Map<string, unknown>
  handleDistinct(row: Iterable<readonly [variable: { readonly value: string }, Term]>): boolean
}

export function mendRowKeys(
  engine: object,
  texts: RowTexts,
  counter: RowCounter,
  write: Write,
): void {
  const keyOf = (row: Row, variables: readonly object[]) => rowKey(textsOf(row, variables, write))
  texts.bindingsToCompactString = keyOf
  counter.handleDistinct = function (this: RowCounter, row) {
    if (!this.distinct) return false
    const written = [...row].map(([{ value }, term]) => rowKey([value, write(term)]))
    const key = rowKey(written.sort())
    if (this.bindingValues.has(key)) return true
    this.bindingValues.set(key, true)
    return false
  }
  const actors = mediatorOf(engine, 'mediatorQueryOperation').bus.actors
  const distinct = actors.find(({ name }) => name.endsWith('#distinct'))
  if (distinct === undefined) throw new Error('this version of the SPARQL engine has no DISTINCT')
  ;(distinct as unknown as DistinctActor).newIdentityFilter = async (variables) => {
    const seen = new Set<string>()
    return (row) => {
      const before = seen.size
      return seen.add(keyOf(row, variables)).size > before
    }
  }
}
