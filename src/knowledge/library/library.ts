import type { Part } from '../../graph/index/part.js'
import type { PartRecord } from '../../graph/index/layout.js'
import { LorekeepError } from '../../errors.js'
import { decodeKey } from '../../keys.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Operation, Precondition } from '../../storage.js'
import type { CoreTable } from '../core-table.js'
import {
  garbagePartKey,
  libraryKey,
  partName,
  retiredKey,
  retiredOf,
  waitingKey,
  waitingOf,
  type LibraryRecord,
  type WaitingRecord,
} from '../records.js'
import type { CoreRef } from '../types.js'
import type { HeldContent } from './held-content.js'

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
}

/** A change of one core, and what the library has to know of it: one write. */
export interface CoreChange {
  readonly name: CoreRef
  readonly operations: readonly Operation[]
  /** The first one is about the core's own record. */
  readonly require: readonly Precondition[]
  /** The segment that it adds, where that is to be indexed later. */
  readonly waiting?: Waiting | undefined
  /** What the index has of the segment already. */
  readonly parts?: readonly PartRecord[] | undefined
  /** The generation that the core gives up. */
  readonly retired?: string | undefined
}

/** The record of the parts, as it was written. */
interface Written {
  readonly parts: readonly Part[]
  readonly stored: Uint8Array | undefined
}

/** What becomes of the parts, and of what waits. */
export interface PartsChange {
  /** Library.reading when the work began: what was read anew since may have it done already. */
  readonly reading: number
  /** The staged name under which the new parts were written. */
  readonly id: string | undefined
  readonly added: readonly PartRecord[]
  readonly removed: readonly Part[]
  /** Segments that the new parts have. */
  readonly indexed: readonly Waiting[]
  /** Given up generations of which no part has anything any more. */
  readonly forgotten: readonly string[]
}

export const nameOfWaiting = ({ generation, segment }: Waiting) => `${generation}/${segment}`

/**
 * The index of all that a user has, as it is stored: its parts, segments that wait for one, and
 * generations that were given up, of which parts may still have something. The state in memory is
 * that of the last write: every change of the user's cores goes through here.
 */
export class Library {
  readonly user: string
  /** What changes with every write; a question that has seen one sees nothing newer. */
  onChange: () => void = () => undefined

  readonly #table: CoreTable
  readonly #open: (record: PartRecord) => Part
  readonly #content: HeldContent
  #stored: Uint8Array | undefined
  #parts: readonly Part[] = []
  readonly #waiting = new Map<string, Waiting>()
  #soon = { segments: 0, bytes: 0 }
  #retired = new Set<string>()
  /** False before it was read, and after a write of which nobody knows whether it happened. */
  #isReady = false
  #loading: Promise<void> | undefined
  #reading = 0
  readonly #writing = new Set<Promise<unknown>>()
  /** Those who change the record of the parts do so one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    user: string,
    table: CoreTable,
    open: (record: PartRecord) => Part,
    content: HeldContent,
  ) {
    this.user = user
    this.#table = table
    this.#open = open
    this.#content = content
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
      while (!this.#isReady) await this.ready()
      return this.#underWay(() => this.#write(change))
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
    if (retired !== undefined) {
      const key = retiredKey(this.user, retired)
      operations.push({ type: 'put', key, value: new Uint8Array(0) })
    }
    const all = [...this.#parts, ...parts.map((record) => this.#open(record))]
    const written = parts.length > 0 ? this.#putParts(all, operations, require) : undefined
    const isWritten = await this.#table.attempt(operations, require)
    if (!isWritten) return false
    this.#remember(written)
    if (waiting !== undefined) this.#add(waiting)
    for (const old of gone) this.#drop(old)
    if (retired !== undefined) this.#retired.add(retired)
    this.onChange()
    return true
  }

  async #writeParts(change: PartsChange): Promise<void> {
    const { id, added, removed, indexed, forgotten } = change
    if (change.reading !== this.#reading) throw new LorekeepError('LK_STORAGE_CONFLICT')
    const { collector } = this.#table
    const operations: Operation[] = []
    const require: Precondition[] = []
    if (id !== undefined) {
      const { operation, precondition } = this.#table.unstage(id)
      operations.push(operation)
      require.push(precondition)
    }
    for (const old of indexed) operations.push(this.#delWaiting(old))
    for (const generation of forgotten) {
      operations.push({ type: 'del', key: retiredKey(this.user, generation) })
    }
    for (const { record } of removed) {
      operations.push({ type: 'put', key: garbagePartKey(record), value: new Uint8Array(0) })
    }
    const gone = new Set(removed)
    const kept = this.#parts.filter((part) => !gone.has(part))
    const all = [...kept, ...added.map((record) => this.#open(record))]
    const isSame = added.length === 0 && removed.length === 0
    const written = isSame ? undefined : this.#putParts(all, operations, require)
    try {
      await this.#table.cores.write(operations, { durable: true, require })
      collector.noticeSuccess()
    } catch (error) {
      collector.lookForGarbage()
      throw error
    }
    this.#remember(written)
    for (const old of indexed) this.#drop(old)
    for (const generation of forgotten) this.#retired.delete(generation)
    this.onChange()
    for (const { record } of removed) collector.retirePart(partName(record))
  }

  /** Gives what is to be remembered once it is written. Without parts there is no record. */
  #putParts(parts: readonly Part[], operations: Operation[], require: Precondition[]): Written {
    const key = libraryKey(this.user)
    const record: LibraryRecord = { parts: parts.map((part) => part.record) }
    const value = parts.length > 0 ? encodeRecord(record) : undefined
    operations.push(value ? { type: 'put', key, value } : { type: 'del', key })
    const stored = this.#stored
    require.push(stored ? { type: 'equals', key, value: stored } : { type: 'absent', key })
    return { parts, stored: value }
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
    const mine = (async () => {
      await before
      while (!this.#isReady) await this.ready()
      return this.#underWay(work)
    })()
    this.#last = mine.catch(() => undefined)
    return mine
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
    const { cores } = this.#table
    const stored = await cores.get(libraryKey(this.user))
    const waiting: Waiting[] = []
    for await (const page of cores.scan(waitingOf(this.user))) {
      for (const { key, value } of page) {
        const [, , generation, segment] = decodeKey(key) as [string, string, string, number]
        const record = decodeRecord<WaitingRecord>(value)
        waiting.push({ ...record, user: this.user, generation, segment })
      }
    }
    const retired = new Set<string>()
    for await (const page of cores.scan({ ...retiredOf(this.user), keysOnly: true })) {
      for (const { key } of page) retired.add(decodeKey(key)[2] as string)
    }
    const records = stored === undefined ? [] : decodeRecord<LibraryRecord>(stored).parts
    const known = new Map(this.#parts.map((part) => [partName(part.record), part]))
    this.#parts = records.map((record) => known.get(partName(record)) ?? this.#open(record))
    this.#stored = stored
    this.#waiting.clear()
    this.#soon = { segments: 0, bytes: 0 }
    this.#content.letGoOfAll(this)
    for (const each of waiting) this.#add(each)
    this.#retired = retired
    this.#reading++
    this.#isReady = true
    this.onChange()
  }
}
