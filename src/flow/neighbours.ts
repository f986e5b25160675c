// What processes that share the flows tell each other: that something has changed, and, where somebody watches, what
// happens to jobs. A message may be lost, so nothing rests on one: whoever waits for something looks for
// himself, too.

import type { Clock } from '../clock.js'
import { parseJson } from '../json-text.js'
import { longestMessage, type Sharing } from '../storage.js'
import type { JobEvent } from './types.js'

/** Changes that follow each other sooner are told together. */
const changesMs = 20
/** How often it is told that somebody watches, and how long that holds. */
const watchingMs = 2000
const watchedMs = 3 * watchingMs
const mostNamed = 50

/** What others may want to do something about. */
export interface Changed {
  /** Flows in which something can be claimed. */
  readonly flows: readonly string[]
  /** The numbers of jobs that were taken from whoever processed them. */
  readonly cancelled: readonly number[]
}

type Message =
  | ({ readonly type: 'changed' } & Changed)
  | { readonly type: 'watching' }
  | { readonly type: 'events'; readonly events: readonly JobEvent[] }

interface NeighboursOptions {
  readonly sharing: Sharing | undefined
  readonly clock: Clock
  /** Whether somebody watches here. */
  readonly isWatchedHere: () => boolean
  /** These two may not throw. */
  readonly onChange: (changed: Changed) => void
  readonly onEvent: (event: JobEvent) => void
}

export class Neighbours {
  readonly #options: NeighboursOptions
  readonly #unsubscribe: (() => void) | undefined
  #events: JobEvent[] = []
  readonly #flows = new Set<string>()
  readonly #cancelled = new Set<number>()
  /** Undefined while a message may be sent at once. */
  #pause: (() => void) | undefined
  #announcing: (() => void) | undefined
  #watchedUntil = -Infinity

  constructor(options: NeighboursOptions) {
    this.#options = options
    this.#unsubscribe = options.sharing?.subscribe((message) => this.#hear(message))
  }

  /** Somebody watches elsewhere, as far as is known. */
  get isWatched(): boolean {
    return this.#options.clock.elapsed() < this.#watchedUntil
  }

  tellChange(flows: Iterable<string>, cancelled: readonly number[]): void {
    if (this.#options.sharing === undefined) return
    for (const id of flows) this.#flows.add(id)
    for (const number of cancelled) this.#cancelled.add(number)
    if (this.#isChanged) this.#sendSoon()
  }

  tellEvent(event: JobEvent): void {
    if (!this.isWatched) return
    this.#events.push(event)
    this.#sendSoon()
  }

  /** Tells that somebody watches here, at once and for as long as that is so. */
  announce(): void {
    if (this.#options.sharing === undefined || this.#announcing !== undefined) return
    this.#publish({ type: 'watching' })
    this.#announcing = this.#options.clock.after(watchingMs, () => {
      this.#announcing = undefined
      if (this.#options.isWatchedHere()) this.announce()
    })
  }

  close(): void {
    this.#unsubscribe?.()
    this.#pause?.()
    this.#announcing?.()
    this.#send()
  }

  /** The first at once, the next together. */
  #sendSoon(): void {
    if (this.#pause !== undefined) return
    this.#pause = this.#options.clock.after(changesMs, () => {
      this.#pause = undefined
      if (this.#isChanged || this.#events.length > 0) this.#sendSoon()
    })
    // What else happens in this turn goes with it.
    queueMicrotask(() => this.#send())
  }

  #send(): void {
    const events = this.#events
    this.#events = []
    for (let at = 0; at < events.length;) {
      let count = Math.min(events.length - at, 16)
      while (
        count > 0 &&
        !this.#publish({ type: 'events', events: events.slice(at, at + count) })
      ) {
        count >>= 1
      }
      // One that is too long for a message is looked up by whoever waits for it.
      at += Math.max(1, count)
    }
    // Both are short, and what is left out is found at the next look.
    if (this.#isChanged) {
      const flows = [...this.#flows].slice(0, mostNamed)
      const cancelled = [...this.#cancelled].slice(0, mostNamed)
      if (!this.#publish({ type: 'changed', flows, cancelled })) {
        this.#publish({ type: 'changed', flows: [], cancelled })
      }
    }
    this.#flows.clear()
    this.#cancelled.clear()
  }

  get #isChanged(): boolean {
    return this.#flows.size > 0 || this.#cancelled.size > 0
  }

  /** False where it is too long. */
  #publish(message: Message): boolean {
    const bytes = encoder.encode(JSON.stringify(message))
    if (bytes.length > longestMessage) return false
    this.#options.sharing?.publish(bytes)
    return true
  }

  #hear(bytes: Uint8Array): void {
    const { clock, onChange, onEvent } = this.#options
    const message = messageIn(bytes)
    if (message?.type === 'changed') onChange(message)
    else if (message?.type === 'watching') this.#watchedUntil = clock.elapsed() + watchedMs
    else for (const event of message?.events ?? []) onEvent(event)
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** `undefined` where it is of a program that knows other messages. */
function messageIn(bytes: Uint8Array): Message | undefined {
  try {
    return parseJson(decoder.decode(bytes)) as Message
  } catch {
    return undefined
  }
}
