// Paths that the engine answers otherwise than SPARQL 1.1 (section 18.4) has them.

import { become, newVariable, partsOf, type Operation } from './operation.js'

/**
 * `?x :p+ ?x` is every node that has a way to itself. The engine goes from where the way has come to,
 * with both places bound at once, and has nodes that are on somebody else's way; and MINUS, which
 * compares by variables, overlooks one that is there twice.
 */
export function mendPaths(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const operation = node as Operation
  if (operation.type !== 'path') return partsOf(operation).forEach(mendPaths)
  const [subject, object] = [operation.subject as Operation, operation.object as Operation]
  const areVariables = subject.termType === 'Variable' && object.termType === 'Variable'
  if (!areVariables || subject.value !== object.value) return
  const end = newVariable()
  const args = [subject, end].map((term) => ({ type: 'expression', subType: 'term', term }))
  become(operation, {
    type: 'filter',
    input: { ...operation, object: end },
    expression: { type: 'expression', subType: 'operator', operator: 'sameterm', args },
  })
}
