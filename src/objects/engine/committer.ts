// One change after another, many to a write. Changes that wait at the same time are made on one
// draft, in their order, and share one durable write; one that fails its checks leaves the draft as
// it was. The write is made on condition that the head is still the one that the draft began with,
// so several processes over one storage cannot both succeed on the same state.

import { setImmediate as turn } from 'node:timers/promises'
import { hasCode, LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import { Block } from './block.js'
import { Draft, type Commit, type Memory } from './draft.js'
import { EntryPage } from './entries.js'
import { IdHash } from './hash.js'
import { damaged, PageCache, Pages, StalePage } from './pages.js'
import { headKey } from './records.js'
import { RowShapes } from './row-shapes.js'
import { loadState, type State } from './state.js'

/** Checks first, with whatever it has to wait for, then changes the draft as a whole. */
export type Change<Result> = (draft: Draft) => Promise<Result>

/** Thrown by a change that cannot follow what the draft has already: it begins the next one. */
export class NotInThisDraft extends Error {}

interface Job {
  readonly change: Change<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

// A draft is held in memory, and everybody in it waits for the whole of it.
const maxDraftRows = 20_000

const readsPerTurn = 128

// A read that commits overtake again and again gets its turn among them.
const maxAttempts = 3

export class Committer {
  readonly memory: Memory
  readonly #storage: Storage
  readonly #cache: PageCache
  readonly #now: () => number
  #state: State
  #waiting: Job[] = []
  #reads = 0
  /** What the next commit that succeeds takes along. */
  #along: Change<void>[] = []
  #running: Promise<void> | undefined
  /** A write that failed, of which it is not known whether it happened. */
  #doubt: Commit | undefined
  #settling: Promise<void> | undefined

  constructor(storage: Storage, state: State, cacheBytes: number, now: () => number) {
    this.#storage = storage
    this.#state = state
    this.#now = now
    this.#cache = new PageCache(cacheBytes)
    const shapes = new RowShapes()
    this.memory = {
      blocks: new Pages(storage, this.#cache, (bytes) => new Block(bytes, shapes)),
      entries: new Pages(storage, this.#cache, EntryPage.decode),
      hash: new IdHash(state.head.hashKey),
    }
  }

  /** Made and durable when it resolves, together with what others changed at the same time. */
  commit<Result>(change: Change<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Made together with whatever is committed next: for what a failure has left to do. */
  takeAlong(change: Change<void>): void {
    this.#along.push(change)
  }

  /**
   * Reads from one state. Where a page of it is gone, because the next commit has replaced it, the
   * work is done again on the newest one, and after a few times in turn with the commits.
   */
  async read<Result>(work: (state: State) => Promise<Result>): Promise<Result> {
    // Answers from memory settle without the event loop, and whoever awaits one after the other
    // would keep timers and sockets waiting.
    if (++this.#reads % readsPerTurn === 0) await turn()
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (this.#doubt !== undefined) await this.#settle()
      const state = this.#state
      try {
        return await work(state)
      } catch (error) {
        if (!(error instanceof StalePage)) throw error
        if (state === this.#state && this.#doubt === undefined) await this.#refresh(error)
      }
    }
    return this.commit((draft) => work(draft.state))
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Changes made in one turn of the caller share a draft.
    await undefined
    while (this.#waiting.length > 0) await this.#commitGroup()
    this.#running = undefined
  }

  async #commitGroup(): Promise<void> {
    const made: { readonly job: Job; readonly result: unknown }[] = []
    let taken: Job[] = []
    try {
      if (this.#doubt !== undefined) await this.#settle()
      const draft = new Draft(this.#state, this.memory, this.#now())
      const along = [...this.#along]
      for (const change of along) await change(draft)
      while (this.#waiting.length > 0 && draft.rows < maxDraftRows) {
        const job = this.#waiting.shift() as Job
        taken.push(job)
        try {
          made.push({ job, result: await job.change(draft) })
        } catch (error) {
          if (error instanceof StalePage) throw error
          taken.pop()
          if (error instanceof NotInThisDraft) {
            // What was made until now is written without it, whatever comes.
            this.#waiting.unshift(job)
            break
          }
          job.reject(error)
        }
      }
      if (!draft.isEmpty) await this.#write(await draft.finish(), draft.state)
      this.#along = this.#along.filter((change) => !along.includes(change))
      for (const { job, result } of made) job.resolve(result as never)
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT') || error instanceof StalePage) {
        // Somebody else has written: everything again, on what is there now.
        try {
          await this.#refresh(error)
          this.#waiting.unshift(...taken)
          taken = []
        } catch (refreshError) {
          for (const job of taken) job.reject(refreshError)
        }
        return
      }
      if (taken.length === 0 && this.#waiting.length > 0) {
        // The doubt could not be settled: nobody can be served.
        taken = this.#waiting
        this.#waiting = []
      }
      for (const job of taken) job.reject(error)
    }
  }

  async #write(commit: Commit, base: State): Promise<void> {
    const require = [{ type: 'equals', key: headKey(), value: base.headBytes }] as const
    try {
      await this.#storage.write(commit.operations, { durable: true, require })
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
      // It may have happened, and what it says then is: it has.
      this.#doubt = commit
      try {
        await this.#settle()
      } catch {
        throw error
      }
      if (this.#state !== commit.next) throw error
      return
    }
    this.#adopt(commit)
  }

  /** Finds out whether the write in doubt happened. @throws LorekeepError `LK_STORAGE_*` */
  #settle(): Promise<void> {
    this.#settling ??= this.#lookAtHead().finally(() => (this.#settling = undefined))
    return this.#settling
  }

  async #lookAtHead(): Promise<void> {
    const commit = this.#doubt
    if (commit === undefined) return
    const head = await this.#storage.get(headKey())
    if (this.#doubt !== commit) return
    if (isSame(head, commit.next.headBytes)) this.#adopt(commit)
    else if (!isSame(head, this.#state.headBytes)) await this.#reload()
    this.#doubt = undefined
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` where the state is the newest, and a page is gone */
  async #refresh(error: unknown): Promise<void> {
    const head = await this.#storage.get(headKey())
    if (!isSame(head, this.#state.headBytes)) await this.#reload()
    else if (error instanceof StalePage) throw damaged(error)
  }

  async #reload(): Promise<void> {
    const loaded = await loadState(this.#storage)
    if (loaded === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
    this.#state = loaded.state
  }

  #adopt(commit: Commit): void {
    const { blocks } = this.memory
    for (const page of commit.gone) this.#cache.forget(page)
    for (const { number, bytes } of commit.blockPages) blocks.add(number, bytes)
    for (const { number, page } of commit.entryPages) this.#cache.keep(number, page)
    this.#state = commit.next
  }
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0
}
