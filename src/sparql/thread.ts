import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './thread-messages.js'

interface ThreadListener {
  readonly onMessage: (message: FromThread) => void
  /** It has ended, of this where it was not by end(). */
  readonly onEnd: (error: unknown) => void
}

/** A thread with the engine in it. It keeps the process alive only while somebody listens. */
export class Thread {
  readonly memoryMb: number
  isAlive = true
  isReady = false
  readonly #worker: Worker
  #listener: ThreadListener | undefined
  #error: unknown

  constructor(memoryMb: number) {
    this.memoryMb = memoryMb
    try {
      this.#worker = new Worker(new URL('./sparql-worker.js', import.meta.url), {
        // Flags of the process, such as --input-type, may be none for a thread.
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
      })
    } catch (error) {
      throw notStarted(error)
    }
    this.#worker.unref()
    this.#worker.on('message', (message: FromThread) => {
      if (message.type === 'ready') this.isReady = true
      this.#listener?.onMessage(message)
    })
    this.#worker.on('error', (error) => (this.#error = this.isReady ? error : notStarted(error)))
    this.#worker.once('exit', () => {
      this.isAlive = false
      this.#listener?.onEnd(this.#error)
    })
  }

  /** One at a time. */
  listen(listener: ThreadListener): void {
    this.#listener = listener
    this.#worker.ref()
  }

  unlisten(): void {
    this.#listener = undefined
    this.#worker.unref()
  }

  post(message: ToThread): void {
    if (this.isAlive) this.#worker.postMessage(message)
  }

  async end(): Promise<void> {
    // At once: what it says from now on must not have it given to another question.
    this.isAlive = false
    await this.#worker.terminate()
  }
}

/**
 * What a thread fails of before its engine is there. The query is not answered without one: it would
 * have the memory of the process, and all of its time.
 */
function notStarted(cause: unknown): unknown {
  // The engine needs more than it was given.
  if ((cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') return cause
  const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)
  const advice =
    'a bundle needs lorekeep/sparql-worker beside it, as sparql-worker.js: docs/bundlers.md'
  return new Error(`no thread could be started for queries (${reason}); ${advice}`, { cause })
}
