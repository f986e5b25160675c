import { hasCode, LorekeepError } from '../errors.js'
import { beatKey, type Presence } from '../presence.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import {
  allGarbage,
  allGarbageParts,
  allStaged,
  contentsOf,
  garbageKey,
  nameOfDiscarded,
  placesOfDiscarded,
  segmentAt,
  segmentsOf,
  sliceKey,
  smallKey,
  smallsOf,
  stagedKey,
  type LibraryRecord,
  type SegmentRecord,
  type StagedRecord,
} from './records.js'
import { decodeRecord, encodeRecord } from '../record.js'
import { foundRecords } from '../found-records.js'
import { Ripening } from './ripening.js'

/** Deletes at most so many keys in one write. */
const batchSize = 1000

/** After a failure the rest is tried again, each time after twice as long. */
const firstRetryMs = 1000
const maxRetryMs = 60_000

/** So long opening waits for what an earlier process left to be deleted. In tests less. */
export const longestSweep = { ms: 1000 }

const discardedRecord: StagedRecord = { state: 'discarded' }

const heldUp = new Error('nothing is deleted for now')

/**
 * Deletes what no core names: segments of failed imports, and generations that were replaced or
 * deleted, the latter when no export reads them any more. A record says what is to be deleted
 * until all of it is, so that a crash loses nothing: sweep() goes on where it stopped.
 */
export class Collector {
  readonly #cores: Storage
  readonly #slices: Storage
  readonly #onError: (error: unknown) => void
  /** generation or part → how many read it */
  readonly #pins = new Map<string, number>()
  /** Generations that wait for their last export, or for a storage that works again. */
  readonly #retired = new Set<string>()
  /** Segments and parts that are marked as discarded and have values left, by name. */
  readonly #discarded = new Set<string>()
  /** Segments that could not be marked: whether their commit happened is not known yet. */
  readonly #undecided = new Map<string, Uint8Array | undefined>()
  /** There may be garbage records that are not in `retired` yet. */
  #lookForGarbage = false
  #running: Promise<void> = Promise.resolve()
  /** A pass waits for the one under way, and will see what came meanwhile. */
  #isNextWaiting = false
  /** The last pass failed. In an outage the next one waits for its time, or for a write that works. */
  #failure: 'outage' | 'other' | undefined
  /** A write has worked since the pass under way began. */
  #hasWorked = false
  #retryMs = firstRetryMs
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** Nothing more is deleted, also of what is under way. */
  #ended = false
  /** How many want nothing to be deleted for now. */
  #holds = 0
  /** Of those who share the storages. */
  readonly #presence: Presence | undefined
  /** What others may still read. */
  readonly #ripening = new Ripening()
  /** Those who were there at the last look. */
  #members: ReadonlySet<string> | undefined
  /** Segments that were marked as discarded at the last beat. */
  #seenDiscarded: ReadonlySet<string> = new Set()
  /** Told of what is to be deleted, before it is told what of it is read here. It may not throw. */
  onGarbage: (names: ReadonlySet<string>) => void = () => undefined

  constructor(
    cores: Storage,
    slices: Storage,
    onError: (error: unknown) => void,
    presence?: Presence,
  ) {
    this.#cores = cores
    this.#slices = slices
    this.#onError = onError
    this.#presence = presence
    if (presence === undefined) return
    presence.reads = () => this.#readsOfGarbage()
    presence.onLook((members) => {
      this.#members = new Set(members.map(({ id }) => id))
      const ripe = this.#ripening.look(members)
      for (const name of ripe) this.#listOf(name).add(name)
      if (ripe.length > 0) this.#start()
    })
    presence.onGone((id) => this.#discardThoseOf((member) => member === id))
  }

  /** Keeps the slices of generations, and the blocks of parts, until the returned function is called. */
  pin(...names: readonly string[]): () => void {
    for (const name of names) this.#pins.set(name, (this.#pins.get(name) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      for (const name of names) this.#unpin(name)
    }
  }

