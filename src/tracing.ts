// What lorekeep does, told on node:diagnostics_channel while somebody listens. Without a subscriber an operation
// costs one look at its channel, and nothing is made for it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel'
import { types } from 'node:util'

/** All that is told. Each is a tracing channel: `tracing:lorekeep:NAME:start`, and so on. */
export const operations = [
  'knowledge.import',
  'knowledge.write',
  'knowledge.export',
  'knowledge.messages',
  'knowledge.stat',
  'knowledge.list',
  'knowledge.corePage',
  'knowledge.delete',
  'knowledge.index',
  'knowledge.indexState',
  'graph.match',
  'graph.count',
  'graph.solve',
  'graph.nearest',
  'graph.retrieve',
  'graph.search',
  'graph.duplicates',
  'graph.merge',
  'graph.split',
  'graph.neighbours',
  'graph.describe',
  'graph.graphs',
  'graph.snapshot',
  'objects.defineSchema',
  'objects.schema',
  'objects.schemaVersion',
  'objects.schemas',
  'objects.schemaPage',
  'objects.dropSchema',
  'objects.import',
  'objects.query',
  'objects.explain',
  'objects.find',
  'objects.get',
  'objects.replace',
  'objects.patch',
  'objects.delete',
  'objects.collections',
  'objects.collectionPage',
  'objects.createCollection',
  'objects.deleteCollection',
  'flows.define',
  'flows.get',
  'flows.version',
  'flows.list',
  'flows.flowPage',
  'flows.start',
  'flows.stop',
  'flows.remove',
  'flows.load',
  'flows.job',
  'flows.jobs',
  'flows.jobPage',
  'flows.deadLetters',
  'flows.stats',
  'flows.watch',
  'flows.retry',
  'flows.cancel',
  'flows.retryAll',
  'flows.cancelAll',
  'flows.document',
  'flows.documents',
  'flows.documentPage',
  'flows.removeDocument',
  'flows.process',
  'flows.step',
  'index.make',
  'index.merge',
  'storage.write',
  'http.request',
] as const

export type OperationName = (typeof operations)[number]

/** What an operation says of itself: ids and sizes, never a text, a triple, an object or a token. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** One object from the start of an operation to its end. Subscribers may keep things of their own in it. */
export interface Operation {
  readonly operation: OperationName
  [field: string]: unknown
  /** What it failed with. */
  error?: unknown
  /**
   * Names and values that go where the work goes (https://www.w3.org/TR/trace-context/: `traceparent`, `tracestate`).
   * `http.request` and `flows.process` bring those that the request, and the load, came with. What a subscriber of
   * `flows.load:start` puts here is stored with the document.
   */
  carrier?: Readonly<Record<string, string>>
  /** A subscriber of `start` that puts a function here has the operation run inside of it. */
  around?: <Result>(run: () => Result) => Result
}

export class Trace {
  readonly #name: OperationName
  readonly #channel: TracingChannel<Operation, Operation>

  constructor(name: OperationName) {
    this.#name = name
    this.#channel = tracingChannel<Operation, Operation>(`lorekeep:${name}`)
  }

  /** Somebody listens: only then it is worth asking for the fields. */
  get isHeard(): boolean {
    const { start, end, asyncStart, asyncEnd, error } = this.#channel
    return (
      start.hasSubscribers ||
      end.hasSubscribers ||
      asyncEnd.hasSubscribers ||
      asyncStart.hasSubscribers ||
      error.hasSubscribers
    )
  }

  operation(fields: Fields, carrier?: Readonly<Record<string, string>>): Operation {
    return { operation: this.#name, ...fields, ...(carrier !== undefined && { carrier }) }
  }

  /**
   * Runs the work, and tells of it. Not by tracePromise(): that would show subscribers the result, which may be
   * anybody's objects and texts.
   */
  run<Result>(operation: Operation, work: () => Result): Result {
    const { start, end, error } = this.#channel
    return start.runStores(operation, () => {
      try {
        const { around } = operation
        const result = around === undefined ? work() : around(work)
        if (types.isPromise(result)) return this.#settling(operation, result) as Result
        return isIterable(result) ? (this.#iterated(operation, result) as Result) : result
      } catch (thrown) {
        operation.error = thrown
        error.publish(operation)
        throw thrown
      } finally {
        end.publish(operation)
      }
    })
  }

  async #settling(operation: Operation, result: Promise<unknown>): Promise<unknown> {
    try {
      return await result
    } catch (thrown) {
      this.#failed(operation, thrown)
      throw thrown
    } finally {
      this.#ended(operation)
    }
  }

  /** Ends with whoever reads: when all is read, when it fails, and when the reader leaves. */
  #iterated(operation: Operation, results: AsyncIterable<unknown>): AsyncIterable<unknown> {
    let hasEnded = false
    const end = () => {
      if (!hasEnded) this.#ended(operation)
      hasEnded = true
    }
    const told = async (step: Promise<IteratorResult<unknown>>) => {
      try {
        const result = await step
        if (result.done === true) end()
        return result
      } catch (thrown) {
        if (!hasEnded) this.#failed(operation, thrown)
        end()
        throw thrown
      }
    }
    const iterate = () => {
      const iterator = results[Symbol.asyncIterator]()
      const left = { done: true, value: undefined }
      const traced: AsyncIterableIterator<unknown> = {
        next: () => told(iterator.next()),
        return: (value) => told(iterator.return?.(value) ?? Promise.resolve(left)),
        [Symbol.asyncIterator]: () => traced,
      }
      return traced
    }
    // What is an iterator itself is read once; the rest may be read again.
    return 'next' in results ? iterate() : { [Symbol.asyncIterator]: iterate }
  }

