// One query in a thread: what it asks of the graph, its answer at the reader's pace, and its end.

import { Requests } from './requests.js'
import { errorAcross, LorekeepError } from '../errors.js'
import type { TriplePattern } from '../graph/types.js'
import type { Term, Triple } from '../types.js'
import { mostNames } from './graphs.js'
import type { Thread } from './thread.js'
import { chunksAhead, isGraphOpen, isToldTerm, kindOf } from './thread-messages.js'
import type { FromThread, TermKind } from './thread-messages.js'
import type { SparqlAnswer, SparqlGraph, SparqlRequest, SparqlSnapshot } from './types.js'

/** Triples of one message: few at first, as many want no more than that. */
const firstTriples = 32
const mostTriples = 1024
/** Of their texts, datatypes and languages, in UTF-16 code units. */
const mostLength = 256 * 1024

/** Of the names of all graphs, in UTF-16 code units: they are held here until the thread has them. */
const mostNamesLength = 16 * 1024 * 1024

/** Cursors that one query may have open. The engine needs some for each of its patterns. */
const mostCursors = 1000

/** How long a thread has to let go of a question before it is ended. */
const leaveMs = 1000

interface Cursor {
  readonly pattern: TriplePattern
  readonly triples: Promise<AsyncIterator<Triple>>
  size: number
  /** What it failed of, after triples that are told first. */
  failure: { readonly reason: unknown } | undefined
}

export class ThreadQuestion {
  readonly #thread: Thread
  readonly #graph: SparqlGraph
  readonly #text: string
  readonly #request: SparqlRequest
  readonly #onOver: () => void
  readonly #cursors = new Map<number, Cursor>()
  /** Ends what the graph is asked. */
  readonly #asking = new AbortController()
  #held: Promise<SparqlSnapshot> | undefined
  readonly #chunks: Uint8Array[] = []
  #head: ((answer: SparqlAnswer) => void) | undefined
  #refuse: ((reason: unknown) => void) | undefined
  #wake: () => void = () => {}
  #failure: { readonly reason: unknown } | undefined
  readonly #requests = new Requests()
  /** The thread works on nothing of this any more. */
  #isOver = false
  #isAsked = false
  /** The thread is ours, and the graph is opened. */
  #isOpening = false
  #leaving: NodeJS.Timeout | undefined
  // The clock runs while the thread has work to do, or somebody waits for the thread.
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined
  #isHurried = false

  constructor(
    thread: Thread,
    graph: SparqlGraph,
    text: string,
    request: SparqlRequest,
    onOver: () => void,
  ) {
    this.#thread = thread
    this.#graph = graph
    this.#text = text
    this.#request = request
    this.#onOver = onOver
    this.#leftMs = request.maxMs ?? Infinity
  }

