import { BlockWriter, type BlockStorage } from '../../block-writer.js'
import { LorekeepError } from '../../errors.js'
import { linkVectors } from '../vectors/hnsw.js'
import { linksKey, vectorKey } from './keys.js'
import type { PartRecord, VectorRecord } from './layout.js'
import { linksBlockBytes } from './stored-links.js'

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
      const file = {
        id: `${index}/${n}/${dimensions}`,
        dimensions,
        count,
        block: async (block: number) => {
          const bytes = await storage.get(vectorKey(index, n, dimensions, block))
          if (bytes !== undefined) return bytes
          throw new LorekeepError('LK_STORAGE_CORRUPT', 'a block of an index is missing')
        },
      }
      const links = await linkVectors(file, {
        signal,
        onProgress: (done: number) => onProgress?.(before + done, total),
      })
      const writer = new BlockWriter({
        storage,
        keyOf: (block) => linksKey(index, n, dimensions, block),
        blockBytes: linksBlockBytes,
      })
      try {
        writer.copy(links, 0, links.length)
        await writer.finish()
      } finally {
        await writer.settle()
      }
      before += count
      vectors.push({ dimensions, count, links: links.length })
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
