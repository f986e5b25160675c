// What becomes of a job under way: its steps recorded, its lease renewed, its end.

import { LorekeepError } from '../../errors.js'
import type { JobFailure } from '../types.js'
import { backoff } from './backoff.js'
import { dropDocument, readAlone, readLeft } from './documents.js'
import type { Draft } from './draft.js'
import type { Hold } from './held.js'
import { leaveEnding } from './members.js'
import { eventOf, failureEventOf, fieldsOf } from './job-view.js'
import {
  blockOf,
  bodyKey,
  deadKey,
  delayedKey,
  documentKey,
  jobKey,
  latestKey,
  leaseKey,
  outputKey,
  recordedPlaces,
} from './records.js'
import type { JobRecord, LatestRecord } from './records.js'
import type { Active, FlowState } from './state.js'

const keptFailures = 20

/** @throws LorekeepError `LK_LEASE_LOST` where the job is no longer held by this token */
function held(
  draft: Draft,
  { number, token }: Hold,
): { readonly active: Active; readonly flow: FlowState } {
  const active = draft.state.active.get(number)
  const flow = active && draft.state.flows.get(active.record.flow)
  const isHeld = active?.token === token && active.member === draft.member
  if (active === undefined || flow === undefined || !isHeld) {
    throw new LorekeepError('LK_LEASE_LOST', 'it ran out, or the job was cancelled')
  }
  return { active, flow }
}

export function renew(draft: Draft, hold: Hold, leaseMs: number): void {
  const { active } = held(draft, hold)
  active.beat++
  active.leaseMs = leaseMs
  active.seenAt = draft.elapsed
  draft.putLease(active)
}

/**
 * Records what a step returned: a retry goes on behind it. What those before it returned is recorded
 * by then, or need not be.
 */
export function recordStep(
  draft: Draft,
  hold: Hold,
  steps: readonly string[],
  output: Uint8Array,
  leaseMs: number,
): void {
  const { active } = held(draft, hold)
  const { record, number } = active
  const step = steps.length - 1
  const other = steps.findIndex((name, place) => name !== record.steps[place])
  const before = recordedPlaces(record)
  const kept = before.filter((place) => place < (other < 0 ? step : other))
  for (const place of before) {
    if (place !== step && !kept.includes(place)) draft.delete(outputKey(number, place))
  }
  const unrecorded = [...steps.keys()].filter((place) => place < step && !kept.includes(place))
  active.record = { ...record, steps, updatedAt: draft.now, unrecorded }
  if (unrecorded.length === 0) delete active.record.unrecorded
  renew(draft, hold, leaseMs)
  draft.put(outputKey(number, step), output)
  draft.tell(() => ({
    type: 'step',
    ...fieldsOf(active.record, draft.now),
    step: steps[step] as string,
  }))
}

/** Ends a job whose steps have all run; `steps` are their names. */
export function complete(draft: Draft, hold: Hold, steps: readonly string[]): void | Promise<void> {
  const { active, flow } = held(draft, hold)
  // Known since the claim, unless the state was read anew meanwhile.
  if (active.record.ownBody === true || draft.state.left.has(blockOf(hold.number))) {
    finish(draft, flow, active, steps)
    return
  }
  return readLeft(draft, [hold]).then(() => finish(draft, flow, active, steps))
}

/** Ends a job well. Without `steps` it was superseded before it was processed. */
export function finish(
  draft: Draft,
  flow: FlowState,
  active: Active,
  steps: readonly string[] | undefined,
): void {
  const { number } = active
  const { id } = flow.flow
  letGo(draft, flow, active, false)
  dropOutputs(draft, number, active.record)
  dropDocument(draft, number, active.record)
  const record: JobRecord = {
    ...active.record,
    state: 'done',
    steps: steps ?? active.record.steps,
    updatedAt: draft.now,
    ...(steps === undefined && { superseded: true }),
  }
  delete record.ownBody
  delete record.unrecorded
  const { user, document, collection } = record
  draft.putRecord(jobKey(number), record)
  draft.countDone(flow, number)
  if (record.failures.length > 0) draft.delete(documentKey(user, document, number))
  if (steps !== undefined) {
    const latest: LatestRecord = { number, job: record.id, flow: id, collection, at: draft.now }
    draft.putRecord(latestKey(user, document), latest)
    const step = steps.at(-1) ?? ''
    draft.tell(() => ({ type: 'step', ...fieldsOf(active.record, draft.now), step }))
  }
  draft.tell(() => eventOf('done', record, draft.now))
}

