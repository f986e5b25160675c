// How each partition is tuned. Sizes are in bytes. Change with numbers.

import { aCount, aFlag, aRule, neverUndefined } from '../../src/door/rules.js'
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
   * Values of at least this length lie in files of their own and LevelDB holds pointers.
   * Undefined: none. To be chosen before the first write: data written with it cannot be read
   * without it, nor the other way round; another number is fine.
   */
  readonly separateBytes: number | undefined
  /** Space is given back where at least so much was written since it last was. */
  readonly reclaimBytes: number
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
  separateBytes: undefined,
  reclaimBytes: MiB / 4,
}

/**
 * Values up to 1 MiB, written once and read in order: pointers, and values too short for a file.
 * Those can be many, so the tables stay small and few of them mapped (64 MiB at most).
 */
const slices: Profile = {
  compression: false,
  writeBufferBytes: 4 * MiB,
  maxFileBytes: 1 * MiB,
  maxOpenFiles: 74,
  cacheBytes: 4 * MiB,
  maxGroupBytes: 1 * MiB,
  pageEntries: 1000,
  pageBytes: 1 * MiB,
  readInPlace: true,
  separateBytes: 64 * 1024,
  reclaimBytes: MiB / 4,
}

export const profiles: Readonly<Record<PartitionName, Profile>> = {
  cores: records,
  slices,
  objects: records,
  flows: { ...records, separateBytes: 64 * 1024 },
}

/** LevelDB's binding takes numbers of 32 bits, and of larger ones what is left of them. */
const most = 2 ** 32 - 1

/** Where the value of an option says that there is none. */
const aSeparation = neverUndefined(
  aRule<number>(
    `${aCount(1).expected}, or undefined`,
    (value) => value === undefined || aCount(1).holds(value),
  ),
)

export const profileRules = {
  compression: aFlag,
  writeBufferBytes: aCount(1, most),
  maxFileBytes: aCount(1, most),
  maxOpenFiles: aCount(74, 2 ** 31 - 1),
  cacheBytes: aCount(0, most),
  maxGroupBytes: aCount(1),
  // It makes room for so many before it reads any.
  pageEntries: aCount(1, 1_000_000),
  pageBytes: aCount(1, most),
  readInPlace: aFlag,
  separateBytes: aSeparation,
  reclaimBytes: aCount(1),
}
