// Answers that are made while they are read: at the reader's pace, and no longer than it is there.

import type { OutgoingHttpHeaders } from 'node:http'
import { isPreferred } from '../accept.js'
import { LorekeepError } from '../errors.js'
import { Turns } from '../turns.js'
import { disconnect } from './body.js'
import type { Call, Sink } from './call.js'

const lineStep = 16 * 1024

/** Runs with a signal that is aborted when the client goes away. */
export async function whileConnected<T>(
  call: Call,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return connected(call, new AbortController(), run)
}

/** whileConnected() for a question: its signal is aborted when the clock has run out, too. */
export async function whileAsked<T>(
  call: Call,
  maxQueryMs: number,
  run: (signal: AbortSignal, clock: Stopwatch) => Promise<T>,
): Promise<T> {
  return withinTime(maxQueryMs, (gone, clock) =>
    connected(call, gone, (signal) => run(signal, clock)),
  )
}

/** Runs with a controller that aborts when the clock has run out. */
export async function withinTime<T>(
  maxQueryMs: number,
  run: (gone: AbortController, clock: Stopwatch) => Promise<T>,
): Promise<T> {
  const gone = new AbortController()
  const clock = new Stopwatch(maxQueryMs, () => {
    const details = { maxQueryMs }
    const detail = `it has run for ${maxQueryMs} ms`
    gone.abort(new LorekeepError('LK_QUERY_BUDGET', detail, { details }))
  })
  try {
    return await run(gone, clock)
  } finally {
    clock.pause()
  }
}

async function connected<T>(
  call: Call,
  gone: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leave = () => gone.abort(disconnect())
  if (call.hasGone) leave()
  const forget = call.onGone(leave)
  try {
    return await run(gone.signal)
  } finally {
    forget()
  }
}

/** How long a question has worked. The time in which its answer waits for the reader is not its own. */
export class Stopwatch {
  readonly #onEnd: () => void
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(leftMs: number, onEnd: () => void) {
    this.#leftMs = leftMs
    this.#onEnd = onEnd
    this.go()
  }

  go(): void {
    if (this.#timer !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(this.#onEnd, this.#leftMs)
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#startedAt))
  }
}

/**
 * Writes the chunks. The head goes out with the first of them: an error before that gets a status of
 * its own, and one after it cuts the connection.
 */
export async function answerStream(
  call: Call,
  headers: OutgoingHttpHeaders,
  chunks: AsyncIterable<string | Uint8Array>,
  idleTimeoutMs: number,
  clock?: Stopwatch,
  status = 200,
): Promise<void> {
  let sink: Sink | undefined
  const begin = () => {
    if (call.hasGone) throw disconnect()
    return (sink ??= call.begin(status, { 'Cache-Control': 'no-store', ...headers }))
  }
  // What a reader takes at once, of what is in memory, would keep everybody else waiting to its end.
  const turns = new Turns(undefined)
  const iterator = chunks[Symbol.asyncIterator]()
  // A function of its own for each: a loop that V8 has optimised holds an earlier chunk while it waits, which is one more
  // for each reader that pauses (38 of 64 exports did, a MiB each).
  let hasMore = false
  const writeNext = async (): Promise<boolean> => {
    hasMore = false
    const { done, value } = await iterator.next()
    if (done === true) return false
    hasMore = true
    await turns.pass()
    const begun = begin()
    if (begun.write(value)) return true
    clock?.pause()
    await begun.drained(idleTimeoutMs)
    clock?.go()
    return true
  }
  try {
    while (await writeNext());
  } catch (error) {
    // As a loop does: who failed is not asked to end, and of two errors the first is told.
    if (hasMore) await end(iterator)
    throw error
  }
  clock?.pause()
  await begin().end(idleTimeoutMs)
}

/** Whatever comes of it: an engine of the host's may give what is no promise, or throw at once. */
async function end(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.()
  } catch {
    // Something was wrong before it.
  }
}

/** A JSON text per line. The first line comes at once, those that follow in larger and larger steps. */
export async function* linesOf(
  values: AsyncIterable<unknown>,
): AsyncGenerator<string, void, undefined> {
  let step = 1
  let text = ''
  for await (const value of values) {
    text += `${JSON.stringify(value)}\n`
    if (text.length < step) continue
    yield text
    text = ''
    step = Math.min(2 * step, lineStep)
  }
  if (text !== '') yield text
}

export const linesType = 'application/x-ndjson'

/** Whether the client asks for lines by name; who takes anything gets one JSON. */
export function wantsLines({ headers }: Call): boolean {
  return isPreferred(headers.accept, linesType, 'application/json')
}
