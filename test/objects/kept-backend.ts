import type { Backend, PartitionName, Storage } from '../../src/storage.js'

/** Several stores over one backend, at once or one after another: their close() leaves it open. */
export class KeptBackend implements Backend {
  readonly shared: boolean
  readonly real: Backend

  constructor(real: Backend, shared = real.shared) {
    this.real = real
    this.shared = shared
  }

  open(partition: PartitionName): Promise<Storage> {
    return this.real.open(partition)
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
