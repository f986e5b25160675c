import type { BlockStorage } from '../../block-writer.js'
import { LorekeepError } from '../../errors.js'
import type { LinkedFile } from './types.js'

/** Where the blocks of a file, and of its approximate index, are stored. */
export interface FileKeys {
  vectorKey(block: number): Uint8Array
  linksKey(block: number): Uint8Array
}

/** A file that is read from its storage, block by block, and kept nowhere. */
export function storedFile(
  storage: BlockStorage,
  keys: FileKeys,
  file: Pick<LinkedFile, 'id' | 'dimensions' | 'count' | 'links'>,
): LinkedFile {
  const read = async (key: Uint8Array) => {
    const bytes = await storage.get(key)
    if (bytes !== undefined) return bytes
    throw new LorekeepError('LK_STORAGE_CORRUPT', 'a block of an index is missing')
  }
  return {
    ...file,
    block: (n) => read(keys.vectorKey(n)),
    linksBlock: (n) => read(keys.linksKey(n)),
  }
}
