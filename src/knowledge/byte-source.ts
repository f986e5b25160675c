import type { ByteSource } from './types.js'

/**
 * The chunks of a source, in steps of at most `maxStep` bytes. An abort of any of the signals
 * rejects with its reason at once, also while the source is silent; the source is told to stop
 * whenever it is left before its end.
 * @throws TypeError where the source, or a chunk, is not bytes
 */
export async function* readSteps(
  source: ByteSource,
  maxStep: number,
  signals: readonly (AbortSignal | undefined)[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = open(source)
  const abort = watch(signals)
  let ended = false
  try {
    for (;;) {
      const { done, value } = await abort.or(() => iterator.next())
      if (done === true) break
      if (!(value instanceof Uint8Array)) {
        throw new TypeError(`a source must give Uint8Array chunks, not ${typeof value}`)
      }
      for (let at = 0; at < value.length; at += maxStep) {
        abort.check()
        yield value.subarray(at, at + maxStep)
      }
    }
    ended = true
  } finally {
    abort.forget()
    // Not awaited: a source that is silent may answer only when it speaks again, or never. What
    // it then fails with is of no interest to a reader that has left.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

interface ChunkIterator {
  next(): Promise<IteratorResult<unknown, unknown>> | IteratorResult<unknown, unknown>
  return?(): unknown
}

function open(source: ByteSource): ChunkIterator {
  const anySource: unknown = source
  if (anySource instanceof Uint8Array) return [anySource].values() as ChunkIterator
  if (typeof anySource === 'object' && anySource !== null) {
    const { [Symbol.asyncIterator]: async, [Symbol.iterator]: sync } = anySource as {
      [Symbol.asyncIterator]?: () => ChunkIterator
      [Symbol.iterator]?: () => ChunkIterator
    }
    const start = async ?? sync
    if (start) return start.call(anySource)
  }
  throw new TypeError(
    'a source must be a Uint8Array, an (async) iterable of them, or a readable stream',
  )
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