  /**
   * Deletes nothing until the returned function is called, but for what is under way: a snapshot
   * would have to copy all of it first.
   */
  hold(): () => void {
    this.#holds++
    let held = true
    return () => {
      if (!held) return
      held = false
      if (--this.#holds === 0) this.#retry()
    }
  }

  #unpin(name: string): void {
    const left = (this.#pins.get(name) ?? 1) - 1
    if (left > 0) this.#pins.set(name, left)
    else {
      this.#pins.delete(name)
      if (this.#retired.has(name) || this.#discarded.has(name)) this.#start()
    }
  }

  /** A library gave up this part; it was marked as discarded in the same step. */
  retirePart(name: string): void {
    this.#take(name)
  }

  /** A core gave up this generation; its garbage record was written in the same step. */
  retire(generation: string): void {
    this.#take(generation)
  }

  /** Those of which nobody here has anything in use, and whoever else there is may have. */
  #take(name: string): void {
    if (this.#presence !== undefined) {
      if (!this.#listOf(name).has(name)) this.#ripening.add(name)
      return
    }
    this.#listOf(name).add(name)
    this.#start()
  }

  #listOf(name: string): Set<string> {
    return isPart(name) ? this.#discarded : this.#retired
  }

  /**
   * Takes a staged segment, or staged parts, back and deletes their values. `place` is the key under which a
   * commit that was tried would have named it. False where that names it: the commit that was
   * thought to have failed did happen. Rejects where the storage cannot tell; the question is then
   * asked again later. No value of it may be under way.
   */
  async discard(segment: string, place: Uint8Array | undefined): Promise<boolean> {
    let discarded: boolean | undefined
    try {
      discarded = await this.#decide(segment, place)
      if (!discarded) this.lookForGarbage()
      else if (this.#holds === 0 && !this.#pins.has(segment)) await this.#deleteSegment(segment)
      return discarded
    } catch (error) {
      // It is marked, and deleted when nobody holds that up any more.
      if (error === heldUp) return true
      // Not before: the background would decide and delete, and look here like a commit.
      if (discarded === undefined) this.#undecided.set(segment, place)
      this.#start()
      throw error
    }
  }

  /** A write that may have retired a generation failed, or did not. */
  lookForGarbage(): void {
    this.#lookForGarbage = true
    this.#start()
  }

  /**
   * Deletes what an earlier process left, where that is much the rest of it in the background. Nothing else may be using
   * the store yet.
   */
  async sweep(): Promise<void> {
    const discarded = Buffer.from(encodeRecord(discardedRecord))
    for await (const page of this.#cores.scan(allStaged())) {
      for (const { key, value } of page) {
        // Marked before any of it is deleted: whoever was taken for dead commits it no more.
        if (!discarded.equals(value)) this.#undecided.set(nameOfDiscarded(key), undefined)
      }
    }
    this.lookForGarbage()
    await this.#idleWithin(longestSweep.ms)
  }

  /** As sweep(), where others are there: what nobody of those makes any more who are. */
  async sweepDead(): Promise<void> {
    await this.#discardThoseOf(async (member) => {
      return member === undefined || (await this.#cores.get(beatKey(member))) === undefined
    })
    this.lookForGarbage()
  }

  /** Marks what was being made by those who cannot commit it any more. */
  async #discardThoseOf(
    isGone: (member: string | undefined) => boolean | Promise<boolean>,
  ): Promise<void> {
    const value = encodeRecord(discardedRecord)
    for await (const page of this.#cores.scan(allStaged())) {
      for (const { key, value: staged } of page) {
        const { state, member } = decodeRecord<StagedRecord>(staged)
        if (state === 'discarded') this.#lookForGarbage = true
        if (state !== 'importing' || !(await isGone(member))) continue
        const asRead: Precondition = { type: 'equals', key, value: staged }
        const isMine = await this.#isWritten([{ type: 'put', key, value }], [asRead])
        if (isMine) this.#discarded.add(nameOfDiscarded(key))
      }
    }
    this.#start()
  }

