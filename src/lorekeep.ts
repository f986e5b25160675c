import type { Backend } from './storage.js'
import { openKnowledgeStore, type KnowledgeLimits } from './knowledge/store.js'
import type { KnowledgeStore } from './knowledge/types.js'

export interface LorekeepOptions {
  /** Where everything is kept. It is lorekeep's from now on: close() closes it. */
  readonly backend: Backend
  readonly limits?: Partial<KnowledgeLimits>
  /**
   * How long close() waits for imports, deletes and exports under way before it aborts them, in
   * milliseconds. 10,000 by default; Infinity waits for as long as they take.
   */
  readonly closeTimeoutMs?: number
  /**
   * Gets errors of work in the background, such as deleting the slices of a replaced core; the
   * work is tried again. `process.emitWarning` by default, which also gets what this throws.
   */
  readonly onError?: (error: unknown) => unknown
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
 * @throws TypeError for options that cannot be
 */
export async function createLorekeep(options: LorekeepOptions): Promise<Lorekeep> {
  const { backend, limits, closeTimeoutMs = 10_000, onError = warn, ...unknown } = options
  for (const name of Object.keys(unknown)) throw new TypeError(`there is no option '${name}'`)
  if (typeof backend?.open !== 'function') throw new TypeError('createLorekeep needs a backend')
  if (!(closeTimeoutMs >= 0 && (closeTimeoutMs < 2 ** 31 || closeTimeoutMs === Infinity))) {
    throw new TypeError(`closeTimeoutMs is 0 to 2^31 - 1, or Infinity, not ${closeTimeoutMs}`)
  }
  try {
    const cores = await backend.open('cores')
    const slices = await backend.open('slices')
    const knowledge = await openKnowledgeStore({ cores, slices, limits, onError: guarded(onError) })
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= knowledge.close(closeTimeoutMs).finally(() => backend.close())
      return closing
    }
    return { knowledge, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    // What stopped the opening is what has to be known, whatever closing says.
    await backend.close().catch(guarded(onError))
    throw error
  }
}

/** A host's handler that throws must not stop the background it is told about. */
function guarded(onError: (error: unknown) => unknown) {
  return (error: unknown): void => {
    void (async () => onError(error))().catch(warn)
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
