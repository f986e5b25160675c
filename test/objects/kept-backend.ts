import type { Backend, PartitionName, Storage } from '../../src/storage.js'

/** Several stores over one backend, at once or one after another: their close() leaves it open. */
export class KeptBackend implements Backend {
  readonly #real: Backend

  constructor(real: Backend) {
    this.#real = real
  }

  open(partition: PartitionName): Promise<Storage> {
    return this.#real.open(partition)
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
