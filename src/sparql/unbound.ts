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

import type { LorekeepError } from '../errors.js'
import { rdfFactory } from '../rdf/factory.js'
import { become, coalesce, copied, newVariable, partsOf, type Operation } from './operation.js'
import { queryError } from './query-error.js'

interface Variable {
  readonly term: Operation
  /** In every row. */
  readonly isBound: boolean
  /** Also in every row of the parts of the pattern in which it is. */
  readonly isEverywhere: boolean
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
      return known(everyVariable(operation))
    case 'path':
      return known(scopeOfPath(operation))
    case 'values':
      return known(scopeOfValues(operation))
    case 'join':
      return known(inputs.map(marked).reduce(joined))
    case 'leftjoin': {
      const random = randomOf(operation)
      const left = marked(inputs[0] as Operation)
      const right = marked(inputs[1] as Operation)
      if (!isLookedUp(operation, left, right)) {
        if (random !== undefined) throw askedTwice(random)
        writeOut(operation, left, right)
      } else keepInPlace(operation.expression, right)
      return known(new Map([...maybe(right), ...left]))
    }
    case 'minus':
      return known(inputs.map(marked)[0] as Scope)
    case 'filter': {
      const found = markUnbound(input as Operation)
      keepInPlace(operation.expression, found.scope)
      return found
    }
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
        scope: new Map([...scope, [nameOf(term), { term, isBound, isEverywhere: isBound }]]),
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

/**
 * Of an OPTIONAL the engine looks up the rows of the right side with the values of the left in place,
 * where a filter is about both, and refuses those parts in which it cannot put them. Where the right
 * side may lack a variable of the left, it finds only some rows.
 */
function isLookedUp({ input, expression }: Operation, left: Scope, right: Scope): boolean {
  const lacks = [...right].some(([name, { isBound }]) => !isBound && left.has(name))
  const [, second] = input as readonly [Operation, Operation]
  return !lacks && (expression === undefined || takesValues(second, left))
}

function takesValues(node: unknown, left: Scope): boolean {
  if (typeof node !== 'object' || node === null) return true
  const { type, input } = node as Operation
  if (type === 'extend' || type === 'group' || type === 'filter') return false
  if (type === 'leftjoin' || type === 'minus') {
    const [, second] = input as readonly [Operation, Operation]
    if ([...everyVariable(second).keys()].some((name) => left.has(name))) return false
  }
  return Object.values(node).every((part) => takesValues(part, left))
}

/**
 * As the rows that find something, and those that do not. MINUS tells them apart by all variables, and
 * by which of these a row has.
 */
function writeOut(operation: Operation, left: Scope, right: Scope): void {
  const { input, expression } = operation as { input: Operation[]; expression?: Operation }
  const [first, second] = input as [Operation, Operation]
  keepInPlace(expression, joined(left, right))
  const unsure = [...left.values()].filter(({ isBound }) => !isBound)
  // Rows without any variable need one.
  const marks = left.size > 0 ? unsure.map(({ term }) => isBoundIn(term)) : [constant('')]
  const rows = marks.reduce(withMark, first)
  const found = (): Operation => {
    const both = { type: 'join', input: [rows, second].map(copied) }
    return expression === undefined
      ? both
      : { type: 'filter', input: both, expression: copied(expression) }
  }
  become(operation, {
    type: 'union',
    input: [found(), { type: 'minus', input: [rows, found()] }],
  })
}

/**
 * Of what decides which rows an OPTIONAL finds, a function of which each call has another value. What the right side
 * binds last, and nothing asks for, decides nothing.
 */
function randomOf({ input, expression }: Operation): string | undefined {
  const [first, second] = input as [Operation, Operation]
  const asked = everyVariable([first, expression])
  let at = second
  while (at.type === 'extend' && !asked.has(nameOf(at.variable as Operation))) {
    at = at.input as Operation
  }
  return randomIn([first, expression, at])
}

function randomIn(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const { subType, operator } = node as Operation
  if (subType === 'operator' && randomFunctions.has(operator)) return String(operator).toUpperCase()
  for (const part of Array.isArray(node) ? node : partsOf(node as Operation)) {
    const found = randomIn(part)
    if (found !== undefined) return found
  }
  return undefined
}

const randomFunctions = new Set<unknown>(['rand', 'uuid', 'struuid', 'bnode'])

function askedTwice(name: string): LorekeepError {
  const where = 'in or before an OPTIONAL that has to be asked for twice: bind it behind that'
  return queryError(`the query has ${name}() ${where}`)
}

function withMark(input: Operation, expression: Operation): Operation {
  return { type: 'extend', input, variable: newVariable(), expression }
}

function isBoundIn(term: Operation): Operation {
  const args = [{ type: 'expression', subType: 'term', term }]
  return { type: 'expression', subType: 'operator', operator: 'bound', args }
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
  args: ['a', 'b'].map(constant),
}

function constant(text: string): Operation {
  return { type: 'expression', subType: 'term', term: rdfFactory.literal(text) }
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
  if (term.termType === 'Variable')
    scope.set(nameOf(term), { term, isBound: true, isEverywhere: true })
  else Object.values(node).forEach((part) => everyVariable(part, scope))
  return scope
}

/** A filter that the engine moves into a path takes the graph from it. */
function scopeOfPath(operation: Operation): Scope {
  const scope = everyVariable(operation)
  if ((operation.graph as Operation).termType === 'DefaultGraph') return scope
  return new Map([...scope].map(([name, each]) => [name, { ...each, isEverywhere: false }]))
}

function scopeOfValues({ variables, bindings }: Operation): Scope {
  const rows = bindings as Operation[]
  return new Map(
    (variables as Operation[]).map((term) => {
      const name = nameOf(term)
      const isBound = rows.every((row) => name in row)
      return [name, { term, isBound, isEverywhere: isBound }]
    }),
  )
}

function joined(left: Scope, right: Scope): Scope {
  const scope = new Map(left)
  for (const [name, { term, isBound, isEverywhere }] of right) {
    const other = left.get(name)
    scope.set(name, {
      term,
      isBound: isBound || other?.isBound === true,
      isEverywhere: isEverywhere && other?.isEverywhere !== false,
    })
  }
  return scope
}

function united(scopes: readonly Scope[]): Scope {
  const all = scopes.flatMap((scope) => [...scope])
  return new Map(
    all.map(([name, { term }]) => {
      const found = scopes.map((scope) => scope.get(name))
      return [
        name,
        {
          term,
          isBound: found.every((each) => each?.isBound === true),
          isEverywhere: found.every((each) => each?.isEverywhere === true),
        },
      ]
    }),
  )
}

const maybe = (scope: Scope): Scope =>
  new Map([...scope].map(([name, { term }]) => [name, unbound(term)]))

const unbound = (term: Operation): Variable => ({ term, isBound: false, isEverywhere: false })

const only = (terms: readonly Operation[], scope: Scope): Scope =>
  new Map(
    terms.map((term) => {
      const name = nameOf(term)
      return [name, scope.get(name) ?? unbound(term)]
    }),
  )

function scopeOfGroup({ variables, aggregates }: Operation, scope: Scope): MarkedScope {
  const group = new Map(only(variables as Operation[], scope))
  for (const { variable, aggregator } of aggregates as Operation[]) {
    const term = variable as Operation
    const isBound = aggregator === 'count'
    group.set(nameOf(term), { term, isBound, isEverywhere: isBound })
  }
  const isOneRow = (variables as Operation[]).length === 0
  const mayBeUnbound = [...group.values()].some(({ isBound }) => !isBound)
  return { scope: group, isMistaken: isOneRow || mayBeUnbound }
}

/**
 * The engine moves a filter that compares a variable with a constant into the parts of a pattern, and
 * does not look whether they have the variable in each row: where one lacks it, all of its rows stay.
 */
function keepInPlace(expression: unknown, scope: Scope): void {
  const { operator, args } = (expression ?? {}) as Operation
  if (operator === '&&') return (args as unknown[]).forEach((part) => keepInPlace(part, scope))
  if (operator !== '=') return
  const terms = (args as Operation[]).map(({ term }) => term as Operation | undefined)
  const isEverywhere = terms
    .filter((term) => term?.termType === 'Variable')
    .every((term) => scope.get(nameOf(term as Operation))?.isEverywhere)
  if (!isEverywhere) coalesce(expression as Operation)
}

/** A constant, or a variable that every row has. */
function isSure({ subType, term }: Operation, scope: Scope): boolean {
  if (subType !== 'term') return false
  const { termType } = term as Operation
  return termType !== 'Variable' || scope.get(nameOf(term as Operation))?.isBound === true
}
