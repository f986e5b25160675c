// What a record has to be before anything is made of it: its bytes may be those of something else.

import { isCarrier } from '../carrier.js'
import { isUtf8 } from 'node:buffer'
import { flowNumbers } from '../definition.js'
import { isCount, isKeyText } from '../../verify/shapes.js'
import { numberIn, type StoredDocument } from '../queue/block.js'
import {
  inboxes,
  slotOf,
  slotsPerBlock,
  type CountsRecord,
  type FlowRecord,
  type HeadRecord,
  type InboxRecord,
  type JobRecord,
  type LatestRecord,
  type LeaseRecord,
  type OpenGate,
  type PostRecord,
} from '../queue/records.js'
import { noCounts } from '../queue/state.js'
import type { JobState } from '../types.js'

const states: ReadonlySet<JobState> = new Set(['queued', 'delayed', 'active', 'done', 'dead'])

export function isFlow(flow: FlowRecord): boolean {
  const { id, active, steps } = flow
  return (
    typeof id === 'string' &&
    typeof active === 'boolean' &&
    Array.isArray(steps) &&
    steps.every((step) => typeof step?.name === 'string') &&
    Object.entries(flowNumbers).every(([name, { least, most }]) => {
      const value = flow[name as keyof typeof flowNumbers]
      return isCount(value) && value >= least && value <= most
    })
  )
}

export function isCounts(counts: CountsRecord | undefined): counts is CountsRecord {
  return counts !== undefined && Object.keys(noCounts()).every((n) => isCount(counts[n as 'done']))
}

export function isJob(job: JobRecord | undefined): job is JobRecord {
  if (typeof job !== 'object' || job === null) return false
  const texts = [job.id, job.flow, job.user, job.document, job.collection]
  return (
    texts.every(isKeyText) &&
    states.has(job.state) &&
    isCount(job.attempts) &&
    Array.isArray(job.steps) &&
    job.steps.every(isKeyText) &&
    (job.unrecorded === undefined || arePlaces(job.unrecorded, job.steps)) &&
    Array.isArray(job.failures) &&
    Number.isFinite(job.createdAt) &&
    Number.isFinite(job.updatedAt) &&
    (job.dueAt === undefined || isCount(job.dueAt))
  )
}

export function isLease(lease: LeaseRecord): boolean {
  const { token, beat, leaseMs, job } = lease
  return typeof token === 'string' && isCount(beat) && isCount(leaseMs) && isJob(job)
}

/** Places of some of the steps, ascending. The last one is recorded. */
function arePlaces(places: unknown, steps: readonly string[]): boolean {
  if (!Array.isArray(places)) return false
  return places.every((place: unknown, at) => {
    return isCount(place) && place < steps.length - 1 && (at === 0 || place > places[at - 1])
  })
}

/** The record of the newest load of a document, of a job of that number. */
export function isLatest(latest: LatestRecord | undefined): latest is LatestRecord {
  const { number, job, flow, collection, at } = latest ?? {}
  return (
    isCount(number) &&
    isKeyText(job) &&
    isKeyText(flow) &&
    isKeyText(collection) &&
    Number.isFinite(at) &&
    numberIn(job) === number
  )
}

/** Whether that job is the load that the record of a document's newest one names. */
export function isLoadOf(
  { id, state, superseded, ...job }: JobRecord,
  latest: LatestRecord,
  user: string,
  document: string,
): boolean {
  return (
    id === latest.job &&
    state === 'done' &&
    superseded !== true &&
    job.user === user &&
    job.document === document &&
    job.flow === latest.flow
  )
}

export function isDocument(stored: StoredDocument): boolean {
  return isNamed(stored) && hasText(stored)
}

/** The bytes of some files are no text. */
export function hasText({ type, text }: Pick<StoredDocument, 'type' | 'text'>): boolean {
  const isText = type === undefined || type.startsWith('text/') || type === 'application/json'
  return !isText || isUtf8(text)
}

/** Whether all of a document but its text may be what it is. */
export function isNamed({ metadata, title = '', type = '', ...stored }: StoredDocument): boolean {
  const { flow, user, document, collection, carrier } = stored
  const names = [flow, user, document, collection, title, type]
  if (carrier !== undefined && !isCarrier(carrier)) return false
  return names.every(isKeyText) && Array.isArray(metadata)
}

/** A run of queued jobs: flag and hashes, of numbers that lie in one block. */
export function isRun(number: number, value: Uint8Array): boolean {
  const jobs = (value.length - 1) / 4
  const again = value[0] === 1
  const isIt = Number.isInteger(jobs) && jobs > 0 && (value[0] === 0 || (again && jobs === 1))
  return isIt && slotOf(number) + jobs <= slotsPerBlock
}

export function isHead(head: HeadRecord | undefined): head is HeadRecord {
  const { nextBlock, version, token, gate, closed } = head ?? {}
  const isBlock = isCount(nextBlock) && isCount(nextBlock * slotsPerBlock)
  const isKnown = isBlock && isCount(version) && isKeyText(token)
  if (!isKnown || !(closed === undefined || isCount(closed))) return false
  return gate === undefined || isGate(gate)
}

function isGate({ token, taken, isClosed }: OpenGate): boolean {
  if (isClosed !== undefined && isClosed !== true) return false
  if (!isKeyText(token) || !Array.isArray(taken) || taken.length !== inboxes) return false
  return taken.every((pair: unknown) => {
    return Array.isArray(pair) && pair.length === 2 && pair.every(isCount)
  })
}

export function isInbox(inbox: InboxRecord | undefined): inbox is InboxRecord {
  const { gate, token, posts, jobs, block } = inbox ?? {}
  return isKeyText(gate) && isKeyText(token) && [posts, jobs, block].every(isCount)
}

export function isPost(post: PostRecord | undefined): post is PostRecord {
  const runs: unknown = post?.runs
  if (!Array.isArray(runs) || runs.length === 0) return false
  return runs.every((run: unknown) => {
    if (!Array.isArray(run)) return false
    const [flow, user, first, hashes] = run as unknown[]
    if (!isKeyText(flow) || !isKeyText(user) || !isCount(first)) return false
    if (typeof hashes !== 'string') return false
    return isRun(first, Buffer.concat([Buffer.of(0), Buffer.from(hashes, 'base64')]))
  })
}
