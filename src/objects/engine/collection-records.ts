// Records of collections, each as the lane says in which it lies. One that was deleted and made anew may lie in another
// lane than before, and whoever follows one lane after the other knows of both for a while: what a lane says goes for
// that lane alone.

import type { CollectionRecord } from './records.js'

export interface KnownCollections {
  /** By name: of several lanes what was heard last. */
  readonly collections: ReadonlyMap<string, CollectionRecord>
  /** What other lanes say of them; nothing where all lanes are known as of one moment. */
  readonly elsewhere: ReadonlyMap<string, readonly CollectionRecord[]>
}

const laneOf = ({ lane = 0 }: CollectionRecord): number => lane

export class CollectionRecords implements KnownCollections {
  readonly collections: Map<string, CollectionRecord>
  readonly elsewhere: Map<string, readonly CollectionRecord[]>

  constructor(base?: KnownCollections) {
    this.collections = new Map(base?.collections)
    this.elsewhere = new Map(base?.elsewhere)
  }

  /** What a lane says of a collection: `null` that it is gone from there. */
  set(name: string, lane: number, record: CollectionRecord | null): void {
    const known = this.collections.get(name)
    const others = [known, ...(this.elsewhere.get(name) ?? [])].filter((one) => {
      return one !== undefined && laneOf(one) !== lane
    }) as CollectionRecord[]
    const [first, ...rest] = record === null ? others : [record, ...others]
    if (first === undefined) this.collections.delete(name)
    else this.collections.set(name, first)
    if (rest.length === 0) this.elsewhere.delete(name)
    else this.elsewhere.set(name, rest)
  }
}

/** As a lane says it, and others of what it does not have. A copy. */
export function collectionsFor(
  { collections, elsewhere }: KnownCollections,
  lane: number,
): Map<string, CollectionRecord> {
  const all = new Map(collections)
  for (const [name, records] of elsewhere) {
    const own = records.find((record) => laneOf(record) === lane)
    if (own !== undefined) all.set(name, own)
  }
  return all
}
