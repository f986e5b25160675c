// An approximate index as it is stored: blocks, each of which may be packed (packed.ts).
//
//   header     one block: magic, vectors, dimensions, entry, top level, width, rows above level 0,
//              and how many vectors went since the links were made
//   above      for each vector with levels above 0 a row for each of them: links, as in rows.ts
//   rows       of all vectors: rows.ts
//
// Of equal vectors one is linked, and the others follow from it. Where links do not help to search the
// vectors, the header is all there is.

import { LorekeepError } from '../../errors.js'
import { arenaBytes } from './arenas.js'
import { keptAbove, roomBelow, topmost } from './graph-builder.js'
import type { Blocks } from './memory.js'
import { unpack } from './packed.js'
import { Rows } from './rows.js'
import type { LinkedFile, LinksHeader } from './types.js'

const headerBytes = 64
/** How many numbers the header has for `reach`. */
export const reaches = 4
const magic = 0x324b_4c56
/** The word of the header where they begin. */
const reachAt = 8
export const aboveBytes = 3 * keptAbove

/** How the vectors of a file lie in the blocks of its approximate index. */
export class LinksLayout {
  readonly rows: Rows
  readonly perBlock: number
  readonly abovePerBlock = Math.floor(arenaBytes / 4 / aboveBytes)
  readonly aboveBlocks: number
  readonly rowBlocks: number
  readonly #above: number
  readonly #vectors: number

  constructor(
    dimensions: number,
    { vectors, above, width }: Pick<LinksHeader, 'vectors' | 'above' | 'width'>,
  ) {
    this.rows = new Rows(dimensions, roomBelow)
    this.perBlock = Math.max(1, Math.floor(arenaBytes / this.rows.bytes))
    this.#above = width === 0 ? 0 : above
    this.#vectors = width === 0 ? 0 : vectors
    this.aboveBlocks = Math.ceil(this.#above / this.abovePerBlock)
    this.rowBlocks = Math.ceil(this.#vectors / this.perBlock)
  }

  get blocks(): number {
    return 1 + this.aboveBlocks + this.rowBlocks
  }

  /** Of all blocks, before they are packed. */
  get bytes(): number {
    return headerBytes + this.#above * aboveBytes + this.#vectors * this.rows.bytes
  }

  bytesOf(block: number): number {
    if (block === 0) return headerBytes
    const above = block - 1
    if (above < this.aboveBlocks) {
      return Math.min(this.abovePerBlock, this.#above - above * this.abovePerBlock) * aboveBytes
    }
    const row = above - this.aboveBlocks
    return Math.min(this.perBlock, this.#vectors - row * this.perBlock) * this.rows.bytes
  }
}

/** How many blocks an approximate index of so many bytes has. */
export function linkBlocksOf(dimensions: number, vectors: number, links: number): number {
  if (links === 0) return 0
  if (!areFollowed(links)) return 1
  const { bytes } = new Rows(dimensions, roomBelow)
  const above = Math.max(0, Math.floor((links - headerBytes - vectors * bytes) / aboveBytes))
  return new LinksLayout(dimensions, { vectors, above, width: 1 }).blocks
}

/** True where an approximate index of so many bytes is more than a header, and searches follow it. */
export function areFollowed(bytes: number): boolean {
  return bytes > headerBytes
}

export function writeHeader(dimensions: number, header: LinksHeader): Uint8Array {
  const words = new Uint32Array(headerBytes / 4)
  const { vectors, entry, top, width, reach, above, dropped } = header
  words.set([magic, vectors, dimensions, entry, top, width, above, dropped])
  new Float32Array(words.buffer, 4 * reachAt, reaches).set(reach)
  return new Uint8Array(words.buffer)
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` where they are not the links of the file's vectors */
export async function readHeader(file: LinkedFile): Promise<LinksHeader> {
  const stored = await file.linksBlock(0)
  const bytes = unpack(stored, headerBytes, `the header of the links of ${file.id}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const word = (n: number) => view.getUint32(4 * n, true)
  const { count, dimensions } = file
  if (word(0) === magic && word(1) === count && word(2) === dimensions) {
    const [entry, top, width, above, dropped] = [word(3), word(4), word(5), word(6), word(7)]
    const reach = Array.from({ length: reaches }, (_, n) =>
      view.getFloat32(4 * (reachAt + n), true),
    )
    const header = { vectors: count, entry, top, width, reach, above, dropped }
    const hasEntry = entry < Math.max(1, count) && top <= topmost
    if (hasEntry && new LinksLayout(dimensions, header).bytes === file.links) return header
  }
  const detail = `these are not the links of ${count} vectors of ${dimensions}`
  throw new LorekeepError('LK_STORAGE_CORRUPT', detail)
}

/** All but the header, as blocks that a memory keeps. */
export function linkBlocks(file: LinkedFile, layout: LinksLayout): Blocks {
  return {
    file: file.id,
    name: 'links ',
    count: layout.blocks - 1,
    bytes: (n) => layout.bytesOf(n + 1),
    read: (n) => readLinksBlock(file, layout, n + 1),
  }
}

export async function readLinksBlock(
  file: LinkedFile,
  layout: LinksLayout,
  n: number,
): Promise<Uint8Array> {
  const name = `block ${n} of the links of ${file.id}`
  return unpack(await file.linksBlock(n), layout.bytesOf(n), name)
}
