import { join, resolve } from 'node:path'
import { LorekeepError } from '../../src/errors.js'
import type { Backend, PartitionName } from '../../src/storage.js'
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
  readonly location: string
  readonly #options: LevelOptions
  readonly #partitions = new Map<PartitionName, Promise<LevelPartition>>()
  #closing: Promise<void> | undefined

  constructor(location: string, options: LevelOptions = {}) {
    checkArgument('location', location, aText)
    checkOptions('LevelBackend()', options, levelOptions)
    // Now, not at the first open: the working directory may change until then.
    this.location = resolve(location)
    this.#options = options
  }

  async open(partition: PartitionName): Promise<LevelPartition> {
    if (!Object.hasOwn(profiles, partition)) {
      throw new TypeError(`there is no partition '${partition}'`)
    }
    for (;;) {
      if (this.#closing !== undefined) throw new LorekeepError('LK_CLOSED')
      const opening = this.#partitions.get(partition) ?? this.#start(partition)
      const storage = await opening
      if (!storage.closed) return storage
      // The caller's own close() lets go of the directory first.
      await storage.close()
      this.#forget(partition, opening)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #start(partition: PartitionName): Promise<LevelPartition> {
    const profile = { ...profiles[partition], ...this.#options.profiles?.[partition] }
    const opening = LevelPartition.open(partition, join(this.location, partition), profile)
    this.#partitions.set(partition, opening)
    opening.catch(() => this.#forget(partition, opening))
    return opening
  }

  #forget(partition: PartitionName, opening: Promise<LevelPartition>): void {
    if (this.#partitions.get(partition) === opening) this.#partitions.delete(partition)
  }

  async #close(): Promise<void> {
    const closings = [...this.#partitions.values()].map(async (opening) => {
      // An open that fails rejected its own caller.
      const storage = await opening.catch(() => undefined)
      await storage?.close()
    })
    await Promise.all(closings)
  }
}
