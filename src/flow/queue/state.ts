// What the queue knows without asking the storage: a head, the flows and their counts, and the jobs
// that are under way. All of it is small, and read anew in one go when somebody else has written.

import { crc32 } from 'node:zlib'
import type { Clock } from '../../clock.js'
import { LorekeepError } from '../../errors.js'
import { foundRecords, type FoundRecord } from '../../found-records.js'
import { decodeRecord } from '../../record.js'
import { decodeKey } from '../../keys.js'
import type { Entry, Range, Storage } from '../../storage.js'
import { loadHeld, type Held } from './held.js'
import { Lanes } from './lanes.js'
import { countsKeys, delayedKeys, flowKeys, headKey, leaseKeys } from './records.js'
import type { CountsRecord, FlowRecord, HeadRecord, JobRecord, LeaseRecord } from './records.js'

export interface FlowState {
  flow: FlowRecord
  counts: CountsRecord
  /** No delayed job is due before. */
  nextDue: number
  readonly lanes: Lanes
}

/** Who processes a job, here or in another process. */
export interface Lease {
  readonly number: number
  readonly user: string
  /** Of the document. */
  readonly hash: number
  readonly token: string
  beat: number
  leaseMs: number
  /** Whose it is, of those who share the backend. */
  readonly member: string | undefined
  /** Since when this beat is known here, on the clock's elapsed(). */
  seenAt: number
}

/** A job under way. */
export interface Active extends Lease {
  record: JobRecord
}

/** When a lease has run out, as it is seen here. */
export function lapsesAt({ seenAt, leaseMs }: Lease): number {
  return seenAt + leaseMs
}

/** All that are known. */
export function leasesOf({ active, others }: Pick<State, 'active' | 'others'>): Lease[] {
  return [...active.values(), ...others.values()]
}

export interface State {
  head: HeadRecord
  headBytes: Uint8Array
  nextBlock: number
  readonly flows: Map<string, FlowState>
  readonly active: Map<number, Active>
  /** Those that others have claimed or renewed since the state was read: their records are read where they are wanted. */
  readonly others: Map<number, Lease>
  /** Jobs under way whose leases are damaged: whoever has the storage alone takes them over. */
  readonly lost: Set<number>
  /** The documents under way: at most one job of each. */
  readonly busy: Set<string>
  /** Flows that have passed over one of these: the end of a job may be what they wait for. */
  readonly passed: Set<string>
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

interface Known {
  /** The state that this one takes the place of, and since when it knows of leases. */
  readonly before?: State
  /** The head, where it was read, and nothing else since: what is read behind it is as new, or its writes are refused. */
  readonly head?: Uint8Array | undefined
}

/**
 * What is in storage, read at once as far as it is known what there is.
 * @throws LorekeepError `LK_STORAGE_*`
 */
export async function loadState(
  storage: Storage,
  clock: Pick<Clock, 'elapsed'>,
  { before, head: seenHead }: Known = {},
): Promise<State> {
  const headBytes = seenHead ?? (await storage.get(headKey()))
  if (headBytes === undefined) throw new LorekeepError('LK_STORAGE_CORRUPT', 'the head is gone')
  const head = decodeRecord<HeadRecord>(headBytes)
  const lanes = new Map<string, Lanes>()
  const dues = new Map<string, Promise<number>>()
  const recalls: Promise<void>[] = []
  for (const [id, known] of before?.flows ?? []) {
    const recalled = new Lanes(id, known.lanes)
    lanes.set(id, recalled)
    dues.set(id, firstDue(storage, id))
    // Who has claimed goes on to claim.
    if (known.lanes.served !== undefined) recalls.push(recalled.recall(storage))
  }
  const [held, flowRecords, countRecords, leases] = await Promise.all([
    loadHeld(storage),
    entriesOf(storage, flowKeys()),
    entriesOf(storage, countsKeys()),
    leasesIn(storage),
    ...dues.values(),
    ...recalls,
  ])
  // Not before they were read: they may have been renewed until then.
  const now = clock.elapsed()
  const state: State = {
    head,
    headBytes,
    nextBlock: head.nextBlock,
    flows: new Map(),
    active: new Map(),
    others: new Map(),
    lost: new Set(),
    busy: new Set(),
    passed: new Set(),
    left: new Map(),
    held,
  }
  const counts = new Map(
    countRecords.map(({ key, value }) => {
      return [decodeKey(key)[1] as string, decodeRecord<CountsRecord>(value)]
    }),
  )
  for (const { value } of flowRecords) {
    const flow = decodeRecord<FlowRecord>(value)
    state.flows.set(flow.id, {
      flow,
      counts: counts.get(flow.id) ?? noCounts(),
      nextDue: await (dues.get(flow.id) ?? firstDue(storage, flow.id)),
      lanes: lanes.get(flow.id) ?? new Lanes(flow.id),
    })
  }
  for (const { key, record: found, damage } of leases) {
    const number = decodeKey(key)[1] as number
    if (damage !== undefined) {
      if (storage.sharing !== undefined) throw damage
      state.lost.add(number)
      continue
    }
    const { token, beat, leaseMs, member, job: record } = found
    const hash = hashOf(record.document)
    const known = before?.active.get(number) ?? before?.others.get(number)
    const isKnown = known?.token === token && known.beat === beat
    const seenAt = isKnown ? known.seenAt : now
    const lease = { token, beat, leaseMs, member, seenAt }
    state.active.set(number, { number, user: record.user, hash, record, ...lease })
    state.busy.add(documentName(record.user, hash))
  }
  return state
}

async function entriesOf(storage: Storage, range: Range): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const page of storage.scan(range)) entries.push(...page)
  return entries
}

async function leasesIn(storage: Storage): Promise<readonly FoundRecord<LeaseRecord>[]> {
  const found: FoundRecord<LeaseRecord>[] = []
  for await (const page of foundRecords<LeaseRecord>(storage, leaseKeys())) found.push(...page)
  return found
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
