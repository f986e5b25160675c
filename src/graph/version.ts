import { withBlocks } from './miss.js'
import { ALL, PartView } from './index/part-view.js'
import { COLLECTION, encodeText } from './index/encoded-term.js'
import { MergedView } from './index/merged-view.js'
import { WideView } from './index/wide-view.js'
import type { IndexParts, Part } from './index/part.js'
import type { VectorSet } from './vectors/types.js'
import type { PartedView } from './view.js'

/** The indexes of one version of a core. */
export interface CoreVersion {
  readonly core: string
  readonly indexes: readonly IndexParts[]
}

interface CorePart {
  readonly core: string
  readonly part: Part
  readonly view: PartView
}

/** More parts than these are seen as one by remembering what was told. */
const maxMerged = 16

/** One version of several cores as a graph: its triples, and its vectors. */
export class GraphVersion {
  readonly view: PartedView
  readonly #places: readonly CorePart[]
  /** Undefined where the graph is one part, whose ids are the graph's. */
  readonly #merged: MergedView | WideView | undefined

  private constructor(places: readonly CorePart[]) {
    this.#places = places
    const views = places.map(({ view }) => view)
    const [only] = views
    if (views.length > maxMerged) this.#merged = new WideView(views)
    else if (views.length !== 1) this.#merged = new MergedView(views)
    this.view = this.#merged ?? (only as PartView)
  }

  /** True where a new one should be made for the next question. */
  get isWorn(): boolean {
    return this.#merged instanceof WideView && this.#merged.isWorn
  }

  /** All of the cores, or what they say in one collection. */
  static async of(
    cores: readonly CoreVersion[],
    collection: string | undefined,
  ): Promise<GraphVersion> {
    const places: CorePart[] = []
    for (const { core, indexes } of cores) {
      for (const { parts } of indexes) {
        for (const part of parts) {
          const view =
            collection === undefined ? new PartView(part, ALL) : await only(part, collection)
          if (view !== undefined) places.push({ core, part, view })
        }
      }
    }
    return new GraphVersion(places)
  }

  /** The vectors of one length. With `entities`, ids of the view, only those. */
  async vectors(
    dimensions: number,
    entities: ReadonlySet<number> | undefined,
  ): Promise<VectorSet[]> {
    const sets: VectorSet[] = []
    for (const [n, place] of this.#places.entries()) {
      const file = place.part.record.vectors.findIndex((found) => found.dimensions === dimensions)
      if (file >= 0) sets.push(await this.#set(n, place, file, entities))
    }
    return sets
  }

  /** The first core that says a triple. May throw a Miss. */
  coreOf(s: number, p: number, o: number): string {
    const merged = this.#merged
    const place = this.#places.find(({ view }, n) => {
      if (merged === undefined) return view.has(s, p, o)
      return view.has(merged.partId(n, s), merged.partId(n, p), merged.partId(n, o))
    })
    return place?.core ?? ''
  }

  async #set(
    n: number,
    { core, part, view }: CorePart,
    file: number,
    entities: ReadonlySet<number> | undefined,
  ): Promise<VectorSet> {
    const record = part.record.vectors[file] as Part['record']['vectors'][number]
    const merged = this.#merged
    let accepts: Uint8Array | undefined
    if (entities !== undefined || view.collection !== ALL) {
      const own = entities && (await this.#ownIds(n, entities))
      accepts = await acceptedVectors(part, file, view.collection, own)
    }
    return {
      core,
      id: part.vectorFileId(record),
      dimensions: record.dimensions,
      count: record.count,
      accepts,
      block: (block) => part.vectorBlock(record.dimensions, block),
      links: record.links,
      linksBlock: (block) => part.linksBlock(record.dimensions, block),
      entity: (vector) => {
        const id = part.entityOf(file, vector)
        return merged === undefined ? id : merged.graphId(n, id)
      },
    }
  }

  async #ownIds(n: number, entities: ReadonlySet<number>): Promise<ReadonlySet<number>> {
    const merged = this.#merged
    if (merged === undefined) return entities
    const own = new Set<number>()
    for (const id of entities) own.add(await withBlocks(() => merged.partId(n, id)))
    return own
  }
}

/** Undefined where the part has nothing of the collection. */
async function only(part: Part, collection: string): Promise<PartView | undefined> {
  const name = encodeText(collection, COLLECTION)
  const id = await withBlocks(() => part.find(name))
  if (id < 0) return undefined
  return new PartView(part, part.record.collection < 0 ? id : ALL)
}

/** Vectors that are looked at before others get their turn. */
const vectorsAtOnce = 4096

async function acceptedVectors(
  part: Part,
  file: number,
  collection: number,
  entities: ReadonlySet<number> | undefined,
): Promise<Uint8Array> {
  const { count } = part.record.vectors[file] as Part['record']['vectors'][number]
  const accepts = new Uint8Array(count)
  for (let from = 0; from < count; from += vectorsAtOnce) {
    await withBlocks(() => {
      for (let vector = from; vector < Math.min(count, from + vectorsAtOnce); vector++) {
        const isIn = collection === ALL || part.collectionOf(file, vector) === collection
        if (isIn && (entities === undefined || entities.has(part.entityOf(file, vector)))) {
          accepts[vector] = 1
        }
      }
    })
  }
  return accepts
}
