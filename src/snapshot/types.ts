import type { PartitionName, Storage } from '../storage.js'

/** What a partition held at the moment of a snapshot. */
export type SnapshotView = Pick<Storage, 'get' | 'getMany' | 'scan'>

/**
 * All partitions as of one moment, while writes go on. An engine that has snapshots of its own can
 * stand behind this as well.
 */
export interface Snapshot {
  readonly partitions: Readonly<Record<PartitionName, SnapshotView>>
  /** Nothing up to this key of the partition will be read any more; without a key, nothing at all. */
  pass(partition: PartitionName, key?: Uint8Array): void
  /** How many keys have changed since, and are not passed. */
  readonly changed: number
  /** Lets go of everything; whatever is read afterwards rejects with `LK_CLOSED`. Idempotent. */
  close(): Promise<void>
}
