// What a store does not end when somebody presses Ctrl-C is not waited for: it ends when that is closed.

export async function untilAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work
  work.catch(() => {})
  signal.throwIfAborted()
  let leave = () => {}
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave)
  })
  try {
    return await Promise.race([work, left])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

export async function* untilAbortedEach<T>(
  items: AsyncIterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = items[Symbol.asyncIterator]()
  let isAsking = false
  try {
    for (;;) {
      isAsking = true
      const { done, value } = await untilAborted(iterator.next(), signal)
      isAsking = false
      if (done) return
      yield value
    }
  } finally {
    // Of one that is asked for more it would wait for that.
    if (!isAsking) await iterator.return?.()
  }
}
