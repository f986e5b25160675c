// What the verifiers of the stores have in common: what they find, and what they read.

import type { PartitionName, Storage } from '../storage.js'

/**
 * `damaged`: bytes that cannot be read, or are not what their kind is. `missing`: something names
 * what is not there. `unreferenced`: nothing names what is there. `different`: two things that have
 * to agree do not. `duplicate`: twice what there may be once. `invalid`: content that breaks the
 * rules it came in by. `unknown`: a key of no kind. `leftover`: what a crash, or work under way, has
 * left, and a sweep will take. `lost`: a salvage has left it behind.
 */
export type FindingCode =
  | 'damaged'
  | 'missing'
  | 'unreferenced'
  | 'different'
  | 'duplicate'
  | 'invalid'
  | 'unknown'
  | 'leftover'
  | 'lost'

export interface Finding {
  /** `info`: nothing is wrong. */
  readonly severity: 'error' | 'info'
  readonly partition: PartitionName
  readonly code: FindingCode
  /** The key, as docs/format.md writes keys, or a file. */
  readonly what: string
  /** What is wrong with it, for people; whose it is, where that is known. */
  readonly message: string
}

/** What is read of a partition: a Storage, or anything that answers as one. */
export type Source = Pick<Storage, 'get' | 'getMany' | 'scan'>

export interface VerifyProgress {
  readonly partition: PartitionName
  /** What was read of all partitions until now; what is read twice counts twice. */
  readonly entries: number
  readonly bytes: number
}

export interface VerifyOptions {
  /** Reads all content, too. False by default: records, references and counts. */
  readonly deep?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called now and then. It may not throw. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}
