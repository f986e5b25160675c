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
  const { generation, segment: n, content, damage } = waiting
  if (content !== undefined) {
    yield content
    return
  }
  if (damage !== undefined) throw damage
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

/** Gives the bytes of a segment, whole. */
export type ReadSegment = (waiting: Waiting) => AsyncIterable<Uint8Array>

/**
 * Segments that are read beside the one that is wanted. Each is two reads, which are round trips where the storage is a
 * server: one by one, 150 segments of others took 2 to 4 s of a question, in which as many came again. Tests make it
 * small.
 */
export const mostAhead = { segments: 16 }
/** Larger ones are read when it is their turn. */
const largestAhead = 64 * 1024

/** Reads segments that are wanted one after the other. */
export class SegmentsAhead {
  readonly #segments: readonly Waiting[]
  readonly #read: ReadSegment
  readonly #ahead = new Map<Waiting, Promise<readonly Uint8Array[]>>()
  #next = 0

  constructor(segments: readonly Waiting[], read: ReadSegment) {
    this.#segments = segments
    this.#read = read
  }

  /** To be called for each of the segments, in their order. */
  async *read(waiting: Waiting): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#next < this.#segments.length && this.#ahead.size <= mostAhead.segments) {
      const one = this.#segments[this.#next++] as Waiting
      const isRead = one.content === undefined && one.bytes <= largestAhead
      if (isRead) this.#ahead.set(one, whole(this.#read(one)))
    }
    const slices = this.#ahead.get(waiting)
    this.#ahead.delete(waiting)
    yield* slices === undefined ? this.#read(waiting) : await slices
  }

  /** Resolves when nothing is read any more, whatever came of it. No more may be read. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#ahead.values())
  }
}

/** It may fail before anybody waits for it. */
function whole(slices: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const reading = (async () => {
    const all: Uint8Array[] = []
    for await (const slice of slices) all.push(slice)
    return all
  })()
  reading.catch(() => undefined)
  return reading
}

function damaged({ user, core: id }: Waiting, reason: string, cause?: unknown): LorekeepError {
  const detail = `core '${id}' of '${user}' cannot be indexed: ${reason}`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, { cause, details: { user, id } })
}
