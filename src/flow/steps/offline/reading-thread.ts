// Chunks are read in a thread: one takes some milliseconds, and the process has others to serve.

import type { Worker } from 'node:worker_threads'
import { LorekeepError } from '../../../errors.js'
import { startThread, warnOfThread, type Ready } from '../../../thread.js'
import type { Findings } from './findings.js'
import type { Passage } from './passage.js'

export interface ReadingRequest {
  readonly id: number
  readonly passage: Passage
}

export type ReadingAnswer =
  | { readonly type: 'found'; readonly id: number; readonly found: Findings }
  | { readonly type: 'failed'; readonly id: number; readonly error: unknown }

interface Waiting extends ReadingRequest {
  readonly signal: AbortSignal
  readonly resolve: (found: Findings) => void
  readonly reject: (error: unknown) => void
}

/** How long it waits for more: it holds some 100 MB, and takes 0.4 s to be ready again. Less in tests. */
export const idle = { ms: 60_000 }
/** How long something may go on that nobody waits for, and others behind it do. */
const graceMs = 1000

class ReadingThread {
  readonly #worker: Worker
  /** In the order in which they are answered. */
  readonly #waiting = new Map<number, Waiting>()
  #ids = 0
  #idle: NodeJS.Timeout | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', this.#receive)
    worker.once('exit', this.#exited)
    worker.unref()
  }

  /** @throws what the signal was aborted with */
  async read(passage: Passage, signal: AbortSignal): Promise<Findings> {
    const id = this.#ids++
    let leave = () => {}
    try {
      return await new Promise<Findings>((resolve, reject) => {
        this.#post({ id, passage, signal, resolve, reject })
        leave = () => {
          reject(signal.reason as Error)
          this.#watch()
        }
        signal.addEventListener('abort', leave, { once: true })
      })
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #post(waiting: Waiting): void {
    const { id, passage } = waiting
    clearTimeout(this.#idle)
    if (this.#waiting.size === 0) this.#worker.ref()
    this.#waiting.set(id, waiting)
    this.#worker.postMessage({ id, passage } satisfies ReadingRequest)
  }

  readonly #receive = (answer: ReadingAnswer | Ready | { readonly type: 'loaded' }): void => {
    if (!('id' in answer)) return
    const { resolve, reject } = this.#waiting.get(answer.id) as Waiting
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#rest()
    else this.#watch()
    if (answer.type === 'found') resolve(answer.found)
    else reject(answer.error)
  }

  /** It does not keep the process alive meanwhile. */
  #rest(): void {
    this.#worker.unref()
    this.#idle = setTimeout(this.#end, idle.ms).unref()
  }

  /** What is posted until it has ended would not be answered: whoever comes has another. */
  readonly #end = (): void => {
    if (thread?.of === this) thread = undefined
    void this.#worker.terminate()
  }

  /** Where the one that it is at has been left, and is not done some time from now, it hangs. */
  #watch(): void {
    const [first] = this.#waiting.values()
    if (first?.signal.aborted !== true) return
    const giveUp = () => {
      if (this.#waiting.has(first.id)) this.#end()
    }
    setTimeout(giveUp, graceMs).unref()
  }

  /** The one that it was at may have been the cause; the others begin again. */
  readonly #exited = (): void => {
    clearTimeout(this.#idle)
    if (thread?.of === this) thread = undefined
    const [first, ...others] = this.#waiting.values()
    this.#waiting.clear()
    first?.reject(new LorekeepError('LK_INTERNAL', 'the thread that read it has ended'))
    // Those that have been left are not read there.
    for (const { passage, signal, resolve, reject } of others) {
      findElsewhere(passage, signal).then(resolve, reject)
    }
  }
}

let thread: { readonly started: Promise<ReadingThread | undefined>; of?: ReadingThread } | undefined

/**
 * findingsIn() in the thread, which all in this process share and which is started at first use. Where that
 * cannot be, here.
 * @throws what the signal was aborted with
 */
export async function findElsewhere(passage: Passage, signal: AbortSignal): Promise<Findings> {
  signal.throwIfAborted()
  thread ??= begin()
  const { started } = thread
  const found = await started
  signal.throwIfAborted()
  return found === undefined ? findHere(passage) : found.read(passage, signal)
}

/** Loaded when it comes to that: 90 kB of rules, which the thread has already. */
async function findHere(passage: Passage): Promise<Findings> {
  const [{ findingsIn }, { loadTagger }] = await Promise.all([
    import('./findings.js'),
    import('./tagger.js'),
  ])
  return findingsIn(passage, await loadTagger())
}

function begin(): NonNullable<typeof thread> {
  const beginning: NonNullable<typeof thread> = {
    started: startThread(new URL('./reading-worker.js', import.meta.url)).then(
      (worker) => (beginning.of = new ReadingThread(worker)),
      (error: unknown) => {
        warnOfThread('reading-worker', 'reads texts', error)
        return undefined
      },
    ),
  }
  return beginning
}
