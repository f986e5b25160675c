// What the queue knows without asking the storage: a head, the flows and their counts, and the jobs
// that are under way. All of it is small, and read anew in one go when somebody else has written.

import { crc32 } from 'node:zlib'
import type { Clock } from '../../clock.js'
import { decodeRecord } from '../../record.js'
import { LorekeepError } from '../../errors.js'
import { decodeKey } from '../../keys.js'
import type { Storage } from '../../storage.js'
import { loadHeld, type Held } from './held.js'
import { Lanes } from './lanes.js'
import { countsKey, delayedKeys, flowKeys, headKey, leaseKeys } from './records.js'
import type { CountsRecord, FlowRecord, HeadRecord, JobRecord, LeaseRecord } from './records.js'

export interface FlowState {
  flow: FlowRecord
  counts: CountsRecord
  /** No delayed job is due before. */
  nextDue: number
  readonly lanes: Lanes
}

/** A job under way, here or in another process. */
export interface Active {
  readonly number: number
  readonly hash: number
  record: JobRecord
  readonly token: string
  beat: number
  leaseMs: number
  /** Whose it is, of those who share the backend. */
  readonly member: string | undefined
  /** Since when this beat is known here, on the clock's elapsed(). */
  seenAt: number
}

/** When a lease has run out, as it is seen here. */
export function lapsesAt({ seenAt, leaseMs }: Active): number {
  return seenAt + leaseMs
}

export interface State {
  head: HeadRecord
  headBytes: Uint8Array
  nextBlock: number
  readonly flows: Map<string, FlowState>
  readonly active: Map<number, Active>
  /** The documents under way: at most one job of each. */
  readonly busy: Set<string>
  /** How many documents of a block are still needed, of the blocks with jobs under way. */
  readonly left: Map<number, number>
  readonly held: Held
}

export const noCounts = (): CountsRecord => ({
  queued: 0,
  delayed: 0,
  active: 0,
  done: 0,
  dead: 0,
  pruned: 0,
})

/**
 * What is in storage. `before`: the state that it takes the place of, and since when it knows of leases.
 * @throws LorekeepError `LK_STORAGE_*`
 */
export async function loadState(
  storage: Storage,
  clock: Pick<Clock, 'elapsed'>,
  before?: State,
): Promise<State> {
  const headBytes = await storage.get(headKey())
  if (headBytes === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  const head = decodeRecord<HeadRecord>(headBytes)
  const state: State = {
    head,
    headBytes,
    nextBlock: head.nextBlock,
    flows: new Map(),
    active: new Map(),
    busy: new Set(),
    left: new Map(),
    held: await loadHeld(storage),
  }
  for await (const page of storage.scan(flowKeys())) {
    for (const { value } of page) {
      const flow = decodeRecord<FlowRecord>(value)
      const counts = await storage.get(countsKey(flow.id))
      state.flows.set(flow.id, {
        flow,
        counts: counts === undefined ? noCounts() : decodeRecord(counts),
        nextDue: await firstDue(storage, flow.id),
        lanes: new Lanes(flow.id, before?.flows.get(flow.id)?.lanes.served),
      })
    }
  }
  for await (const page of storage.scan(leaseKeys())) {
    // Not before it was read: it may have been renewed until then.
    const now = clock.elapsed()
    for (const { key, value } of page) {
      const number = decodeKey(key)[1] as number
      const { token, beat, leaseMs, member, job: record } = decodeRecord<LeaseRecord>(value)
      const hash = hashOf(record.document)
      const known = before?.active.get(number)
      const isKnown = known?.token === token && known.beat === beat
      const seenAt = isKnown ? known.seenAt : now
      const lease = { token, beat, leaseMs, member, seenAt }
      state.active.set(number, { number, hash, record, ...lease })
      state.busy.add(documentName(record.user, hash))
    }
  }
  return state
}

async function firstDue(storage: Storage, flow: string): Promise<number> {
  for await (const [first] of storage.scan({ ...delayedKeys(flow), keysOnly: true, limit: 1 })) {
    if (first !== undefined) return decodeKey(first.key)[2] as number
  }
  return Infinity
}

/** Of a document's id, in 32 bits. Two of one hash are not processed at the same time. */
export function hashOf(document: string): number {
  return crc32(document)
}

export function documentName(user: string, hash: number): string {
  return `${hash} ${user}`
}
