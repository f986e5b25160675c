// Paths that the engine answers otherwise than SPARQL 1.1 (section 18.4) has them.

import { mediatorOf } from './mediator.js'
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

/** An iterator over what `source` returns when it is first read. */
export type LateIterator = new (
  source: () => unknown,
  options: { readonly autoStart: false },
) => object

interface PathActor {
  mediatorQueryOperation: { mediate(action: unknown): Promise<{ bindingsStream: unknown }> }
  generateVariable(dataFactory: { variable(name: string): object }): object
}

/**
 * The engine asks for each step of a path of any length, and listens for its end when it may have
 * ended: `?x (:p/:p)+ ?y` came to none. These steps end when they are read, which is later.
 *
 * Its variables within a path are `?b` and `?b0`, which a query may have, too, and two parts of one
 * path: these are no one else's.
 */
export function mendPathActors(engine: object, Late: LateIterator): void {
  const operations = mediatorOf(engine, 'mediatorQueryOperation')
  const late: PathActor['mediatorQueryOperation'] = {
    async mediate(action) {
      const step = (await operations.mediate(action)) as { bindingsStream: unknown }
      const { bindingsStream } = step
      return { ...step, bindingsStream: new Late(() => bindingsStream, { autoStart: false }) }
    },
  }
  for (const actor of operations.bus.actors) {
    if (!actor.name.includes('#path-')) continue
    const path = actor as unknown as PathActor
    path.generateVariable = (dataFactory) => dataFactory.variable(String(newVariable().value))
    if (/-or-more$/.test(actor.name)) path.mediatorQueryOperation = late
  }
}

/** What a path of any length finds from one node: reads the steps that it has begun into a buffer. */
export interface PathIterator {
  readonly closed: boolean
  readonly runningOperations: readonly { readonly readable: boolean }[]
  _read(count: number, done: () => void): void
  _fillBufferAsync(): void
  closeIfNeeded(): void
}

/**
 * A step that ended, or had more, between the last look of a read and the read's end was not heard,
 * and nobody read again: one in fourteen of `:a :p* :d` over eleven triples was never answered.
 */
export function mendPathIterators(prototype: PathIterator): void {
  const read = prototype._read
  prototype._read = function (this: PathIterator, count, done) {
    read.call(this, count, () => {
      this.closeIfNeeded()
      done()
      if (!this.closed && this.runningOperations.some((step) => step.readable)) {
        this._fillBufferAsync()
      }
    })
  }
}