  /** What of all that is to be deleted is read here. What nobody looks after any more is taken on. */
  async #readsOfGarbage(): Promise<readonly string[]> {
    const names = new Set<string>()
    for (const range of [allGarbage(), allGarbageParts()]) {
      for await (const page of this.#cores.scan(range)) {
        for (const { key, value } of page) {
          const name = nameOfDiscarded(key)
          names.add(name)
          if (!this.#isOfOthers(value)) this.#take(name)
        }
      }
    }
    await this.#takeDiscarded()
    if (names.size === 0) return []
    this.onGarbage(names)
    return [...names].filter((name) => this.#pins.has(name))
  }

  /** Whoever marked them deletes them at once: of those that are still there he may have ended. */
  async #takeDiscarded(): Promise<void> {
    const discarded = new Set<string>()
    const value = Buffer.from(encodeRecord(discardedRecord))
    for await (const page of this.#cores.scan(allStaged())) {
      for (const entry of page) {
        if (value.equals(entry.value)) discarded.add(nameOfDiscarded(entry.key))
      }
    }
    const left = [...discarded].filter((name) => this.#seenDiscarded.has(name))
    this.#seenDiscarded = discarded
    for (const name of left) this.#discarded.add(name)
    if (left.length > 0) this.#start()
  }

  /** Whoever gave it up is there, and deletes it. */
  #isOfOthers(whose: Uint8Array): boolean {
    if (this.#presence === undefined || whose.length === 0) return false
    const id = Buffer.from(whose).toString()
    // Who is there is not known before the first look.
    return id !== this.#presence.id && this.#members?.has(id) !== false
  }

  /** The storage has worked: what could not be deleted while it did not is tried again. */
  noticeSuccess(): void {
    this.#hasWorked = true
    if (this.#failure === 'outage') this.#retry()
  }

  /** Resolves when nothing is being deleted. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Ends the attempts, and after that time what is under way; what is left is deleted at the next open. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#idleWithin(timeoutMs)
    this.#ended = true
    await this.#running
  }

  async #idleWithin(ms: number): Promise<void> {
    if (ms === Infinity) return this.#running
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
    try {
      await Promise.race([this.#running, patience])
    } finally {
      clearTimeout(timer)
    }
  }

  #retry(): void {
    this.#failure = undefined
    this.#start()
  }

  /** Work that fails while the storage does starts no passes of its own: each would fail as well. */
  #start(): void {
    if (this.#closed || this.#failure === 'outage' || this.#isNextWaiting) return
    this.#isNextWaiting = true
    this.#running = this.#running.then(() => this.#pass())
  }

  async #pass(): Promise<void> {
    this.#isNextWaiting = false
    if (this.#failure === 'outage') return
    this.#hasWorked = false
    const errors = await this.#collect()
    clearTimeout(this.#timer)
    this.#failure = undefined
    if (errors.length === 0) this.#retryMs = firstRetryMs
    else if (!this.#closed) {
      this.#failure = errors.some(isOutage) ? 'outage' : 'other'
      this.#timer = setTimeout(() => this.#retry(), this.#retryMs).unref()
      this.#retryMs = Math.min(maxRetryMs, this.#retryMs * 2)
      if (this.#hasWorked) this.noticeSuccess()
    }
    // Once for each kind, however many things wait: they are tried again together.
    const kinds = new Map(errors.map((error) => [codeOf(error), error]))
    for (const error of kinds.values()) this.#onError(error)
  }

  /** Does what can be done; one thing that fails does not hold up the others. */
  async #collect(): Promise<unknown[]> {
    const errors: unknown[] = []
    const attempt = async (work: () => Promise<unknown>) => {
      if (this.#ended) return
      try {
        await work()
      } catch (error) {
        // It stays in its list, and is taken up when nobody holds it up any more.
        if (error !== heldUp) errors.push(error)
      }
    }
    for (const [segment, place] of this.#undecided) {
      await attempt(() => this.#decide(segment, place))
    }
    if (this.#lookForGarbage) await attempt(() => this.#findGarbage())
    for (const segment of this.#discarded) {
      if (!this.#pins.has(segment)) await attempt(() => this.#deleteSegment(segment))
    }
    for (const generation of this.#retired) {
      if (!this.#pins.has(generation)) await attempt(() => this.#deleteGeneration(generation))
    }
    return errors
  }

  async #findGarbage(): Promise<void> {
    // Of those of others each beat finds whoever nobody looks after.
    const keysOnly = this.#presence === undefined
    for (const range of [allGarbage(), allGarbageParts()]) {
      for await (const page of this.#cores.scan({ ...range, keysOnly })) {
        for (const { key, value } of page) {
          if (!this.#isOfOthers(value)) this.#take(nameOfDiscarded(key))
        }
      }
    }
    const discarded = Buffer.from(encodeRecord(discardedRecord))
    for await (const page of this.#cores.scan(allStaged())) {
      for (const { key, value } of page) {
        if (discarded.equals(value)) this.#discarded.add(nameOfDiscarded(key))
      }
    }
    this.#lookForGarbage = false
  }

  /**
   * Marks a segment as discarded, which no commit of it survives: a commit requires the record as
   * it was. False where the commit came first. A record that is gone does not say so: whoever took
   * this process for dead may have swept it, with slices that were written until then.
   */
  async #decide(segment: string, place: Uint8Array | undefined): Promise<boolean> {
    const key = stagedKey(segment)
    const value = encodeRecord(discardedRecord)
    const mark = (condition: Precondition) =>
      this.#isWritten([{ type: 'put', key, value }], [condition])
    const staged = await this.#cores.get(key)
    const isMarked =
      staged !== undefined &&
      ((await mark({ type: 'equals', key, value: staged })) ||
        (await this.#cores.get(key)) !== undefined)
    if (!isMarked) {
      if (place !== undefined && (await this.names(place, segment))) {
        this.#undecided.delete(segment)
        return false
      }
      // What was written since has no record to be found by. Where it has one again, all is well.
      await mark({ type: 'absent', key })
    }
    this.#discarded.add(segment)
    this.#undecided.delete(segment)
    return true
  }

  /** Whether the record under a key is that of this segment, or of a library with parts of this id. */
  async names(place: Uint8Array, id: string): Promise<boolean> {
    const stored = await this.#cores.get(place)
    if (stored === undefined) return false
    const named = decodeRecord<Partial<LibraryRecord & SegmentRecord>>(stored)
    return named.id === id || named.parts?.some((part) => part.id === id) === true
  }

  /** False where a condition does not hold. */
  async #isWritten(
    operations: readonly Operation[],
    require: readonly Precondition[],
  ): Promise<boolean> {
    try {
      await this.#cores.write(operations, { durable: true, require })
      return true
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
      return false
    }
  }

  async #deleteSegment(segment: string): Promise<void> {
    const { record, values } = placesOfDiscarded(segment)
    for await (const page of this.#slices.scan({ ...values, keysOnly: true })) {
      await this.#delete(
        this.#slices,
        page.map(({ key }) => key),
      )
    }
    await this.#delete(this.#cores, [record])
    this.#discarded.delete(segment)
  }

  /**
   * The slices first: the records that name them go once they are gone for good. Most cores are small,
   * and go in one write.
   */
  async #deleteGeneration(generation: string): Promise<void> {
    let keys: Uint8Array[] = []
    const take = async (key: Uint8Array) => {
      if (keys.push(key) < batchSize) return
      await this.#delete(this.#cores, keys)
      keys = []
    }
    const lost: LorekeepError[] = []
    for await (const page of foundRecords<SegmentRecord>(this.#cores, segmentsOf(generation))) {
      const slices: Uint8Array[] = []
      for (const { key, record: segment, damage } of page) {
        if (segment === undefined) {
          if (!(await this.#isInline(generation, segmentAt(key)))) lost.push(damage)
          continue
        }
        for (let n = 0; n < segment.slices; n++) slices.push(sliceKey(segment.id, n))
      }
      await this.#delete(this.#slices, slices)
      for (const { key } of page) await take(key)
    }
    // Behind the segments: that its bytes lie there says of a damaged one that it has no slices.
    for (const range of [smallsOf(generation), contentsOf(generation)]) {
      for await (const page of this.#cores.scan({ ...range, keysOnly: true })) {
        for (const { key } of page) await take(key)
      }
    }
    await this.#delete(this.#cores, [...keys, garbageKey(generation)])
    this.#retired.delete(generation)
    for (const cause of lost) this.#onError(slicesLeft(generation, cause))
  }

  async #isInline(generation: string, n: number): Promise<boolean> {
    const key = smallKey(generation, n)
    const range = { gte: key, lte: key, keysOnly: true }
    for await (const _ of this.#cores.scan(range)) return true
    return false
  }

  async #delete(storage: Storage, keys: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < keys.length; at += batchSize) {
      const operations = keys
        .slice(at, at + batchSize)
        .map((key): Operation => ({ type: 'del', key }))
      if (this.#holds > 0 || this.#ended) throw heldUp
      await storage.write(operations, { durable: true })
    }
  }
}

/** Nobody else knows under which name they lie. */
function slicesLeft(generation: string, cause: LorekeepError): LorekeepError {
  const detail = `the slices of a deleted segment of generation '${generation}' stay: its record, which named them, was damaged`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details: cause.details })
}

/** Of generations and segments the names have no slash. */
function isPart(name: string): boolean {
  return name.includes('/')
}

/** Of the whole storage, as far as one can tell, and not of one record in it. */
function isOutage(error: unknown): boolean {
  return hasCode(error, 'LK_STORAGE_FAILED') || hasCode(error, 'LK_STORAGE_UNAVAILABLE')
}

function codeOf(error: unknown): string {
  return error instanceof LorekeepError ? error.code : String(error)
}
