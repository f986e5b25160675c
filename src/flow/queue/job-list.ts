// Jobs by their numbers, whatever state they are in: a job keeps its number as long as it is there, so that a list
// which goes on behind a number has each job once that was there all the time, however its state changes meanwhile.

import { recordPart } from './claimed-jobs.js'
import type { Draft } from './draft.js'
import {
  type FoundJob,
  isBefore,
  isBehind,
  type JobSearch,
  type LookSizes,
  none,
  type Part,
  partOf,
  type Place,
} from './job-search.js'
import { jobOf } from './job-view.js'
import { noFlow } from './jobs.js'
import { leasesOf } from './state.js'
import { activeJobs } from './under-way.js'
import { blockPart, runPart, runsFor } from './waiting-jobs.js'

/** Some of the jobs behind a number, in the order of their numbers. */
export interface JobLook {
  readonly found: readonly FoundJob[]
  /** The last number that was looked at; `undefined` where there is nothing behind it. */
  readonly next: number | undefined
}

/** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
export async function lookForJobs(
  draft: Draft,
  search: JobSearch,
  after: number | undefined,
  most: number,
  sizes: LookSizes,
): Promise<JobLook> {
  const flows = flowsOf(draft, search)
  if (isImpossible(search) || (search.isReverse && after === 0))
    return { found: [], next: undefined }
  const place = { draft, search, flows, after, most, sizes }
  const runs = await runsFor(place)
  const records = await recordPart(place, runs !== undefined)
  // Behind what was read of records, jobs that wait would be read in vain.
  const parts = [
    await activePart(place),
    records,
    runs === undefined ? await blockPart(place, records.end) : await runPart(place, runs),
  ]
  const ends = parts.map(({ end }) => end).filter((end) => end !== undefined)
  const end = search.isReverse ? Math.max(...ends) : Math.min(...ends)
  const isIn = (number: number) =>
    ends.length === 0 || number === end || isBefore(search, number, end)
  const found = parts
    .flatMap((part) => part.found)
    .filter(({ number }) => isIn(number))
    .sort((a, b) => (search.isReverse ? b.number - a.number : a.number - b.number))
  if (found.length > most) {
    const page = found.slice(0, most)
    return { found: page, next: page.at(-1)?.number ?? after }
  }
  return { found, next: ends.length === 0 ? undefined : end }
}

/** How many there are, where that is known without looking; `undefined` where it is not. */
export function countOf(draft: Draft, search: JobSearch): number | undefined {
  const { states, scope, user, document, collection, error, created, updated } = search
  const filters = [
    scope.user,
    scope.collections,
    user,
    document,
    collection,
    error,
    created,
    updated,
  ]
  // Those that are done are counted with those that were forgotten.
  if (states.has('done') || filters.some((filter) => filter !== undefined)) return undefined
  let count = 0
  for (const id of flowsOf(draft, search)) {
    const counts = draft.state.flows.get(id)?.counts
    for (const state of states) count += counts?.[state] ?? 0
  }
  return count
}

function flowsOf({ state: { flows } }: Draft, { flow }: JobSearch): readonly string[] {
  if (flow === undefined) return [...flows.keys()]
  if (!flows.has(flow)) throw noFlow(flow)
  return [flow]
}

function isImpossible({ states, user, scope, collection }: JobSearch): boolean {
  if (states.size === 0) return true
  if (user !== undefined && scope.user !== undefined && user !== scope.user) return true
  return collection !== undefined && scope.collections?.includes(collection) === false
}

async function activePart(place: Place): Promise<Part> {
  const { draft, search } = place
  if (!search.states.has('active')) return none
  const leases = leasesOf(draft.state).filter(({ number }) => isBehind(place, number))
  const active = await activeJobs(draft, leases)
  return partOf(
    place,
    active.map(({ number, record }) => ({ number, job: jobOf(record) })),
  )
}
