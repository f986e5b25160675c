// The partitions of a backend, each opened once however often it is asked for.

import { LorekeepError } from '../src/errors.js'
import type { PartitionName, Storage } from '../src/storage.js'

/** What a partition of a backend says, beside the seam. */
interface Closable extends Storage {
  /** True from the call of close(). */
  readonly closed: boolean
}

export class OpenPartitions<Partition extends Closable> {
  readonly #start: (partition: PartitionName) => Promise<Partition>
  readonly #partitions = new Map<PartitionName, Promise<Partition>>()
  #closing: Promise<void> | undefined

  constructor(start: (partition: PartitionName) => Promise<Partition>) {
    this.#start = start
  }

  async open(partition: PartitionName): Promise<Partition> {
    for (;;) {
      if (this.#closing !== undefined) throw new LorekeepError('LK_CLOSED')
      const opening = this.#partitions.get(partition) ?? this.#begin(partition)
      const storage = await opening
      if (!storage.closed) return storage
      // The caller's own close() lets go of the data first.
      await storage.close()
      this.#forget(partition, opening)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #begin(partition: PartitionName): Promise<Partition> {
    const opening = this.#start(partition)
    this.#partitions.set(partition, opening)
    opening.catch(() => this.#forget(partition, opening))
    return opening
  }

  #forget(partition: PartitionName, opening: Promise<Partition>): void {
    if (this.#partitions.get(partition) === opening) this.#partitions.delete(partition)
  }

  async #close(): Promise<void> {
    const closings = [...this.#partitions.values()].map(async (opening) => {
      // An open that fails rejected its own caller.
      const storage = await opening.catch(() => undefined)
      await storage?.close()
    })
    await Promise.all(closings)
  }
}
