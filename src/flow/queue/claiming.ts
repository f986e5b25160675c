// Claims: whose turn it is, what is due again, and which leases have run out.

import { isDamage, readRecords } from '../../damage.js'
import type { LorekeepError } from '../../errors.js'
import { decodeKey } from '../../keys.js'
import type { JobFailure } from '../types.js'
import { backoff, maxAskedWaitMs } from './backoff.js'
import type { StoredDocument } from './block.js'
import { liesAlone, readDocuments, readLeft } from './documents.js'
import type { Draft } from './draft.js'
import { eventOf } from './job-view.js'
import type { Turn } from './lanes.js'
import { damageFailure, madeUp, newRecord, ofRecord, unreadableOf } from './lost-jobs.js'
import { delayedKey, delayedKeys, jobKey, latestKey, leaseKey } from './records.js'
import type { JobRecord, LatestRecord } from './records.js'
import { bury, delay, finish } from './settling.js'
import { activeJobs } from './under-way.js'
import { documentName, hashOf, lapsesAt, leasesOf } from './state.js'
import type { Active, FlowState } from './state.js'

/** A job in the hands of whoever has its token. */
export interface Claimed {
  readonly number: number
  readonly token: string
  /** Who claimed it, of those who share the backend. */
  readonly member: string | undefined
  readonly record: JobRecord
  readonly document: StoredDocument
}

export interface Claims {
  readonly jobs: readonly Claimed[]
  /** There may be more to claim at once. */
  readonly more: boolean
}

const duePerClaim = 256
/** Of the jobs of a claim, those whose documents are read ahead. */
export const timesAhead = 4

interface ClaimOptions {
  /** At most so many jobs. */
  readonly turns: number
  readonly leaseMs: number
  readonly createToken: () => string
  /** Documents, by documentName(), that are not to be processed now. */
  readonly withheld: { readonly has: (name: string) => boolean }
}

/** Takes jobs of a flow; none of a flow that is not active. */
export async function claim(
  draft: Draft,
  id: string,
  { turns, leaseMs, createToken, withheld }: ClaimOptions,
): Promise<Claims> {
  const flow = draft.state.flows.get(id)
  if (flow === undefined || !flow.flow.active || turns < 1) return { jobs: [], more: false }
  if (flow.lanes.lacks) await flow.lanes.fill(draft, turns)
  const promoted = flow.nextDue <= draft.now && (await promote(draft, flow))
  const { busy, passed, held } = draft.state
  const others = [...held.withheld.values()].map(({ user, document }) => {
    return documentName(user, hashOf(document))
  })
  const taken = flow.lanes.take(turns, (user, hash) => {
    const name = documentName(user, hash)
    if (busy.has(name)) {
      passed.add(id)
      return false
    }
    if (withheld.has(name) || others.includes(name)) return false
    busy.add(name)
    return true
  })
  // Where what is in memory may not run now, the rest may.
  const more = promoted || taken.length === turns || flow.lanes.lacks
  if (taken.length === 0) return { jobs: [], more }
  draft.count(flow).queued -= taken.length
  flow.lanes.write(draft)
  const found = await lookUp(draft, id, taken)
  // The next claim finds them in memory; others may be first with some of those jobs.
  if (draft.isShared) draft.blocks.readAhead(flow.lanes.blocksAhead(timesAhead * turns))
  const jobs: Claimed[] = []
  for (const job of found) {
    const { turn, record, document, latest } = job
    const { number, hash } = turn
    if (record === undefined || document === undefined || isDamage(latest)) {
      busy.delete(documentName(turn.user, hash))
      buryUnreadable(draft, flow, job)
      continue
    }
    const token = createToken()
    const seenAt = draft.elapsed
    const lease = { token, beat: 1, leaseMs, member: draft.member, seenAt }
    const active: Active = { number, user: turn.user, hash, record, ...lease }
    draft.count(flow).active++
    draft.activate(active)
    if (latest !== undefined && latest.number > number) {
      finish(draft, flow, active, undefined)
      continue
    }
    record.attempts++
    record.state = 'active'
    record.updatedAt = draft.now
    delete record.dueAt
    if (turn.again) draft.delete(jobKey(number))
    draft.putLease(active)
    draft.tell(() => eventOf('active', record, draft.now))
    // The record lives on, and what is told of it now stays as it is.
    jobs.push({ number, token, member: draft.member, record: { ...record }, document })
  }
  return { jobs, more: more || jobs.length < taken.length }
}

