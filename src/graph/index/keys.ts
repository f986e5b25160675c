// Keys of an index in the partition `slices`. All begin with the index's own name.

import { encodeKey } from '../../keys.js'

const MAIN = 0
const VECTORS = 1
const LINKS = 2

/** A block of the main file of a part. */
export const mainKey = (index: string, part: number, block: number) =>
  encodeKey(index, part, MAIN, block)

/** A block of a part's vectors of one length. */
export const vectorKey = (index: string, part: number, dimensions: number, block: number) =>
  encodeKey(index, part, VECTORS, dimensions, block)

/** A block of their approximate index. */
export const linksKey = (index: string, part: number, dimensions: number, block: number) =>
  encodeKey(index, part, LINKS, dimensions, block)
