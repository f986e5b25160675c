// Which jobs are looked for, and what the places have in common in which they lie.

import { decodeKey } from '../../keys.js'
import { isWithin, type TimeRange } from '../../time-range.js'
import { isOwn, type Scope } from '../../scope.js'
import type { Range } from '../../storage.js'
import type { Job, JobState } from '../types.js'
import type { Draft } from './draft.js'

/** Which jobs. What is left out does not matter. */
export interface JobSearch {
  readonly flow?: string | undefined
  readonly states: ReadonlySet<JobState>
  readonly scope: Scope
  readonly user?: string | undefined
  readonly document?: string | undefined
  readonly collection?: string | undefined
  /** In small letters: some of what the last failure says, in letters of any size. */
  readonly error?: string | undefined
  /** In milliseconds since 1970, from one and before the other. */
  readonly created?: TimeRange | undefined
  readonly updated?: TimeRange | undefined
  /** The newest first. */
  readonly isReverse: boolean
}

export interface FoundJob {
  readonly number: number
  readonly job: Job
}

/** What one place has of them: all up to the number `end`, or all there is. */
export interface Part {
  readonly found: readonly FoundJob[]
  readonly end: number | undefined
}

/** What is read in one go: others wait to commit meanwhile. */
export interface LookSizes {
  readonly entries: number
  readonly blocks: number
  /** Of these blocks, but for the last one. */
  readonly bytes: number
  /**
   * What lies in another order is sorted in memory, for each look: delayed jobs, which lie in the order in which they
   * are due, and runs, which lie by their users.
   */
  readonly sorted: number
}

export const lookSizes: LookSizes = {
  entries: 512,
  blocks: 128,
  bytes: 4 * 1024 ** 2,
  sorted: 1000,
}

export const none: Part = { found: [], end: undefined }

export interface Place {
  readonly draft: Draft
  readonly search: JobSearch
  readonly flows: readonly string[]
  readonly after: number | undefined
  readonly most: number
  readonly sizes: LookSizes
}

export function isBefore({ isReverse }: JobSearch, a: number, b: number): boolean {
  return isReverse ? a > b : a < b
}

export function isBehind({ search, after }: Place, number: number): boolean {
  return after === undefined || isBefore(search, after, number)
}

export function partOf({ search }: Place, found: readonly FoundJob[], end?: number): Part {
  return { found: found.filter(({ job }) => fits(job, search)), end }
}

/** Keys of numbers behind the place, up to a last one. */
export function rangeBehind(
  { search: { isReverse: reverse }, after }: Place,
  bounds: { readonly gt: Uint8Array; readonly lt: Uint8Array },
  keyOf: (number: number) => Uint8Array,
  last?: number,
): Range {
  const behind = after === undefined ? undefined : keyOf(after)
  const end = last === undefined ? undefined : keyOf(last)
  if (reverse)
    return { ...(end ? { gte: end } : { gt: bounds.gt }), lt: behind ?? bounds.lt, reverse }
  return { gt: behind ?? bounds.gt, ...(end ? { lte: end } : { lt: bounds.lt }) }
}

export async function numbersIn(draft: Draft, range: Range): Promise<number[]> {
  const numbers: number[] = []
  for await (const page of draft.scan({ ...range, keysOnly: true })) {
    for (const { key } of page) numbers.push(lastOf(key))
  }
  return numbers
}

export function lastOf(key: Uint8Array): number {
  return decodeKey(key).at(-1) as number
}

export function userOf({ user, scope }: JobSearch): string | undefined {
  return user ?? scope.user
}

export function fits(job: Job, search: JobSearch): boolean {
  const { flow, states, scope, user, document, collection, error, created, updated } = search
  if (!isOwn(scope, job) || !states.has(job.state)) return false
  if (flow !== undefined && job.flow !== flow) return false
  if (user !== undefined && job.user !== user) return false
  if (document !== undefined && job.document !== document) return false
  if (collection !== undefined && job.collection !== collection) return false
  if (error !== undefined && !says(job, error)) return false
  return (
    isWithin(created, Date.parse(job.createdAt)) && isWithin(updated, Date.parse(job.updatedAt))
  )
}

function says({ failures }: Job, error: string): boolean {
  const failure = failures.at(-1)
  if (failure === undefined) return false
  const { code = '', message } = failure
  return `${code} ${message}`.toLowerCase().includes(error)
}
