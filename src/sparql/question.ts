// One query while it runs: what it reads, what it failed of, and its end.
//
// The engine has no end of its own. A query whose results nobody wants any more goes on computing,
// for hours where it is a product of large patterns, and an error of a source may surface in a
// place of the engine where nothing waits for it. So the engine never sees an error: the question
// keeps it, and what the engine still wanted to do is dropped (see quietTasks).

import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { Quad, Source, Stream } from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import { ofCore } from './answer-terms.js'
import { queryError } from './query-error.js'

/** Results as the engine gives them. */
export interface EngineStream<T> {
  /** True where nothing follows. */
  readonly done: boolean
  read(): T | null
  on(event: 'readable' | 'end' | 'error', listener: (error?: unknown) => void): unknown
}

const running = new AsyncLocalStorage<SparqlQuestion>()

type Schedule = (task: () => void) => void

/** A scheduler for the engine's iterators that forgets the tasks of questions that have ended. */
export function quietTasks(schedule: Schedule): Schedule {
  return (task) => {
    const question = running.getStore()
    if (question === undefined) return schedule(task)
    if (question.hasEnded) return
    // Bound to its question: the scheduler runs tasks of several questions in one go.
    schedule(() => {
      if (question.hasEnded) return
      try {
        running.run(question, task)
      } catch (error) {
        // Nobody else would hear of it, and the process would end.
        question.fail(error)
      }
    })
  }
}

export class SparqlQuestion {
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  readonly #open = new Set<Readable>()
  readonly #failed: Promise<never>
  #reject: (reason: unknown) => void = () => {}
  #failure: { readonly reason: unknown } | undefined
  #wake: () => void = () => {}
  #ended = false

  constructor(signal: AbortSignal | undefined, onEnd: () => void) {
    this.#signal = signal
    this.#onEnd = onEnd
    this.#failed = new Promise<never>((_resolve, reject) => (this.#reject = reject))
    this.#failed.catch(() => {})
    signal?.addEventListener('abort', this.#abort, { once: true })
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  /** The source as the engine may see it: its errors fail the question, and are an end to the engine. */
  guard(source: Source): Source {
    const count = 'countQuads' in source ? (source.countQuads as Count).bind(source) : undefined
    return {
      match: (...terms) => this.#watched(() => source.match(...terms)),
      ...(count && {
        countQuads: (...terms: Parameters<Count>) => this.#counted(async () => count(...terms)),
      }),
    }
  }

  /** What the engine promised; rejects as soon as the question has failed. */
  async answer<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([running.run(this, work), this.#failed])
    } catch (error) {
      this.fail(error)
      throw this.#failure ? this.#failure.reason : error
    }
  }

  /** For what went wrong in the engine, or in a function that it called. */
  fail(error: unknown): void {
    this.#fail(ofEngine(error))
  }

  /**
   * The items of a stream of the engine, each made into what is wanted, less those that are made into
   * undefined. The question ends with them.
   */
  items<T, R>(stream: EngineStream<T>, make: (item: T) => R | undefined): AsyncIterable<R> {
    stream.on('readable', () => this.#wake())
    stream.on('end', () => this.#wake())
    stream.on('error', (error) => this.fail(error))
    return this.endedBy(this.#read(stream, make))
  }

  /** A generator that was never started runs no `finally`: leaving it ends the question, too. */
  endedBy<T>(items: AsyncIterator<T, void>): AsyncIterableIterator<T> {
    return {
      next: () => items.next(),
      return: async () => {
        this.end()
        await items.return?.()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  async *#read<T, R>(
    stream: EngineStream<T>,
    make: (item: T) => R | undefined,
  ): AsyncGenerator<R, void> {
    try {
      for (;;) {
        if (this.#failure) throw this.#failure.reason
        if (this.#ended) return
        const item = this.#next(stream)
        if (item !== null) {
          const made = make(item)
          if (made !== undefined) yield made
        } else if (stream.done) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.end()
    }
  }

  #next<T>(stream: EngineStream<T>): T | null {
    try {
      return running.run(this, () => stream.read())
    } catch (error) {
      throw ofEngine(error)
    }
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#signal?.removeEventListener('abort', this.#abort)
    for (const stream of this.#open) stream.destroy()
    this.#onEnd()
    this.#wake()
  }

  #fail(reason: unknown): void {
    if (this.#ended) return
    this.#failure = { reason }
    this.#reject(reason)
    this.end()
  }

  readonly #abort = (): void => this.#fail(this.#signal?.reason)

  #watched(open: () => Stream): Stream {
    const watched = Readable.from(this.#quads(open), { objectMode: true })
    this.#open.add(watched)
    watched.once('close', () => this.#open.delete(watched))
    if (this.#ended) watched.destroy()
    return watched
  }

  async *#quads(open: () => Stream): AsyncGenerator<Quad, void> {
    try {
      // A graph's source gives streams of Node, which are iterables.
      for await (const quad of open() as unknown as AsyncIterable<Quad>) {
        yield ofCore(quad)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  async #counted(count: () => Promise<number>): Promise<number> {
    try {
      return await count()
    } catch (error) {
      this.#fail(error)
      return 0
    }
  }
}

/**
 * What the engine itself fails of is the query, as the source's failures are kept from it: calls or
 * strings without end, or what it only finds out when it runs.
 */
function ofEngine(error: unknown): unknown {
  if (error instanceof LorekeepError) return error
  const what = error instanceof RangeError ? 'the query grows too large' : 'it cannot be answered'
  const message = error instanceof Error ? error.message : String(error)
  // Some messages of the engine go on with a stack.
  const [reason] = message.split('\n', 1)
  return queryError(`${what}: ${reason}`, { cause: error })
}

type Count = (...terms: Parameters<Source['match']>) => number | Promise<number>
