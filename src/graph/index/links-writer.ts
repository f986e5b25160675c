import type { BlockStorage } from '../../block-writer.js'
import { writeMadeLinks } from '../vectors/blocks-writer.js'
import { linkVectors } from '../vectors/hnsw.js'
import { storedFile, type FileKeys } from '../vectors/stored-file.js'
import type { LinkedFile } from '../vectors/types.js'
import { linksKey, vectorKey, type PartName } from './keys.js'
import type { PartRecord, VectorRecord } from './layout.js'

/** Fewer vectors of one length are searched exactly: that takes about a millisecond. */
export const fewestLinked = 5000

/** So many vectors are linked in a thread, however short they are: each takes some 100 us. */
export const minThreadLinked = 2000

export interface LinkOptions {
  /** So many vectors of one length get an approximate index; `fewestLinked` but for tests. */
  readonly minLinked: number
  readonly signal: AbortSignal | undefined
  /** Is told of vectors that were linked, of `total` to be linked. */
  readonly onProgress: ((done: number, total: number) => void) | undefined
}

/** Vectors that have no approximate index and are many enough for one. */
export function unlinked(parts: readonly PartRecord[], minLinked: number): number {
  let count = 0
  for (const { vectors } of parts) if (isUnlinked(vectors, minLinked)) count += vectors.count
  return count
}

/** Makes the approximate indexes that are missing, durably, and gives the parts with them. */
export async function writeLinks(
  storage: BlockStorage,
  parts: readonly PartRecord[],
  { minLinked, signal, onProgress }: LinkOptions,
): Promise<PartRecord[]> {
  const total = unlinked(parts, minLinked)
  let before = 0
  const linked: PartRecord[] = []
  for (const part of parts) {
    const { vectors } = part
    if (!isUnlinked(vectors, minLinked)) {
      linked.push(part)
      continue
    }
    const file = vectorFile(storage, part, vectors)
    const links = await linkVectors(file, {
      signal,
      onProgress: (done: number) => onProgress?.(before + done, total),
    })
    await writeMadeLinks(storage, (block) => linksKey(part, block), links)
    before += vectors.count
    linked.push({ ...part, vectors: { ...vectors, links: links.bytes } })
  }
  return linked
}

/** The vectors of a part, read from the storage. */
export function vectorFile(
  storage: BlockStorage,
  part: PartName,
  vectors: VectorRecord,
): LinkedFile {
  return storedFile(storage, fileKeys(part), { id: vectorFileId(part), ...vectors })
}

export function fileKeys(part: PartName): FileKeys {
  return {
    vectorKey: (block) => vectorKey(part, block),
    linksKey: (block) => linksKey(part, block),
  }
}

export function vectorFileId({ id, number }: PartName): string {
  return `${id}/${number}`
}

function isUnlinked(vectors: VectorRecord | undefined, minLinked: number): vectors is VectorRecord {
  return vectors !== undefined && vectors.count >= minLinked && vectors.links === 0
}
