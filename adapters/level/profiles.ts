// How each partition is tuned. Sizes are in bytes. Change with numbers.

import type { PartitionName } from '../../src/storage.js'

export interface Profile {
  /** Snappy. Off where the values are large or do not compress. */
  readonly compression: boolean
  /** The log, and the memory held for it (twice while it is being written out). */
  readonly writeBufferBytes: number
  /** LevelDB maps each table file it reads into memory, and keeps up to 64 or more mapped. */
  readonly maxFileBytes: number
  /** 74 is the least LevelDB takes: 64 tables and 10 of its other files. */
  readonly maxOpenFiles: number
  readonly cacheBytes: number
  /** Waiting writes share one native batch up to this size; a larger write goes alone. */
  readonly maxGroupBytes: number
  /** A scan's page ends at whichever of the two it reaches first. */
  readonly pageEntries: number
  readonly pageBytes: number
  /**
   * Reads single values on the calling thread: 6 times as many per second where values are small
   * and mostly cached; a large value would hold up the event loop.
   */
  readonly readInPlace: boolean
  /**
   * Compacts deleted ranges after this many deletes, or when deletes pause. LevelDB gives space
   * back only when compaction comes by, and may not for as long as nothing is written. 0: never.
   */
  readonly reclaimAfterDeletes: number
}

const MiB = 1024 * 1024

const records: Profile = {
  compression: true,
  writeBufferBytes: 16 * MiB,
  maxFileBytes: 2 * MiB,
  maxOpenFiles: 500,
  cacheBytes: 16 * MiB,
  maxGroupBytes: 1 * MiB,
  pageEntries: 1000,
  pageBytes: 1 * MiB,
  readInPlace: true,
  reclaimAfterDeletes: 0,
}

/**
 * Values up to 1 MiB, written once and read in order. Small files bound the mapped memory: with
 * 64 MiB files an export of 2 GiB raises RSS by 2 GiB, with 1 MiB files by 64 MiB, and writing is
 * 0.7 to 0.85 times as fast (147 to 197 against 205 to 229 MiB/s).
 */
const slices: Profile = {
  compression: false,
  writeBufferBytes: 1 * MiB,
  maxFileBytes: 1 * MiB,
  maxOpenFiles: 74,
  cacheBytes: 1 * MiB,
  maxGroupBytes: 1 * MiB,
  pageEntries: 1000,
  pageBytes: 1 * MiB,
  readInPlace: false,
  reclaimAfterDeletes: 64,
}

export const profiles: Readonly<Record<PartitionName, Profile>> = {
  cores: records,
  slices,
  objects: records,
  flows: records,
}
