// Vectors as an index has them.

import type { Entry } from './walk.js'

/** The vectors of one length in one part of an index: normalised, float32, little-endian. */
export interface VectorFile {
  /** No other file has it; the content under it never changes. */
  readonly id: string
  readonly dimensions: number
  readonly count: number
  /** `vectorsPerBlock(dimensions)` whole vectors as stored, maybe packed; the last block may have fewer. */
  block(n: number): Promise<Uint8Array>
}

/** With its approximate index, if it has one. */
export interface LinkedFile extends VectorFile {
  /** Bytes of the approximate index before they were packed; 0 where there is none. */
  readonly links: number
  /** A block of it as stored: see links.ts. */
  linksBlock(n: number): Promise<Uint8Array>
}

/** Vectors that are searched together with others. */
export interface VectorSet extends LinkedFile {
  /** The name of the core that a vector is of, for results. May throw a Miss. */
  core(index: number): string
  /** By vector: 1 where it is to be found, 0 elsewhere. Undefined: all are. */
  readonly accepts: Uint8Array | undefined
  /** The entity of a vector, as an id of the graph. May throw a Miss. */
  entity(index: number): number
}

/**
 * The most bytes of a block of vectors, but for a single one that is longer. A search along links
 * reads a block for nearly each vector that it compares in the end.
 */
const blockBytes = 64 * 1024

export function vectorsPerBlock(dimensions: number): number {
  return Math.max(1, Math.floor(blockBytes / (4 * Math.max(1, dimensions))))
}

/** How many blocks the vectors of a file take. */
export function blocksOf(dimensions: number, count: number): number {
  return Math.ceil(count / vectorsPerBlock(dimensions))
}

/** The bytes of a block of vectors before it was packed. */
export function vectorBlockBytes({ dimensions, count }: VectorFile, n: number): number {
  const perBlock = vectorsPerBlock(dimensions)
  return Math.min(perBlock, count - n * perBlock) * 4 * dimensions
}

export interface LinksHeader extends Entry {
  /**
   * How many vectors a search keeps in view so that it finds the ten nearest; 0 where it had better
   * compare the query with all.
   */
  readonly width: number
  /**
   * Where all is far from what is asked, a search keeps more in view: `width` while the tenth has a cosine of at
   * least the first of these, twice `width` with at least the second, and so on, and twice as many again with less
   * than the last.
   */
  readonly reach: readonly number[]
  /** Rows above level 0. */
  readonly above: number
  /** How many vectors went since the links were made: those left were linked around them. */
  readonly dropped: number
}
