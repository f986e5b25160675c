// Where things lie in the main file of a part: sections of whole numbers (32 bits, little-endian) and
// bytes, one behind the other, each beginning at a multiple of 8. docs/format.md describes them.

/** What an index record says of a part. Sections are of these sizes; nothing else has to be read. */
export interface PartRecord {
  readonly terms: number
  /** Of their entries, numbers of 32 bits. */
  readonly termWords: number
  /** Distinct triples. */
  readonly triples: number
  /** The id of the one collection's name, or -1 where there are several. */
  readonly collection: number
  /** Entries of the lists of where each triple is, which a part of several collections has, or with named graphs. */
  readonly memberships: number
  /** Where some triples are in named graphs: how many graphs there are, and triples of each together. */
  readonly graphs?: { readonly names: number; readonly rows: number } | undefined
  /** How many terms are numbers, and moments in time, where there are any. */
  readonly values?: { readonly numbers: number; readonly moments: number } | undefined
  /** Vectors by their length, in ascending order of it. */
  readonly vectors: readonly VectorRecord[]
}

export interface VectorRecord {
  readonly dimensions: number
  readonly count: number
  /** Bytes of the approximate index; 0 where there is none. */
  readonly links: number
}

export const blockBytes = 256 * 1024

interface SortedValues {
  readonly count: number
  /** Floats of 64 bits. */
  readonly keys: number
  readonly ids: number
}

/** Sections in their order: offsets in bytes. */
export interface Layout {
  readonly termStarts: number
  readonly termWords: number
  readonly hashes: number
  readonly spoStarts: number
  readonly spo: number
  readonly ospStarts: number
  readonly osp: number
  readonly posStarts: number
  readonly pos: number
  readonly membershipStarts: number
  readonly memberships: number
  /** With named graphs: their names, ascending, where the rows of each begin, and these. */
  readonly graphNames: number
  readonly graphStarts: number
  readonly graphRows: number
  /** Keys of numbers, ascending, and their terms; those of moments. */
  readonly values: readonly SortedValues[]
  /** By place in `PartRecord.vectors`: the entity of each vector, and its collection. */
  readonly entities: readonly number[]
  readonly vectorCollections: readonly number[]
  readonly end: number
}

export function layoutOf(part: PartRecord): Layout {
  let end = 0
  const section = (bytes: number) => {
    const start = end
    end = align(end + bytes)
    return start
  }
  const isMixed = part.collection < 0
  const { graphs } = part
  const hasPlaces = isMixed || graphs !== undefined
  const { names, rows } = graphs ?? { names: 0, rows: 0 }
  const placeBytes = graphs === undefined ? 4 : 8
  const starts = () => section(4 * (part.terms + 1))
  const pairs = () => section(8 * part.triples)
  return {
    termStarts: starts(),
    termWords: section(4 * part.termWords),
    hashes: section(8 * part.terms),
    spoStarts: starts(),
    spo: pairs(),
    ospStarts: starts(),
    osp: pairs(),
    posStarts: starts(),
    pos: pairs(),
    membershipStarts: hasPlaces ? section(4 * (part.triples + 1)) : end,
    memberships: hasPlaces ? section(placeBytes * part.memberships) : end,
    graphNames: graphs ? section(4 * names) : end,
    graphStarts: graphs ? section(4 * (names + 1)) : end,
    graphRows: graphs ? section(4 * rows) : end,
    values: [part.values?.numbers ?? 0, part.values?.moments ?? 0].map((count) => ({
      count,
      keys: section(8 * count),
      ids: section(4 * count),
    })),
    entities: part.vectors.map(({ count }) => section(4 * count)),
    vectorCollections: part.vectors.map(({ count }) => (isMixed ? section(4 * count) : end)),
    end,
  }
}

export function align(offset: number): number {
  return Math.ceil(offset / 8) * 8
}
