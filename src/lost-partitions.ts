// What shows that a partition was lost as a whole, with whatever it held.

import { hasCode } from './errors.js'
import { encodeKey, keyPrefix } from './keys.js'
import { garbageKey, type LibraryRecord, type SegmentRecord } from './knowledge/records.js'
import { decodeRecord } from './record.js'
import type { Entry, PartitionName } from './storage.js'
import type { Source } from './verify/finding.js'
import { kindOf, tupleOf } from './verify/reading.js'

export type Partitions = Readonly<Record<PartitionName, Source>>

/**
 * The partitions that have no format, where any partition holds content: opening gives all of them
 * their format before anyone can write.
 */
export async function unformatted(partitions: Partitions): Promise<PartitionName[]> {
  const isContent = (key: Uint8Array) =>
    !['format', 'head', 'member', 'beat', 'slot'].includes(kindOf(key))
  let hasContent = false
  // Before the formats: another one may be opening an empty place, and write at once.
  for (const source of Object.values(partitions)) hasContent ||= await holds(source, isContent)
  const missing: PartitionName[] = []
  if (!hasContent) return missing
  for (const name of ['cores', 'objects', 'flows'] as const) {
    try {
      const format = await partitions[name].get(encodeKey('format'))
      if (format === undefined) missing.push(name)
    } catch (error) {
      // It is there. Whoever reads it tells.
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    }
  }
  return missing
}

/** Whether a segment or an index has values among the slices, and there is none at all. */
export async function lacksSlices({ cores, slices }: Partitions): Promise<boolean> {
  try {
    // Small segments need none: all records may have to be looked at, which is left out if it can be.
    if (await holds(slices, () => true)) return false
    for (const kind of ['library', 'segment']) {
      for await (const page of cores.scan(keyPrefix(kind))) {
        for (const entry of page) {
          if (!needsSlices(entry) || (await isGarbage(cores, entry.key))) continue
          // Of one that somebody else is adding meanwhile they are there before the record.
          return !(await holds(slices, () => true))
        }
      }
    }
  } catch (error) {
    // Whoever reads it tells.
    if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
  }
  return false
}

function needsSlices({ value }: Entry): boolean {
  const { slices = 0, parts = [] } = decodeRecord<Partial<SegmentRecord & LibraryRecord>>(value)
  return slices > 0 || parts.length > 0
}

/** Of a core that was deleted the slices go before the records that name them. */
async function isGarbage(cores: Source, key: Uint8Array): Promise<boolean> {
  const [generation] = tupleOf<[string, number]>(key, 'sn') ?? []
  return generation !== undefined && (await cores.get(garbageKey(generation))) !== undefined
}

export async function holds(source: Source, isIt: (key: Uint8Array) => boolean): Promise<boolean> {
  try {
    // Two are not content.
    for await (const page of source.scan({ keysOnly: true, limit: 3 })) {
      if (page.some(({ key }) => isIt(key))) return true
    }
    return false
  } catch (error) {
    if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    return true
  }
}
