import type { BlockStorage } from '../../block-writer.js'
import { writeMadeLinks } from '../vectors/blocks-writer.js'
import { linkVectors } from '../vectors/hnsw.js'
import { storedFile } from '../vectors/stored-file.js'
import { linksKey, vectorKey } from './keys.js'
import type { PartRecord, VectorRecord } from './layout.js'

/** Fewer vectors of one length are searched exactly: that takes about a millisecond. */
export const fewestLinked = 5000

export interface LinkOptions {
  /** So many vectors of one length get an approximate index; `fewestLinked` but for tests. */
  readonly minLinked: number
  readonly signal: AbortSignal | undefined
  /** Is told of vectors that were linked, of `total` to be linked. */
  readonly onProgress: ((done: number, total: number) => void) | undefined
}

/** Vectors that have no approximate index and are many enough for one. */
export function unlinked(parts: readonly PartRecord[], minLinked: number): number {
  return parts
    .flatMap(({ vectors }) => vectors.filter((record) => isUnlinked(record, minLinked)))
    .reduce(sum, 0)
}

/** Makes the approximate indexes that are missing, durably, and gives the parts with them. */
export async function writeLinks(
  storage: BlockStorage,
  index: string,
  parts: readonly PartRecord[],
  { minLinked, signal, onProgress }: LinkOptions,
): Promise<PartRecord[]> {
  const total = unlinked(parts, minLinked)
  let before = 0
  const linked: PartRecord[] = []
  for (const [n, part] of parts.entries()) {
    const vectors: VectorRecord[] = []
    for (const record of part.vectors) {
      if (!isUnlinked(record, minLinked)) {
        vectors.push(record)
        continue
      }
      const { dimensions, count } = record
      const keys = {
        vectorKey: (block: number) => vectorKey(index, n, dimensions, block),
        linksKey: (block: number) => linksKey(index, n, dimensions, block),
      }
      const id = `${index}/${n}/${dimensions}`
      const file = storedFile(storage, keys, { id, dimensions, count, links: 0 })
      const links = await linkVectors(file, {
        signal,
        onProgress: (done: number) => onProgress?.(before + done, total),
      })
      await writeMadeLinks(storage, keys.linksKey, links)
      before += count
      vectors.push({ dimensions, count, links: links.bytes })
    }
    linked.push({ ...part, vectors })
  }
  return linked
}

function isUnlinked({ count, links }: VectorRecord, minLinked: number): boolean {
  return count >= minLinked && links === 0
}

function sum(total: number, { count }: VectorRecord): number {
  return total + count
}
