// Which value files a batch makes superfluous. Of a value only one key's pointer ever names the file, so
// looking that key up decides whether it still does; a file that several values are in goes with the last.

import type { Level } from './engine.js'
import { decodeTagged } from './pointer.js'
import type { NamingKeys } from './naming-keys.js'
import type { Named } from './orphans.js'
import type { Pointer } from './pointer.js'
import type { SharedFiles } from './shared-files.js'
import type { ValueFiles } from './value-files.js'

/** An operation of a batch: what its key will name, `undefined` where that is no file. */
export interface Change {
  readonly key: Uint8Array
  readonly pointer: Pointer | undefined
}

/** A place in a file, and the one key whose pointer may name it. */
interface NamedValue {
  readonly key: Uint8Array
  readonly pointer: Pointer
}

/** The values in files around a batch. */
export interface Affected {
  /** Named by no pointer once the batch happened. */
  readonly outdated: readonly NamedValue[]
  /** Named by a pointer once it happened, and by none if it did not. */
  readonly current: readonly NamedValue[]
}

export class OutdatedFiles {
  readonly #partition: string
  readonly #files: ValueFiles
  readonly #naming: NamingKeys | undefined
  readonly #shared: SharedFiles
  #doubtful: NamedValue[] = []

  constructor(partition: string, files: ValueFiles, { naming, shared }: Named) {
    this.#partition = partition
    this.#files = files
    this.#naming = naming
    this.#shared = shared
  }

  /** To be called once, before the batch: looks up what each key names now (4 us a key that may). */
  affected(level: Level, changes: Iterable<Change>): Affected {
    const outdated: NamedValue[] = []
    const current = new Map<string, NamedValue | undefined>()
    for (const { key, pointer } of changes) {
      if (pointer !== undefined) {
        this.#naming?.add(key)
        this.#shared.add(pointer)
      } else if (this.#naming?.mayName(key) === false) continue
      const id = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
      const before = current.has(id) ? current.get(id) : this.#named(level, key)
      if (before !== undefined) outdated.push(before)
      current.set(id, pointer && { key, pointer })
    }
    return { outdated, current: [...current.values()].filter((value) => value !== undefined) }
  }

  /** The batch happened. */
  retire({ outdated }: Affected): void {
    this.#retire(outdated)
  }

  /** The batch failed, and may have happened: which of its files to keep shows later. */
  doubt({ outdated, current }: Affected): void {
    for (const { key, pointer } of [...outdated, ...current]) {
      // The caller has its key back by then.
      this.#doubtful.push({ key: new Uint8Array(key), pointer })
    }
  }

  /** With an engine that works again, before anything else is written. */
  settleDoubts(level: Level): void {
    if (this.#doubtful.length === 0) return
    const doubtful = this.#doubtful
    this.#doubtful = []
    const unnamed = doubtful.filter(({ key, pointer }) => {
      const named = this.#named(level, key, pointer)?.pointer
      return named?.name !== pointer.name || named.offset !== pointer.offset
    })
    this.#retire(unnamed)
  }

  /** Each value once: its file goes with the last one. */
  #retire(values: readonly NamedValue[]): void {
    const last = values.filter(({ pointer }) => this.#shared.remove(pointer))
    this.#files.retire(last.map(({ pointer }) => pointer.name))
  }

  /** What a key names; `otherwise` where that cannot be read: the next open decides. */
  #named(level: Level, key: Uint8Array, otherwise?: Pointer): NamedValue | undefined {
    try {
      const stored = level.getSync(key)
      const value = stored && decodeTagged(this.#partition, key, stored)
      if (value === undefined || value instanceof Uint8Array) return undefined
      return { key, pointer: value }
    } catch {
      return otherwise && { key, pointer: otherwise }
    }
  }
}
