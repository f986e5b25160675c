// The record of a core follows from its segments, and what a damaged one has said from those that no other core has.

import { readable } from '../damage.js'
import { hasCode } from '../errors.js'
import { decodeKey, keyPrefix } from '../keys.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Precondition, Storage } from '../storage.js'
import { NameSet } from '../verify/name-set.js'
import { emptyCore, extend } from './core-import.js'
import { damagedCore, type CoreTable } from './core-table.js'
import { foundRecords } from '../found-records.js'
import {
  allGarbage,
  contentKey,
  contentsOf,
  coreKey,
  createId,
  segmentAt,
  segmentsOf,
  type CoreRecord,
  type SegmentRecord,
} from './records.js'
import { isSegmentRecord } from './record-shapes.js'
import { piecesOf, readPiece, type PlacedSegment } from './segment-bytes.js'
import { ownerOf } from './segment-owner.js'
import type { CoreRef } from './types.js'

interface Places {
  readonly table: CoreTable
  readonly slices: Storage
  readonly now: () => number
}

/**
 * Makes the record of a core anew where it is damaged; false where it is not. Nobody may change the core meanwhile.
 * @throws LorekeepError `LK_STORAGE_CORRUPT` where it cannot be told for certain what it was
 */
export async function mendCore(
  name: CoreRef,
  member: string | undefined,
  places: Places,
): Promise<boolean> {
  const { table } = places
  const key = coreKey(name)
  const require: Precondition[] = []
  try {
    const value = await table.cores.get(key)
    if (value === undefined || isRecord(value)) return false
    require.push({ type: 'equals', key, value })
  } catch (error) {
    // Others may change it, and nothing can be required of what cannot be read.
    if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    if (table.isShared) throw damagedCore(name, error.message, error)
  }
  const value = encodeRecord(await recordAnew(name, places))
  try {
    await table.write([{ type: 'put', key, value }], require, member)
  } catch (error) {
    // Somebody else was first.
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
  }
  return true
}

function isRecord(value: Uint8Array): boolean {
  try {
    decodeRecord(value)
    return true
  } catch {
    return false
  }
}

async function recordAnew(name: CoreRef, { table, slices, now }: Places): Promise<CoreRecord> {
  const { cores } = table
  const own: string[] = []
  const unknown: string[] = []
  for await (const generation of unclaimed(cores)) {
    const owner = await ownerIn({ cores, slices }, generation)
    if (owner === undefined) unknown.push(generation)
    else if (owner.user === name.user && owner.id === name.id) own.push(generation)
  }
  const [generation, other] = own
  if (other !== undefined)
    throw damagedCore(name, `several generations bear its name: ${own.join()}`)
  if (generation !== undefined) return recordOf(name, generation, cores)
  if (unknown.length > 0) {
    throw damagedCore(name, `whose the segments are of generation ${unknown.join()} cannot be read`)
  }
  // It had none, or what it had is gone.
  return emptyCore(name, createId(now()), { createdAt: new Date(now()).toISOString() })
}

/** Generations that have segments, of which no core that can be read is made, and that are not given up. */
async function* unclaimed(cores: Storage): AsyncGenerator<string, void, undefined> {
  const claimed = new NameSet()
  for await (const page of foundRecords<CoreRecord>(cores, keyPrefix('core'))) {
    for (const { record } of page) if (record !== undefined) claimed.add(record.generation)
  }
  // Behind the cores: what was given up meanwhile is among these, or deleted.
  for await (const page of cores.scan({ ...allGarbage(), keysOnly: true })) {
    for (const { key } of page) claimed.add(decodeKey(key)[1] as string)
  }
  let last: string | undefined
  for await (const page of cores.scan({ ...keyPrefix('segment'), keysOnly: true })) {
    for (const { key } of page) {
      const generation = decodeKey(key)[1] as string
      if (generation !== last && !claimed.has(generation)) yield generation
      last = generation
    }
  }
}

/** By the first segment of which that can be read. */
async function ownerIn(
  places: { readonly cores: Storage; readonly slices: Storage },
  generation: string,
): Promise<CoreRef | undefined> {
  for await (const page of foundRecords<SegmentRecord>(places.cores, segmentsOf(generation))) {
    for (const { key, record: segment } of page) {
      if (segment === undefined || !isSegmentRecord(segment)) continue
      const placed: PlacedSegment = { generation, n: segmentAt(key), segment }
      const owner = await ownerOf(piecesOf(segment), (piece) => {
        return readable(() => readPiece(places, placed, piece))
      })
      if (owner !== undefined) return owner
    }
  }
  return undefined
}

/** Where all segments are there: what more there was could not be told by the record any more. */
async function recordOf(name: CoreRef, generation: string, cores: Storage): Promise<CoreRecord> {
  let core: CoreRecord | undefined
  let next = 0
  const contents = new Set<string>()
  for await (const page of foundRecords<SegmentRecord>(cores, segmentsOf(generation))) {
    for (const { key, record } of page) {
      const isNext = segmentAt(key) === next++
      if (record === undefined || !isNext || !isSegmentRecord(record)) {
        throw damagedCore(name, 'a segment of it is damaged, too, or gone')
      }
      core = extend(core ?? emptyCore(name, generation, record), record)
      contents.add(textOf(contentKey(generation, record.digest)))
    }
  }
  for await (const page of cores.scan({ ...contentsOf(generation), keysOnly: true })) {
    for (const { key } of page) {
      if (!contents.has(textOf(key))) throw damagedCore(name, 'a segment of it is gone')
    }
  }
  if (core === undefined) throw damagedCore(name, 'its segments went meanwhile')
  return core
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}
