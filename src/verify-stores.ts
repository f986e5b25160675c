// Verifies all stores over their partitions, one after the other.

import { hasCode } from './errors.js'
import { verifyFlows } from './flow/verify/verify.js'
import { encodeKey, keyPrefix } from './keys.js'
import { garbageKey, type LibraryRecord, type SegmentRecord } from './knowledge/records.js'
import { verifyKnowledge } from './knowledge/verify.js'
import { verifyObjects } from './objects/verify/verify.js'
import { decodeRecord } from './record.js'
import type { Entry, PartitionName } from './storage.js'
import type { Finding, Source, VerifyOptions } from './verify/finding.js'
import { kindOf, tupleOf } from './verify/reading.js'
import { Report, tupleText } from './verify/report.js'
import { checkOptions } from './door/options.js'
import { aFlag, aFunction, aSignal } from './door/rules.js'

export type Partitions = Readonly<Record<PartitionName, Source>>

interface Sources {
  readonly partitions: Partitions
  /** The partition will not be read any more. */
  pass(partition: PartitionName): void
  close(): Promise<void>
}

const verifyOptions = { deep: aFlag, signal: aSignal, onProgress: aFunction }

/** @throws TypeError */
export function checkVerifyOptions(options: VerifyOptions): void {
  checkOptions('verify()', options, verifyOptions)
}

/**
 * `open` is called at the first step.
 * @throws TypeError for options that cannot be, at the call
 */
export function verifyStores(
  open: () => Sources | Promise<Sources>,
  options: VerifyOptions = {},
): AsyncGenerator<Finding, void, undefined> {
  checkVerifyOptions(options)
  const { deep = false, signal, onProgress } = options
  return verifyAll(open, new Report({ deep, signal, onProgress }))
}

async function* verifyAll(
  open: () => Sources | Promise<Sources>,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  report.signal?.throwIfAborted()
  const sources = await open()
  const { cores, slices, objects, flows } = sources.partitions
  try {
    await tellMissing(sources.partitions, report)
    yield* report.take()
    yield* verifyKnowledge({ cores, slices }, report)
    sources.pass('cores')
    sources.pass('slices')
    yield* verifyObjects(objects, report)
    sources.pass('objects')
    yield* verifyFlows(flows, report)
    report.signal?.throwIfAborted()
    report.end('flows')
  } finally {
    await sources.close()
  }
}

/** Tells the partitions that are gone as a whole. */
export async function tellMissing(partitions: Partitions, report: Report): Promise<void> {
  for (const name of await unformatted(partitions)) {
    // Where it holds anything at all, its own verifier misses the format.
    if (await holds(partitions[name], () => true)) continue
    const message = 'it is empty, and other partitions hold content: it is gone'
    report.error(name, 'missing', tupleText('format'), message)
  }
}

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

async function holds(source: Source, isIt: (key: Uint8Array) => boolean): Promise<boolean> {
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
