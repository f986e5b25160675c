// What lies in the partition `flows`: keys and the records under them. docs/format.md says what
// writes and what deletes each.

import { encodeKey, keyPrefix } from '../../keys.js'
import type { Flow, JobFailure, JobState } from '../types.js'

/**
 * A job's number: its block's, and its place in that. Numbers grow as documents come; they are the
 * order of a queue.
 */
export const slotsPerBlock = 4096

export function blockOf(number: number): number {
  return Math.floor(number / slotsPerBlock)
}

export function slotOf(number: number): number {
  return number % slotsPerBlock
}

/** Written by every commit, on condition that it is still what the commit began with. */
export interface HeadRecord {
  readonly version: number
  /** Of the commit that wrote it: two of the same version differ. */
  readonly token: string
  readonly nextBlock: number
  /** There where loads are posted, or what was posted is not all taken in. */
  readonly gate?: OpenGate
  /** The version that ended the last gate. */
  readonly closed?: number
}

/** What the head says of posts. */
export interface OpenGate {
  readonly token: string
  /** Nothing is posted any more. */
  readonly isClosed?: true
  /** Of each inbox, since the gate was opened: how many posts were taken in, and how many jobs. */
  readonly taken: readonly (readonly [posts: number, jobs: number])[]
}

/** There as long as loads may be posted: each post requires it. */
export interface GateRecord {
  /** That of the head's gate. */
  readonly token: string
}

/** What was posted to an inbox since the gate was opened. */
export interface InboxRecord {
  /** The token of the gate. */
  readonly gate: string
  /** Of the last post. */
  readonly token: string
  readonly posts: number
  readonly jobs: number
  /** The number of the last block. */
  readonly block: number
}

/** Loads of one write, as runs that are to be: their documents lie in blocks already. */
export interface PostRecord {
  readonly runs: readonly (readonly [flow: string, user: string, first: number, hashes: string])[]
}

export interface CountsRecord {
  queued: number
  delayed: number
  active: number
  /** All there were; the number of the next one. */
  done: number
  dead: number
  /** Records of done jobs that are gone: the oldest. */
  pruned: number
}

/**
 * A job that was claimed at least once: under its lease while it is active, else under its number.
 * One that never was claimed is known by its block alone.
 */
export interface JobRecord {
  readonly id: string
  readonly flow: string
  readonly user: string
  readonly document: string
  readonly collection: string
  state: JobState
  attempts: number
  /** The names of the first steps, up to the last one whose output is recorded. */
  steps: readonly string[]
  /** The places of those whose output is not. */
  unrecorded?: readonly number[]
  failures: readonly JobFailure[]
  readonly createdAt: number
  updatedAt: number
  /** Of a delayed job. */
  dueAt?: number
  /** Its document lies under a key of its own, because its block is gone or may go. */
  ownBody?: true
  superseded?: true
  /** The hash of its document's id, which could not be read, nor its own: `id` is made up. */
  readonly lost?: number
}

/**
 * An active job, and who may settle it. No clocks are compared: whoever has seen one beat for `leaseMs`
 * of its own time may take the job back.
 */
export interface LeaseRecord {
  readonly token: string
  /** The number of the renewal. */
  readonly beat: number
  readonly leaseMs: number
  /** Whose it is, of those who share the backend. */
  readonly member?: string
  readonly job: JobRecord
}

/** A step of a job that was taken away may still run where its member processed it. */
export interface EndingRecord {
  readonly member: string
  readonly user: string
  readonly document: string
}

/** The jobs that one commit completed: under the place of the first, in order of completion. */
export interface DoneRecord {
  readonly numbers: readonly number[]
}

/** The newest load of a document that was completed. */
export interface LatestRecord {
  readonly number: number
  readonly job: string
  readonly flow: string
  readonly collection: string
  readonly at: number
}

export type FlowRecord = Flow

/** A lease that was put: the user and the hash of the document's id say which document is under way. */
export type LeaseChange = readonly [
  number: number,
  user: string,
  hash: number,
  token: string,
  beat: number,
  leaseMs: number,
]

/**
 * What has become of the runs of a user: the numbers under which there are none any more, and those that were put.
 * Their hashes in base64, unless they were in one run before.
 */
