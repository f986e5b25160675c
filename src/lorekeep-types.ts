import type { Backup } from './backup/types.js'
import type { Chance, Clock } from './clock.js'
import type { FlowLimits, FlowQueue } from './flow/types.js'
import type { Health } from './health.js'
import type { KnowledgeLimits } from './knowledge/limits.js'
import type { KnowledgeStore } from './knowledge/types.js'
import type { ObjectLimits, ObjectStore } from './objects/types.js'
import type { Reads } from './reads.js'
import type { Backend } from './storage.js'
import type { Embedder } from './types.js'
import type { Finding, VerifyOptions } from './verify/finding.js'

export interface LorekeepOptions {
  /** Where everything is kept. It is lorekeep's from now on: close() closes it. */
  readonly backend: Backend
  readonly limits?: Partial<KnowledgeLimits & ObjectLimits & FlowLimits>
  /**
   * Memory for what is kept of objects and their indexes, in bytes: 64 MiB by default. Less makes
   * queries slower and nothing wrong.
   */
  readonly objectCacheBytes?: number
  /**
   * Memory for what questions read of the indexes of cores, in bytes: 64 MiB by default. Less makes
   * questions slower and nothing wrong.
   */
  readonly graphCacheBytes?: number
  /**
   * Memory for vectors that are searched, in bytes: 256 MiB by default. More vectors than it holds
   * are read from the storage by each search, and an approximate index that does not fit is not used.
   */
  readonly vectorCacheBytes?: number
  /**
   * How many merges of an index may be under way at once in the background, each in a thread of its
   * own: 1 by default. With 0 nothing is done in the background: questions and `knowledge.index()` do
   * what is needed.
   */
  readonly indexThreads?: number
  /** The most bytes of an index that are merged in a second, for each user. No limit by default. */
  readonly indexBytesPerSecond?: number
  /**
   * Makes the vectors of questions in words. It has to be the one that made the vectors of the
   * cores; `hashingEmbedder()` by default, as it is for the step `embed`.
   */
  readonly embedder?: Embedder
  /**
   * How new that has to be which questions see, where others share the backend. `fresh`: all that was
   * acknowledged to anybody before, at the price of a look each time. `recent`: a state at most a second
   * old. `fresh` by default; calls may say otherwise. Where nobody shares it, nothing is looked at.
   */
  readonly reads?: Reads
  /** `declared`: an import into a collection that was not created is refused. `open` by default. */
  readonly collections?: 'open' | 'declared'
  /** Whose a document is that names no user. `trustgraph` by default. */
  readonly defaultUser?: string
  /**
   * What URIs of documents, chunks and entities begin with that flows make, in steps without a `base` of
   * their own. `http://trustgraph.ai/` by default, as the reference system's clients have it. What is
   * stored keeps its URIs.
   */
  readonly base?: string
  /**
   * How long a runner that stands still keeps its documents, in milliseconds: then they are delivered
   * again. 30,000 by default. Those of a process that has ended wait so long on a shared backend alone.
   */
  readonly leaseMs?: number
  /** Time, chance and ids of flows, for tests. */
  readonly clock?: Clock
  readonly chance?: Chance
  readonly createId?: () => string
  /**
   * How long close() waits for what is under way, runners of flows first, before it aborts it, in
   * milliseconds. 10,000 by default; Infinity waits for as long as they take.
   */
  readonly closeTimeoutMs?: number
  /**
   * Gets errors of work in the background, such as deleting the slices of a replaced core; the
   * work is tried again. The first of a kind at once, and then at most one call a second for each
   * kind, with the last error. `process.emitWarning` by default, which also gets what this throws.
   */
  readonly onError?: (error: unknown, told: ToldError) => unknown
}

/** What `onError` is told beside the error. */
export interface ToldError {
  /** How many errors of this kind the call stands for: those since the last call. */
  readonly count: number
  /** Whose work it was. */
  readonly where: 'knowledge' | 'objects' | 'flows' | 'presence' | 'close'
}

/** The stores of one backend. */
export interface Lorekeep {
  readonly knowledge: KnowledgeStore
  readonly objects: ObjectStore
  readonly flows: FlowQueue
  /**
   * Writes everything that was acknowledged when it is called to a target, while all goes on. A file
   * is there under its name when it is whole. Resolves when the target has all of it.
   * @throws LorekeepError `LK_STORAGE_*`, `LK_CLOSED`
   * @throws what the target fails with, or the reason of `signal`
   */
  readonly backup: Backup
  /**
   * Looks for what does not hold in what is stored as of its first step, while writes go on, and
   * gives nothing where all is well. Reads
   * records, references and counts; with `deep` all content, too. Writes nothing.
   * @throws LorekeepError `LK_CLOSED`, `LK_STORAGE_FAILED`, `LK_STORAGE_UNAVAILABLE`; what is damaged
   *   is a finding
   */
  verify(options?: VerifyOptions): AsyncIterable<Finding>
  /**
   * Whether it takes work, and how full its memory, its index and its disk are. Reads from each partition; where
   * the last write of one was refused it tries one that changes nothing. Never rejects but with `LK_CLOSED`.
   */
  health(): Promise<Health>
  /** Refuses new work, waits for what is under way, closes the backend. Idempotent. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
