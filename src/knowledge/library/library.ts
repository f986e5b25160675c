import type { Part } from '../../graph/index/part.js'
import type { PartRecord } from '../../graph/index/layout.js'
import { hasCode, LorekeepError } from '../../errors.js'
import { decodeKey } from '../../keys.js'
import { LastLook, type Reads } from '../../reads.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Operation, Precondition } from '../../storage.js'
import type { CoreTable } from '../core-table.js'
import { foundRecords } from '../../found-records.js'
import {
  garbagePartKey,
  libraryKey,
  partName,
  retiredKey,
  retiredOf,
  waitingIn,
  waitingKey,
  waitingOf,
  type LibraryRecord,
  type WaitingRecord,
} from '../records.js'
import type { CoreRef } from '../types.js'
import type { HeldContent } from './held-content.js'
import { waitingAnew } from './waiting-anew.js'
import type { Seen, Ticks } from './ticks.js'

/** A segment that no part has yet. */
export interface Waiting extends WaitingRecord {
  readonly user: string
  readonly generation: string
  /** Its number in the core. */
  readonly segment: number
  /**
   * Its bytes, for whoever makes a part in memory of it, because somebody asks, and whoever makes one in
   * the storage. HeldContent takes them away again.
   */
  content?: Uint8Array | undefined
  /** Why it cannot be read: neither what its record said nor what that follows from. */
  readonly damage?: LorekeepError | undefined
}

/** A change of one core, and what the library has to know of it: one write. */
export interface CoreChange {
  readonly name: CoreRef
  readonly operations: readonly Operation[]
  /** The first one is about the core's own record. */
  readonly require: readonly Precondition[]
  /** Who was asked for it, where others share the storage. */
  readonly member: string | undefined
  /** The segment that it adds, where that is to be indexed later. */
  readonly waiting?: Waiting | undefined
  /** What the index has of the segment already. */
  readonly parts?: readonly PartRecord[] | undefined
  /** The generation that the core gives up. */
  readonly retired?: string | undefined
}

/** What a library has at one moment. */
export type LibraryState = Pick<Library, 'parts' | 'waiting' | 'retired'>

/** The record of the parts, as it was written. */
interface Written {
  readonly parts: readonly Part[]
  readonly stored: Uint8Array | undefined
}

/** What becomes of the parts, and of what waits. */
export interface PartsChange {
  /** Library.reading when the work began: what was read anew since may have it done already. */
  readonly reading: number
  /** Who was asked for it, or began it, where others share the storage. */
  readonly member: string | undefined
  /** The staged names under which the new parts were written. */
  readonly ids: readonly string[]
  /** What the record of each says. */
  readonly staged?: Uint8Array | undefined
  readonly added: readonly PartRecord[]
  readonly removed: readonly Part[]
  /** Written under these names, and merged into those that are added. */
  readonly passing?: readonly PartRecord[]
  /** Segments that the new parts have. */
  readonly indexed: readonly Waiting[]
  /** Given up generations of which no part has anything any more. */
  readonly forgotten: readonly string[]
}

/** What a write was made from is not the newest any more: nothing was written. */
class Outdated extends Error {}

export const nameOfWaiting = ({ generation, segment }: Pick<Waiting, 'generation' | 'segment'>) =>
  `${generation}/${segment}`

/**
 * The index of all that a user has, as it is stored: its parts, segments that wait for one, and
 * generations that were given up, of which parts may still have something. The state in memory is
 * that of the last write: every change of the user's cores goes through here, but for those of others who share
 * the storage, which are looked for.
 */
export class Library {
  readonly user: string
  /** What changes with every write; a question that has seen one sees nothing newer. */
  onChange: () => void = () => undefined
  /** Is told of records that were damaged and are known all the same. */
  onDamage: (error: LorekeepError) => void = () => undefined

  readonly #table: CoreTable
  readonly #open: (record: PartRecord) => Part
  readonly #content: HeldContent
  readonly #ticks: Ticks | undefined
  /** What was there when the state was read, and when that was looked at. */
  #seen: Seen = new Map()
  readonly #lastLook: LastLook | undefined
  #looking: Promise<void> | undefined
  /** How often it was told that the state is not the newest. */
  #outdated = 0
  #stored: Uint8Array | undefined
  #parts: readonly Part[] = []
  readonly #waiting = new Map<string, Waiting>()
  #soon = { segments: 0, bytes: 0 }
  #retired = new Set<string>()
  /** False before it was read, and after a write of which nobody knows whether it happened. */
  #isReady = false
  #loading: Promise<void> | undefined
  #reading = 0
  /** Damaged records that were told. */
  readonly #told = new Set<string>()
  readonly #writing = new Set<Promise<unknown>>()
  /** Those who change the record of the parts do so one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** `ticks` where others change it too. */
  constructor(
    user: string,
    table: CoreTable,
    open: (record: PartRecord) => Part,
    content: HeldContent,
    ticks?: Ticks,
  ) {
    this.user = user
    this.#table = table
    this.#open = open
    this.#content = content
    this.#ticks = ticks
    this.#lastLook = ticks && new LastLook(() => performance.now())
  }

