// A node of SPARQL's algebra, as the engine's parser makes it.

export type Operation = Record<string, unknown>

/** Makes another node of a node, for whoever holds it. */
export function become(operation: Operation, other: Operation): void {
  for (const key of Object.keys(operation)) Reflect.deleteProperty(operation, key)
  Object.assign(operation, other)
}

/** Terms are never changed, and stay as they are. */
export function copied(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map(copied)
  const operation = node as Operation
  if (operation.termType !== undefined && operation.type !== 'pattern') return node
  const copy = Object.create(Object.getPrototypeOf(node) as object | null) as Operation
  for (const key of Object.keys(operation)) copy[key] = copied(operation[key])
  return copy
}

/** An expression that means the same, and is another to the engine's optimisers. */
export function coalesce(expression: Operation): void {
  const args = [{ ...expression }]
  become(expression, { type: 'expression', subType: 'operator', operator: 'coalesce', args })
}

/** What an operation, or a list of them, is made of, but for terms and what a CONSTRUCT makes. */
export function partsOf(operation: Operation): unknown[] {
  if (operation.termType !== undefined) return []
  return Object.keys(operation)
    .filter((key) => key !== 'template' && key !== 'metadata')
    .map((key) => operation[key])
    .filter((part) => typeof part === 'object' && part !== null)
}

let variables = 0

/** One that no query has. */
export function newVariable(): Operation {
  const value = `lorekeep-${++variables}`
  const equals = (other: Operation) => other?.termType === 'Variable' && other.value === value
  return { termType: 'Variable', value, equals }
}
