// Where blocks lie in a kernel's memory: buddies of 4 KiB to 1 MiB, as vectors of a small core would
// waste most of a MiB.

export const arenaBytes = 1024 * 1024
const smallest = 4096
const orders = Math.log2(arenaBytes / smallest) + 1

export class Arenas {
  readonly #from: number
  readonly #most: number
  readonly #grow: (bytes: number) => boolean
  /** By order: the addresses of free pieces of `smallest * 2 ** order` bytes. */
  readonly #free: readonly Set<number>[] = Array.from({ length: orders }, () => new Set())
  #count = 0

  /** At most `most` arenas, from an address on that is a multiple of their size. */
  constructor(from: number, most: number, grow: (bytes: number) => boolean) {
    this.#from = from
    this.#most = most
    this.#grow = grow
  }

  /** The address of so many bytes, at most an arena; undefined where there is no room. */
  allocate(bytes: number): number | undefined {
    const wanted = orderOf(bytes)
    let order = wanted
    while (order < orders && this.#list(order).size === 0) order++
    if (order === orders) {
      const end = this.#from + this.#count * arenaBytes
      if (this.#count === this.#most || !this.#grow(end + arenaBytes)) return undefined
      this.#count++
      this.#list(--order).add(end)
    }
    const [address] = this.#list(order) as unknown as [number]
    this.#list(order).delete(address)
    while (order > wanted) this.#list(--order).add(address + smallest * 2 ** order)
    return address
  }

  free(address: number, bytes: number): void {
    let order = orderOf(bytes)
    let at = address
    for (; order < orders - 1; order++) {
      // Above 2 GiB what comes of ^ is negative.
      const buddy = (at ^ (smallest * 2 ** order)) >>> 0
      if (!this.#list(order).delete(buddy)) break
      at = Math.min(at, buddy)
    }
    this.#list(order).add(at)
  }

  #list(order: number): Set<number> {
    return this.#free[order] as Set<number>
  }
}

function orderOf(bytes: number): number {
  return Math.max(0, Math.ceil(Math.log2(bytes / smallest)))
}