  #failed(operation: Operation, thrown: unknown): void {
    operation.error = thrown
    this.#channel.error.publish(operation)
  }

  #ended(operation: Operation): void {
    const { asyncStart, asyncEnd } = this.#channel
    asyncStart.runStores(operation, () => asyncEnd.publish(operation))
  }
}

export const writes = new Trace('storage.write')

/** Runs what it is given in an asynchronous context. */
export type Context = <Result>(run: () => Result) => Result

/**
 * That of the caller, whose change is written later, maybe with those of others: its write is to be a part of what it
 * does, and not of what began to write first. Undefined where nobody listens.
 */
export function contextOfWrite(): Context | undefined {
  return writes.isHeard ? AsyncLocalStorage.snapshot() : undefined
}

export function runIn<Result>(context: Context | undefined, run: () => Result): Result {
  return context === undefined ? run() : context(run)
}

/** For each method what it says of itself, of arguments that nobody has checked. */
type Methods = Readonly<Record<string, (...given: readonly unknown[]) => Fields>>

/** Has methods of a class tell of themselves, as operations of a room. */
export function traceMethods(
  { prototype }: { readonly prototype: object },
  room: string,
  methods: Methods,
): void {
  for (const [name, fieldsOf] of Object.entries(methods)) {
    const trace = new Trace(`${room}.${name}` as OperationName)
    const method = Reflect.get(prototype, name) as (...given: unknown[]) => unknown
    // Apart: a closure over what was given makes each call take 25 ns, and it is 6 where nobody listens.
    const told = (self: unknown, given: unknown[]): unknown => {
      const operation = trace.operation(fieldsOf(...given))
      return trace.run(operation, () => Reflect.apply(method, self, given) as unknown)
    }
    const traced = function (this: unknown, ...given: unknown[]): unknown {
      return trace.isHeard ? told(this, given) : (Reflect.apply(method, this, given) as unknown)
    }
    Object.defineProperty(prototype, name, { value: traced, writable: true, configurable: true })
  }
}

/** Of members that are strings, of whatever was passed. */
export function stringsIn(value: unknown, names: Readonly<Record<string, string>>): Fields {
  const fields: Record<string, string> = {}
  if (typeof value !== 'object' || value === null) return fields
  for (const [field, name] of Object.entries(names)) {
    const found = Object.getOwnPropertyDescriptor(value, name)?.value as unknown
    if (typeof found === 'string') fields[field] = found
  }
  return fields
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/**
 * Follows operations of these names: `begun` is called when one begins, `ended` once for each when it has ended, with
 * the milliseconds that it took. Gives what ends that.
 */
export function followOperations(
  names: readonly OperationName[],
  ended: (operation: Operation, ms: number) => void,
  begun: (operation: Operation) => void = () => {},
): () => void {
  const since = new WeakMap<Operation, number>()
  const end = (operation: Operation) => {
    const began = since.get(operation)
    if (began === undefined) return
    since.delete(operation)
    ended(operation, performance.now() - began)
  }
  const handlers = {
    start: (operation: Operation) => {
      since.set(operation, performance.now())
      begun(operation)
    },
    // What did not even begin has no asyncEnd.
    end: (operation: Operation) => {
      if (operation.error !== undefined) end(operation)
    },
    asyncStart: () => {},
    asyncEnd: end,
    error: () => {},
  }
  const channels = names.map((name) => tracingChannel<Operation, Operation>(`lorekeep:${name}`))
  for (const channel of channels) channel.subscribe(handlers)
  return () => {
    for (const channel of channels) channel.unsubscribe(handlers)
  }
}
