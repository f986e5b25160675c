// Queries of others are answered in threads of their own: an engine that joins or sorts cannot be
// interrupted, and takes what memory it wants. A thread can be ended, and its memory has an end.

import { getHeapStatistics } from 'node:v8'
import { Thread } from './thread.js'
import { ThreadQuestion } from './thread-question.js'
import type { SparqlAnswer, SparqlGraph, SparqlRequest } from './types.js'

interface ThreadPoolOptions {
  readonly threads: number
  readonly threadMb: number
}

const leastMb = 80
const mostMb = 512
const smallHeap = 512 * 1024 ** 2

/** A process that is kept small gets one. */
export function defaultThreads(): number {
  return getHeapStatistics().heap_size_limit < smallHeap ? 1 : 2
}

/** Two threads leave as much for all else. */
export function defaultThreadMb(): number {
  const part = Math.floor(getHeapStatistics().heap_size_limit / 4 / 1024 ** 2)
  return Math.min(mostMb, Math.max(leastMb, part))
}

/**
 * How long a thread waits for another query, in milliseconds. Making one takes a second or two, and
 * it holds about 80 MiB.
 */
const idleMs = 300_000

interface Waiting {
  readonly lane: string
  readonly begin: (thread: Thread) => void
  readonly refuse: (reason: unknown) => void
}

export class ThreadPool {
  readonly #options: ThreadPoolOptions
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  /** The lane that each thread works for. */
  readonly #busy = new Map<Thread, string>()
  readonly #questions = new Set<ThreadQuestion>()
  readonly #waiting: Waiting[] = []

  constructor(options: ThreadPoolOptions) {
    this.#options = options
  }

  async execute(graph: SparqlGraph, text: string, request: SparqlRequest): Promise<SparqlAnswer> {
    const { signal, lane = '' } = request
    const thread = await this.#take(lane, signal)
    const question = new ThreadQuestion(thread, graph, text, request, () => {
      this.#questions.delete(question)
      this.#giveBack(thread)
    })
    this.#questions.add(question)
    if (this.#waiting.length > 0) question.hurry()
    return question.answer()
  }

  async #take(lane: string, signal: AbortSignal | undefined): Promise<Thread> {
    signal?.throwIfAborted()
    const idle = this.#takeIdle()
    const isRoom = this.#busy.size < this.#options.threads
    const thread = idle ?? (isRoom ? new Thread(this.#options.threadMb) : undefined)
    if (thread !== undefined) {
      this.#busy.set(thread, lane)
      return thread
    }
    for (const question of this.#questions) question.hurry()
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        lane,
        begin: (thread) => {
          signal?.removeEventListener('abort', leave)
          resolve(thread)
        },
        refuse: (reason) => {
          signal?.removeEventListener('abort', leave)
          reject(reason as Error)
        },
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
    })
  }

  #takeIdle(): Thread | undefined {
    for (const [thread, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(thread)
      // It may have ended while nobody listened.
      if (thread.isAlive) return thread
    }
    return undefined
  }

  /** To the lane that has the fewest threads, the first of those. */
  #giveBack(thread: Thread): void {
    this.#busy.delete(thread)
    const held = (lane: string) => [...this.#busy.values()].filter((busy) => busy === lane).length
    const [next] = this.#waiting.toSorted((a, b) => held(a.lane) - held(b.lane))
    if (next !== undefined) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      try {
        const usable = thread.isAlive ? thread : new Thread(this.#options.threadMb)
        this.#busy.set(usable, next.lane)
        next.begin(usable)
      } catch (error) {
        next.refuse(error)
        this.#giveBack(thread)
      }
      return
    }
    if (!thread.isAlive) return
    const end = () => {
      this.#idle.delete(thread)
      void thread.end()
    }
    this.#idle.set(thread, setTimeout(end, idleMs).unref())
  }
}
