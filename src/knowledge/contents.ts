// Where a content lies among the segments of its core, and how often. Segments are only ever added to a generation, so
// what was read is read on from there: whoever sends a long file again, message by message, asks for each of them, and
// 1,500 segments that were read from the first one for each took 11 s of the processor.

import { decodeRecord } from '../record.js'
import type { Storage } from '../storage.js'
import { segmentAt, segmentKey, type CoreRecord, type SegmentRecord } from './records.js'

interface Place {
  /** The first segment that has it. */
  readonly segment: number
  copies: number
}

interface Known {
  /** All segments before this one were read. */
  upTo: number
  /** By digest. */
  readonly places: Map<string, Place>
}

/** Of all cores together, some 200 bytes each: cores that were not asked about for the longest are forgotten. */
const maxPlaces = 100_000

type Segments = Pick<CoreRecord, 'generation' | 'segments'>

export class Contents {
  readonly #cores: Storage
  /** By generation; who was not asked about for the longest is the first. */
  readonly #known = new Map<string, Known>()
  #places = 0

  constructor(cores: Storage) {
    this.#cores = cores
  }

  /** The first segment with this content. @throws LorekeepError `LK_STORAGE_*` */
  async segment(core: Segments, digest: string): Promise<number | undefined> {
    const known = this.#of(core)
    await this.#readOn(known, core, ({ places }) => places.has(digest))
    return known.places.get(digest)?.segment
  }

  /** How many segments have this content. @throws LorekeepError `LK_STORAGE_*` */
  async copies(core: Segments, digest: string): Promise<number> {
    const known = this.#of(core)
    await this.#readOn(known, core, () => false)
    return known.places.get(digest)?.copies ?? 0
  }

  #of({ generation }: Segments): Known {
    const known = this.#known.get(generation) ?? { upTo: 0, places: new Map<string, Place>() }
    this.#known.delete(generation)
    this.#known.set(generation, known)
    return known
  }

  async #readOn(
    known: Known,
    { generation, segments }: Segments,
    isEnough: (known: Known) => boolean,
  ): Promise<void> {
    if (known.upTo >= segments || isEnough(known)) return
    const range = {
      gte: segmentKey(generation, known.upTo),
      lt: segmentKey(generation, segments),
    }
    for await (const page of this.#cores.scan(range)) {
      for (const { key, value } of page) {
        const segment = segmentAt(key)
        // Another one who read on meanwhile has it already.
        if (segment < known.upTo) continue
        const { digest } = decodeRecord<SegmentRecord>(value)
        const place = known.places.get(digest)
        if (place !== undefined) place.copies++
        else {
          known.places.set(digest, { segment, copies: 1 })
          if (this.#known.get(generation) === known) this.#places++
        }
        known.upTo = segment + 1
      }
      if (isEnough(known)) break
    }
    this.#forget()
  }

  #forget(): void {
    for (const [generation, { places }] of this.#known) {
      if (this.#places <= maxPlaces) return
      this.#known.delete(generation)
      this.#places -= places.size
    }
  }
}
