// One change after another, many to a write. Changes that wait at the same time are made on one
// draft, in their order, and share one durable write; one that fails its checks leaves the draft as
// it was. The write is made on condition that the head is still the one that the draft began with,
// so several processes over one storage cannot both succeed on the same state.

import { setImmediate as turn } from 'node:timers/promises'
import { hasCode, LorekeepError } from '../../errors.js'
import type { Presence } from '../../presence.js'
import { encodeRecord } from '../../record.js'
import type { Operation, Precondition, Storage } from '../../storage.js'
import { Block } from './block.js'
import { Draft, type Commit } from './draft.js'
import type { Memory } from './memory.js'
import { EntryPage } from './entries.js'
import { IdHash } from './hash.js'
import { PageCache } from '../../page-cache.js'
import { damaged, Pages, StalePage } from './pages.js'
import { Readers, type Pin, type Retirement } from './readers.js'
import { changeKey, headKey, keptChanges, type ChangeRecord } from './records.js'
import { RowShapes } from './row-shapes.js'
import { lookBehind, type Look } from './loading.js'
import type { State } from './state.js'
import { LastLook, type Reads } from '../../reads.js'
import { TurnTaking } from '../../turn-taking.js'
import { ChangeNotices } from './change-notices.js'

/** With what it does about the pages that are gone. */
interface Written extends Commit {
  readonly retirement: Retirement
}

/** Checks first, with whatever it has to wait for, then changes the draft as a whole. */
type Change<Result> = (draft: Draft) => Promise<Result>

/** Thrown by a change that cannot follow what the draft has already: it begins the next one. */
export class NotInThisDraft extends Error {}

interface Waiting {
  readonly change: Change<unknown>
  /** They are numbered as they come. */
  readonly number: number
  /** What its write requires of this process: that nobody took it for dead since the call. */
  readonly member: Precondition | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

// A draft is held in memory, and everybody in it waits for the whole of it.
const maxDraftRows = 20_000

const readsPerTurn = 128

// A read that commits overtake again and again gets its turn among them.
const maxAttempts = 3

interface CommitterOptions {
  /** Memory for pages. */
  readonly cacheBytes: number
  readonly isShared: boolean
  /** Of those who share it. */
  readonly presence: Presence | undefined
  /** Of reads that do not say it. */
  readonly reads: Reads
  readonly now: () => number
  /** Milliseconds that never run backwards. */
  readonly elapsed: () => number
}

export class Committer {
  readonly memory: Memory
  readonly #storage: Storage
  readonly #cache: PageCache
  /** Others write to the storage: what is known may be outdated. */
  readonly #isShared: boolean
  readonly #presence: Presence | undefined
  readonly #reads: Reads
  readonly #lastLook: LastLook
  readonly #notices: ChangeNotices
  readonly #now: () => number
  readonly #readers = new Readers()
  readonly #turn: TurnTaking
  #state: State
  #waiting: Waiting[] = []
  #changes = 0
  /** Changes up to this number came before the storage was seen to have the state that there is. */
  #known = 0
  #readCount = 0
  /** What the next commit that succeeds takes along. */
  #along: Change<void>[] = []
  #running: Promise<void> | undefined
  /** A write that failed, of which it is not known whether it happened. */
  #doubt: Written | undefined
  #settling: Promise<void> | undefined
  #looking: Promise<void> | undefined
  /** The write under way; fulfilled when it has ended, however that is. */
  #writing: Promise<void> | undefined
  /** Whether it deletes pages of the state there is. */
  #isDeleting = false
  /** The newest version that others have made, as far as it is known. */
  #foreign = 0

