import type { BackendSnapshot, PartitionName } from '../storage.js'

/** All partitions as of one moment, while writes go on: taken above an engine, or by it. */
export interface Snapshot extends BackendSnapshot {
  /** Nothing up to this key of the partition will be read any more; without a key, nothing at all. */
  pass(partition: PartitionName, key?: Uint8Array): void
  /** False when keeping it costs so much that its reader should not wait for anybody. Once false, it may be true again. */
  readonly mayWait: boolean
  /** Lets go of everything; whatever is read afterwards rejects with `LK_CLOSED`. Idempotent. */
  close(): Promise<void>
}
