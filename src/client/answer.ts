// An answer in words, on its way: as AnswerStream has it, from the events of a server.

import { LorekeepError } from '../errors.js'
import type { AnswerSource, AnswerStream } from '../graph/types.js'
import { toldError } from './connection.js'
import type { SentEvent } from './events.js'

/** Nothing is asked before somebody reads or waits. */
export function createAnswer<Answer>(
  ask: (signal: AbortSignal) => AsyncIterable<SentEvent>,
): AnswerStream {
  const stop = new AbortController()
  const texts: string[] = []
  let wake = deferred<void>()
  let isEnded = false
  let waiting = 0
  const sources = deferred<readonly AnswerSource[]>()
  let running: Promise<Answer> | undefined

  const run = async (): Promise<Answer> => {
    try {
      for await (const { type, data } of ask(stop.signal)) {
        const told = data as Readonly<Record<string, never>>
        if (type === 'sources') sources.resolve(told['sources'] as never)
        else if (type === 'text') {
          texts.push(told['text'] as never)
          wake.resolve()
          wake = deferred()
        } else if (type === 'error')
          throw toldError(data as never) ?? new LorekeepError('LK_INTERNAL', told['detail'])
        else if (type === 'answer') return data as Answer
      }
      throw new LorekeepError('LK_STORAGE_UNAVAILABLE', 'the answer broke off')
    } catch (error) {
      sources.reject(error)
      throw error
    } finally {
      isEnded = true
      wake.resolve()
    }
  }
  const start = () => {
    running ??= run()
    running.catch(() => undefined)
    return running
  }

  async function* read(): AsyncGenerator<string, void, undefined> {
    const whole = start()
    waiting++
    try {
      for (let at = 0; ; at++) {
        while (at >= texts.length && !isEnded) await wake.promise
        if (at >= texts.length) break
        yield texts[at] as string
      }
      await whole
    } finally {
      // Who leaves the loop ends the answer, unless somebody else wants it.
      if (--waiting === 0 && !isEnded) stop.abort(new LorekeepError('LK_CLOSED'))
    }
  }

  const wait = () => {
    waiting++
    return start()
  }
  return {
    [Symbol.asyncIterator]: read,
    [Symbol.toStringTag]: 'AnswerStream',
    sources: () => {
      void start()
      return sources.promise
    },
    then: (resolve, reject) => wait().then(resolve as never, reject),
    catch: (reject) => wait().catch(reject) as never,
    finally: (act) => wait().finally(act) as never,
  } as AnswerStream
}

function deferred<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((done, fail) => {
    resolve = done
    reject = fail
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
