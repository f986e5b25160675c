import { hasCode, LorekeepError } from '../../errors.js'
import { decodeRecord } from '../../record.js'
import type { Storage } from '../../storage.js'
import { deletedMeanwhile } from '../../presence.js'
import { segmentKey, waitingKey, type SegmentRecord } from '../records.js'
import { segmentSlices } from '../segment-bytes.js'
import type { Waiting } from './library.js'

/**
 * The bytes of a segment that waits; `isShared` where others may delete it who take this process for dead.
 * @throws LorekeepError `LK_STORAGE_CORRUPT`, which names the core, where they are not there
 */
export async function* readWaiting(
  places: { readonly cores: Storage; readonly slices: Storage },
  waiting: Waiting,
  isShared: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { generation, segment: n, content } = waiting
  if (content !== undefined) {
    yield content
    return
  }
  try {
    const stored = await places.cores.get(segmentKey(generation, n))
    if (stored === undefined) throw damaged(waiting, 'it lacks a segment')
    const segment = decodeRecord<SegmentRecord>(stored)
    yield* segmentSlices(places, { generation, n, segment })
  } catch (cause) {
    if (!hasCode(cause, 'LK_STORAGE_CORRUPT')) throw cause
    const key = waitingKey(waiting.user, generation, n)
    const isGone = isShared && (await places.cores.get(key)) === undefined
    if (isGone) throw deletedMeanwhile(cause)
    if (cause.details['id'] !== undefined) throw cause
    throw damaged(waiting, cause.message, cause)
  }
}

function damaged({ user, core: id }: Waiting, reason: string, cause?: unknown): LorekeepError {
  const detail = `core '${id}' of '${user}' cannot be indexed: ${reason}`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details: { user, id } })
}
