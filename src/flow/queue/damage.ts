// What is damaged is damaged for one record, one block or one document: the queue goes on with the others.

import { hasCode } from '../../errors.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'

/** For whoever does something about it: `undefined` where what is read is damaged, too. */
export async function readable<Result>(
  read: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    return passDamage(error)
  }
}

/** readable() of what is in memory. */
export function readableNow<Result>(read: () => Result | undefined): Result | undefined {
  try {
    return read()
  } catch (error) {
    return passDamage(error)
  }
}

/** In the place of what is there, and cannot be read. */
export const damaged = Symbol('damaged')

export type Damaged = typeof damaged

/**
 * Records in one go, and where some of them are damaged, each by itself.
 * @throws LorekeepError `LK_STORAGE_*`, but for damage
 */
export async function readRecords<R>(
  storage: Pick<Storage, 'get' | 'getMany'>,
  keys: readonly Uint8Array[],
): Promise<readonly (R | Damaged | undefined)[]> {
  const decode = (bytes: Uint8Array | undefined) => bytes && decodeRecord<R>(bytes)
  const all = await readable(async () => (await storage.getMany(keys)).map(decode))
  if (all !== undefined) return all
  const found: (R | Damaged | undefined)[] = []
  for (const key of keys) {
    try {
      found.push(decode(await storage.get(key)))
    } catch (error) {
      passDamage(error)
      found.push(damaged)
    }
  }
  return found
}

function passDamage(error: unknown): undefined {
  if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
}
