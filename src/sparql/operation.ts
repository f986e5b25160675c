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