export type LaneChange = readonly [
  flow: string,
  user: string,
  gone: readonly number[],
  runs: readonly (readonly [first: number, length: number, hashes?: string, again?: 1])[],
]

/** What a commit has changed of what others know, under its version. On a shared backend alone. */
export interface ChangeRecord {
  /** Of the head that it was made of, and of its own. */
  readonly before: string
  readonly token: string
  /** It has changed more than can be told here, and nothing of it is. */
  readonly isMore?: true
  /** Whose the leases are. */
  readonly member?: string
  readonly flows?: readonly (readonly [
    flow: string,
    counts: CountsRecord,
    nextDue: number | null,
  ])[]
  readonly lanes?: readonly LaneChange[]
  readonly leases?: readonly LeaseChange[]
  /** The numbers of jobs that are not under way any more. */
  readonly ended?: readonly number[]
  /** How many documents of a block are needed yet. */
  readonly left?: readonly (readonly [block: number, left: number])[]
}

/**
 * Who loads at the same time has another one each, if he can. Blocks of an inbox have numbers that leave its own
 * as the rest of the division by this, so that two never have the same.
 */
export const inboxes = 16

/** Whoever is farther behind reads all anew. */
export const keptChanges = 256

export const formatKey = () => encodeKey('format')
export const headKey = () => encodeKey('head')
export const changeKey = (version: number) => encodeKey('change', version)
export const changeKeys = () => keyPrefix('change')
export const gateKey = () => encodeKey('gate')
export const inboxKey = (inbox: number) => encodeKey('inbox', inbox)
export const postKey = (inbox: number, post: number) => encodeKey('post', inbox, post)
export const flowKey = (flow: string) => encodeKey('flow', flow)
export const flowKeys = () => keyPrefix('flow')
export const countsKey = (flow: string) => encodeKey('counts', flow)
export const countsKeys = () => keyPrefix('counts')
export const blockKey = (block: number) => encodeKey('block', block)
export const blockKeys = () => keyPrefix('block')
/** How many documents of a block are still needed; absent while all are. */
export const leftKey = (block: number) => encodeKey('left', block)
/** Queued jobs of one user whose numbers follow each other: under the first, a hash of each. */
export const runKey = (flow: string, user: string, number: number) =>
  encodeKey('run', flow, user, number)
export const runKeys = (flow: string) => keyPrefix('run', flow)
export const runKeysOf = (flow: string, user: string) => keyPrefix('run', flow, user)
export const jobKey = (number: number) => encodeKey('job', number)
export const jobKeys = () => keyPrefix('job')
export const leaseKey = (number: number) => encodeKey('lease', number)
export const leaseKeys = () => keyPrefix('lease')
export const endingKey = (number: number, token: string) => encodeKey('ending', number, token)
export const endingKeys = () => keyPrefix('ending')
/** A document of which nobody claims a job, because a member removes it. */
export const withheldKey = (user: string, document: string, member: string) =>
  encodeKey('withheld', user, document, member)
export const withheldKeys = () => keyPrefix('withheld')
export const delayedKey = (flow: string, dueAt: number, number: number) =>
  encodeKey('delayed', flow, dueAt, number)
export const delayedKeys = (flow: string) => keyPrefix('delayed', flow)
export const deadKey = (flow: string, number: number) => encodeKey('dead', flow, number)
export const deadKeys = (flow: string) => keyPrefix('dead', flow)
export const doneKey = (flow: string, place: number) => encodeKey('done', flow, place)
export const doneKeys = (flow: string) => keyPrefix('done', flow)
/** A document that is kept for its job alone, as a block of one. */
export const bodyKey = (number: number) => encodeKey('body', number)
/** The places of the steps whose output is recorded. */
export function recordedPlaces({ steps, unrecorded = [] }: JobRecord): readonly number[] {
  return [...steps.keys()].filter((place) => !unrecorded.includes(place))
}

export const outputKey = (number: number, step: number) => encodeKey('output', number, step)
/** The jobs of a document that failed, and are neither done nor cancelled yet. */
export const documentKey = (user: string, document: string, number: number) =>
  encodeKey('document', user, document, number)
export const documentKeys = (user: string, document: string) =>
  keyPrefix('document', user, document)
export const latestKey = (user: string, document: string) => encodeKey('latest', user, document)
export const latestKeys = (user: string) => keyPrefix('latest', user)
