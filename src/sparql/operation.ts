// A node of SPARQL's algebra, as the engine's parser makes it.

export type Operation = Record<string, unknown>

/** Makes another node of a node, for whoever holds it. */
export function become(operation: Operation, other: Operation): void {
  for (const key of Object.keys(operation)) Reflect.deleteProperty(operation, key)
  Object.assign(operation, other)
}
