// Vectors as an index has them.

/** The vectors of one length in one part of an index: normalised, float32, little-endian. */
export interface VectorFile {
  /** No other file has it; the content under it never changes. */
  readonly id: string
  readonly dimensions: number
  readonly count: number
  /** `vectorsPerBlock(dimensions)` whole vectors, without gaps; the last block may have fewer. */
  block(n: number): Promise<Uint8Array>
}

/** The most bytes of a block of vectors, but for a single one that is longer. */
const blockBytes = 1024 * 1024

export function vectorsPerBlock(dimensions: number): number {
  return Math.max(1, Math.floor(blockBytes / (4 * Math.max(1, dimensions))))
}

/** Vectors that are searched together with others. */
export interface VectorSet extends VectorFile {
  /** Name of the core, for results. */
  readonly core: string
  /** By vector: 0 where it is not to be found. Undefined: all are. */
  readonly accepts: Uint8Array | undefined
  /** The approximate index, as linkVectors() made it; undefined where there is none. */
  links(): Promise<Uint8Array | undefined>
  /** The entity of a vector, as an id of the graph. May throw a Miss. */
  entity(index: number): number
}

export interface LinksHeader {
  readonly vectors: number
  readonly entry: number
  readonly top: number
  /**
   * How many vectors a search keeps in view so that it finds the ten nearest; 0 where it had better
   * compare the query with all.
   */
  readonly width: number
  readonly rows: number
}
