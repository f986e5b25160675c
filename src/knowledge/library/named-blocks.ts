import type { PartName } from '../../graph/index/keys.js'
import { decodeKey } from '../../keys.js'
import { deletedMeanwhile } from '../../presence.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { libraries, type LibraryRecord } from '../records.js'

/**
 * Values of parts, where others may delete them: they wait for whoever reads them, but for those that they take for
 * dead. What no library names is not damaged where it is gone.
 */
export class NamedBlocks implements Pick<Storage, 'get' | 'getBytes'> {
  readonly #cores: Storage
  readonly #slices: Storage

  constructor(cores: Storage, slices: Storage) {
    this.#cores = cores
    this.#slices = slices
  }

  /** @throws LorekeepError `LK_STORAGE_UNAVAILABLE` where the part is none any more */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#there(key, await this.#slices.get(key))
  }

  /** The same of some of its bytes. */
  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    return this.#there(key, await this.#slices.getBytes(key, from, to))
  }

  async #there(key: Uint8Array, value: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    if (value === undefined && !(await this.#isNamed(key))) throw deletedMeanwhile()
    return value
  }

  async #isNamed(key: Uint8Array): Promise<boolean> {
    const [id, number] = decodeKey(key)
    const isIt = (part: PartName) => part.id === id && part.number === number
    for await (const page of this.#cores.scan(libraries())) {
      for (const { value } of page) {
        if (decodeRecord<LibraryRecord>(value).parts.some(isIt)) return true
      }
    }
    return false
  }
}
