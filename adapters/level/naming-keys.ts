// The keys whose values may be files, by a hash: those that are not in it need not be looked up
// before they are overwritten, which costs 4 us each. A flow writes a hundred records for one block.

import { crc32 } from 'node:zlib'

export class NamingKeys {
  // Never shrinks: a hash may stand for several keys, and 1 TiB of slices is 30 MB of it.
  readonly #hashes = new Set<number>()

  add(key: Uint8Array): void {
    this.#hashes.add(crc32(key))
  }

  /** False: this key names no file. */
  mayName(key: Uint8Array): boolean {
    return this.#hashes.has(crc32(key))
  }
}
