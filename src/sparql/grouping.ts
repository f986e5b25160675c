// What a SELECT with GROUP BY or an aggregate may speak of (SPARQL 1.1, section 11.4). The engine
// leaves other variables unbound.

import type { Operation } from './operation.js'

/** A variable of a projection, or of its expressions, that is neither grouped nor aggregated. */
export function ungroupedVariable({ variables, input }: Operation): string | undefined {
  const extensions: Operation[] = []
  let at = input as Operation
  // ORDER BY, expressions, HAVING and VALUES stand between a projection and its groups.
  while (between.has(at.type)) {
    if (at.type === 'extend') extensions.push(at)
    at = [at.input].flat()[0] as Operation
  }
  if (at.type !== 'group') return undefined
  const made = [...(at.aggregates as Operation[]), ...extensions].map(({ variable }) => variable)
  const known = new Set([...(at.variables as unknown[]), ...made].map(nameOf))
  const used = [...(variables as unknown[]), ...extensions.flatMap(variablesOf)]
  return used.map(nameOf).find((name) => !known.has(name))
}

const between = new Set<unknown>(['orderby', 'extend', 'filter', 'join'])

const nameOf = (variable: unknown) => String((variable as Operation).value)

function variablesOf({ expression }: Operation): Operation[] {
  const { subType, term, args } = expression as Operation
  if (subType === 'term')
    return (term as Operation).termType === 'Variable' ? [term as Operation] : []
  // An EXISTS has variables of its own.
  return ((args ?? []) as Operation[]).flatMap((argument) => variablesOf({ expression: argument }))
}
