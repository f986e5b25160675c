// Where things lie in the main file of a part: sections of whole numbers (32 bits, little-endian) and
// bytes, one behind the other, each beginning at a multiple of 8. docs/format.md describes them.

import { passageColumns } from '../words/columns.js'
import type { FieldCounts } from '../words/word-list.js'

/**
 * What is to be known of a part before anything of it is read. A part has triples, vectors of one
 * length, or passages. Terms are in the order of their hashes (term-order.ts), which is that of all parts.
 */
export interface PartRecord {
  /** What its keys begin with: that of the work that made it, and which of its parts this is. */
  readonly id: string
  readonly number: number
  readonly terms: number
  /** Of their entries, numbers of 32 bits. */
  readonly termWords: number
  /** Generations of cores that say something of it. */
  readonly sources: number
  /** Combinations of graph, source and collection. */
  readonly places: number
  /** Distinct triples. */
  readonly triples: number
  /** Words of the lists of places, which triples have that are said in several. */
  readonly lists: number
  /** Triples of each place, together; 0 where there is one place alone. */
  readonly placeRows: number
  /** Whether some triples are in named graphs. */
  readonly hasGraphs: boolean
  /** How many terms are numbers, and moments in time, where there are any. */
  readonly values?: { readonly numbers: number; readonly moments: number } | undefined
  readonly vectors?: VectorRecord | undefined
  readonly passages?: PassagesRecord | undefined
}

export interface VectorRecord {
  readonly dimensions: number
  readonly count: number
  /** Bytes of the approximate index; 0 where there is none. */
  readonly links: number
}

/** What parts may be merged with it: those of the same kind. */
export function partKind({ vectors, passages }: PartRecord): string {
  if (vectors !== undefined) return `vectors of ${vectors.dimensions}`
  return passages === undefined ? 'triples' : 'passages'
}

/** Passages of texts, and the words that are in them. */
export interface PassagesRecord {
  readonly count: number
  readonly words: number
  /** Of the words, one behind the other. */
  readonly wordBytes: number
  /** Of their lists. */
  readonly listBytes: number
  /** How many words all passages have in each field. */
  readonly lengths: FieldCounts
}

export const blockBytes = 256 * 1024
/** What of a block is read, and kept in memory, by itself. */
export const pieceBytes = 16 * 1024

/** Words of one source, and of one place. */
export const sourceWords = 5
export const placeWords = 3

/** What words begin with, as it is kept of some of them: numbers of 32 bits, the first byte the highest. */
export const beginningWords = 4

/** Words of which one has its beginning kept: at least so many, and as many that those of a part are no more than a piece. */
const leastApart = 32
const mostBeginnings = pieceBytes / (4 * beginningWords)

/** Every so many-th word has it, but for the first. */
export function beginningStep(words: number): number {
  return Math.max(leastApart, Math.ceil(words / mostBeginnings))
}

export function beginningCount(words: number): number {
  return Math.max(0, Math.ceil(words / beginningStep(words)) - 1)
}

/** What a word begins with, in numbers whose order is that of its bytes. What is shorter ends in zeros, which no word has. */
export function beginningOf(word: Uint8Array): Uint32Array {
  const beginning = new Uint32Array(beginningWords)
  for (let n = 0; n < beginningWords; n++) {
    let number = 0
    for (let at = 4 * n; at < 4 * n + 4; at++) number = number * 256 + (word[at] ?? 0)
    beginning[n] = number
  }
  return beginning
}

/** In `rowPlaces`: the rest is where in `lists` the places of the row are. */
export const IS_LIST = 0x8000_0000

interface SortedValues {
  readonly count: number
  /** Floats of 64 bits. */
  readonly keys: number
  readonly ids: number
}

/** Sections in their order: offsets in bytes. */
export interface Layout {
  readonly termWords: number
  readonly termStarts: number
  readonly hashes: number
  /** Of each the generation, four words, the highest first, and the id of the core's name. Ascending. */
  readonly sources: number
  /** Of each the graph (0, or its name's id + 1), the source and the collection's id. Ascending. */
  readonly places: number
  readonly spoStarts: number
  readonly spo: number
  /** By row of SPO: its place, or with IS_LIST where in `lists` they are. Where there are several places. */
  readonly rowPlaces: number
  /** How many, and these, ascending. */
  readonly lists: number
  /** By place: where its rows begin, and these, ascending. Where there are several places. */
  readonly placeStarts: number
  readonly placeRows: number
  readonly ospStarts: number
  readonly osp: number
  readonly posStarts: number
  readonly pos: number
  /** Keys of numbers, ascending, and their terms; those of moments. */
  readonly values: readonly SortedValues[]
  /** By vector: its entity, and where there are several places its place. */
  readonly entities: number
  readonly vectorPlaces: number
  /** The records of passages, and their columns: words/columns.ts. */
  readonly passages: number
  /** The lists of words, these themselves, and where each of both begins; one more for where the last ends. */
  readonly wordLists: number
  readonly words: number
  readonly wordStarts: number
  readonly listStarts: number
  /** What some of the words begin with: by these others are found. */
  readonly beginnings: number
  readonly end: number
}

export function layoutOf(part: PartRecord): Layout {
  let end = 0
  const section = (bytes: number) => {
    const start = end
    end = align(end + bytes)
    return start
  }
  const hasTriples = part.triples > 0
  const isMixed = part.places > 1
  const starts = () => section(hasTriples ? 4 * (part.terms + 1) : 0)
  const pairs = () => section(8 * part.triples)
  const vectors = part.vectors?.count ?? 0
  const { count: passages = 0, words = 0, wordBytes = 0, listBytes = 0 } = part.passages ?? {}
  const ofWords = passages > 0 ? 4 * (words + 1) : 0
  return {
    termWords: section(4 * part.termWords),
    termStarts: section(4 * (part.terms + 1)),
    hashes: section(4 * part.terms),
    sources: section(4 * sourceWords * part.sources),
    places: section(4 * placeWords * part.places),
    spoStarts: starts(),
    spo: pairs(),
    rowPlaces: section(isMixed ? 4 * part.triples : 0),
    lists: section(4 * part.lists),
    placeStarts: section(hasTriples && isMixed ? 4 * (part.places + 1) : 0),
    placeRows: section(4 * part.placeRows),
    ospStarts: starts(),
    osp: pairs(),
    posStarts: starts(),
    pos: pairs(),
    values: [part.values?.numbers ?? 0, part.values?.moments ?? 0].map((count) => ({
      count,
      keys: section(8 * count),
      ids: section(4 * count),
    })),
    entities: section(4 * vectors),
    vectorPlaces: section(isMixed ? 4 * vectors : 0),
    passages: section(4 * passageColumns.length * passages),
    wordLists: section(listBytes),
    words: section(wordBytes),
    wordStarts: section(ofWords),
    listStarts: section(ofWords),
    beginnings: section(4 * beginningWords * beginningCount(words)),
    end,
  }
}

export function align(offset: number): number {
  return Math.ceil(offset / 8) * 8
}
