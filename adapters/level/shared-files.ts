// How many pointers name each file that has several values: it goes with the last of them. Nothing of it
// is stored, as the pointers themselves say it; they are counted when a partition is opened.

import type { Pointer } from './pointer.js'

export class SharedFiles {
  readonly #pointers = new Map<string, number>()

  /** A pointer that is there, or is about to be. */
  add({ name, values }: Pointer): void {
    if (values > 1) this.#pointers.set(name, (this.#pointers.get(name) ?? 0) + 1)
  }

  /**
   * A pointer is gone. True where none names its file any more; not where it is not known who does,
   * because a pointer could not be read: then the next open decides.
   */
  remove({ name, values }: Pick<Pointer, 'name' | 'values'>): boolean {
    if (values === 1) return true
    const left = this.#pointers.get(name)
    if (left === undefined) return false
    if (left > 1) this.#pointers.set(name, left - 1)
    else this.#pointers.delete(name)
    return left === 1
  }
}
