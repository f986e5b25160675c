// Changes of all jobs that match, some at a time.

import type { Cursors } from '../paging.js'
import { Turns } from '../turns.js'
import { nameOf, searchOf } from './listings.js'
import type { ChangePlace, JobChange } from './queue/job-changes.js'
import type { JobQueue } from './queue/queue.js'
import type { JobChangeQuery } from './types.js'

interface BulkOptions {
  readonly queue: JobQueue
  readonly cursors: Cursors
  /** Throws where nothing more may be begun. */
  readonly check: () => void
}

/** In one commit, for which all others wait. */
const perCommit = 256
/** So many commits may find few, or none, before one with a limit ends. */
const idleCommits = 20

export class Bulk {
  readonly #options: BulkOptions

  constructor(options: BulkOptions) {
    this.#options = options
  }

  /** @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_CURSOR`, or the reason of the signal */
  async change(
    change: JobChange,
    { after, limit = Infinity, signal, ...filter }: JobChangeQuery,
  ): Promise<{ readonly changed: number; readonly next: string | undefined }> {
    const { queue, cursors, check } = this.#options
    const { member } = queue
    const search = searchOf(filter, false)
    const list = nameOf(search, change)
    let place = after === undefined ? undefined : (cursors.open(after, list) as ChangePlace)
    let changed = 0
    let left = idleCommits + limit / perCommit
    const turns = new Turns(signal)
    do {
      check()
      // A storage in memory answers within the turn of the event loop, in which nobody else has one.
      await turns.pass()
      const most = Math.min(limit - changed, perCommit)
      const done = await queue.change(change, search, place, most, member)
      changed += done.changed
      place = done.next
    } while (place !== undefined && changed < limit && --left > 0)
    return { changed, next: place === undefined ? undefined : cursors.seal(place, list) }
  }
}
