// What a watcher has not read, in its order. An event takes as long whatever there is: hundreds of watchers that stand
// still have thousands each, and all of them are offered an event before whoever it is about goes on.

import type { JobEvent } from './types.js'

/** Where everything is read that needed more, its memory is given back. */
const fewSlots = 64

/**
 * Progress of a job takes the place of progress behind which nothing of the job came. Where there is more than `most`,
 * progress is forgotten first, and then the oldest of all.
 */
export class Unread {
  readonly #most: number
  /** By slot. The first has none: a list begins and ends there. */
  #events: (JobEvent | undefined)[] = [undefined]
  #free: number[] = []
  #all = new SlotList()
  #progress = new SlotList()
  /** Progress that is the last of its job, by the job. */
  readonly #last = new Map<string, number>()

  /** @param most 65,535 at most */
  constructor(most: number) {
    this.#most = most
  }

  get length(): number {
    return this.#events.length - 1 - this.#free.length
  }

  push(event: JobEvent): void {
    const { job } = event
    const isProgress = event.type === 'progress'
    const last = this.#last.get(job)
    if (last !== undefined) {
      if (isProgress) {
        this.#replace(last, event)
        return
      }
      this.#last.delete(job)
    }
    if (this.length === this.#most) {
      const oldest = this.#progress.first
      // It would be forgotten at once.
      if (isProgress && oldest === 0) return
      this.#remove(oldest === 0 ? this.#all.first : oldest)
    }
    const slot = this.#free.pop() ?? this.#events.length
    this.#events[slot] = event
    this.#all.push(slot)
    if (isProgress) {
      this.#progress.push(slot)
      this.#last.set(job, slot)
    }
  }

  shift(): JobEvent | undefined {
    const event = this.#remove(this.#all.first)
    if (this.length === 0 && this.#events.length > fewSlots) this.clear()
    return event
  }

  clear(): void {
    this.#events = [undefined]
    this.#free = []
    this.#all = new SlotList()
    this.#progress = new SlotList()
    this.#last.clear()
  }

  #replace(slot: number, progress: JobEvent): void {
    this.#events[slot] = progress
    for (const list of [this.#all, this.#progress]) {
      list.delete(slot)
      list.push(slot)
    }
  }

  #remove(slot: number): JobEvent | undefined {
    const event = this.#events[slot]
    if (event === undefined) return undefined
    this.#events[slot] = undefined
    this.#free.push(slot)
    this.#all.delete(slot)
    if (event.type === 'progress') {
      this.#progress.delete(slot)
      if (this.#last.get(event.job) === slot) this.#last.delete(event.job)
    }
    return event
  }
}

/**
 * Slots in the order in which they came, each of which may leave. Four bytes each: an object with links would be eight
 * times what it links, for each watcher.
 */
class SlotList {
  #after = new Uint16Array(16)
  #before = new Uint16Array(16)

  /** 0 where there is none. */
  get first(): number {
    return this.#after[0] ?? 0
  }

  push(slot: number): void {
    while (slot >= this.#after.length) {
      this.#after = grown(this.#after)
      this.#before = grown(this.#before)
    }
    const last = this.#before[0] ?? 0
    this.#after[last] = slot
    this.#before[slot] = last
    this.#after[slot] = 0
    this.#before[0] = slot
  }

  delete(slot: number): void {
    const before = this.#before[slot] ?? 0
    const after = this.#after[slot] ?? 0
    this.#after[before] = after
    this.#before[after] = before
  }
}

function grown(links: Uint16Array) {
  const longer = new Uint16Array(2 * links.length)
  longer.set(links)
  return longer
}
