// Snapshots over any engine, taken above it: a layer around a backend that passes everything on,
// counts the writes under way, and, while there is a snapshot, lets each write save first what it
// changes. docs/decisions.md says why what it sees is consistent.

import { hasCode, LorekeepError } from '../errors.js'
import type { Backend, Entry, Operation, PartitionName, Range } from '../storage.js'
import type { Sharing, Storage, WriteOptions } from '../storage.js'
import { PartitionSnapshot } from './partition-snapshot.js'
import type { PartitionSnapshotParts } from './partition-snapshot.js'
import { SavedValues } from './saved-values.js'
import type { Snapshot } from './types.js'
import { writes } from '../tracing.js'

/** In memory; what is more lies in a temporary file. */
const maxSavedBytes = 16 * 1024 ** 2

/** Some 150 bytes each. A snapshot that is read so slowly that more change is given up. */
const defaultMaxSavedKeys = 2_000_000

/** Past these whoever reads it should not wait. */
const mostWhileWaiting = 100_000

export interface LayeredSnapshot extends Snapshot {
  /** How many keys have changed since, and are not passed. */
  readonly changed: number
}

export class SnapshotLayer {
  readonly #backend: Pick<Backend, 'open'>
  readonly #maxSavedKeys: number
  readonly #partitions = new Map<PartitionName, WatchedStorage>()

  constructor(backend: Pick<Backend, 'open'>, maxSavedKeys = defaultMaxSavedKeys) {
    this.#backend = backend
    this.#maxSavedKeys = maxSavedKeys
  }

  /** Opens a partition; its writes are to go through what this gives. */
  async open(partition: PartitionName): Promise<Storage> {
    const storage = await this.#backend.open(partition)
    const open = this.#partitions.get(partition)
    // One door to each storage: a write beside it would not be seen.
    if (open?.surrounds(storage)) return open
    const watched = new WatchedStorage(storage, partition)
    this.#partitions.set(partition, watched)
    return watched
  }

  /** What the last write of a partition was refused with, where none has been taken since. */
  get refusals(): ReadonlyMap<PartitionName, unknown> {
    const refusals = new Map<PartitionName, unknown>()
    for (const [partition, { refusal }] of this.#partitions) {
      if (refusal !== undefined) refusals.set(partition, refusal)
    }
    return refusals
  }

  /**
   * All open partitions as of this call: with every write that was made before it, and none that is
   * made after it. `onEnd` is called once, when it is closed or has failed.
   */
  take(onEnd: () => void = () => {}): LayeredSnapshot {
    const values = new SavedValues(maxSavedBytes)
    const views = new Map<PartitionName, PartitionSnapshot>()
    let closing: Promise<void> | undefined
    let changed = 0
    const end = (error: unknown) => {
      closing ??= (async () => {
        for (const [partition, view] of views) {
          this.#partitions.get(partition)?.unwatch(view)
          view.end(error)
        }
        onEnd()
        await values.close()
      })()
      return closing
    }
    const onChange = (keys: number) => {
      changed += keys
      if (changed <= this.#maxSavedKeys) return
      const detail = `${changed} keys have changed since the snapshot was taken, and it was not read on`
      throw new LorekeepError('LK_STORAGE_UNAVAILABLE', detail)
    }
    const onFailure = (error: unknown) => void end(error).catch(() => {})
    // One turn: no write comes between two partitions.
    for (const [partition, storage] of this.#partitions) {
      views.set(partition, storage.watch({ values, onChange, onFailure }))
    }
    return {
      partitions: Object.fromEntries(views) as unknown as Snapshot['partitions'],
      pass: (partition, key) => views.get(partition)?.pass(key),
      get changed() {
        return changed
      },
      get mayWait() {
        return changed < mostWhileWaiting
      },
      close: () => end(new LorekeepError('LK_CLOSED', 'the snapshot is closed')),
    }
  }
}

class WatchedStorage implements Storage {
  readonly #storage: Storage
  readonly #partition: PartitionName
  #watchers: readonly PartitionSnapshot[] = []
  /** What the last write was refused with: the storage failed it, and not its own conditions. */
  refusal: unknown
  #era = new Era(this)
  /** All writes of former eras have settled. */
  #settled: Promise<unknown> = Promise.resolve()
  /** Writes that wait for what they change to be saved. */
  #held = 0
  #turn: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(storage: Storage, partition: PartitionName) {
    this.#storage = storage
    this.#partition = partition
  }