/** Puts jobs whose wait is over back into their lanes. False where there were none. */
async function promote(draft: Draft, flow: FlowState): Promise<boolean> {
  const { id } = flow.flow
  const due: { readonly dueAt: number; readonly number: number }[] = []
  let nextDue = Infinity
  for await (const page of draft.scan({
    ...delayedKeys(id),
    keysOnly: true,
    limit: duePerClaim + 1,
  })) {
    for (const { key } of page) {
      const [, , dueAt, number] = decodeKey(key) as [string, string, number, number]
      if (dueAt > draft.now || due.length === duePerClaim) {
        nextDue = dueAt
        break
      }
      due.push({ dueAt, number })
    }
    if (nextDue !== Infinity) break
  }
  const known = await knownOf(draft, due)
  const lost: KnownJob[] = []
  for (const [place, { dueAt, number }] of due.entries()) {
    draft.delete(delayedKey(id, dueAt, number))
    draft.count(flow).delayed--
    // As many as are due.
    const job = known[place]!
    if (job.record === undefined) lost.push(job)
    else wake(draft, flow, number, job.record)
  }
  await buryLost(draft, flow, lost)
  flow.nextDue = nextDue
  return due.length > 0
}

/** Back into its lane, where it is one of the first of its user's in most cases. */
export function wake(draft: Draft, flow: FlowState, number: number, record: JobRecord): void {
  record.state = 'queued'
  record.updatedAt = draft.now
  delete record.dueAt
  draft.putRecord(jobKey(number), record)
  draft.requeue(flow, record.user, number, record.document)
}

/** Of a job that was claimed before. */
interface KnownJob {
  readonly number: number
  /** `undefined` where it is gone, or damaged. */
  readonly record: JobRecord | undefined
  /** Known without the record, too: a document that lies by itself has given up its place in its block. */
  readonly ownBody: boolean
}

async function knownOf(
  draft: Draft,
  jobs: readonly { readonly number: number }[],
): Promise<readonly KnownJob[]> {
  const keys = jobs.map(({ number }) => jobKey(number))
  const records = await readRecords<JobRecord>(draft, keys)
  const known: KnownJob[] = []
  for (const [place, { number }] of jobs.entries()) {
    const found = records[place]
    const record = isDamage(found) ? undefined : found
    const ownBody = record === undefined ? await liesAlone(draft, number) : record.ownBody === true
    known.push({ number, record, ownBody })
  }
  return known
}

/** What is there of a job whose turn it is: what is gone, or damaged, is `undefined`. */
interface FoundJob {
  readonly turn: Turn
  readonly record: JobRecord | undefined
  readonly ownBody: boolean
  readonly document: StoredDocument | undefined
  readonly latest: LatestRecord | LorekeepError | undefined
}

async function lookUp(
  draft: Draft,
  flow: string,
  turns: readonly Turn[],
): Promise<readonly FoundJob[]> {
  const known = await knownOf(
    draft,
    turns.filter((turn) => turn.again),
  )
  const before = new Map(known.map((job) => [job.number, job]))
  const asked = turns.map(({ number }) => before.get(number) ?? { number, ownBody: false })
  const read = await readDocuments(draft, asked)
  // Another's would be processed under this one's lease, and its text told to this one's user.
  const documents = read.map((found, place) => {
    return found && isOfTurn(found, flow, turns[place]!) ? found : undefined
  })
  const names = turns.map(({ user, number }, place) => {
    return latestKey(user, documents[place]?.document ?? before.get(number)?.record?.document ?? '')
  })
  const [latest] = await Promise.all([
    readRecords<LatestRecord>(draft, names),
    readLeft(
      draft,
      asked.filter(({ ownBody }) => !ownBody),
    ),
  ])
  return turns.map((turn, place) => {
    const document = documents[place]
    const job = before.get(turn.number)
    const record = turn.again ? job?.record : document && newRecord(document)
    return { turn, record, ownBody: job?.ownBody === true, document, latest: latest[place] }
  })
}

function isOfTurn(found: StoredDocument, flow: string, { user, hash }: Turn): boolean {
  return found.flow === flow && found.user === user && hashOf(found.document) === hash
}

/** What cannot be read is no reason to stop the others. What is not known of a job is made up. */
function buryUnreadable(
  draft: Draft,
  flow: FlowState,
  { turn, record: known, ownBody, document, latest }: FoundJob,
): void {
  const { number, user } = turn
  // One that was never claimed has none.
  const lacksRecord = known === undefined && turn.again
  const unreadable = unreadableOf({ document }, ...(lacksRecord ? [ofRecord] : []))
  if (isDamage(latest)) {
    unreadable.push('which load of the document was processed last')
    const name = (known ?? document)?.document
    // A newer load may have been processed, in this flow or in another: whoever retries says that it was not.
    if (name !== undefined) draft.delete(latestKey(user, name))
  }
  const remains = { ...turn, flow: flow.flow.id, document, ownBody }
  const record = known ?? madeUp(remains, draft.now)
  const failure = damageFailure(unreadable, placeOf(draft, flow, record))
  bury(draft, flow, number, record, failure)
}