  constructor(storage: Storage, state: State, options: CommitterOptions) {
    const { cacheBytes, isShared, presence, reads, now, elapsed } = options
    this.#storage = storage
    this.#state = state
    this.#isShared = isShared
    this.#presence = presence
    this.#reads = reads
    this.#lastLook = new LastLook(elapsed)
    this.#notices = new ChangeNotices(storage.sharing, () => this.#lastLook.outdate())
    this.#now = now
    this.#turn = new TurnTaking(storage.sharing, 'head')
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
      const member = this.#member
      this.#waiting.push({ change, number: ++this.#changes, member, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Made together with whatever is committed next: for what a failure has left to do. */
  takeAlong(change: Change<void>): void {
    this.#along.push(change)
  }

  /**
   * The newest state, for as long as it takes: its pages stay, whatever is committed meanwhile.
   * @throws LorekeepError `LK_STORAGE_*` where it cannot be told which state is the newest
   */
  async pin(reads = this.#reads): Promise<Pin> {
    if (this.#isLookDue(reads)) await this.#lookForOthers()
    const reading = this.#readers.begin(this.#state)
    try {
      // What is being written was made up before, and deletes pages of the state there is.
      if (this.#isDeleting) await this.#writing
      while (this.#doubt !== undefined) await this.#settle()
    } catch (error) {
      reading.end()
      throw error
    }
    const state = this.#state
    reading.of(state)
    return { state, release: reading.end }
  }

  /**
   * What it means that a pinned state lacks a page: others write to the storage too
   * (`LK_STORAGE_CONFLICT`), or it is damaged (`LK_STORAGE_CORRUPT`).
   */
  async lost(error: StalePage, { head }: State): Promise<LorekeepError> {
    // Looks at the newest head.
    await this.commit(async () => undefined)
    if (this.#foreign <= head.version) return damaged(error)
    const detail = 'another process has deleted the version that was read'
    return new LorekeepError('LK_STORAGE_CONFLICT', detail, { cause: error })
  }

  /**
   * Reads from one state. Where a page of it is gone, because the next commit has replaced it, the
   * work is done again on the newest one, and after a few times in turn with the commits.
   */
  async read<Result>(
    work: (state: State) => Promise<Result>,
    reads = this.#reads,
  ): Promise<Result> {
    // Answers from memory settle without the event loop, and whoever awaits one after the other
    // would keep timers and sockets waiting.
    if (++this.#readCount % readsPerTurn === 0) await turn()
    if (this.#isLookDue(reads)) await this.#lookForOthers()
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (this.#doubt !== undefined) await this.#settle()
      const state = this.#state
      try {
        return await work(state)
      } catch (error) {
        if (!(error instanceof StalePage)) throw error
        await this.#writing
        if (state === this.#state && this.#doubt === undefined) await this.#refresh(error)
      }
    }
    return this.commit((draft) => work(draft.state))
  }

  /** What is known without a look. */
  get known(): State {
    return this.#state
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#running
    this.#notices.close()
  }

  async #run(): Promise<void> {
    // Changes made in one turn of the caller share a draft.
    await undefined
    while (this.#waiting.length > 0) {
      if (this.#turn.isOver) this.#turn.end()
      if (this.#turn.isHad || (await this.#takeTurn())) await this.#commitGroup()
      // Whoever was answered may go on at once: the turn, and what was read for it, is for that, too.
      if (this.#turn.isShared && this.#waiting.length === 0) await turn()
    }
    this.#turn.end()
    this.#running = undefined
  }

  get #member(): Precondition | undefined {
    return this.#presence?.condition('objects')
  }

  /** False where nobody waits any more. */
  async #takeTurn(): Promise<boolean> {
    try {
      await this.#turn.take()
      // Others had theirs: what would be made of the state that is known would be refused.
      await this.#lookForOthers()
      return true
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error)
      return false
    }
  }

  async #commitGroup(): Promise<void> {
    const answers: (() => void)[] = []
    let taken: Waiting[] = []
    try {
      if (this.#doubt !== undefined) await this.#settle()
      const known = this.#known
      const draft = new Draft(this.#state, this.memory, this.#now())
      const along = [...this.#along]
      for (const change of along) await change(draft)
      const member = this.#waiting[0]?.member ?? this.#member
      while (this.#waiting.length > 0 && draft.rows < maxDraftRows) {
        const waiting = this.#waiting[0] as Waiting
        if (waiting.member !== member) break
        this.#waiting.shift()
        taken.push(waiting)
        try {
          const result = await waiting.change(draft)
          answers.push(() => waiting.resolve(result as never))
        } catch (error) {
          if (error instanceof StalePage) throw error
          if (error instanceof NotInThisDraft) {
            // What was made until now is written without it, whatever comes.
            taken.pop()
            this.#waiting.unshift(waiting)
            break
          }
          answers.push(() => waiting.reject(error))
        }
      }
      // Refusals too are of the newest state only where it was written to, or looked at.
      if (!draft.isEmpty) await this.#write(await draft.finish(), draft.state, member)
      else if (taken.some(({ number }) => number > known)) await this.#confirm(draft.state)
      this.#along = this.#along.filter((change) => !along.includes(change))
      for (const answer of answers) answer()
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT') || error instanceof StalePage) {
        // Somebody else has written: everything again, on what is there now.
        try {
          await this.#refresh(error)
          this.#waiting.unshift(...taken)
          taken = []
        } catch (refreshError) {
          for (const waiting of taken) waiting.reject(refreshError)
        }
        return
      }
      if (taken.length === 0 && this.#waiting.length > 0) {
        // The doubt could not be settled: nobody can be served.
        taken = this.#waiting
        this.#waiting = []
      }
      for (const waiting of taken) waiting.reject(error)
    }
  }

  async #write(commit: Commit, base: State, member: Precondition | undefined): Promise<void> {
    const { next, operations, gone } = commit
    // From here to the call of write() nothing waits: a reader comes before, and its pages stay,
    // or it comes after, and waits for the write.
    const retirement = this.#readers.plan(next.head.version, gone)
    for (const operation of retirement.operations) operations.push(operation)
    this.#isDeleting = retirement.deleted.length > 0
    let ended = (): void => undefined
    this.#writing = new Promise((resolve) => (ended = resolve))
    try {
      await this.#carryOut({ ...commit, retirement }, base, member)
    } finally {
      this.#writing = undefined
      this.#isDeleting = false
      ended()
    }
  }

  async #carryOut(commit: Written, base: State, member: Precondition | undefined): Promise<void> {
    const head = { type: 'equals', key: headKey(), value: base.headBytes } as const
    // Where both do not hold, the first one is told of.
    const require = member === undefined ? [head] : [member, head]
    const changes = this.#changes
    if (this.#isShared) commit.operations.push(...told(commit, base))
    try {
      await this.#storage.write(commit.operations, { durable: true, require })
    } catch (error) {
      const refusal = this.#presence?.refusal(error, require)
      if (refusal !== undefined) throw refusal
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
    this.#known = changes
    this.#adopt(commit)
  }

  /** @throws LorekeepError `LK_STORAGE_CONFLICT` where the state is not the newest any more */
  async #confirm({ headBytes }: State): Promise<void> {
    const head = await this.#storage.get(headKey())
    if (!isSame(head, headBytes)) throw new LorekeepError('LK_STORAGE_CONFLICT')
  }

  #isLookDue(reads: Reads): boolean {
    return this.#isShared && this.#lastLook.isDue(reads)
  }

  /** What there is includes all that was acknowledged to anybody before the call. One look is for all of a turn. */
  #lookForOthers(): Promise<void> {
    this.#looking ??= this.#look()
    return this.#looking
  }

  async #look(): Promise<void> {
    await undefined
    // Whoever comes from here on is not served by this look.
    this.#looking = undefined
    const state = this.#state
    const seen = this.#lastLook.begin()
    const look = await lookBehind(this.#storage, state)
    // A commit of ours that came between was made on the newest there was.
    if (this.#state === state && !look.isSame) {
      // It may be our own, and not yet known to be.
      await this.#writing
      if (this.#state === state && this.#doubt === undefined) await this.#follow(look)
    }
    seen()
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
    else if (!isSame(head, this.#state.headBytes)) {
      await this.#follow(await lookBehind(this.#storage, this.#state))
    }
    this.#doubt = undefined
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` where the state is the newest, and a page is gone */
  async #refresh(error: unknown): Promise<void> {
    const state = this.#state
    const look = await lookBehind(this.#storage, state)
    // What is there may be our own, and not yet known to be.
    await this.#writing
    if (this.#state !== state) return
    if (!look.isSame) await this.#follow(look)
    else if (error instanceof StalePage) throw damaged(error)
  }

  async #follow(look: Look): Promise<void> {
    const changes = this.#changes
    const state = await look.follow()
    // Meanwhile a commit of ours may have followed it.
    if (state.head.version < this.#state.head.version) return
    this.#state = state
    this.#known = changes
    this.#foreign = state.head.version
  }

  #adopt(commit: Written): void {
    const { blocks } = this.memory
    const { retirement } = commit
    this.#readers.adopt(retirement)
    for (const page of retirement.deleted) this.#cache.forget(page)
    for (const { number, bytes } of commit.blockPages) blocks.add(number, bytes)
    for (const { number, page } of commit.entryPages) this.#cache.keep(number, page)
    this.#state = commit.next
    this.#notices.tell()
  }
}

/** What others need to follow a commit, instead of what they do not need any more. */
function told({ next, changes }: Commit, { head }: State): Operation[] {
  const { version, token } = next.head
  const record: ChangeRecord = { before: head.token, token, changes }
  const operations: Operation[] = [
    { type: 'put', key: changeKey(version), value: encodeRecord(record) },
  ]
  const last = version - keptChanges
  if (last > 0) operations.push({ type: 'del', key: changeKey(last) })
  return operations
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0
}
