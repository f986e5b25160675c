import { SnapshotLayer } from '../../src/snapshot/snapshot-layer.js'
import type { Snapshot } from '../../src/snapshot/types.js'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'

/** A backend behind the layer. A snapshot is taken at every open, and held. */
export class LayeredBackend implements Backend {
  readonly shared = false
  readonly layer: SnapshotLayer
  readonly #backend: Backend
  readonly #snapshots: Snapshot[] = []
  readonly #storages = new Set<Storage>()

  constructor(backend: Backend) {
    this.layer = new SnapshotLayer(backend)
    this.#backend = backend
  }

  async open(partition: PartitionName): Promise<Storage> {
    const storage = await this.layer.open(partition)
    this.#storages.add(storage)
    this.#snapshots.push(this.layer.take())
    return storage
  }

  async close(): Promise<void> {
    // Writes that a snapshot holds up were accepted.
    await Promise.all([...this.#storages].map((storage) => storage.close()))
    await this.#backend.close()
    for (const snapshot of this.#snapshots.splice(0)) await snapshot.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