  answer(): Promise<SparqlAnswer> {
    return new Promise<SparqlAnswer>((resolve, reject) => {
      this.#head = resolve
      this.#refuse = reject
      this.#thread.listen({ onMessage: this.#receive, onEnd: this.#ended })
      this.#request.signal?.addEventListener('abort', this.#aborted, { once: true })
      if (this.#request.signal?.aborted === true) {
        this.#aborted()
        this.#over()
      } else if (!this.#thread.isAlive) this.#ended(undefined)
      else if (this.#thread.isReady) void this.#ask()
    })
  }

  /** Somebody waits for this thread: a reader that pauses holds it no longer than an answer takes. */
  hurry(): void {
    this.#isHurried = true
    if (this.#isAsked) this.#startClock()
  }

  async #ask(): Promise<void> {
    this.#isOpening = true
    this.#startClock()
    try {
      // Also a query that reads nothing is about cores that are there.
      await this.#snapshot()
    } catch (error) {
      this.#fail(error)
    }
    if (this.#failure !== undefined) return this.#over()
    this.#isOpening = false
    const { accept, baseIRI, defaultGraphs, namedGraphs } = this.#request
    this.#isAsked = true
    this.#startClock()
    const text = this.#text
    this.#thread.post({ type: 'ask', text, accept, baseIRI, defaultGraphs, namedGraphs })
  }

  readonly #receive = (message: FromThread): void => {
    switch (message.type) {
      case 'ready':
        return this.#failure === undefined ? void this.#ask() : this.#over()
      case 'match':
        return this.#open(message.id, message.pattern)
      case 'next':
        return this.#requests.add(() => this.#send(message.id))
      case 'close':
        return this.#close(message.id)
      case 'count':
        return this.#requests.add(() => this.#count(message.id, message.pattern))
      case 'graphs':
        return this.#requests.add(() => this.#names(message.id))
      case 'not-acceptable':
        this.#head?.({ type: 'not-acceptable', offered: message.offered })
        return
      case 'answer':
        this.#head?.({ type: 'answer', contentType: message.contentType, body: this.#body() })
        return
      case 'chunk':
        if (this.#failure === undefined) this.#chunks.push(message.bytes)
        // It has sent all that it may, and waits as we do.
        if (this.#chunks.length >= chunksAhead && !this.#isHurried) this.#stopClock()
        return this.#wake()
      case 'failed':
        this.#fail(errorAcross(message.failure) ?? new Error(message.failure.message))
        if (!this.#thread.isReady) void this.#thread.end()
        return
      case 'free':
        return this.#over()
    }
  }

  async *#read(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      if (this.#failure) throw this.#failure.reason
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#startClock()
        this.#thread.post({ type: 'more' })
        yield chunk
      } else if (this.#isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** A generator that was never started runs no `finally`: leaving it ends the question, too. */
  #body(): AsyncIterableIterator<Uint8Array> {
    const chunks = this.#read()
    return {
      next: () => chunks.next(),
      return: async () => {
        this.#fail(new Error('nobody waits for the answer'))
        await chunks.return()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  #open(id: number, pattern: TriplePattern): void {
    if (this.#cursors.size >= mostCursors) {
      this.#fail(new LorekeepError('LK_QUERY_BUDGET', `it reads in ${mostCursors} places at once`))
    }
    if (this.#failure) return
    const { signal } = this.#asking
    const match = (graph: SparqlSnapshot) =>
      graph.match(pattern, { signal })[Symbol.asyncIterator]()
    const triples = this.#snapshot().then(match)
    triples.catch(() => undefined) // whoever reads it is told
    this.#cursors.set(id, { pattern, triples, size: firstTriples, failure: undefined })
    this.#requests.add(() => this.#send(id))
  }

  async #send(id: number): Promise<void> {
    const cursor = this.#cursors.get(id)
    if (cursor === undefined) return
    if (cursor.failure) return this.#requestFailed(cursor.failure.reason)
    const { pattern, size } = cursor
    cursor.size = Math.min(mostTriples, 4 * size)
    const isTold = {
      s: isToldTerm(pattern.s),
      p: isToldTerm(pattern.p),
      o: isToldTerm(pattern.o),
    }
    const values: string[] = []
    const kinds: TermKind[] = []
    let count = 0
    let length = 0
    let isLast = false
    const hasGraph = isGraphOpen(pattern)
    const take = (term: Term) => {
      values.push(term.v)
      kinds.push(kindOf(term))
      length += term.v.length + (term.dt ?? term.ln ?? '').length
    }
    try {
      const triples = await cursor.triples
      while (count < size && length < mostLength && !isLast) {
        const { done, value } = await triples.next()
        if (done === true) {
          isLast = true
          continue
        }
        count++
        if (isTold.s) take(value.s)
        if (isTold.p) take(value.p)
        if (isTold.o) take(value.o)
        if (hasGraph) take({ v: value.g ?? '', e: true })
      }
    } catch (error) {
      if (count === 0) return this.#requestFailed(error)
      cursor.failure = { reason: error }
    }
    if (isLast) this.#cursors.delete(id)
    this.#thread.post({ type: 'triples', id, count, values, kinds, isLast })
  }

  #close(id: number): void {
    const cursor = this.#cursors.get(id)
    this.#cursors.delete(id)
    void leave(cursor)
  }

  async #count(id: number, pattern: TriplePattern): Promise<void> {
    if (this.#asking.signal.aborted) return
    try {
      const graph = await this.#snapshot()
      const count = await graph.count(pattern, { signal: this.#asking.signal })
      this.#thread.post({ type: 'count', id, count })
    } catch (error) {
      this.#requestFailed(error)
    }
  }

  async #names(id: number): Promise<void> {
    if (this.#asking.signal.aborted) return
    try {
      const graph = await this.#snapshot()
      const names: string[] = []
      let length = 0
      for await (const name of graph.graphs({ signal: this.#asking.signal })) {
        length += name.length
        if (length > mostNamesLength) {
          throw new LorekeepError('LK_QUERY_BUDGET', 'names of graphs of more than 16 MiB')
        }
        if (names.push(name) > mostNames) break
      }
      this.#thread.post({ type: 'graphs', id, names })
    } catch (error) {
      this.#requestFailed(error)
    }
  }

  /** The version that the whole query is about: taken when it has a thread, for which it may wait. */
  #snapshot(): Promise<SparqlSnapshot> {
    this.#held ??= this.#graph.snapshot({ signal: this.#asking.signal })
    return this.#held
  }

  #startClock(): void {
    if (this.#timer !== undefined || this.#isOver || this.#leftMs === Infinity) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(this.#late, this.#leftMs)
  }

  #stopClock(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#startedAt))
  }

  readonly #late = (): void => {
    const { maxMs } = this.#request
    const details = { maxQueryMs: maxMs }
    this.#fail(new LorekeepError('LK_QUERY_BUDGET', `it has run for ${maxMs} ms`, { details }))
  }

  readonly #aborted = (): void => this.#fail(this.#request.signal?.reason)

  /** An answer that is complete needs no more of the graph: what was still asked is let go. */
  #requestFailed(reason: unknown): void {
    if (!this.#isOver) this.#fail(reason)
  }

  #fail(reason: unknown): void {
    if (this.#failure) return
    this.#failure = { reason }
    this.#chunks.length = 0
    this.#refuse?.(reason)
    this.#wake()
    this.#letGo()
    // The thread knows nothing of it yet, and the graph may be long.
    if (this.#isOpening) return this.#over()
    if (this.#isOver || !this.#isAsked) return
    // What computes without a pause does not hear that it may stop.
    this.#thread.post({ type: 'leave' })
    this.#leaving = setTimeout(() => void this.#thread.end(), leaveMs)
  }

  readonly #ended = (error: unknown): void => {
    const { memoryMb } = this.#thread
    const isOutOfMemory = (error as { code?: unknown })?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const details = { maxQueryMb: memoryMb }
    this.#fail(
      isOutOfMemory
        ? new LorekeepError('LK_QUERY_BUDGET', `it holds more than ${memoryMb} MiB`, { details })
        : (error ?? new Error('the thread that answers queries has ended')),
    )
    this.#over()
  }

  /** The thread is free again, or has ended. */
  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#leaving)
    this.#stopClock()
    this.#letGo()
    this.#thread.unlisten()
    this.#wake()
    this.#onOver()
  }

  /** Of the graph, and of who asked. */
  #letGo(): void {
    this.#stopClock()
    this.#request.signal?.removeEventListener('abort', this.#aborted)
    this.#asking.abort(new Error('the question is over'))
    for (const cursor of this.#cursors.values()) void leave(cursor)
    this.#cursors.clear()
    void close(this.#held)
    this.#held = undefined
  }
}

// They were asked for nothing more, and whatever they say now is about that.

async function leave(cursor: Cursor | undefined): Promise<void> {
  await cursor?.triples.then((triples) => triples.return?.()).catch(() => undefined)
}

async function close(held: Promise<SparqlSnapshot> | undefined): Promise<void> {
  await held?.then((graph) => graph.close()).catch(() => undefined)
}
