// Who of those that share a backend is there. Each has a record in every partition that it writes to, and a beat that
// it changes every few seconds. Whoever sees a beat unchanged for a lease, by its own clock and without having looked
// away, takes its owner for dead and deletes those records. A write that nobody may make who was taken for dead
// requires its record, so that a process that stood still cannot commit what it held: no two clocks have to agree.

import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.js'
import { hasCode, LorekeepError } from './errors.js'
import { decodeKey, encodeKey, keyPrefix } from './keys.js'
import { decodeRecord, encodeRecord } from './record.js'
import type { Operation, Precondition, Storage } from './storage.js'

/** Where a member has a record: the preconditions of a write reach one partition only. */
export type MemberPlace = 'cores' | 'objects' | 'flows'

/** Shorter leases could not be told by beats. */
const shortestLeaseMs = 600
/** So many beats fit into a lease. */
const beatsOfLease = 6

/** What a member says of itself; of one that was expelled there is no more to say than that. */
interface BeatRecord {
  readonly count?: number
  readonly reads?: readonly string[] | undefined
  readonly isExpelled?: true
}

/** Somebody as the last look found him. */
export interface SeenMember {
  readonly id: string
  /** It grows with each beat. */
  readonly count: number
  /** Of what is to be deleted: what he still reads. Undefined: he does not know, and it may be any of it. */
  readonly reads: ReadonlySet<string> | undefined
}

interface PresenceOptions {
  readonly partitions: Readonly<Record<MemberPlace, Storage>>
  readonly leaseMs: number
  readonly clock: Clock
  /** Gets errors of what nobody waits for. */
  readonly onError: (error: unknown) => void
  readonly createId?: () => string
}

/** From one joining to the expulsion. */
interface Life {
  readonly id: string
  readonly conditions: Readonly<Record<MemberPlace, Precondition>>
  count: number
}

interface Watched {
  readonly beat: Uint8Array
  readonly since: number
}

export const memberKey = (id: string) => encodeKey('member', id)
export const beatKey = (id: string) => encodeKey('beat', id)
const here = encodeRecord({})
const expelled = encodeRecord({ isExpelled: true } satisfies BeatRecord)
const durable = true

export class Presence {
  /** What is told with each beat. Asked before it is written; the next beat says what was there after this one. */
  reads: () => Promise<readonly string[]> = async () => []

  readonly #options: PresenceOptions
  readonly #leaseMs: number
  readonly #beatMs: number
  readonly #expelledHooks = new Set<() => Promise<unknown>>()
  readonly #cleaners = new Set<(id: string) => Promise<unknown>>()
  readonly #lookers = new Set<(members: readonly SeenMember[]) => void>()
  readonly #given = new WeakSet<Precondition>()
  readonly #watched = new Map<string, Watched>()
  readonly #expelling = new Map<string, Promise<boolean>>()
  readonly #cleaning = new Map<string, Promise<void>>()
  #life!: Life
  #lookedAt = -Infinity
  #rejoining: Promise<void> | undefined
  #beating: Promise<void> | undefined
  #cancelBeat: (() => void) | undefined
  #endWait: (() => void) | undefined
  #isClosed = false

  private constructor(options: PresenceOptions) {
    this.#options = options
    this.#leaseMs = Math.max(shortestLeaseMs, options.leaseMs)
    this.#beatMs = this.#leaseMs / beatsOfLease
  }

  /** @throws LorekeepError `LK_STORAGE_*` */
  static async join(options: PresenceOptions): Promise<Presence> {
    const presence = new Presence(options)
    await presence.#deleteStrays()
    await presence.#join()
    presence.#schedule()
    return presence
  }

  /** Changes when it was expelled and has joined anew. */
  get id(): string {
    return this.#life.id
  }

  /** What a write into the partition requires that may not happen once others took this process for dead. */
  condition(place: MemberPlace): Precondition {
    return this.#life.conditions[place]
  }

