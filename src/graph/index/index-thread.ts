import type { Worker } from 'node:worker_threads'
import type { BlockStorage } from '../../block-writer.js'
import { giveBackBlock, takeBlock } from '../../blocks.js'
import { errorAcross } from '../../errors.js'
import type { Operation } from '../../storage.js'
import { startThread, warnOfThread, type Ready } from '../../thread.js'
import type { PartRecord } from './layout.js'
import type { MergeInput } from './part-merger.js'
import type { SourceName } from './places.js'
import { sliceBytes, sliceCount, sliceOf } from './terms-kernel.js'

export type ToWorker =
  /** Whose the slices that follow are. It comes before the first one. */
  | { readonly type: 'source'; readonly id: string; readonly source: SourceName }
  /** What memory sliceOf() is about. */
  | { readonly type: 'memory' }
  /** Which one sliceOf() gives: the thread's until it is told that it was taken. */
  | { readonly type: 'slice'; readonly place: number; readonly length: number }
  | { readonly type: 'finish' }
  | {
      readonly type: 'link'
      readonly parts: readonly PartRecord[]
      readonly minLinked: number
    }
  | {
      readonly type: 'merge'
      readonly id: string
      readonly inputs: readonly MergeInput[]
      readonly minLinked: number
    }
  /** A number is how many bytes of it lie in the memory that was lent for it. */
  | {
      readonly type: 'answer'
      readonly id: number
      readonly value: Uint8Array | number | undefined
    }

export type FromWorker =
  | Ready
  /** Its module has been run to its end. Where this comes first, the module is not ours. */
  | { readonly type: 'loaded' }
  | { readonly type: 'memory'; readonly memory: SharedArrayBuffer }
  | { readonly type: 'taken'; readonly place: number }
  | { readonly type: 'done'; readonly parts: PartRecord[] }
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  /** `into` is memory that both have, for a value that has room there. */
  | {
      readonly type: 'get'
      readonly id: number
      readonly key: Uint8Array
      readonly into?: Uint8Array | undefined
    }
  /** Of blocks: they lie in memory that both have, and are not changed before the answer. */
  | { readonly type: 'write'; readonly id: number; readonly operations: Operation[] }

/**
 * How long a thread waits for another index to make, in milliseconds. Its code is slow at first: of an
 * import of 1,000,000 triples that took 2.9 s, 1 s was a new thread's warming up.
 */
const idleMs = 300_000

const mostThreads = 2
let threads = 0

interface Started {
  readonly worker: Worker
  /** In which the thread takes slices. */
  readonly memory: SharedArrayBuffer
}

let idle: (Started & { readonly timer: NodeJS.Timeout }) | undefined

async function createWorker(): Promise<Started> {
  const worker = await startThread(new URL('./index-worker.js', import.meta.url))
  worker.once('exit', () => {
    if (idle?.worker !== worker) return
    clearTimeout(idle.timer)
    idle = undefined
  })
  const memory = await new Promise<SharedArrayBuffer>((resolve, reject) => {
    const receive = (message: FromWorker) => {
      if (message.type !== 'memory') return
      worker.off('message', receive)
      resolve(message.memory)
    }
    worker.on('message', receive)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('it ended before it told of its memory')))
    worker.postMessage({ type: 'memory' } satisfies ToWorker)
  })
  return { worker, memory }
}

async function takeWorker(): Promise<Started> {
  if (idle === undefined) return createWorker()
  const { worker, memory, timer } = idle
  clearTimeout(timer)
  idle = undefined
  worker.ref()
  return { worker, memory }
}

/** It does not keep the process alive meanwhile. */
async function giveBack({ worker, memory }: Started): Promise<void> {
  if (idle !== undefined) {
    await worker.terminate()
    return
  }
  worker.unref()
  const end = () => {
    idle = undefined
    void worker.terminate()
  }
  idle = { worker, memory, timer: setTimeout(end, idleMs).unref() }
}

/**
 * A thread that makes one index, so that whoever serves others meanwhile is not held up, and an import
 * uses two processors. The storage stays here: the thread asks for its reads and writes.
 */
export class IndexThread {
  /** Whether one is there that has nothing to do: then even a little is better done there. */
  static get isWaiting(): boolean {
    return idle !== undefined && threads < mostThreads
  }

  /**
   * Undefined where as many work as are of use (each takes a processor, and up to 200 MiB), or where no
   * thread can be started: then the index is made where it is wanted.
   */
  static async start(
    storage: BlockStorage,
    id: string,
    signal: AbortSignal | undefined,
  ): Promise<IndexThread | undefined> {
    if (threads >= mostThreads) return undefined
    threads++
    try {
      return new IndexThread(await takeWorker(), storage, id, signal)
    } catch (error) {
      threads--
      warnOfThread('index-worker', 'makes indexes', error)
      return undefined
    }
  }

  readonly #worker: Worker
  readonly #memory: SharedArrayBuffer
  readonly #storage: BlockStorage
  readonly #id: string
  readonly #signal: AbortSignal | undefined
  /** It has done all it was asked to. */
  #isDone = false
  #hasEnded = false
  /** Slices for which no place was free, and what comes behind them. */
  readonly #waiting: (Uint8Array | ToWorker)[] = []
  /** Of slices that may be written. */
  readonly #free = Array.from({ length: sliceCount }, (_, place) => place)
  #failure: { readonly error: unknown } | undefined
  /** Called whenever something has changed that somebody may wait for. */
  #wake: (() => void) | undefined
  #parts: PartRecord[] | undefined
  #onProgress: ((done: number, total: number) => void) | undefined
  readonly #writing = new Set<Promise<void>>()

