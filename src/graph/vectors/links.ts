// The bytes of an approximate index: rows of 32 numbers, little-endian, none of which a block cuts.
//
//   header     magic, vectors, entry, top level, width, rows above level 0
//   level 0    a row for each vector: the next equal vector, where its rows above begin, links
//   above      for each vector with levels above 0 a row for each of them: links
//
// Numbers are of vectors; `none` ends the links of a row. Of equal vectors one is linked, and the
// others follow from it. Where links do not help to search the vectors, the header is all there is.

import { LorekeepError } from '../../errors.js'
import { arenaBytes } from './arenas.js'
import type { Blocks } from './memory.js'
import type { LinksHeader } from './types.js'
import type { VectorSet } from './types.js'
import type { Links } from './walk.js'

export const none = 0xffff_ffff
export const rowLength = 32
/** Where in a row of level 0 links begin. */
export const linksFrom = 2
const rowBytes = 4 * rowLength
const rowsPerBlock = arenaBytes / rowBytes
const magic = 0x314b_4c56

function linksBytes({ vectors, rows, width }: LinksHeader): number {
  return width === 0 ? rowBytes : rowBytes * (1 + vectors + rows)
}

/** True where links of so many bytes are more than a header, and searches follow them. */
export function areFollowed(bytes: number): boolean {
  return bytes > rowBytes
}

/** Bytes for links, with the header written and no links yet. */
export function createLinks(header: LinksHeader): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(linksBytes(header) / 4).fill(none)
  const { vectors, entry, top, width, rows } = header
  words.set([magic, vectors, entry, top, width, rows])
  return words
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` where they are not the links of so many vectors */
export function readLinksHeader(bytes: Uint8Array, vectors: number): LinksHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const word = (n: number) => view.getUint32(4 * n, true)
  if (bytes.length >= rowBytes && word(0) === magic && word(1) === vectors) {
    const header = { vectors, entry: word(2), top: word(3), width: word(4), rows: word(5) }
    if (bytes.length === linksBytes(header)) return header
  }
  throw new LorekeepError('LK_STORAGE_CORRUPT', `these are not the links of ${vectors} vectors`)
}

/** Links as blocks; `load` has all their bytes. */
export function linkBlocks(
  set: VectorSet,
  header: LinksHeader,
  load: () => Promise<Uint8Array>,
): Blocks {
  const all = linksBytes(header)
  return {
    file: set.id,
    name: 'links ',
    count: Math.ceil(all / arenaBytes),
    bytes: (n) => Math.min(arenaBytes, all - n * arenaBytes),
    read: async (n) => (await load()).subarray(n * arenaBytes, (n + 1) * arenaBytes),
  }
}

/** Links whose blocks lie at the addresses of a table. */
export class LocatedLinks implements Links {
  readonly entry: number
  readonly top: number
  readonly #vectors: number
  readonly #words: Uint32Array
  readonly #table: Uint32Array

  constructor({ entry, top, vectors }: LinksHeader, buffer: ArrayBuffer, table: Uint32Array) {
    this.entry = entry
    this.top = top
    this.#vectors = vectors
    this.#words = new Uint32Array(buffer)
    this.#table = table
  }

  read(node: number, level: number, numbers: Uint32Array): number {
    const words = this.#words
    const base = this.#row(node)
    const from = level === 0 ? base + linksFrom : this.#row(this.#above(base) + level - 1)
    const end = level === 0 ? base + rowLength : from + rowLength
    let count = 0
    for (let at = from; at < end && words[at] !== none; at++) numbers[count++] = words[at] as number
    return count
  }

  /** The next vector that equals this one, or `none`. */
  equal(node: number): number {
    return this.#words[this.#row(node)] as number
  }

  #above(base: number): number {
    return this.#vectors + (this.#words[base + 1] as number)
  }

  /** Where the n-th row begins, in words. */
  #row(n: number): number {
    const row = n + 1
    const address = this.#table[Math.floor(row / rowsPerBlock)] as number
    return address / 4 + (row % rowsPerBlock) * rowLength
  }
}