  get sharing(): Sharing | undefined {
    return this.#storage.sharing
  }

  surrounds(storage: Storage): boolean {
    return this.#storage === storage
  }

  watch(parts: Omit<PartitionSnapshotParts, 'storage' | 'settled'>): PartitionSnapshot {
    const before = this.#settled
    const ended = this.#era.ended()
    // Not Promise.all(): its results would hold those of all that came before.
    this.#settled = ended.then(() => before).then(() => {})
    this.#era = new Era(this)
    const [storage, settled] = [this.#storage, this.#settled]
    const watcher = new PartitionSnapshot({ storage, settled, ...parts })
    this.#watchers = [...this.#watchers, watcher]
    return watcher
  }

  unwatch(watcher: PartitionSnapshot): void {
    this.#watchers = this.#watchers.filter((other) => other !== watcher)
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#closing ? closed() : this.#storage.get(key)
  }

  getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    return this.#closing ? closed() : this.#storage.getBytes(key, from, to)
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#closing ? closed() : this.#storage.getMany(keys)
  }

  scan(range: Range): AsyncIterable<readonly Entry[]> {
    return this.#storage.scan(range)
  }

  write(operations: readonly Operation[], options?: WriteOptions): Promise<void> {
    if (this.#closing) return closed()
    if (!writes.isHeard) return this.#write(operations, options)
    const operation = writes.operation({
      partition: this.#partition,
      operations: operations.length,
      bytes: bytesOf(operations),
      durable: options?.durable === true,
    })
    return writes.run(operation, () => this.#write(operations, options))
  }

  #write(operations: readonly Operation[], options?: WriteOptions): Promise<void> {
    const { end, fail } = this.#era.begin()
    const writing =
      this.#watchers.length === 0 && this.#held === 0
        ? this.#storage.write(operations, options)
        : this.#writeInTurn(operations, options)
    writing.then(end, fail)
    return writing
  }

  close(): Promise<void> {
    // Those that are held were accepted.
    this.#closing ??=
      this.#held === 0 ? this.#storage.close() : this.#turn.then(() => this.#storage.close())
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Goes to the storage after those before it, and when what it changes is saved. */
  async #writeInTurn(operations: readonly Operation[], options?: WriteOptions): Promise<void> {
    this.#held++
    const before = this.#turn
    const saving = this.#watchers.map((watcher) => watcher.save(operations))
    const going = Promise.all([before, ...saving]).then(() => {
      this.#held--
      // Not the promise itself, which would be waited for: the next may go when this one has gone.
      return { writing: this.#storage.write(operations, options) }
    })
    this.#turn = going.catch(() => {})
    await (
      await going
    ).writing
  }
}

function bytesOf(operations: readonly Operation[]): number {
  let bytes = 0
  for (const operation of operations) {
    bytes += operation.key.length + (operation.type === 'put' ? operation.value.length : 0)
  }
  return bytes
}

function closed(): Promise<never> {
  return Promise.reject(new LorekeepError('LK_CLOSED'))
}

const refusals = ['LK_STORAGE_FAILED', 'LK_STORAGE_UNAVAILABLE'] as const

/** The writes between two snapshots. */
class Era {
  #underWay = 0
  #onEnd: (() => void) | undefined
  readonly #storage: { refusal: unknown }

  constructor(storage: { refusal: unknown }) {
    this.#storage = storage
  }

  /** One function for all of them, and one for those that fail: a write makes no objects here. */
  readonly end = (): void => {
    this.#storage.refusal = undefined
    this.#ended()
  }

  readonly fail = (error: unknown): void => {
    if (refusals.some((code) => hasCode(error, code))) this.#storage.refusal = error
    this.#ended()
  }

  #ended(): void {
    if (--this.#underWay === 0) this.#onEnd?.()
  }

  begin(): this {
    this.#underWay++
    return this
  }

  /** Resolves when all have settled; none may begin any more. */
  async ended(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve))
  }
}