  /** Others change it, too. */
  get isShared(): boolean {
    return this.#ticks !== undefined
  }

  /** Whether what others have changed has to be looked for first. */
  isDue(reads: Reads): boolean {
    return this.#lastLook?.isDue(reads) === true
  }

  /**
   * What there is includes all that was acknowledged to anybody before the call, or a second before. One look is for
   * all of a turn.
   */
  async refresh(reads: Reads = 'fresh'): Promise<void> {
    if (this.isDue(reads)) {
      this.#looking ??= this.#look()
      await this.#looking
    }
    while (!this.#isReady) await this.ready()
  }

  /** What is known is to be read anew. */
  outdate(): void {
    this.#outdated++
    this.#isReady = false
    this.onChange()
  }

  async #look(): Promise<void> {
    await undefined
    // Whoever comes from here on is not served by this look.
    this.#looking = undefined
    const ticks = this.#ticks
    if (ticks === undefined) return
    const seen = this.#lastLook?.begin()
    const found = await ticks.read(this.user)
    while (!this.#isReady) await this.ready()
    if (ticks.hasNews(this.#seen, found)) {
      this.outdate()
      while (!this.#isReady) await this.ready()
    }
    seen?.()
  }

  /** No write is under way, and it is not being read. */
  get isIdle(): boolean {
    return this.#writing.size === 0 && this.#loading === undefined
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** How often it was read. */
  get reading(): number {
    return this.#reading
  }

  get parts(): readonly Part[] {
    return this.#parts
  }

  get waiting(): ReadonlyMap<string, Waiting> {
    return this.#waiting
  }

  /** What of it is to be indexed without being asked for. */
  get soon(): { readonly segments: number; readonly bytes: number } {
    return this.#soon
  }

  /** Generations that were given up since parts were made of them. */
  get retired(): ReadonlySet<string> {
    return this.#retired
  }

  /** What there is now, whatever becomes of it. */
  state(): LibraryState {
    const { parts, waiting, retired } = this
    return { parts, waiting: new Map(waiting), retired: new Set(retired) }
  }

  /** Reads it where that is needed. @throws LorekeepError `LK_STORAGE_*` */
  async ready(): Promise<void> {
    while (!this.#isReady) {
      this.#loading ??= this.#load().finally(() => (this.#loading = undefined))
      await this.#loading
    }
  }

  /**
   * Writes a change of a core, durably. False where another writer was first, and the step has to be
   * thought over.
   * @throws LorekeepError `LK_STORAGE_*`
   */
  async commit(change: CoreChange): Promise<boolean> {
    if (change.parts === undefined || change.parts.length === 0) {
      return this.#onNewest(() => this.#write(change))
    }
    return this.#inTurn(() => this.#write(change))
  }

  /**
   * Writes a change of the parts, durably.
   * @throws LorekeepError `LK_STORAGE_*`, of which `LK_STORAGE_CONFLICT` says that nothing was written
   */
  async change(change: PartsChange): Promise<void> {
    await this.#inTurn(() => this.#writeParts(change))
  }

  async #write(change: CoreChange): Promise<boolean> {
    const { waiting, parts = [], retired } = change
    const operations = [...change.operations]
    const require = [...change.require]
    const gone = retired === undefined ? [] : this.#waitingOf(retired)
    if (waiting !== undefined) operations.push(this.#putWaiting(waiting))
    for (const old of gone) operations.push(this.#delWaiting(old))
    if (this.isShared && retired !== undefined) {
      // Others may have added some since; the record of the core, which is required, says that none comes any more.
      const range = { ...waitingIn(this.user, retired), keysOnly: true }
      for await (const page of this.#table.cores.scan(range)) {
        for (const { key } of page) operations.push({ type: 'del', key })
      }
    }
    if (retired !== undefined) {
      const key = retiredKey(this.user, retired)
      operations.push({ type: 'put', key, value: new Uint8Array(0) })
    }
    const all = [...this.#parts, ...parts.map((record) => this.#open(record))]
    const written = parts.length > 0 ? this.#putParts(all, operations, require) : undefined
    const isAddition = retired === undefined && written === undefined
    const isWritten = await this.#ifNewest(written && require.length - 1, () =>
      this.#table.attempt([...operations, ...this.#tick(isAddition)], require, change.member),
    )
    if (!isWritten) return false
    this.#remember(written)
    if (waiting !== undefined) this.#add(waiting)
    for (const old of gone) this.#drop(old)
    if (retired !== undefined) this.#retired.add(retired)
    this.onChange()
    return true
  }

  async #writeParts(change: PartsChange): Promise<void> {
    const { ids, staged, added, removed, passing = [], indexed, forgotten } = change
    if (!this.#isFounded(change)) throw new LorekeepError('LK_STORAGE_CONFLICT')
    const { collector } = this.#table
    const operations: Operation[] = []
    const require: Precondition[] = []
    for (const id of ids) {
      if (staged === undefined) continue
      const { operation, precondition } = this.#table.unstage(id, staged)
      operations.push(operation)
      require.push(precondition)
    }
    for (const old of indexed) operations.push(this.#delWaiting(old))
    for (const generation of forgotten) {
      operations.push({ type: 'del', key: retiredKey(this.user, generation) })
    }
    const garbage = [...removed.map(({ record }) => record), ...passing]
    for (const record of garbage) {
      operations.push({ type: 'put', key: garbagePartKey(record), value: this.#table.whose })
    }
    const gone = new Set(removed)
    const kept = this.#parts.filter((part) => !gone.has(part))
    const all = [...kept, ...added.map((record) => this.#open(record))]
    const isSame = added.length === 0 && removed.length === 0
    const written = isSame ? undefined : this.#putParts(all, operations, require)
    // What is forgotten no part may have, and others may make parts.
    if (isSame && this.isShared) require.push(this.#asStored())
    const place = isSame && !this.isShared ? undefined : require.length - 1
    try {
      await this.#ifNewest(place, () =>
        this.#table.write([...operations, ...this.#tick(false)], require, change.member),
      )
      collector.noticeSuccess()
    } catch (error) {
      if (!(error instanceof Outdated)) collector.lookForGarbage()
      throw error
    }
    this.#remember(written)
    for (const old of indexed) this.#drop(old)
    for (const generation of forgotten) this.#retired.delete(generation)
    this.onChange()
    for (const record of garbage) collector.retirePart(partName(record))
  }

  /**
   * Whether the state is still such that a change can be made which began with an earlier one. What was read anew since
   * may have it done already.
   */
  #isFounded({ reading, removed, indexed, forgotten }: PartsChange): boolean {
    if (reading === this.#reading) return true
    if (!this.isShared || forgotten.length > 0) return false
    return (
      removed.every((part) => this.#parts.includes(part)) &&
      // What was given up meanwhile is in parts, and not seen.
      indexed.every(
        (each) => this.#waiting.has(nameOfWaiting(each)) || this.#retired.has(each.generation),
      )
    )
  }

  #tick(isAddition: boolean): readonly Operation[] {
    if (this.#ticks === undefined) return []
    // Under a slot that others may have by now nobody would see it.
    if (!this.#ticks.isReady) throw new Outdated()
    return this.#ticks.operations(this.user, isAddition)
  }

  /** @throws Outdated where the record of the parts, required at `place`, is another one, and others write it */
  async #ifNewest<T>(place: number | undefined, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      const isConflict = hasCode(error, 'LK_STORAGE_CONFLICT') && error.details['index'] === place
      if (isConflict && this.isShared) throw new Outdated()
      throw error
    }
  }

  /** Gives what is to be remembered once it is written. Without parts there is no record. */
  #putParts(parts: readonly Part[], operations: Operation[], require: Precondition[]): Written {
    const key = libraryKey(this.user)
    const record: LibraryRecord = { parts: parts.map((part) => part.record) }
    const value = parts.length > 0 ? encodeRecord(record) : undefined
    operations.push(value ? { type: 'put', key, value } : { type: 'del', key })
    require.push(this.#asStored())
    return { parts, stored: value }
  }

  #asStored(): Precondition {
    const key = libraryKey(this.user)
    const stored = this.#stored
    return stored ? { type: 'equals', key, value: stored } : { type: 'absent', key }
  }

  #remember(written: Written | undefined): void {
    if (written === undefined) return
    this.#stored = written.stored
    this.#parts = written.parts
  }

  #putWaiting({ generation, segment, core, bytes, isSoon }: Waiting): Operation {
    const value = encodeRecord({ core, bytes, isSoon })
    return { type: 'put', key: waitingKey(this.user, generation, segment), value }
  }

  #delWaiting({ generation, segment }: Waiting): Operation {
    return { type: 'del', key: waitingKey(this.user, generation, segment) }
  }

  #waitingOf(generation: string): Waiting[] {
    return [...this.#waiting.values()].filter((waiting) => waiting.generation === generation)
  }

  #add(waiting: Waiting): void {
    // A copy, as its bytes are taken away again. Memory gets this one, and so holds them no longer.
    const own = { ...waiting }
    this.#waiting.set(nameOfWaiting(own), own)
    this.#content.add(this, own)
    this.#count(own, 1)
  }

  #drop(old: Waiting): void {
    const name = nameOfWaiting(old)
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) return
    this.#waiting.delete(name)
    this.#content.letGo(this, waiting)
    this.#count(waiting, -1)
  }

  #count({ isSoon, bytes }: Waiting, sign: 1 | -1): void {
    if (!isSoon) return
    this.#soon.segments += sign
    this.#soon.bytes += sign * bytes
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last
    const mine = before.then(() => this.#onNewest(work))
    this.#last = mine.catch(() => undefined)
    return mine
  }

  /** Again where others were first. */
  async #onNewest<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.#ticks?.begin()
      while (!this.#isReady) await this.ready()
      try {
        return await this.#underWay(work)
      } catch (error) {
        if (!(error instanceof Outdated)) throw error
      }
    }
  }

  /** What fails for other reasons than a conflict may have happened: it is read again. */
  async #underWay<T>(work: () => Promise<T>): Promise<T> {
    const running = work()
    const settled = running.then(
      () => undefined,
      () => undefined,
    )
    this.#writing.add(settled)
    try {
      return await running
    } catch (error) {
      this.#isReady = false
      this.onChange()
      throw error
    } finally {
      this.#writing.delete(settled)
    }
  }

  async #load(): Promise<void> {
    // No write begins before it is ready.
    await Promise.all(this.#writing)
    const outdated = this.#outdated
    const { stored, waiting, retired, seen } = await this.#readVersion()
    const records = stored === undefined ? [] : decodeRecord<LibraryRecord>(stored).parts
    const known = new Map(this.#parts.map((part) => [partName(part.record), part]))
    this.#parts = records.map((record) => known.get(partName(record)) ?? this.#open(record))
    this.#stored = stored
    this.#seen = seen
    this.#waiting.clear()
    this.#soon = { segments: 0, bytes: 0 }
    this.#content.letGoOfAll(this)
    for (const each of waiting) this.#add(each)
    this.#retired = retired
    this.#reading++
    this.#isReady = outdated === this.#outdated
    this.onChange()
  }

  /** All of it as of one moment: again where others changed it meanwhile. */
  async #readVersion() {
    const ticks = this.#ticks
    if (ticks === undefined) return { ...(await this.#read()), seen: new Map<string, string>() }
    for (let seen = await ticks.read(this.user); ;) {
      const [found, after] = [await this.#read(), await ticks.read(this.user)]
      if (!ticks.hasMixed(seen, after)) return { ...found, seen }
      seen = after
    }
  }

  async #read() {
    const { cores } = this.#table
    const stored = await cores.get(libraryKey(this.user))
    const waiting: Waiting[] = []
    for await (const page of foundRecords<WaitingRecord>(cores, waitingOf(this.user))) {
      for (const { key, record, damage } of page) {
        const [, user, generation, segment] = decodeKey(key) as [string, string, string, number]
        if (record !== undefined) waiting.push({ ...record, user, generation, segment })
        else waiting.push(await this.#waitingAnew({ user, generation, segment }, damage))
      }
    }
    const retired = new Set<string>()
    for await (const page of cores.scan({ ...retiredOf(this.user), keysOnly: true })) {
      for (const { key } of page) retired.add(decodeKey(key)[2] as string)
    }
    return { stored, waiting, retired }
  }

  /** It is damaged for as long as it is there: it is told once. */
  async #waitingAnew(
    place: Pick<Waiting, 'user' | 'generation' | 'segment'>,
    cause: LorekeepError,
  ): Promise<Waiting> {
    const waiting = { ...place, ...(await waitingAnew(this.#table.cores, place, cause)) }
    const name = nameOfWaiting(waiting)
    if (waiting.damage === undefined && !this.#told.has(name)) {
      this.#told.add(name)
      const detail = `that a segment of core '${waiting.core}' of '${this.user}' waits to be indexed: it is known by other records`
      const { details } = cause
      this.onDamage(new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details }))
    }
    return waiting
  }
}