/** A delivery that failed: another one later, or the dead letters. */
export async function fail(
  draft: Draft,
  hold: Hold,
  failure: JobFailure,
  options: FailOptions,
): Promise<'delayed' | 'dead'> {
  const { active, flow } = held(draft, hold)
  return delay(draft, flow, active, failure, options)
}

export interface FailOptions {
  readonly fraction: () => number
  /** False: it asked for no other attempt. */
  readonly mayRetry?: boolean
  /** No attempt before this time. */
  readonly notBefore?: number
  /** A step of it still runs. */
  readonly isWorking?: boolean
}

export async function delay(
  draft: Draft,
  flow: FlowState,
  active: Active,
  failure: JobFailure,
  { fraction, mayRetry = true, notBefore = 0, isWorking = false }: FailOptions,
): Promise<'delayed' | 'dead'> {
  const { number, record: found } = active
  if (!mayRetry || found.attempts >= flow.flow.maxAttempts) {
    const body = found.ownBody ? undefined : await readAlone(draft, number)
    if (body !== undefined) await readLeft(draft, [active])
    letGo(draft, flow, active, isWorking)
    let record = found
    if (body !== undefined) {
      // A block would stay for the sake of one document.
      draft.put(bodyKey(number), body)
      dropDocument(draft, number, found)
      record = { ...found, ownBody: true }
    }
    bury(draft, flow, number, record, failure)
    return 'dead'
  }
  const dueAt = Math.max(draft.now + backoff(flow.flow, found.attempts, fraction()), notBefore)
  letGo(draft, flow, active, isWorking)
  const record: JobRecord = {
    ...found,
    state: 'delayed',
    updatedAt: draft.now,
    dueAt,
    failures: [...found.failures, failure].slice(-keptFailures),
  }
  draft.count(flow).delayed++
  flow.nextDue = Math.min(flow.nextDue, dueAt)
  draft.putRecord(jobKey(number), record)
  draft.put(delayedKey(flow.flow.id, dueAt, number), nothing)
  draft.put(documentKey(record.user, record.document, number), nothing)
  draft.tell(() => failureEventOf(record, failure, draft.now))
  return 'delayed'
}

const nothing = new Uint8Array(0)

/** Among the dead letters, with the error. */
export function bury(
  draft: Draft,
  flow: FlowState,
  number: number,
  found: JobRecord,
  failure: JobFailure,
): void {
  const record: JobRecord = {
    ...found,
    state: 'dead',
    updatedAt: draft.now,
    failures: [...found.failures, failure].slice(-keptFailures),
  }
  delete record.dueAt
  draft.count(flow).dead++
  draft.putRecord(jobKey(number), record)
  draft.put(deadKey(flow.flow.id, number), nothing)
  draft.put(documentKey(record.user, record.document, number), nothing)
  draft.tell(() => failureEventOf(record, failure, draft.now))
}

/** Back to the queue, without costing an attempt: the runner stops. Without `failure` it has not begun. */
export function release(
  draft: Draft,
  hold: Hold,
  failure: JobFailure | undefined,
  isWorking: boolean,
): void {
  const { active, flow } = held(draft, hold)
  const { number } = active
  letGo(draft, flow, active, isWorking)
  const { failures } = active.record
  const record: JobRecord = {
    ...active.record,
    state: 'queued',
    attempts: active.record.attempts - 1,
    updatedAt: draft.now,
    failures: failure === undefined ? failures : [...failures, failure].slice(-keptFailures),
  }
  draft.putRecord(jobKey(number), record)
  if (failure !== undefined) {
    draft.put(documentKey(record.user, record.document, number), nothing)
  }
  draft.requeue(flow, record.user, number, record.document)
  draft.tell(() => {
    return failure === undefined
      ? eventOf('queued', record, draft.now)
      : failureEventOf(record, failure, draft.now)
  })
}

/** Ends a lease. `mayWork`: a step of it may still run, which whoever removes the document waits for. */
export function letGo(draft: Draft, flow: FlowState, active: Active, mayWork: boolean): void {
  if (mayWork) leaveEnding(draft, { ...active, ...active.record })
  draft.count(flow).active--
  draft.deactivate(active)
  draft.delete(leaseKey(active.number))
  // Jobs of the same document may have waited for this one, also in other flows.
  draft.queued.add(flow.flow.id)
  const { passed } = draft.state
  for (const id of passed) draft.queued.add(id)
  passed.clear()
}

export function dropOutputs(draft: Draft, number: number, record: JobRecord): void {
  for (const place of recordedPlaces(record)) draft.delete(outputKey(number, place))
}
