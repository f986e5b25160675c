// Delays of failed jobs, by clocks that may be apart: those of several processes that share the queue, or one's own
// before it was set back. A job that was delayed by a clock that is ahead is due long after its time has come. Whoever
// has seen it wait for as long as it had to, by its own time, puts it back into its lane.

import { isDamage, readRecords } from '../../damage.js'
import { decodeKey } from '../../keys.js'
import type { Storage } from '../../storage.js'
import { wake } from './claiming.js'
import type { Draft } from './draft.js'
import { delayedKey, delayedKeys, jobKey, type JobRecord } from './records.js'

/** Of each flow, those that are due first: the others are seen when these have gone. */
const mostSeen = 1024

/** A delay that was seen. */
interface Wait {
  readonly flow: string
  readonly number: number
  readonly dueAt: number
  readonly waitMs: number
  /** On the clock's elapsed(). */
  readonly since: number
}

export class Waits {
  #seen = new Map<string, Wait>()
  #version: number | undefined

  /** Notices which jobs wait, unless that is known of this version of the queue. */
  async look(storage: Storage, flows: readonly string[], version: number, elapsed: () => number) {
    if (version === this.#version) return
    const seen = new Map<string, Wait>()
    const added: Omit<Wait, 'waitMs' | 'since'>[] = []
    for (const flow of flows) {
      const range = { ...delayedKeys(flow), keysOnly: true, limit: mostSeen }
      for await (const page of storage.scan(range)) {
        for (const { key } of page) {
          const [, , dueAt, number] = decodeKey(key) as [string, string, number, number]
          const known = this.#seen.get(nameOf(number, dueAt))
          if (known === undefined) added.push({ flow, number, dueAt })
          else seen.set(nameOf(number, dueAt), known)
        }
      }
    }
    const records = await readRecords<JobRecord>(
      storage,
      added.map(({ number }) => jobKey(number)),
    )
    // Not before it was read: it may have been delayed until then.
    const since = elapsed()
    for (const [place, one] of added.entries()) {
      const record = records[place]
      // One that cannot be read is told when it is due.
      if (record === undefined || isDamage(record)) continue
      const { dueAt, updatedAt } = record
      // One that others have claimed meanwhile.
      if (dueAt !== one.dueAt) continue
      seen.set(nameOf(one.number, dueAt), { ...one, waitMs: dueAt - updatedAt, since })
    }
    this.#seen = seen
    this.#version = version
  }

  /** Those that have waited for long enough, and are not due by this one's clock. */
  over(now: number, elapsed: number): readonly Wait[] {
    const all = [...this.#seen.values()]
    return all.filter(({ dueAt, waitMs, since }) => dueAt > now && elapsed - since >= waitMs)
  }
}

/** Back into their lanes, as far as they still wait. */
export async function endWaits(draft: Draft, waits: readonly Wait[]): Promise<void> {
  const keys = waits.map(({ number }) => jobKey(number))
  const records = await readRecords<JobRecord>(draft, keys)
  for (const [place, { flow: id, number, dueAt }] of waits.entries()) {
    const record = records[place]
    const flow = draft.state.flows.get(id)
    if (flow === undefined || record === undefined || isDamage(record)) continue
    if (record.state !== 'delayed' || record.dueAt !== dueAt) continue
    draft.delete(delayedKey(id, dueAt, number))
    draft.count(flow).delayed--
    wake(draft, flow, number, record)
  }
}

function nameOf(number: number, dueAt: number): string {
  return `${number} ${dueAt}`
}