/** Jobs without a record, of which their documents may tell. */
async function buryLost(draft: Draft, flow: FlowState, jobs: readonly KnownJob[]): Promise<void> {
  const documents = await readDocuments(draft, jobs)
  for (const [place, { number, record, ownBody }] of jobs.entries()) {
    const turn = { number, user: '', hash: 0, again: true }
    const document = documents[place]
    buryUnreadable(draft, flow, { turn, record, ownBody, document, latest: undefined })
  }
}

/** When a delivery ended, which one it was, and before which step. */
function placeOf(draft: Draft, { flow }: FlowState, { attempts, steps }: JobRecord) {
  const step = flow.steps[steps.length]?.name ?? ''
  return { at: new Date(draft.now).toISOString(), attempt: attempts, step }
}

/**
 * Takes jobs back whose lease has run out: whoever held them has crashed, or hangs. Of another member's only if that
 * is `gone`.
 */
export function reap(
  draft: Draft,
  fraction: () => number,
  gone: ReadonlySet<string>,
): Promise<number> {
  const lapsed = leasesOf(draft.state).filter((lease) => {
    const { member } = lease
    if (member === undefined || member === draft.member) return lapsesAt(lease) <= draft.elapsed
    return gone.has(member)
  })
  return activeJobs(draft, lapsed).then((jobs) =>
    takeBack(draft, jobs, fraction, ({ leaseMs }) => {
      return `its lease of ${leaseMs} ms ran out: whoever processed it has ended, or stood still`
    }),
  )
}

/** Takes all jobs back that are under way: whoever held them had the store before, and has ended. */
export async function takeOver(draft: Draft, fraction: () => number): Promise<void> {
  await takeBack(draft, [...draft.state.active.values()], fraction, () => {
    return 'whoever processed it has ended: the store was opened anew'
  })
  for (const number of draft.state.lost) await buryUnderWay(draft, number)
  draft.state.lost.clear()
}

/** A job whose lease is damaged, once all others are taken back. */
async function buryUnderWay(draft: Draft, number: number): Promise<void> {
  draft.delete(leaseKey(number))
  const ownBody = await liesAlone(draft, number)
  const [document] = await readDocuments(draft, [{ number, ownBody }])
  const { flows } = draft.state
  const isCounted = ({ flow, counts }: FlowState) => {
    return counts.active > 0 && (document === undefined || document.flow === flow.id)
  }
  const flow = [...flows.values()].find(isCounted)
  if (flow === undefined) return
  draft.count(flow).active--
  const remains = { number, flow: flow.flow.id, document, ownBody }
  const record = madeUp(remains, draft.now)
  const unreadable = unreadableOf(remains, 'the lease of the job')
  bury(draft, flow, number, record, damageFailure(unreadable, placeOf(draft, flow, record)))
}

async function takeBack(
  draft: Draft,
  jobs: readonly Active[],
  fraction: () => number,
  messageOf: (active: Active) => string,
): Promise<number> {
  let taken = 0
  for (const active of jobs) {
    const { record, number } = active
    const flow = draft.state.flows.get(record.flow)
    if (flow === undefined) continue
    const failure: JobFailure = {
      ...placeOf(draft, flow, record),
      cause: 'crashed',
      message: messageOf(active),
    }
    // Of others nothing can be written any more.
    const isWorking = active.member === draft.member
    await delay(draft, flow, active, failure, { fraction, isWorking })
    draft.cancelled.push(number)
    taken++
  }
  return taken
}

/**
 * Jobs that are due later than any wait takes were delayed by a clock that was ahead of this one:
 * they wait as after their last attempt. Some at a time; returns how many there were.
 */
export async function hasten(draft: Draft, id: string, fraction: () => number): Promise<number> {
  const flow = draft.state.flows.get(id)
  if (flow === undefined) return 0
  const latest = draft.now + Math.max(flow.flow.maxDelayMs, maxAskedWaitMs)
  const { lt } = delayedKeys(id)
  const late: { readonly dueAt: number; readonly number: number }[] = []
  const range = { gte: delayedKey(id, latest + 1, 0), lt, keysOnly: true, limit: duePerClaim }
  for await (const page of draft.scan(range)) {
    for (const { key } of page) {
      const [, , dueAt, number] = decodeKey(key) as [string, string, number, number]
      late.push({ dueAt, number })
    }
  }
  const known = await knownOf(draft, late)
  const lost: KnownJob[] = []
  for (const [place, { dueAt, number }] of late.entries()) {
    draft.delete(delayedKey(id, dueAt, number))
    // As many as are late.
    const job = known[place]!
    const { record } = job
    if (record === undefined) {
      draft.count(flow).delayed--
      lost.push(job)
      continue
    }
    record.dueAt = draft.now + backoff(flow.flow, record.attempts, fraction())
    record.updatedAt = draft.now
    draft.putRecord(jobKey(number), record)
    draft.put(delayedKey(id, record.dueAt, number), nothing)
    flow.nextDue = Math.min(flow.nextDue, record.dueAt)
  }
  await buryLost(draft, flow, lost)
  return late.length
}

const nothing = new Uint8Array(0)
