// Keys of the parts of an index in the partition `slices`. All of one part begin with its id and number.

import { encodeKey } from '../../keys.js'

const MAIN = 0
const VECTORS = 1
const LINKS = 2

/** What all keys of a part begin with. */
export interface PartName {
  readonly id: string
  readonly number: number
}

/** A block of its main file. */
export const mainKey = ({ id, number }: PartName, block: number) =>
  encodeKey(id, number, MAIN, block)

/** A block of its vectors. */
export const vectorKey = ({ id, number }: PartName, block: number) =>
  encodeKey(id, number, VECTORS, block)

/** A block of their approximate index. */
export const linksKey = ({ id, number }: PartName, block: number) =>
  encodeKey(id, number, LINKS, block)
