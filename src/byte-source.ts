import { setImmediate as turn } from 'node:timers/promises'
import { shown } from './door/wording.js'

/** Where the bytes of a core stream, a text of RDF or a backup come from. Pulled; read no further after a failure. */
export type ByteSource =
  Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/**
 * A source that answers at once gives the event loop its turn after so many chunks, or bytes: what was begun
 * meanwhile, such as a write of what came before, goes from step to step in such turns alone.
 */
const chunksPerTurn = 256
const bytesPerTurn = 1024 * 1024

/**
 * The chunks of a source, in steps of at most `maxStep` bytes. An abort of any of the signals
 * rejects with its reason at once, also while the source is silent; the source is told to stop
 * whenever it is left before its end.
 * @throws TypeError where the source, or a chunk, is not bytes, or a chunk is taken away meanwhile
 */
export async function* readSteps(
  source: ByteSource,
  maxStep: number,
  signals: readonly (AbortSignal | undefined)[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = open(source)
  const abort = watch(signals)
  let ended = false
  try {
    for (let count = 1, bytes = 0; ; count++) {
      if (count === chunksPerTurn || bytes >= bytesPerTurn) {
        await turn()
        count = 0
        bytes = 0
      }
      const { done, value } = await abort.or(() => chunks.next())
      if (done === true) break
      if (!(value instanceof Uint8Array)) {
        throw new TypeError(`a source must give Uint8Array chunks, not ${shown(value)}`)
      }
      const { length } = value
      bytes += length
      for (let at = 0; at < length; at += maxStep) {
        abort.check()
        // A transferred buffer has no length left, and would look like a chunk that has ended.
        if (value.length !== length) throw new TypeError('a chunk was detached while it was read')
        yield value.subarray(at, at + maxStep)
      }
    }
    ended = true
  } finally {
    abort.forget()
    if (!ended) chunks.stop()
  }
}

interface Chunks {
  next(): Promise<IteratorResult<unknown, unknown>> | IteratorResult<unknown, unknown>
  /** Does not wait: a silent source may answer only when it speaks again, or never. */
  stop(): void
}

interface AnySource {
  readonly [Symbol.asyncIterator]?: () => AnyIterator
  readonly [Symbol.iterator]?: () => AnyIterator
  readonly getReader?: () => ReadableStreamDefaultReader<unknown>
  readonly destroy?: () => void
}

interface AnyIterator {
  next: Chunks['next']
  return?(): unknown
}

function open(source: ByteSource): Chunks {
  const any: unknown = source
  if (any instanceof Uint8Array) return fromIterator([any].values() as AnyIterator)
  if (typeof any === 'object' && any !== null) {
    const stream = any as AnySource
    if (typeof stream.getReader === 'function') return fromReader(stream.getReader())
    const start = stream[Symbol.asyncIterator] ?? stream[Symbol.iterator]
    if (start) return fromIterator(start.call(stream), stream)
  }
  throw new TypeError(
    `a source must be a Uint8Array, an (async) iterable of them, or a readable stream, not ${shown(source)}`,
  )
}

function fromIterator(iterator: AnyIterator, stream?: AnySource): Chunks {
  return {
    next: () => iterator.next(),
    stop: () => {
      quietly(() => iterator.return?.())
      // The return() of a Readable waits in line behind a read that may never end.
      quietly(() => stream?.destroy?.())
    },
  }
}

function fromReader(reader: ReadableStreamDefaultReader<unknown>): Chunks {
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown, unknown>>,
    stop: () => quietly(() => reader.cancel()),
  }
}

/** What a source fails with when it is told to stop is of no interest to a reader that has left. */
function quietly(act: () => unknown): void {
  const ignore = () => undefined
  try {
    Promise.resolve(act()).catch(ignore)
  } catch {
    ignore()
  }
}

/** One listener per signal for the whole read: Promise.race would leave one reaction per chunk. */
function watch(signals: readonly (AbortSignal | undefined)[]) {
  const watched = signals.filter((signal) => signal !== undefined)
  let reject: ((reason: unknown) => void) | undefined
  const onAbort = (event: Event) => reject?.((event.target as AbortSignal).reason)
  for (const signal of watched) signal.addEventListener('abort', onAbort, { once: true })
  const check = () => {
    for (const signal of watched) signal.throwIfAborted()
  }
  return {
    check,
    or: async <T>(next: () => Promise<T> | T): Promise<T> => {
      check()
      return new Promise<T>((resolve, fail) => {
        reject = fail
        Promise.resolve(next()).then(resolve, fail)
      })
    },
    forget: () => {
      for (const signal of watched) signal.removeEventListener('abort', onAbort)
    },
  }
}