  private constructor(
    { worker, memory }: Started,
    storage: BlockStorage,
    id: string,
    signal: AbortSignal | undefined,
  ) {
    this.#worker = worker
    this.#memory = memory
    this.#storage = storage
    this.#id = id
    this.#signal = signal
    signal?.addEventListener('abort', this.#aborted)
    if (signal?.aborted === true) this.#aborted()
    this.#worker.on('message', this.#receive)
    this.#worker.on('error', this.#broken)
    this.#worker.on('exit', this.#exited)
  }

  /** Whose the slices that follow are; to be called before the first one. */
  source(next: SourceName): void {
    this.#isDone = false
    this.#postInOrder({ type: 'source', id: this.#id, source: next })
  }

  /** Takes a copy of at most 1 MiB. Where it is not ready, this waits beside it: a step may have become many slices. */
  push(slice: Uint8Array): void {
    const { length } = slice
    if (length > sliceBytes) throw new Error(`a slice of ${length} bytes, of at most ${sliceBytes}`)
    this.#isDone = false
    if (this.#waiting.length > 0 || !this.#give(slice)) this.#waiting.push(new Uint8Array(slice))
  }

  /** Waits while all places of slices are taken. */
  async ready(): Promise<void> {
    await this.#until(() => this.#free.length > 0 && this.#waiting.length === 0)
  }

  /** False where no place is free. */
  #give(slice: Uint8Array): boolean {
    const place = this.#free.pop()
    if (place === undefined) return false
    const { length } = slice
    sliceOf(this.#memory, place, length).set(slice)
    this.#post({ type: 'slice', place, length })
    return true
  }

  /** Behind the slices that wait. */
  #postInOrder(message: ToWorker): void {
    if (this.#waiting.length > 0) this.#waiting.push(message)
    else this.#post(message)
  }

  #taken(place: number): void {
    this.#free.push(place)
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!(next instanceof Uint8Array)) this.#post(next)
      else if (!this.#give(next)) return
      this.#waiting.shift()
    }
  }

  async finish(): Promise<PartRecord[]> {
    return this.#result({ type: 'finish' })
  }

  /** As writeLinks(). */
  async link(
    parts: readonly PartRecord[],
    minLinked: number,
    onProgress: ((done: number, total: number) => void) | undefined,
  ): Promise<PartRecord[]> {
    this.#onProgress = onProgress
    return this.#result({ type: 'link', parts, minLinked })
  }

  /** As mergeHere(). */
  async merge(
    inputs: readonly MergeInput[],
    minLinked: number,
    onProgress: ((done: number, total: number) => void) | undefined,
  ): Promise<PartRecord | undefined> {
    this.#onProgress = onProgress
    const [part] = await this.#result({ type: 'merge', id: this.#id, inputs, minLinked })
    return part
  }

  /** Lets go of the thread; resolves when none of its writes is under way. */
  async end(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    threads--
    this.#signal?.removeEventListener('abort', this.#aborted)
    this.#worker.off('message', this.#receive)
    this.#worker.off('error', this.#broken)
    this.#worker.off('exit', this.#exited)
    if (this.#isDone && this.#failure === undefined)
      await giveBack({ worker: this.#worker, memory: this.#memory })
    else {
      this.#failure ??= { error: new Error('the thread was ended') }
      await this.#worker.terminate()
    }
    await Promise.all(this.#writing)
  }

  async #result(message: ToWorker): Promise<PartRecord[]> {
    this.#postInOrder(message)
    await this.#until(() => this.#parts !== undefined)
    this.#isDone = true
    return this.#parts as PartRecord[]
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.#failure) throw this.#failure.error
      if (isSo()) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  readonly #receive = (message: FromWorker): void => {
    if (message.type === 'taken') this.#taken(message.place)
    else if (message.type === 'done') this.#parts = message.parts
    else if (message.type === 'progress') this.#onProgress?.(message.done, message.total)
    else if ('id' in message) this.#serve(message)
    this.#wake?.()
  }

  #serve(message: Extract<FromWorker, { readonly id: number }>): void {
    if (this.#failure) return
    const { id } = message
    const work = async () => {
      try {
        if (message.type === 'get') {
          const { key, into } = message
          const value = await this.#storage.get(key)
          const hasRoom = value !== undefined && into !== undefined && value.length <= into.length
          if (hasRoom) into.set(value)
          this.#post({ type: 'answer', id, value: hasRoom ? value.length : value })
        } else {
          await this.#write(message.operations)
          this.#post({ type: 'answer', id, value: undefined })
        }
      } catch (error) {
        this.#fail(error)
      }
    }
    const served = work().finally(() => this.#writing.delete(served))
    this.#writing.add(served)
  }

  /** A storage gets no memory that is shared: not all that takes bytes takes those. */
  async #write(operations: readonly Operation[]): Promise<void> {
    const blocks: Buffer[] = []
    const own = operations.map((operation) => {
      if (operation.type === 'del' || !isShared(operation.value)) return operation
      const block = takeBlock(operation.value.length)
      block.set(operation.value)
      blocks.push(block)
      return { ...operation, value: block }
    })
    await this.#storage.write(own, { durable: true, together: true })
    for (const block of blocks) giveBackBlock(block)
  }

  readonly #fail = (error: unknown): void => {
    this.#failure ??= { error }
    this.#wake?.()
  }

  readonly #broken = (error: Error): void => this.#fail(errorAcross(error) ?? error)

  readonly #aborted = (): void => this.#fail(this.#signal?.reason)

  readonly #exited = (): void => {
    this.#fail(new Error('the thread that makes an index has ended'))
  }
}

function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer
}
