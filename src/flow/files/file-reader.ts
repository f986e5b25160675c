// Files are read in threads: their parsers compute for long, take what memory they want, and are fed
// by anybody. A thread can be ended, and its memory has an end.

import { Worker } from 'node:worker_threads'
import { LorekeepError } from '../../errors.js'
import { memoryMessage } from './buffers.js'
import type { StructuredText } from './structured-text.js'
import { isFileType, type FileLimits, type ReadAnswer, type ReadRequest } from './types.js'
import { errorOf, faultOf } from './unreadable.js'

/** Each may take `maxFileMemoryMb`. */
const mostThreads = 2
/** How long a thread waits for another file. Making one takes 50 ms, and the parser of PDFs 100. */
const idleMs = 10_000
const youngMb = 16

export class FileReader {
  readonly #limits: FileLimits
  readonly #waiting: (() => void)[] = []
  /** Those that have got as far as to say so. */
  readonly #ready = new WeakSet<Worker>()
  #threads = 0
  #idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | undefined

  constructor(limits: FileLimits) {
    this.#limits = limits
  }

  /** @throws LorekeepError `LK_DOCUMENT_UNREADABLE`, `LK_PEER_MISSING`, `LK_INTERNAL`; what the signal was aborted with */
  async read(type: string, bytes: Uint8Array, signal: AbortSignal): Promise<StructuredText> {
    if (!isFileType(type)) {
      const detail = `'${type}' is a type of files that this version does not read`
      throw new LorekeepError('LK_DOCUMENT_UNREADABLE', detail, { details: { reason: 'damaged' } })
    }
    await this.#place(signal)
    try {
      return await this.#readIn(this.#take(), { type, bytes, limits: this.#limits }, signal)
    } finally {
      this.#threads--
      this.#waiting.shift()?.()
    }
  }

  async close(): Promise<void> {
    const { worker } = this.#idle ?? {}
    this.#forget()
    await worker?.terminate()
  }

  async #place(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    while (this.#threads >= mostThreads) {
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(begin), 1)
          reject(signal.reason as Error)
        }
        signal.addEventListener('abort', leave, { once: true })
        this.#waiting.push(begin)
      })
    }
    this.#threads++
  }

  #readIn(worker: Worker, request: ReadRequest, signal: AbortSignal): Promise<StructuredText> {
    const { maxFileMs, maxFileMemoryMb } = this.#limits
    return new Promise<StructuredText>((resolve, reject) => {
      const leave = () => fail(signal.reason)
      const late = () => {
        const message = `reading it takes longer than ${maxFileMs} ms (maxFileMs)`
        fail(errorOf({ reason: 'time', message }))
      }
      const receive = (answer: ReadAnswer) => {
        if (answer.type === 'ready') this.#ready.add(worker)
        else if (answer.type === 'fault') fail(errorOf(answer.fault))
        else {
          end()
          this.#giveBack(worker)
          resolve(answer.text)
        }
      }
      const broken = (error: unknown) => {
        const { code } = error as { code?: unknown }
        if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
          fail(errorOf({ reason: 'memory', message: memoryMessage(maxFileMemoryMb) }))
        } else fail(this.#ready.has(worker) ? errorOf(faultOf(error)) : unstarted(error))
      }
      const exited = () => broken(new Error('the thread that read it has ended'))
      const timer = setTimeout(late, maxFileMs)
      signal.addEventListener('abort', leave, { once: true })
      worker.on('message', receive)
      worker.on('error', broken)
      worker.on('exit', exited)
      // What lies in the same memory, others of its block, would be copied with it.
      const bytes = Uint8Array.from(request.bytes)
      worker.postMessage({ ...request, bytes }, [bytes.buffer])

      function end(): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        worker.off('message', receive)
        worker.off('error', broken)
        worker.off('exit', exited)
      }
      // With the thread: it may hold what it was reading.
      function fail(error: unknown): void {
        end()
        void worker.terminate()
        reject(error as Error)
      }
    })
  }

  #take(): Worker {
    if (this.#idle !== undefined) {
      const { worker } = this.#idle
      this.#forget()
      worker.ref()
      return worker
    }
    const worker = new Worker(new URL('./file-worker.js', import.meta.url), {
      // Flags of the process, such as --input-type, may be none for a thread.
      execArgv: [],
      // What a parser prints is nobody's business.
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: this.#limits.maxFileMemoryMb,
        maxYoungGenerationSizeMb: youngMb,
      },
    })
    // Who uses it listens as well. An error that comes when nobody does is of no interest.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      if (this.#idle?.worker === worker) this.#forget()
    })
    return worker
  }

  #forget(): void {
    clearTimeout(this.#idle?.timer)
    this.#idle = undefined
  }

  /** It does not keep the process alive meanwhile. */
  #giveBack(worker: Worker): void {
    if (this.#idle !== undefined) {
      void worker.terminate()
      return
    }
    worker.unref()
    const end = () => {
      this.#forget()
      void worker.terminate()
    }
    this.#idle = { worker, timer: setTimeout(end, idleMs).unref() }
  }
}

function unstarted(cause: unknown): LorekeepError {
  const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)
  const advice =
    'a bundle needs lorekeep/file-worker beside it, as file-worker.js: docs/bundlers.md'
  const message = `no thread could be started to read files (${reason}); ${advice}`
  return new LorekeepError('LK_INTERNAL', message, { cause })
}