  /**
   * The error to tell where a write conflicts on such a condition; undefined where it was another one. It joins
   * anew meanwhile.
   */
  refusal(error: unknown, require: readonly Precondition[]): LorekeepError | undefined {
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) return undefined
    const failed = require[error.details['index'] as number]
    if (failed === undefined || !this.#given.has(failed)) return undefined
    if (Object.values(this.#life.conditions).includes(failed)) this.#lose()
    return refused(error)
  }

  /** Resolves when it is a member: it is not while what it had under way before its expulsion ends. */
  async ready(): Promise<void> {
    await this.#rejoining
  }

  /** Waited for when it was expelled, before it joins anew. Gives what takes that back. */
  onExpelled(hook: () => Promise<unknown>): () => void {
    this.#expelledHooks.add(hook)
    return () => void this.#expelledHooks.delete(hook)
  }

  /**
   * Called with one who can write nothing any more, to delete what he left; by several processes at once, and again
   * where it failed.
   */
  onGone(clean: (id: string) => Promise<unknown>): () => void {
    this.#cleaners.add(clean)
    return () => void this.#cleaners.delete(clean)
  }

  /** Called with all who are there, this one too, at each look. It may not throw. */
  onLook(looker: (members: readonly SeenMember[]) => void): () => void {
    this.#lookers.add(looker)
    return () => void this.#lookers.delete(looker)
  }

  /**
   * Resolves when nothing that requires this member can be written any more; what he left is cleaned up after that.
   * Idempotent; several may do it at once.
   * @throws LorekeepError `LK_STORAGE_*`
   */
  async expel(id: string): Promise<void> {
    await this.#expelOnce(id, undefined)
  }

  /** Others need not wait for the end of a lease. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelBeat?.()
    this.#endWait?.()
    await this.#beating
    await this.#rejoining
    const { id } = this.#life
    try {
      await this.#expelOnce(id, undefined)
    } catch (error) {
      // Others do, when its beats have stopped.
      this.#options.onError(error)
    }
    await Promise.all(this.#cleaning.values())
  }

  // Joining

  /**
   * The beat first, and the record beside it last, on condition of the beat: whoever was expelled while he joined
   * finds that out there, and whoever ended has left what others see to be unchanged.
   */
  async #join(): Promise<void> {
    const { cores, objects, flows } = this.#options.partitions
    for (;;) {
      const id = this.#options.createId?.() ?? randomBytes(12).toString('hex')
      const [key, value] = [memberKey(id), here]
      const put: Operation = { type: 'put', key, value }
      const beat = { key: beatKey(id), value: encodeRecord({ count: 0 } satisfies BeatRecord) }
      const isNew: Precondition = { type: 'absent', key: beat.key }
      await cores.write([{ type: 'put', ...beat }], { durable, require: [isNew] })
      await Promise.all([objects, flows].map((storage) => storage.write([put], { durable })))
      const unchanged: Precondition = { type: 'equals', ...beat }
      if (await isWritten(cores, [put], [unchanged])) {
        const condition = (): Precondition => {
          const given: Precondition = { type: 'equals', key, value }
          this.#given.add(given)
          return given
        }
        const conditions = { cores: condition(), objects: condition(), flows: condition() }
        this.#life = { id, conditions, count: 0 }
        return
      }
      await this.#deleteMember(id)
    }
  }

  #lose(): void {
    if (this.#rejoining !== undefined || this.#isClosed) return
    this.#options.onError(refused())
    this.#rejoining = this.#rejoin().finally(() => (this.#rejoining = undefined))
  }

  async #rejoin(): Promise<void> {
    const { onError } = this.#options
    const { id } = this.#life
    const ends = [...this.#expelledHooks].map(async (hook) => hook())
    await Promise.all(ends.map((end) => end.catch(onError)))
    while (!this.#isClosed) {
      try {
        // Whoever began it may have ended since.
        await this.#expelOnce(id, undefined)
        await this.#join()
        return
      } catch (error) {
        onError(error)
        await this.#wait()
      }
    }
  }

  async #wait(): Promise<void> {
    if (this.#isClosed) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(this.#beatMs, resolve, false)
      this.#endWait = () => {
        cancel()
        resolve()
      }
    })
  }

  // Beats

  #schedule(): void {
    if (this.#isClosed) return
    const beat = () => {
      this.#beating = this.#beat().finally(() => this.#schedule())
    }
    this.#cancelBeat = this.#options.clock.after(this.#beatMs, beat, false)
  }

  async #beat(): Promise<void> {
    const { partitions, onError } = this.#options
    try {
      if (this.#rejoining === undefined) {
        const life = this.#life
        // Whoever does not know what he reads is there all the same.
        const reads = await this.reads().catch(tell(onError))
        const record: BeatRecord = { count: ++life.count, reads }
        const put: Operation = { type: 'put', key: beatKey(life.id), value: encodeRecord(record) }
        const require = [life.conditions.cores]
        await partitions.cores.write([put], { require }).catch((error: unknown) => {
          if (this.refusal(error, require) === undefined) throw error
        })
      }
      await this.#look()
    } catch (error) {
      onError(error)
    }
  }

  // Others

  async #look(): Promise<void> {
    const { clock, partitions } = this.#options
    const start = clock.elapsed()
    // What happened while nobody looked is not known: a beat may have been late for the same reason as this look.
    const hasLookedAway = start - this.#lookedAt > this.#leaseMs / 2
    const members: SeenMember[] = []
    const silent: { readonly id: string; readonly beat: Uint8Array }[] = []
    const found = new Map<string, Uint8Array>()
    for await (const page of partitions.cores.scan(keyPrefix('beat'))) {
      for (const { key, value } of page) found.set(decodeKey(key)[1] as string, value)
    }
    const end = clock.elapsed()
    this.#lookedAt = end
    for (const [id, beat] of found) {
      const known = this.#watched.get(id)
      const isSame = known !== undefined && !hasLookedAway && isEqual(known.beat, beat)
      if (!isSame) this.#watched.set(id, { beat, since: end })
      else if (start - known.since >= this.#leaseMs && id !== this.id) silent.push({ id, beat })
      const { count = 0, reads, isExpelled } = decodeRecord<BeatRecord>(beat)
      if (isExpelled !== true) members.push({ id, count, reads: reads && new Set(reads) })
    }
    for (const id of this.#watched.keys()) if (!found.has(id)) this.#watched.delete(id)
    for (const look of this.#lookers) look(members)
    for (const { id, beat } of silent) await this.#expelOnce(id, beat)
  }

  /** False where he turns out to be there. */
  #expelOnce(id: string, seen: Uint8Array | undefined): Promise<boolean> {
    const expelling =
      this.#expelling.get(id) ?? this.#expel(id, seen).finally(() => this.#expelling.delete(id))
    this.#expelling.set(id, expelling)
    // Whoever asks for more than to look again gets it.
    return seen === undefined ? expelling.then((is) => is || this.#expel(id, seen)) : expelling
  }

  /**
   * The beat says first that he is expelled, in one step with the loss of the record beside it, and goes last: where
   * this one ends in between, others see it unchanged.
   */
  async #expel(id: string, seen: Uint8Array | undefined): Promise<boolean> {
    const { cores } = this.#options.partitions
    const key = beatKey(id)
    for (;;) {
      const beat = await cores.get(key)
      if (beat === undefined) return true
      if (isEqual(beat, expelled)) break
      if (seen !== undefined && !isEqual(beat, seen)) return false
      const operations: Operation[] = [
        { type: 'del', key: memberKey(id) },
        { type: 'put', key, value: expelled },
      ]
      if (await isWritten(cores, operations, [{ type: 'equals', key, value: beat }])) break
    }
    await this.#deleteMember(id)
    if (!this.#cleaning.has(id)) {
      const { onError } = this.#options
      const cleaning = this.#clean(id)
        .catch(onError)
        .finally(() => this.#cleaning.delete(id))
      this.#cleaning.set(id, cleaning)
    }
    return true
  }

  async #deleteMember(id: string): Promise<void> {
    const { objects, flows } = this.#options.partitions
    const del: Operation = { type: 'del', key: memberKey(id) }
    await Promise.all([objects, flows].map((storage) => storage.write([del], { durable })))
  }

  async #clean(id: string): Promise<void> {
    await Promise.all([...this.#cleaners].map(async (clean) => clean(id)))
    const key = beatKey(id)
    const marked: Precondition = { type: 'equals', key, value: expelled }
    await isWritten(this.#options.partitions.cores, [{ type: 'del', key }], [marked])
  }

  /** What those left in other partitions who were expelled while they joined, and ended before they knew. */
  async #deleteStrays(): Promise<void> {
    const { cores, objects, flows } = this.#options.partitions
    const ids = new Set<string>()
    for (const storage of [objects, flows]) {
      for await (const page of storage.scan({ ...keyPrefix('member'), keysOnly: true })) {
        for (const { key } of page) ids.add(decodeKey(key)[1] as string)
      }
    }
    // Read after them: a beat is there before the records are, and never again.
    for (const id of ids)
      if ((await cores.get(beatKey(id))) === undefined) await this.#deleteMember(id)
  }
}

/** Of a store that nobody shares any more, or that was restored. */
export async function deleteMembers(
  partitions: Readonly<Record<MemberPlace, Storage>>,
): Promise<void> {
  const { cores, objects, flows } = partitions
  const places = [
    [objects, 'member'],
    [flows, 'member'],
    [cores, 'member'],
    [cores, 'beat'],
  ] as const
  const deletions = places.map(async ([storage, kind]) => {
    for await (const page of storage.scan({ ...keyPrefix(kind), keysOnly: true })) {
      await storage.write(page.map(({ key }) => ({ type: 'del', key })))
    }
  })
  await Promise.all(deletions)
}

/** Nothing was written. */
export function refused(cause?: unknown): LorekeepError {
  return wasDead('nothing was written, and it can be tried again', cause)
}

/** What was read is gone: it may be damage, or this. */
export function deletedMeanwhile(cause?: unknown): LorekeepError {
  return wasDead('what it read was replaced, and deleted: it can be read anew', cause)
}

function wasDead(what: string, cause: unknown): LorekeepError {
  const detail = `others took this process for dead while it stood still; ${what}`
  return new LorekeepError('LK_STORAGE_UNAVAILABLE', detail, cause === undefined ? {} : { cause })
}

/** False where a condition does not hold. */
async function isWritten(
  storage: Storage,
  operations: readonly Operation[],
  require: readonly Precondition[],
): Promise<boolean> {
  try {
    await storage.write(operations, { durable, require })
    return true
  } catch (error) {
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
    return false
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function tell(onError: (error: unknown) => void) {
  return (error: unknown): undefined => onError(error) as undefined
}
