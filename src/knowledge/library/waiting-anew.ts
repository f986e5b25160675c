import { readable } from '../../damage.js'
import { LorekeepError } from '../../errors.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { foundRecords } from '../../found-records.js'
import {
  coresOf,
  segmentKey,
  waitingKey,
  type CoreRecord,
  type SegmentRecord,
  type WaitingRecord,
} from '../records.js'

/** A segment, as the key says that it waits. */
interface Place {
  readonly user: string
  readonly generation: string
  readonly segment: number
}

/**
 * What the record of a segment that waits has said, from those of its core and of the segment; with the damage where
 * one of these cannot be read either. That it was asked to be indexed nothing else says: then a question indexes it.
 */
export async function waitingAnew(
  cores: Storage,
  place: Place,
  cause: LorekeepError,
): Promise<WaitingRecord & { readonly damage?: LorekeepError }> {
  const core = await coreOf(cores, place)
  const segment = await readable(async () => {
    const stored = await cores.get(segmentKey(place.generation, place.segment))
    return stored && decodeRecord<SegmentRecord>(stored)
  })
  if (core !== undefined && segment !== undefined) {
    return { core, bytes: segment.bytes, isSoon: segment.inline !== undefined }
  }
  const damage = damageOf(place, core, cause)
  return { core: core ?? '', bytes: 0, isSoon: false, damage }
}

async function coreOf(cores: Storage, { user, generation }: Place): Promise<string | undefined> {
  for await (const page of foundRecords<CoreRecord>(cores, coresOf(user))) {
    for (const { record } of page) if (record?.generation === generation) return record.id
  }
  return undefined
}

function damageOf(place: Place, id: string | undefined, cause: LorekeepError): LorekeepError {
  const { user, generation, segment } = place
  const whose = id === undefined ? `generation '${generation}'` : `core '${id}'`
  const detail = `${whose} of '${user}' cannot be indexed: its segment ${segment} waits, and neither the record of that nor those it follows from can be read`
  const key = Buffer.from(waitingKey(user, generation, segment)).toString('hex')
  const details = { partition: 'cores', key, user, ...(id !== undefined && { id }) }
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details })
}
