import { setImmediate as turn } from 'node:timers/promises'
import { withBlocks } from './miss.js'
import { choose } from './index/chosen.js'
import { MergedView } from './index/merged-view.js'
import type { Part } from './index/part.js'
import { PartView } from './index/part-view.js'
import { SeenPassages, type Narrowing } from './index/seen-passages.js'
import type { PassageSet } from './words/types.js'
import type { VectorSet } from './vectors/types.js'
import type { TellingView } from './view.js'

/** A part, and what of it is seen. Lists are not changed once they were given. */
export interface PartOfVersion {
  readonly part: Part
  /** Only what these generations say. All by default. */
  readonly only?: readonly string[] | undefined
  /** Not what these generations say. */
  readonly not?: readonly string[] | undefined
}

/** What a question sees, from its start to its end. The same array where nothing has changed. */
export interface HeldParts {
  readonly parts: readonly PartOfVersion[]
  readonly release: () => void
}

/** Parts as one graph: their triples, their vectors, and passages of texts. */
export class GraphVersion {
  readonly view: TellingView
  readonly #passages: readonly SeenPassages[]
  readonly #views: readonly PartView[]
  /** Undefined where the graph is one part, whose ids are the graph's. */
  readonly #merged: MergedView | undefined
  /** By part: which of its vectors are seen, of those that were searched. */
  readonly #seen = new Map<PartView, Uint8Array>()
  readonly #parts: readonly Part[]

  private constructor(
    views: readonly PartView[],
    passages: readonly SeenPassages[],
    parts: readonly Part[],
  ) {
    this.#passages = passages
    this.#parts = parts
    const hasTriples = ({ part }: PartView) => part.record.triples > 0
    this.#views = [...views.filter(hasTriples), ...views.filter((view) => !hasTriples(view))]
    const [only] = this.#views
    if (this.#views.length !== 1) this.#merged = new MergedView(this.#views)
    this.view = this.#merged ?? (only as PartView)
  }

  /** All that the parts say, or what they say in one collection. */
  static async of(
    parts: readonly PartOfVersion[],
    collection: string | undefined,
  ): Promise<GraphVersion> {
    const views: PartView[] = []
    const passages: SeenPassages[] = []
    const all: Part[] = []
    for (const { part, only, not } of parts) {
      const chosen = await choose(part, { only, not, collection })
      if (chosen === undefined) continue
      all.push(part)
      // Its terms are those of triples in other parts.
      if (part.passages !== undefined)
        passages.push(new SeenPassages(part, part.passages, chosen.accepts))
      else views.push(new PartView(part, chosen))
    }
    return new GraphVersion(views, passages, all)
  }

  /**
   * Begins to read what of it is not in memory, where there is much room there: for who looks here and there in most
   * of it, and would wait for one block after the other.
   */
  bring(): void {
    const bytes = this.#parts.reduce((sum, part) => sum + part.bytes, 0)
    for (const part of this.#parts) if (part.hasRoom(bytes)) part.bring()
  }

  /** The passages of all parts, or of some cores and of one collection. `check` throws where nobody wants them any more. */
  async passages(narrowing: Narrowing, check?: () => void): Promise<PassageSet[]> {
    const sets: PassageSet[] = []
    for (const passages of this.#passages) {
      const set = await passages.narrowed(narrowing, check)
      if (set !== undefined) sets.push(set)
    }
    return sets
  }

  /** The vectors of one length. With `entities`, ids of the view, only those. `check` throws where nobody wants them any more. */
  async vectors(
    dimensions: number,
    entities: ReadonlySet<number> | undefined,
    check: () => void,
  ): Promise<VectorSet[]> {
    const sets: VectorSet[] = []
    for (const [n, view] of this.#views.entries()) {
      if (view.part.record.vectors?.dimensions !== dimensions) continue
      sets.push(await this.#set(n, view, entities, check))
    }
    return sets
  }

  /** A core that says a triple: the first of the first part that has it. May throw a Miss. */
  coreOf(s: number, p: number, o: number): string {
    const merged = this.#merged
    if (merged !== undefined) {
      const first = merged.firstPlace(s, p, o)
      return first === undefined ? '' : coreOf(first.view.part, first.place)
    }
    const [view] = this.#views
    const place = view?.firstPlace(s, p, o) ?? -1
    return view === undefined || place < 0 ? '' : coreOf(view.part, place)
  }

  async #set(
    n: number,
    view: PartView,
    entities: ReadonlySet<number> | undefined,
    check: () => void,
  ): Promise<VectorSet> {
    const { part } = view
    const { dimensions, count, links } = part.record.vectors as Vectors
    const merged = this.#merged
    let accepts = await this.#seenVectors(view)
    if (entities !== undefined) {
      const own = await this.#ownIds(n, entities, check)
      const seen = accepts
      accepts = await vectorsOf(
        count,
        (vector) => seen?.[vector] !== 0 && own.has(part.entityOf(vector)),
      )
    }
    return {
      core: (vector) => coreOf(part, part.placeOfVector(vector)),
      id: part.vectorFileId,
      dimensions,
      count,
      accepts,
      block: (block) => part.vectorBlock(block),
      links,
      linksBlock: (block) => part.linksBlock(block),
      entity: (vector) => {
        const id = part.entityOf(vector)
        return merged === undefined ? id : merged.graphId(n, id)
      },
    }
  }

  /** By vector: 1 where it is seen. Undefined: all are. */
  async #seenVectors(view: PartView): Promise<Uint8Array | undefined> {
    const { accepts, part } = view
    if (accepts === undefined) return undefined
    const known = this.#seen.get(view)
    if (known !== undefined) return known
    const { count } = part.record.vectors as Vectors
    const seen = await vectorsOf(count, (vector) => accepts[part.placeOfVector(vector)] === 1)
    this.#seen.set(view, seen)
    return seen
  }

  async #ownIds(
    n: number,
    entities: ReadonlySet<number>,
    check: () => void,
  ): Promise<ReadonlySet<number>> {
    const merged = this.#merged
    if (merged === undefined) return entities
    const own = new Set<number>()
    let looked = 0
    for (const id of entities) {
      const known = withBlocks(() => merged.partId(n, id), check)
      own.add(known instanceof Promise ? await known : known)
      if (++looked % entitiesAtOnce !== 0) continue
      await turn()
      check()
    }
    return own
  }
}

type Vectors = NonNullable<Part['record']['vectors']>

/** May throw a Miss. */
function coreOf(part: Part, place: number): string {
  return part.coreOf(part.sourceOf(place))
}

/** Vectors that are looked at before others get their turn. */
const vectorsAtOnce = 4096

/** Entities that are looked up in another part, at some 2 us each, before others get their turn. */
const entitiesAtOnce = 1024

/** By vector: 1 where it is one of those. `isOne` may throw a Miss. */
async function vectorsOf(count: number, isOne: (vector: number) => boolean): Promise<Uint8Array> {
  const accepts = new Uint8Array(count)
  for (let from = 0; from < count; from += vectorsAtOnce) {
    const to = Math.min(count, from + vectorsAtOnce)
    let vector = from
    await withBlocks(() => {
      for (; vector < to; vector++) if (isOne(vector)) accepts[vector] = 1
    })
    if (to < count) await turn()
  }
  return accepts
}
