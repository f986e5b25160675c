// What a document became, away: its jobs, its core and its objects.

import { waited, type Clock } from '../clock.js'
import { LorekeepError } from '../errors.js'
import { refused } from '../presence.js'
import type { Scope } from '../scope.js'
import { checkKnowledge, isElsewhere, isWhole, noAccess, seenOf } from './document-access.js'
import { statusIn } from './document-status.js'
import { lentStores } from './lent-stores.js'
import type { JobQueue, WithheldDocument } from './queue/queue.js'
import type { Delivery } from './runner.js'
import { removeKnowledge } from './steps/knowledge-removal.js'
import type { DocumentRef, JobState, StepContext } from './types.js'

interface RemovalOptions {
  readonly queue: JobQueue
  readonly stores: Pick<StepContext, 'knowledge' | 'objects' | 'base'>
  /** What runs here, of all runners. */
  readonly running: ReadonlySet<Delivery>
  readonly clock: Clock
  /** Of close(), which does not wait for steps. */
  readonly signal: AbortSignal
}

/** How long it waits for steps that were given up. */
const maxEndMs = 10_000

export class Removal {
  readonly #options: RemovalOptions

  constructor(options: RemovalOptions) {
    this.#options = options
  }

  /** Of a document that nobody claims meanwhile. @throws LorekeepError `LK_DOCUMENT_ACCESS` */
  async remove(
    { user, document }: Required<DocumentRef>,
    { isOwn }: WithheldDocument,
    scope: Scope,
  ): Promise<boolean> {
    const { queue } = this.#options
    // Others may have removed it since, and loaded it anew.
    const stores = lentStores(this.#options.stores, isOwn)
    const assertOwn = () => {
      if (!isOwn()) throw refused()
    }
    const status = statusIn({ user, document }, await queue.jobsOf(user, document, 'fresh'))
    // Its core and its objects go with it, in whatever collection and from whatever flow they are.
    if (!isWhole(status ?? { user, jobs: [] }, scope)) {
      if (status === undefined || seenOf(status, scope) === undefined) return false
      throw noAccess(document, isElsewhere)
    }
    await checkKnowledge({ user, document }, scope, this.#options.stores)
    const done: string[] = []
    const cancel = async (isMeant: (state: JobState) => boolean) => {
      for (const { id, state } of status?.jobs ?? []) {
        if (!isMeant(state)) continue
        assertOwn()
        if (state === 'done' || !(await this.#cancelIfThere(id))) done.push(id)
      }
    }
    await cancel((state) => state === 'active')
    // What was cancelled under way must not write any more.
    await this.#ended({ user, document })
    const removed = await removeKnowledge({ user, document }, stores)
    // Nobody claims them meanwhile, and after a failure they still show that there is something to remove.
    await cancel((state) => state !== 'active')
    assertOwn()
    if (status !== undefined) await queue.forget(user, document, done)
    return removed || status !== undefined
  }

  /** False where it ended meanwhile. */
  async #cancelIfThere(id: string): Promise<boolean> {
    try {
      await this.#options.queue.cancel(id)
      return true
    } catch (error) {
      const code = error instanceof LorekeepError ? error.code : undefined
      if (code !== 'LK_JOB_NOT_FOUND' && code !== 'LK_JOB_STATE') throw error
      return false
    }
  }

  /** @throws LorekeepError `LK_JOB_STATE` where a step of the document does not end */
  async #ended(ref: Required<DocumentRef>): Promise<void> {
    const { signal, clock, queue } = this.#options
    let isOver = false
    let stopWaiting = () => {}
    const givenUp = new Promise<never>((_resolve, reject) => {
      const abort = () => reject(signal.reason as Error)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      const cancel = clock.after(maxEndMs, () => {
        const detail = `a step of '${ref.document}' still runs after ${maxEndMs} ms; what was under way is cancelled: try again later`
        reject(new LorekeepError('LK_JOB_STATE', detail, { details: { state: 'active' } }))
      })
      stopWaiting = () => {
        isOver = true
        cancel()
        signal.removeEventListener('abort', abort)
      }
    })
    try {
      await Promise.race([this.#endedHere(ref), givenUp])
      // Elsewhere it has been told, or is found at the next look there.
      for (let waitMs = 20; ; waitMs = Math.min(2 * waitMs, 500)) {
        await queue.refresh()
        if (isOver || !queue.isEnding(ref)) return
        await Promise.race([waited(clock, waitMs), givenUp])
      }
    } finally {
      stopWaiting()
    }
  }

  /** Resolves when nothing runs here of a document whose jobs were cancelled, abandoned steps too. */
  async #endedHere({ user, document }: Required<DocumentRef>): Promise<void> {
    const ofDocument = [...this.#options.running].filter(({ claimed: { record } }) => {
      return record.user === user && record.document === document
    })
    await Promise.all(ofDocument.map(({ execution }) => execution.ended()))
  }
}
