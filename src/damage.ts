// What is damaged is damaged for one record, one block or one document: whoever reads goes on with the others.

import { hasCode, LorekeepError } from './errors.js'
import { decodeRecord } from './record.js'
import type { Storage } from './storage.js'

/** What is read, or why it cannot be. @throws what is no damage */
export async function orDamage<Result>(
  read: () => Promise<Result>,
): Promise<Result | LorekeepError> {
  try {
    return await read()
  } catch (error) {
    return damageOf(error)
  }
}

/** For whoever does something about it: `undefined` where what is read is damaged, too. */
export async function readable<Result>(
  read: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const found = await orDamage(read)
  return isDamage(found) ? undefined : found
}

/** readable() of what is in memory. */
export function readableNow<Result>(read: () => Result | undefined): Result | undefined {
  try {
    return read()
  } catch (error) {
    damageOf(error)
    return undefined
  }
}

/** Of what is read in the place of what may be damaged. */
export function isDamage(found: unknown): found is LorekeepError {
  return found instanceof LorekeepError
}

/**
 * Records in one go, and where some of them are damaged, each by itself: in the place of one that cannot be read, why.
 * @throws LorekeepError `LK_STORAGE_*`, but for damage
 */
export async function readRecords<R>(
  storage: Pick<Storage, 'get' | 'getMany'>,
  keys: readonly Uint8Array[],
): Promise<readonly (R | LorekeepError | undefined)[]> {
  const decode = (bytes: Uint8Array | undefined) => bytes && decodeRecord<R>(bytes)
  const all = await readable(async () => (await storage.getMany(keys)).map(decode))
  if (all !== undefined) return all
  const found: (R | LorekeepError | undefined)[] = []
  for (const key of keys) found.push(await orDamage(async () => decode(await storage.get(key))))
  return found
}

/** @throws what is no damage */
export function damageOf(error: unknown): LorekeepError {
  if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
  return error
}
