import { LorekeepError } from '../../errors.js'
import type { VectorRecord } from './layout.js'
import type { Part } from './part.js'

/** The most bytes of one stored value of an approximate index. */
export const linksBlockBytes = 1024 * 1024

/** An approximate index as it was stored; undefined where there is none. */
export async function storedLinks(
  part: Part,
  record: VectorRecord,
): Promise<Uint8Array | undefined> {
  if (record.links === 0) return undefined
  const links = new Uint8Array(record.links)
  for (let block = 0; block * linksBlockBytes < links.length; block++) {
    const bytes = await part.linksBlock(record.dimensions, block)
    const expected = Math.min(linksBlockBytes, links.length - block * linksBlockBytes)
    if (bytes.length !== expected) {
      const detail = `a block of an index has ${bytes.length} bytes in place of ${expected}`
      throw new LorekeepError('LK_STORAGE_CORRUPT', detail)
    }
    links.set(bytes, block * linksBlockBytes)
  }
  return links
}
