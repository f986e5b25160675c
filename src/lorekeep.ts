import type { Backend, Storage } from './storage.js'
import { openKnowledgeStore, type KnowledgeLimits } from './knowledge/store.js'
import type { KnowledgeStore } from './knowledge/types.js'

export interface LorekeepOptions {
  /** Where everything is kept. It is lorekeep's from now on: close() closes it. */
  readonly backend: Backend
  readonly limits?: Partial<KnowledgeLimits>
  /** How long close() waits for work under way before it aborts it. 10,000 by default. */
  readonly closeTimeoutMs?: number
  /**
   * Gets errors of work in the background, such as deleting the slices of a replaced core; the
   * work is tried again. `process.emitWarning` by default.
   */
  readonly onError?: (error: unknown) => void
}

/** The stores of one backend. */
export interface Lorekeep {
  readonly knowledge: KnowledgeStore
  /** Refuses new work, waits for what is under way, closes the backend. Idempotent. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the stores over a backend, and deletes what a crash may have left half done.
 * @throws LorekeepError `LK_STORAGE_*`; the backend is closed then
 */
export async function createLorekeep(options: LorekeepOptions): Promise<Lorekeep> {
  const { backend, limits, closeTimeoutMs = 10_000, onError = warn } = options
  try {
    const cores = await backend.open('cores')
    const slices: Storage = await backend.open('slices')
    const knowledge = await openKnowledgeStore({ cores, slices, limits, onError })
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= knowledge.close(closeTimeoutMs).finally(() => backend.close())
      return closing
    }
    return { knowledge, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await backend.close()
    throw error
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
