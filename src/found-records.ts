import { damageOf, isDamage, readRecords } from './damage.js'
import type { LorekeepError } from './errors.js'
import { decodeRecord } from './record.js'
import type { Entry, Range, Storage } from './storage.js'

/** A record, or why there is none under its key. */
export type FoundRecord<R> =
  | { readonly key: Uint8Array; readonly record: R; readonly damage?: undefined }
  | { readonly key: Uint8Array; readonly record?: undefined; readonly damage: LorekeepError }

/** Keys that are looked at one by one where a page of them cannot be read. */
const keysAtOnce = 256

/** The records of a range in pages, from the first on: one that is damaged takes no other with it. */
export async function* foundRecords<R>(
  storage: Pick<Storage, 'scan' | 'get' | 'getMany'>,
  range: Range,
): AsyncGenerator<readonly FoundRecord<R>[], void, undefined> {
  let rest = range
  for (;;) {
    try {
      for await (const page of storage.scan(rest)) {
        const behind = behindAll(rest, page)
        yield page.map(recordIn<R>)
        if (behind === undefined) return
        rest = behind
      }
      return
    } catch (error) {
      damageOf(error)
    }
    const keys = await keysIn(storage, rest)
    const behind = behindAll(rest, keys)
    yield await recordsUnder<R>(storage, keys)
    if (behind === undefined) return
    rest = behind
  }
}

/** What is left of a range; nothing where there was none in it, or as many as were asked for. */
function behindAll(range: Range, entries: readonly Entry[]): Range | undefined {
  const last = entries.at(-1)
  if (last === undefined) return undefined
  const { gte, lte, limit = Infinity, ...bounds } = range
  const left = limit - entries.length
  // The caller may change what it gets.
  const key = new Uint8Array(last.key)
  const behind =
    range.reverse === true
      ? { ...bounds, ...(gte !== undefined && { gte }), lt: key }
      : { ...bounds, ...(lte !== undefined && { lte }), gt: key }
  if (left === Infinity) return behind
  return left > 0 ? { ...behind, limit: left } : undefined
}

async function keysIn(storage: Pick<Storage, 'scan'>, range: Range): Promise<readonly Entry[]> {
  const limit = Math.min(keysAtOnce, range.limit ?? Infinity)
  const keys: Entry[] = []
  for await (const page of storage.scan({ ...range, keysOnly: true, limit })) keys.push(...page)
  return keys
}

async function recordsUnder<R>(
  storage: Pick<Storage, 'scan' | 'get' | 'getMany'>,
  keys: readonly Entry[],
): Promise<readonly FoundRecord<R>[]> {
  const records = await readRecords<R>(
    storage,
    keys.map(({ key }) => key),
  )
  return records.flatMap((record, place): FoundRecord<R>[] => {
    // As many as keys.
    const { key } = keys[place]!
    // It may have been deleted meanwhile.
    if (record === undefined) return []
    return [isDamage(record) ? { key, damage: record } : { key, record }]
  })
}

function recordIn<R>({ key, value }: Entry): FoundRecord<R> {
  try {
    return { key, record: decodeRecord<R>(value) }
  } catch (error) {
    return { key, damage: damageOf(error) }
  }
}
