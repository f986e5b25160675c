// Where the triples and vectors of a part are said: in which graph, by which source, in which collection.

import { placeWords, sourceWords } from './layout.js'
import { sortedPairs } from '../../radix-sort.js'

/** Whose a segment is: a generation of a core. */
export interface SourceName {
  /** 32 hexadecimal digits. */
  readonly generation: string
  /** The core's name. */
  readonly core: string
}

/** A source as a part has it. */
export interface PartSource {
  readonly generation: string
  /** The term that is the core's name. */
  readonly core: number
}

/** Places one behind the other, in any order, some maybe twice. */
export class PlaceList {
  count = 0
  graphs = new Uint32Array(8)
  /** As places in a list of sources. */
  sources = new Uint32Array(8)
  collections = new Uint32Array(8)

  add(graph: number, source: number, collection: number): number {
    if (this.count === this.graphs.length) {
      this.graphs = twice(this.graphs)
      this.sources = twice(this.sources)
      this.collections = twice(this.collections)
    }
    const place = this.count++
    this.graphs[place] = graph
    this.sources[place] = source
    this.collections[place] = collection
    return place
  }
}

/** Sources and places as the sections of a part have them. */
export interface SortedPlaces {
  readonly sources: Uint32Array
  readonly places: Uint32Array
  /** By place of the list that they were made of: its number. */
  readonly numbers: Uint32Array
}

/** Puts them in their order, each once. Every source has a place. */
export function sortPlaces(sources: readonly PartSource[], list: PlaceList): SortedPlaces {
  const order = [...sources.keys()].sort((a, b) => compare(sources[a], sources[b]))
  const ranks = new Uint32Array(sources.length)
  const kept: PartSource[] = []
  for (const n of order) {
    const source = sources[n] as PartSource
    if (kept.at(-1)?.generation !== source.generation) kept.push(source)
    ranks[n] = kept.length - 1
  }
  return { sources: wordsOf(kept), ...placesOf(ranks, list) }
}

function placesOf(
  ranks: Uint32Array,
  { count, graphs, sources, collections }: PlaceList,
): Omit<SortedPlaces, 'sources'> {
  const sourceOf = sources.subarray(0, count).map((source) => ranks[source] as number)
  const byCollection = sortedPairs(collections, count)
  const order = sortedPairs(graphs, count, sortedPairs(sourceOf, count, byCollection))
  const places = new Uint32Array(placeWords * count)
  const numbers = new Uint32Array(count)
  let kept = 0
  for (let i = 0; i < count; i++) {
    const n = order[2 * i + 1] as number
    const graph = graphs[n] as number
    const source = sourceOf[n] as number
    const collection = collections[n] as number
    const at = placeWords * kept
    const isNew =
      kept === 0 ||
      places[at - 3] !== graph ||
      places[at - 2] !== source ||
      places[at - 1] !== collection
    if (isNew) {
      places[at] = graph
      places[at + 1] = source
      places[at + 2] = collection
      kept++
    }
    numbers[n] = kept - 1
  }
  return { places: places.subarray(0, placeWords * kept), numbers }
}

function compare(a: PartSource | undefined, b: PartSource | undefined): number {
  return (a?.generation ?? '') < (b?.generation ?? '') ? -1 : 1
}

function wordsOf(sources: readonly PartSource[]): Uint32Array {
  const words = new Uint32Array(sourceWords * sources.length)
  for (const [n, { generation, core }] of sources.entries()) {
    for (let i = 0; i < 4; i++) {
      words[sourceWords * n + i] = Number.parseInt(generation.slice(8 * i, 8 * i + 8), 16)
    }
    words[sourceWords * n + 4] = core
  }
  return words
}

/** The generation whose four words begin at `at`. */
export function generationAt(words: Uint32Array, at: number): string {
  let text = ''
  for (let i = 0; i < 4; i++) text += (words[at + i] as number).toString(16).padStart(8, '0')
  return text
}

function twice(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}
