// Jobs that were claimed before, by their records: those that failed, or are done, or wait for another turn.

import { foundRecords } from '../../found-records.js'
import type { JobState } from '../types.js'
import {
  type FoundJob,
  isBefore,
  isBehind,
  lastOf,
  none,
  numbersIn,
  type Part,
  partOf,
  type Place,
  rangeBehind,
} from './job-search.js'
import { jobOf } from './job-view.js'
import { jobRecords, recordAnew } from './lost-jobs.js'
import { deadKey, deadKeys, delayedKeys, jobKey, jobKeys, type JobRecord } from './records.js'

/** Jobs that were claimed before: those that failed, are done, or wait for another turn. */
export async function recordPart(place: Place, hasRuns: boolean): Promise<Part> {
  const { draft, search, flows } = place
  const { states } = search
  const counts = flows.map((id) => draft.state.flows.get(id)?.counts)
  const countOf = (state: JobState) => counts.reduce((sum, of) => sum + (of?.[state] ?? 0), 0)
  const asked = [...states].filter((state) => state !== 'active' && countOf(state) > 0)
  const wanted = hasRuns ? asked.filter((state) => state !== 'queued') : asked
  if (wanted.length === 0) return none
  const isListed = wanted.every((state) => state === 'dead' || state === 'delayed')
  const isSortable = countOf('delayed') <= place.sizes.sorted
  if (isListed && (isSortable || !wanted.includes('delayed'))) return listedPart(place, wanted)
  const range = rangeBehind(place, jobKeys(), jobKey)
  const found: FoundJob[] = []
  let isDamaged = false
  const behind = { ...range, limit: place.sizes.entries }
  for await (const page of foundRecords<JobRecord>(draft, behind)) {
    for (const { key, record, damage } of page) {
      const number = lastOf(key)
      isDamaged ||= damage !== undefined
      found.push({ number, job: jobOf(record ?? (await recordAnew(draft, number, damage))) })
    }
  }
  // Read one by one, some may be gone that were counted.
  const isAll = found.length < place.sizes.entries && !isDamaged
  const end = isAll ? undefined : found.at(-1)?.number
  const lists = wanted.filter((state) => state === 'dead' || (state === 'delayed' && isSortable))
  await assertListed(place, lists, new Set(found.map(({ number }) => number)), end)
  const others = found.filter(({ job }) => !hasRuns || job.state !== 'queued')
  return partOf(place, others, end)
}

/** What a list says is there has a record. */
async function assertListed(
  place: Place,
  states: readonly JobState[],
  known: ReadonlySet<number>,
  end: number | undefined,
): Promise<void> {
  const { draft, search, flows } = place
  for (const flow of flows) {
    for (const state of states) {
      const dead = rangeBehind(place, deadKeys(flow), (number) => deadKey(flow, number), end)
      const listed = await numbersIn(draft, state === 'dead' ? dead : delayedKeys(flow))
      for (const number of listed) {
        const isRead =
          isBehind(place, number) && (end === undefined || !isBefore(search, end, number))
        if (!isRead || known.has(number)) continue
        await draft.contradiction(`job ${number} is ${state}, and has no record`)
      }
    }
  }
}

/** Of dead and delayed jobs there are lists. */
async function listedPart(place: Place, states: readonly JobState[]): Promise<Part> {
  const { draft, search, flows } = place
  const numbers: number[] = []
  let end: number | undefined
  for (const flow of flows) {
    if (states.includes('dead')) {
      const range = rangeBehind(place, deadKeys(flow), (number) => deadKey(flow, number))
      const found = await numbersIn(draft, { ...range, limit: place.sizes.entries })
      numbers.push(...found)
      const last = found.length < place.sizes.entries ? undefined : found.at(-1)
      if (last !== undefined && (end === undefined || isBefore(search, last, end))) end = last
    }
    if (!states.includes('delayed')) continue
    const delayed = await numbersIn(draft, delayedKeys(flow))
    numbers.push(...delayed.filter((number) => isBehind(place, number)))
  }
  numbers.sort((a, b) => (search.isReverse ? b - a : a - b))
  const all = numbers.filter((number) => end === undefined || !isBefore(search, end, number))
  const asked = all.slice(0, place.sizes.entries)
  const records = await jobRecords(draft, asked)
  const found: FoundJob[] = []
  for (const [at, number] of asked.entries()) {
    const record = records[at]
    if (record !== undefined) found.push({ number, job: jobOf(record) })
    else await draft.contradiction(`job ${number} is dead or delayed, and has no record`)
  }
  return partOf(place, found, asked.length < all.length ? asked.at(-1) : end)
}
