/** Bytes of segments that are held while they wait, of all libraries of a store. Tests make it small. */
export const mostContent = { bytes: 64 * 1024 * 1024 }

/** A segment that waits, as far as it matters here. */
interface Segment {
  content?: Uint8Array | undefined
}

/**
 * Segments that came a moment ago, with their bytes. What is too much goes from the segments of the
 * longest unused library, of its oldest first: whoever wants these bytes reads them from the storage.
 */
export class HeldContent {
  /** Those that have bytes. The longest unused library is first, and its oldest segment. */
  readonly #segments = new Map<object, Set<Segment>>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** The library is the last that was used. */
  use(library: object): void {
    const segments = this.#segments.get(library)
    if (segments === undefined) return
    this.#segments.delete(library)
    this.#segments.set(library, segments)
  }

  /** Holds the bytes of a segment, if it has them here, until they are too much or let go of. */
  add(library: object, waiting: Segment): void {
    if (waiting.content === undefined) return
    const segments = this.#segments.get(library) ?? new Set()
    this.#segments.set(library, segments.add(waiting))
    this.#bytes += waiting.content.length
    this.use(library)
    for (const [owner, those] of this.#segments) {
      for (const oldest of those) {
        if (this.#bytes <= mostContent.bytes) return
        this.letGo(owner, oldest)
      }
    }
  }

  letGo(library: object, waiting: Segment): void {
    const segments = this.#segments.get(library)
    if (segments?.delete(waiting) !== true) return
    this.#bytes -= waiting.content?.length ?? 0
    waiting.content = undefined
    if (segments.size === 0) this.#segments.delete(library)
  }

  letGoOfAll(library: object): void {
    for (const waiting of this.#segments.get(library) ?? []) this.letGo(library, waiting)
  }
}
