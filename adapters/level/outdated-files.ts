// Which value files a batch makes superfluous. Only one key's pointer ever names a file, so looking
// that key up decides.

import type { Level } from './engine.js'
import { decodeTagged } from './pointer.js'
import type { NamingKeys } from './naming-keys.js'
import type { Pointer } from './pointer.js'
import type { NamedFile, ValueFiles } from './value-files.js'

/** An operation of a batch: what its key will name, `undefined` where that is no file. */
export interface Change {
  readonly key: Uint8Array
  readonly pointer: Pointer | undefined
}

/** The files around a batch. */
export interface Affected {
  /** Named by no pointer once the batch happened. */
  readonly outdated: readonly NamedFile[]
  /** Named by a pointer once it happened, and by none if it did not. */
  readonly current: readonly NamedFile[]
}

export class OutdatedFiles {
  readonly #partition: string
  readonly #files: ValueFiles
  readonly #naming: NamingKeys | undefined
  #doubtful: NamedFile[] = []

  /** `naming`: the keys that name files; `undefined` where that is not known. */
  constructor(partition: string, files: ValueFiles, naming: NamingKeys | undefined) {
    this.#partition = partition
    this.#files = files
    this.#naming = naming
  }

  /** To be called before the batch: looks up what each key names now (4 us a key that may). */
  affected(level: Level, changes: Iterable<Change>): Affected {
    const outdated: NamedFile[] = []
    const current = new Map<string, NamedFile | undefined>()
    for (const { key, pointer } of changes) {
      if (pointer !== undefined) this.#naming?.add(key)
      else if (this.#naming?.mayName(key) === false) continue
      const id = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
      const before = current.has(id) ? current.get(id) : this.#named(level, key)
      if (before !== undefined) outdated.push(before)
      current.set(id, pointer && { key, name: pointer.name })
    }
    return { outdated, current: [...current.values()].filter((file) => file !== undefined) }
  }

  /** The batch happened. */
  retire({ outdated }: Affected): void {
    this.#files.retire(outdated.map(({ name }) => name))
  }

  /** The batch failed, and may have happened: which of its files to keep shows later. */
  doubt({ outdated, current }: Affected): void {
    for (const { key, name } of [...outdated, ...current]) {
      // The caller has its key back by then.
      this.#doubtful.push({ key: new Uint8Array(key), name })
    }
  }

  /** With an engine that works again, before anything else is written. */
  settleDoubts(level: Level): void {
    if (this.#doubtful.length === 0) return
    const doubtful = this.#doubtful
    this.#doubtful = []
    const unnamed = doubtful.filter(({ key, name }) => {
      const named = this.#named(level, key, name)
      return named?.name !== name
    })
    this.#files.retire(unnamed.map(({ name }) => name))
  }

  /** The file a key names; `otherwise` where that cannot be read: the next open decides. */
  #named(level: Level, key: Uint8Array, otherwise?: string): NamedFile | undefined {
    try {
      const stored = level.getSync(key)
      const value = stored && decodeTagged(this.#partition, key, stored)
      if (value === undefined || value instanceof Uint8Array) return undefined
      return { key, name: value.name }
    } catch {
      return otherwise === undefined ? undefined : { key, name: otherwise }
    }
  }
}
