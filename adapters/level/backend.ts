import { statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'
import { OpenPartitions } from '../open-partitions.js'
import { claimDirectory } from './open-directories.js'
import type { Claim } from './open-directories.js'
import { LevelPartition } from './partition.js'
import { profileRules, profiles } from './profiles.js'
import { checkArgument, checkOptions } from '../../src/door/options.js'
import { aText, optionsOf } from '../../src/door/rules.js'
import type { Profile } from './profiles.js'

export interface LevelOptions {
  /** Overrides of the tuning, by partition: `{ slices: { separateBytes: 262144 } }`. */
  readonly profiles?: Partial<Readonly<Record<PartitionName, Partial<Profile>>>>
}

const aProfile = optionsOf<Partial<Profile>>(profileRules)
const levelOptions = {
  profiles: optionsOf<NonNullable<LevelOptions['profiles']>>({
    cores: aProfile,
    slices: aProfile,
    objects: aProfile,
    flows: aProfile,
  }),
}

/**
 * Stores on the local disk with LevelDB: each partition is a directory under `location`, created
 * when it is first opened. One process at a time.
 */
export class LevelBackend implements Backend {
  readonly shared = false
  readonly opensAsOne = true
  readonly location: string
  readonly #partitions: OpenPartitions<LevelPartition>
  /** The claim of `cores`, while it is being made. */
  #first: Promise<Claim> | undefined

  constructor(location: string, options: LevelOptions = {}) {
    checkArgument('location', location, aText)
    const { profiles: given } = checkOptions('LevelBackend()', options, levelOptions)
    // Now, not at the first open: the working directory may change until then.
    this.location = resolve(location)
    this.#partitions = new OpenPartitions(async (partition) => {
      const profile = { ...profiles[partition], ...given?.[partition] }
      return LevelPartition.open(partition, await this.#claim(partition), profile)
    })
  }

  /**
   * Of two who open a store at once one has all of it, and the other has nothing: `cores` is taken before
   * anything else that is opened with it.
   */
  #claim(partition: PartitionName): Promise<Claim> {
    const claim = claimDirectory(join(this.location, partition), this.#first)
    if (partition !== 'cores') return claim
    this.#first = claim
    const taken = () => (this.#first = undefined)
    claim.then(taken, taken)
    return claim
  }

  async open(partition: PartitionName): Promise<Storage> {
    if (!Object.hasOwn(profiles, partition)) {
      throw new TypeError(`there is no partition '${partition}'`)
    }
    return this.#partitions.open(partition)
  }

  /** Those that a process without privileges may write. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.location)
    return bavail * bsize
  }

  close(): Promise<void> {
    return this.#partitions.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
