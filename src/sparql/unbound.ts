// Variables that a row may lack: the engine's joins have to know of them.
//
// The engine takes the variable of a BIND or of an aggregate for bound in every row, and a join by
// such a variable drops the rows where the expression failed, which join with everything. It knows
// that rows of one branch of a UNION lack the variables of another, so what is joined gets a second
// branch: without rows, and without the variables that may be unbound.
//
// It also takes an aggregate without GROUP BY for as many rows as it counts, which is none where it
// counts none, and drops what is joined with it. The second branch has a row that its filter drops,
// which the engine does not foresee.

import { rdfFactory } from '../rdf/factory.js'
import { become, type Operation } from './operation.js'

interface Variable {
  readonly term: Operation
  /** In every row. */
  readonly isBound: boolean
}

/** By their names. */
type Scope = ReadonlyMap<string, Variable>

interface MarkedScope {
  readonly scope: Scope
  /** The engine takes one of the variables for bound, and it may not be; or a row for none. */
  readonly isMistaken: boolean
}

export function markUnbound(operation: Operation): MarkedScope {
  markWithin(operation.expression)
  markWithin(operation.expressions)
  const { type } = operation
  const inputs = [operation.input ?? []].flat() as Operation[]
  const [input] = inputs
  switch (type) {
    case 'bgp':
    case 'pattern':
    case 'path':
      return known(everyVariable(operation))
    case 'values':
      return known(scopeOfValues(operation))
    case 'join':
      return known(inputs.map(marked).reduce(joined))
    case 'leftjoin': {
      const [left, right] = inputs.map(marked) as [Scope, Scope]
      return known(new Map([...maybe(right), ...left]))
    }
    case 'minus':
      return known(inputs.map(marked)[0] as Scope)
    case 'union': {
      const found = inputs.map(markUnbound)
      const isMistaken = found.some((each) => each.isMistaken)
      return { scope: united(found.map(({ scope }) => scope)), isMistaken }
    }
    case 'extend': {
      const { scope, isMistaken } = markUnbound(input as Operation)
      const isBound = isSure(operation.expression as Operation, scope)
      const term = operation.variable as Operation
      return {
        scope: new Map([...scope, [nameOf(term), { term, isBound }]]),
        isMistaken: isMistaken || !isBound,
      }
    }
    case 'group':
      return scopeOfGroup(operation, markUnbound(input as Operation).scope)
    case 'project': {
      const { scope, isMistaken } = markUnbound(input as Operation)
      return { scope: only(operation.variables as Operation[], scope), isMistaken }
    }
    default:
      return input === undefined ? known(new Map()) : markUnbound(input)
  }
}

const known = (scope: Scope): MarkedScope => ({ scope, isMistaken: false })
const nameOf = ({ value }: Operation) => String(value)

/** An operand of a join. */
function marked(operand: Operation): Scope {
  const { scope, isMistaken } = markUnbound(operand)
  if (!isMistaken) return scope
  const variables = [...scope.values()].filter(({ isBound }) => isBound).map(({ term }) => term)
  become(operand, { type: 'union', input: [{ ...operand }, noRows(variables)] })
  return scope
}

function noRows(variables: readonly Operation[]): Operation {
  const row = Object.fromEntries(variables.map((term) => [nameOf(term), something]))
  const input = { type: 'values', variables, bindings: [row] }
  return { type: 'filter', input, expression: never }
}

const something = rdfFactory.literal('')

const never = {
  type: 'expression',
  subType: 'operator',
  operator: '=',
  args: ['a', 'b'].map((text) => ({
    type: 'expression',
    subType: 'term',
    term: rdfFactory.literal(text),
  })),
}

/** Patterns within expressions: those of EXISTS. */
function markWithin(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(markWithin)
  const { type, subType, input, args } = (node ?? {}) as Operation
  if (type !== 'expression') return
  if (subType === 'existence') markUnbound(input as Operation)
  else markWithin(args)
}

function everyVariable(node: unknown, scope = new Map<string, Variable>()): Scope {
  if (typeof node !== 'object' || node === null) return scope
  const term = node as Operation
  if (term.termType === 'Variable') scope.set(nameOf(term), { term, isBound: true })
  else Object.values(node).forEach((part) => everyVariable(part, scope))
  return scope
}

function scopeOfValues({ variables, bindings }: Operation): Scope {
  const rows = bindings as Operation[]
  return new Map(
    (variables as Operation[]).map((term) => {
      const name = nameOf(term)
      return [name, { term, isBound: rows.every((row) => name in row) }]
    }),
  )
}

function joined(left: Scope, right: Scope): Scope {
  const scope = new Map(left)
  for (const [name, variable] of right) if (!left.get(name)?.isBound) scope.set(name, variable)
  return scope
}

function united(scopes: readonly Scope[]): Scope {
  const isBound = (name: string) => scopes.every((scope) => scope.get(name)?.isBound === true)
  const all = scopes.flatMap((scope) => [...scope])
  return new Map(all.map(([name, { term }]) => [name, { term, isBound: isBound(name) }]))
}

const maybe = (scope: Scope): Scope =>
  new Map([...scope].map(([name, { term }]) => [name, { term, isBound: false }]))

const only = (terms: readonly Operation[], scope: Scope): Scope =>
  new Map(
    terms.map((term) => {
      const name = nameOf(term)
      return [name, { term, isBound: scope.get(name)?.isBound === true }]
    }),
  )

function scopeOfGroup({ variables, aggregates }: Operation, scope: Scope): MarkedScope {
  const group = new Map(only(variables as Operation[], scope))
  for (const { variable, aggregator } of aggregates as Operation[]) {
    const term = variable as Operation
    group.set(nameOf(term), { term, isBound: aggregator === 'count' })
  }
  const isOneRow = (variables as Operation[]).length === 0
  const mayBeUnbound = [...group.values()].some(({ isBound }) => !isBound)
  return { scope: group, isMistaken: isOneRow || mayBeUnbound }
}

/** A constant, or a variable that every row has. */
function isSure({ subType, term }: Operation, scope: Scope): boolean {
  if (subType !== 'term') return false
  const { termType } = term as Operation
  return termType !== 'Variable' || scope.get(nameOf(term as Operation))?.isBound === true
}
