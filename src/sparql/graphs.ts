// GRAPH of SPARQL, as patterns that say which graph they mean: the engine knows no other.
//
// SPARQL 1.1 Query, section 18.6: GRAPH <a> {P} is P over that graph, GRAPH ?g {P} the union over all
// graphs of P over that graph, joined with its name. Where each solution of P takes a triple of the
// graph, its patterns with ?g in the place of the graph are that union, and all graphs are asked at
// once. Anything else (sub-SELECT, MINUS, paths of no length) is written out, graph by graph.

import type { Term } from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import { become, copied, partsOf, type Operation } from './operation.js'

/** Of the dataset that is asked. */
export interface NamedGraphs {
  /** All of them, or some more than `mostNames`. */
  names(): Promise<readonly Term[]>
  has(name: Term): Promise<boolean>
}

/** Names of graphs that a query may need at once. */
export const mostNames = 100_000

/** Copies of a pattern, one for each graph. */
const mostCopies = 1000

/** @throws LorekeepError `LK_QUERY_BUDGET` where a pattern would have to be written out too often */
export async function resolveGraphs(operation: Operation, graphs: NamedGraphs): Promise<void> {
  await place(operation, undefined, graphs)
}

/** Has all patterns in it mean `active`, by default the default graph, but for those of a GRAPH in it. */
async function place(
  node: unknown,
  active: Operation | undefined,
  graphs: NamedGraphs,
): Promise<void> {
  if (typeof node !== 'object' || node === null) return
  const operation = node as Operation
  if (operation.type === 'graph') return resolve(operation, graphs)
  if (isPattern(operation)) {
    if (active !== undefined) operation.graph = active
    return
  }
  for (const part of partsOf(operation)) await place(part, active, graphs)
}

async function resolve(operation: Operation, graphs: NamedGraphs): Promise<void> {
  const { name, input } = operation as { name: Operation; input: Operation }
  if (name.termType !== 'Variable') {
    const isThere = takesTriple(input) || (await graphs.has(name as unknown as Term))
    await place(input, name, graphs)
    return become(operation, isThere ? input : union([]))
  }
  if (takesTriple(input, name)) {
    await place(input, name, graphs)
    return become(operation, input)
  }
  const names = (await graphs.names()) as readonly unknown[] as readonly Operation[]
  if (names.length > mostNames) {
    throw new LorekeepError('LK_QUERY_BUDGET', `it asks more than ${mostNames} graphs one by one`)
  }
  if (!asksGraph(input)) {
    await place(input, undefined, graphs)
    return become(operation, join(input, values(name, names)))
  }
  if (names.length > mostCopies) {
    const reason = `GRAPH ?${String(name.value)} with what is not a triple pattern, over ${names.length} graphs`
    throw new LorekeepError('LK_QUERY_BUDGET', `${reason}; ${mostCopies} at most`)
  }
  const branches: Operation[] = []
  for (const graph of names) {
    const copy = copied(input) as Operation
    await place(copy, graph, graphs)
    branches.push(join(copy, values(name, [graph])))
  }
  become(operation, branches.length === 1 ? (branches[0] as Operation) : union(branches))
}

const join = (...input: Operation[]): Operation => ({ type: 'join', input })

function values(variable: Operation, terms: readonly Operation[]): Operation {
  const bindings = terms.map((term) => ({ [String(variable.value)]: term }))
  return { type: 'values', variables: [variable], bindings }
}

/** Of nothing it is what has no solution. */
function union(input: Operation[]): Operation {
  return input.length > 0
    ? { type: 'union', input }
    : { type: 'values', variables: [], bindings: [] }
}

/**
 * True where each solution takes a triple of the graph that is meant, and is none without. With
 * `variable` also that it would be the same with that in the place of the graph.
 */
function takesTriple(operation: Operation, variable?: Operation): boolean {
  const { type, input, expression } = operation
  const inputs = [input ?? []].flat() as Operation[]
  const takes = (each: Operation) => takesTriple(each, variable)
  const [first, second] = inputs as [Operation, Operation]
  switch (type) {
    case 'bgp':
      return (operation.patterns as readonly unknown[]).length > 0
    case 'path':
      return !leads(operation.predicate, variable ? anyLength : noLength)
    case 'join':
      return inputs.some(takes) && (!variable || inputs.every(either))
    case 'union':
      return inputs.every(takes)
    case 'filter':
      return takes(first) && (!variable || isSame(expression))
    case 'leftjoin':
      // A value that the right side has for the variable would be no match here, and is none of the
      // graph there.
      return (
        takes(first) &&
        (!variable || (either(second) && !names(second, variable) && isSame(expression)))
      )
    case 'minus':
      // With the variable on both sides they would have something in common.
      return takes(first) && (!variable || (!asksGraph(second) && !names(second, variable)))
    case 'extend': {
      const isOther = (operation.variable as Operation).value !== variable?.value
      return takes(first) && isOther && (!variable || isSame(expression))
    }
    default:
      return false
  }

  function either(each: Operation): boolean {
    return takes(each) || !asksGraph(each)
  }

  /** What an EXISTS in it asks. */
  function isSame(node: unknown): boolean {
    const { subType, input: asked, args } = (node ?? {}) as Operation
    if (subType === 'existence') return either(asked as Operation)
    return ((args ?? []) as readonly unknown[]).every(isSame)
  }
}

function names(node: unknown, variable: Operation): boolean {
  if (typeof node !== 'object' || node === null) return false
  const { termType, value } = node as Operation
  if (termType === 'Variable') return value === variable.value
  return Object.values(node).some((part) => names(part, variable))
}

/** True where what it finds depends on the graph that is meant. */
function asksGraph(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  const operation = node as Operation
  if (operation.type === 'graph') return false
  return isPattern(operation) || partsOf(operation).some(asksGraph)
}

const isPattern = ({ type }: Operation) => type === 'pattern' || type === 'path'

/** Paths that may lead nowhere from where they began. */
const noLength: readonly unknown[] = ['ZeroOrMorePath', 'ZeroOrOnePath']
/** And one that the engine mistakes for such where the graph is a variable. */
const anyLength: readonly unknown[] = [...noLength, 'OneOrMorePath']

/** True where a path is one of these, or one of its steps. */
function leads(path: unknown, types: readonly unknown[]): boolean {
  const { type } = path as Operation
  return types.includes(type) || partsOf(path as Operation).some((part) => leads(part, types))
}
