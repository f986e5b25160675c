import { hasCode, LorekeepError } from '../errors.js'
import { refused, type Presence } from '../presence.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import type { Collector } from './collector.js'
import { coreKey, garbageKey, stagedKey, type CoreRecord, type StagedRecord } from './records.js'
import type { CoreRef } from './types.js'

/** A core as it is stored. */
export interface StoredCore {
  readonly core: CoreRecord
  /** The bytes of its record, which a change of the core requires. */
  readonly stored: Uint8Array
}

/** The same, held. */
export interface PinnedCore extends StoredCore {
  readonly release: () => void
}

/** The records of cores: how they are read, held and changed. */
export class CoreTable {
  readonly cores: Storage
  readonly collector: Collector
  readonly #presence: Presence | undefined

  /** `presence` where others have the storage open, too. */
  constructor(cores: Storage, collector: Collector, presence?: Presence) {
    this.cores = cores
    this.collector = collector
    this.#presence = presence
  }

  get isShared(): boolean {
    return this.#presence !== undefined
  }

  /**
   * Who this process is now. Each change is handed who it was when it was asked for, which is taken once, in the public
   * call: it is refused when it is another one, as whoever takes that one for dead may have asked others since.
   */
  get member(): string | undefined {
    return this.#presence?.id
  }

  /** What a record of something to be deleted says: whose affair that is. */
  get whose(): Uint8Array {
    return encoder.encode(this.#presence?.id ?? '')
  }

  markGarbage(generation: string): Operation {
    return { type: 'put', key: garbageKey(generation), value: this.whose }
  }

  /**
   * A durable write, of nobody who was taken for dead since it was `member`: what was begun before that may have been
   * done, or swept, by others.
   * @throws LorekeepError `LK_STORAGE_*`, of `LK_STORAGE_CONFLICT` with the index in `require`
   */
  async write(
    operations: readonly Operation[],
    require: readonly Precondition[],
    member: string | undefined,
  ): Promise<void> {
    const presence = this.#presence
    if (presence === undefined) return this.cores.write(operations, { durable: true, require })
    if (member !== presence.id) throw refused()
    // First: what others have swept and replaced meanwhile is no news to whoever they took for dead.
    const all = [presence.condition('cores'), ...require]
    try {
      await this.cores.write(operations, { durable: true, require: all })
    } catch (error) {
      const refusal = presence.refusal(error, all)
      if (refusal !== undefined) throw refusal
      if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
      const index = (error.details['index'] as number) - 1
      const detail = `precondition ${index} does not hold`
      throw new LorekeepError('LK_STORAGE_CONFLICT', detail, { cause: error, details: { index } })
    }
  }

  /** @throws LorekeepError `LK_STORAGE_*`, of which `LK_STORAGE_CORRUPT` names the core */
  async stored(name: CoreRef): Promise<StoredCore | undefined> {
    try {
      const stored = await this.cores.get(coreKey(name))
      return stored && { core: decodeRecord<CoreRecord>(stored), stored }
    } catch (error) {
      throw hasCode(error, 'LK_STORAGE_CORRUPT') ? damagedCore(name, error.message, error) : error
    }
  }

  async read(name: CoreRef): Promise<CoreRecord | undefined> {
    return (await this.stored(name))?.core
  }

  /**
   * The core, its generation pinned. It is read again after the pin: had it been replaced before,
   * its slices might already be on their way out.
   * @throws LorekeepError `LK_CORE_NOT_FOUND`
   */
  async pinned(name: CoreRef): Promise<PinnedCore> {
    for (;;) {
      const found = await this.read(name)
      if (!found) {
        throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${name.user}' has no '${name.id}'`)
      }
      const release = this.collector.pin(found.generation)
      try {
        const now = await this.stored(name)
        if (now?.core.generation === found.generation) return { ...now, release }
      } catch (error) {
        release()
        throw error
      }
      release()
    }
  }

  /**
   * From here on a crash leaves a record of the segment or index, so that its values can be deleted. Gives what that
   * says.
   */
  async stage(member: string | undefined, ...ids: readonly string[]): Promise<Uint8Array> {
    const record: StagedRecord = { state: 'importing', ...(member !== undefined && { member }) }
    const value = encodeRecord(record)
    const keys = ids.map((id) => stagedKey(id))
    await this.write(
      keys.map((key) => ({ type: 'put', key, value })),
      keys.map((key) => ({ type: 'absent', key })),
      member,
    )
    return value
  }

  /** What a commit of something staged takes with it, and requires. */
  unstage(id: string, value: Uint8Array): { operation: Operation; precondition: Precondition } {
    const key = stagedKey(id)
    return {
      operation: { type: 'del', key },
      precondition: { type: 'equals', key, value },
    }
  }

  /**
   * A durable write that turns on its first precondition, a core's record. False where another
   * writer was first, and the step has to be thought over.
   */
  async attempt(
    operations: readonly Operation[],
    require: readonly Precondition[],
    member: string | undefined,
  ): Promise<boolean> {
    try {
      await this.write(operations, require, member)
      this.collector.noticeSuccess()
      return true
    } catch (error) {
      // A conflict says for certain that nothing was written; of anything else there may be garbage.
      if (!hasCode(error, 'LK_STORAGE_CONFLICT')) this.collector.lookForGarbage()
      else if (error.details['index'] === 0) return false
      throw error
    }
  }

  /**
   * Whether a commit that was tried has happened, of something that was not staged: then the record
   * under `place` is of that id. False where the storage cannot tell: then nobody can, and the work's
   * own error is the one to tell.
   */
  async isCommitted(id: string, place: Uint8Array | undefined): Promise<boolean> {
    try {
      return place !== undefined && (await this.collector.names(place, id))
    } catch {
      return false
    }
  }

  /**
   * Takes back what was staged. False where it turns out to have been committed, at `place`: the key
   * under which the last commit that was tried would have named it.
   */
  async discard(id: string, place?: Uint8Array): Promise<boolean> {
    try {
      return await this.collector.discard(id, place)
    } catch {
      // The collector tries again, and reports it then; the work's own error is the one to tell.
      return true
    }
  }
}

/** What cannot be read of a core, or made anew, is its own record. */
export function damagedCore(name: CoreRef, reason: string, cause?: LorekeepError): LorekeepError {
  const { user, id } = name
  const key = Buffer.from(coreKey(name)).toString('hex')
  const detail = `the record of core '${id}' of '${user}': ${reason}`
  const details = { partition: 'cores', key, user, id }
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details })
}

const encoder = new TextEncoder()
