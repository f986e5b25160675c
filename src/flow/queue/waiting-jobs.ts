// Jobs that wait for their turn, by the runs of their users, or by the blocks that they came in.

import type { Entry, Range } from '../../storage.js'
import type { LaneNumbers } from './block.js'
import { readBlock } from './documents.js'
import type { Draft } from './draft.js'
import {
  fits,
  type FoundJob,
  isBefore,
  isBehind,
  none,
  numbersIn,
  type Part,
  partOf,
  type Place,
  userOf,
} from './job-search.js'
import { jobOf, queuedJobOf } from './job-view.js'
import { jobRecords } from './lost-jobs.js'
import {
  blockKey,
  blockKeys,
  blockOf,
  runKey,
  runKeys,
  runKeysOf,
  slotOf,
  slotsPerBlock,
} from './records.js'
import { decodeRun, type Run } from './run.js'
import { hashOf } from './state.js'

/** Runs of a flow, in the order of their numbers. */
interface Runs {
  readonly found: readonly Run[]
  /** There are more behind them. */
  readonly isCut: boolean
}

/** In which jobs wait: of one user, or of all, where these are not too many; `undefined` where they are. */
export async function runsFor(place: Place): Promise<Runs[] | undefined> {
  const { draft, search, flows, sizes } = place
  if (!search.states.has('queued')) return []
  const user = userOf(search)
  const runs: Runs[] = []
  for (const flow of waitingFlows(draft, flows)) {
    if (user !== undefined) {
      runs.push(await runsBehind(place, flow, user))
      continue
    }
    const entries = await entriesIn(draft, { ...runKeys(flow), limit: sizes.sorted + 1 })
    if (entries.length > sizes.sorted) return undefined
    const found = entries.map((entry) => decodeRun(entry).run)
    found.sort((a, b) => (search.isReverse ? b.first - a.first : a.first - b.first))
    runs.push({ found, isCut: false })
  }
  return runs
}

function waitingFlows({ state }: Draft, flows: readonly string[]): readonly string[] {
  return flows.filter((id) => (state.flows.get(id)?.counts.queued ?? 0) > 0)
}

interface Waiting {
  readonly number: number
  readonly again: boolean
}

/** All jobs that wait. */
export async function runPart(place: Place, ofFlows: readonly Runs[]): Promise<Part> {
  const { search } = place
  const numbers: Waiting[] = []
  let end: number | undefined
  for (const runs of ofFlows) {
    const { found, last } = waitingIn(place, runs)
    numbers.push(...found)
    if (last !== undefined && (end === undefined || isBefore(search, last, end))) end = last
  }
  const asked = numbers.filter(({ number }) => end === undefined || !isBefore(search, end, number))
  asked.sort((a, b) => (search.isReverse ? b.number - a.number : a.number - b.number))
  const part = await queuedJobs(place, asked)
  return partOf(place, part.found, part.end ?? end)
}

/** What waits in runs, and the last number that was looked at where there are more. */
function waitingIn(place: Place, { found: runs, isCut }: Runs) {
  const { search, most } = place
  const wanted = search.document === undefined ? undefined : hashOf(search.document)
  const { collection, created, updated, error } = search
  // Not all of them may fit.
  const isFiltered = [collection, created, updated, error].some((filter) => filter !== undefined)
  const enough = isFiltered ? place.sizes.entries : most
  const found: Waiting[] = []
  let last: number | undefined
  for (const run of runs) {
    const end = search.isReverse ? run.first : run.first + run.hashes.length - 1
    if (!isBehind(place, end)) continue
    for (const number of numbersOf(run, search.isReverse)) {
      if (!isBehind(place, number)) continue
      last = number
      if (wanted !== undefined && run.hashes[number - run.first] !== wanted) continue
      found.push({ number, again: run.again })
      if (found.length > enough) return { found, last }
    }
  }
  return { found, last: isCut ? last : undefined }
}

/** Jobs that wait and were never claimed, by the blocks that came in: runs say which of a block's numbers still wait. */
export async function blockPart(place: Place, until: number | undefined): Promise<Part> {
  const { draft, search, most } = place
  // What never ran has no failure.
  if (search.error !== undefined) return none
  const flows = new Set(waitingFlows(draft, place.flows))
  const { isReverse } = search
  const range = blocksBetween(place, until)
  const blocks = await numbersIn(draft, { ...range, limit: place.sizes.blocks })
  const found: FoundJob[] = []
  let left = place.sizes.bytes
  for (const block of blocks) {
    const stored = await readBlock(draft, block)
    if (stored === undefined) return draft.contradiction(`block ${block} is gone`)
    const lanes = stored
      .lanes(block * slotsPerBlock)
      .filter(({ flow, user }) => flows.has(flow) && (search.scope.user ?? user) === user)
      .filter(({ first, last }) => isBehind(place, isReverse ? first : last))
    if (isReverse) lanes.reverse()
    for await (const number of waitingOf(draft, lanes, isReverse)) {
      if (!isBehind(place, number)) continue
      const document = stored.at(slotOf(number), number)
      if (document === undefined) {
        return draft.contradiction(`job ${number} is queued without a document`)
      }
      const job = queuedJobOf(document)
      if (!fits(job, search)) continue
      found.push({ number, job })
      if (found.length > most) return { found, end: number }
    }
    left -= stored.size
    if (left <= 0) return { found, end: lastOfBlock(block, isReverse) }
  }
  const last = blocks.at(-1)
  if (last === undefined || blocks.length < place.sizes.blocks) return { found, end: undefined }
  return { found, end: lastOfBlock(last, isReverse) }
}

function lastOfBlock(block: number, isReverse: boolean): number {
  return isReverse ? block * slotsPerBlock : (block + 1) * slotsPerBlock - 1
}

/** All that may have a number behind the place, and not behind `until`. */
function blocksBetween({ search: { isReverse }, after }: Place, until: number | undefined): Range {
  const { gt, lt } = blockKeys()
  const first = after === undefined ? undefined : blockKey(blockOf(after + (isReverse ? -1 : 1)))
  const last = until === undefined ? undefined : blockKey(blockOf(until))
  const [least, most] = isReverse ? [last, first] : [first, last]
  return {
    ...(least === undefined ? { gt } : { gte: least }),
    ...(most === undefined ? { lt } : { lte: most }),
    reverse: isReverse,
  }
}

const lanesPerRead = 128

/** Numbers that were never claimed and still wait, of lanes of a block. */
async function* waitingOf(
  draft: Draft,
  lanes: readonly LaneNumbers[],
  isReverse: boolean,
): AsyncGenerator<number, void, undefined> {
  for (let at = 0; at < lanes.length; at += lanesPerRead) {
    const some = lanes.slice(at, at + lanesPerRead)
    // As they came in, most lanes are one run: of what thousands of users wait for, one read brings a hundred, and to
    // look between keys takes two for each.
    const keys = some.map(({ flow, user, first }) => runKey(flow, user, first))
    const values = await draft.getMany(keys)
    for (const [n, lane] of some.entries()) {
      const [key, value] = [keys[n], values[n]]
      const run = key && value && decodeRun({ key, value }).run
      const isWhole = run && !run.again && run.first + run.hashes.length > lane.last
      const runs = isWhole ? [run] : await runsOf(draft, lane)
      const numbers = runs
        .filter(({ again }) => !again)
        .flatMap((run) => numbersOf(run, false))
        .filter((number) => number >= lane.first && number <= lane.last)
      yield* isReverse ? numbers.reverse() : numbers
    }
  }
}

/** That may have numbers of a lane. */
async function runsOf(draft: Draft, { flow, user, first, last }: LaneNumbers): Promise<Run[]> {
  const { gt } = runKeysOf(flow, user)
  const key = runKey(flow, user, first)
  const before = await runsIn(draft, { gt, lt: key, reverse: true, limit: 1 })
  const within = await runsIn(draft, { gte: key, lte: runKey(flow, user, last) })
  return [...before, ...within]
}

async function runsBehind(place: Place, flow: string, user: string): Promise<Runs> {
  const { draft, search, after, sizes } = place
  const bounds = runKeysOf(flow, user)
  if (search.isReverse) {
    const lt = after === undefined ? bounds.lt : runKey(flow, user, after)
    const found = await runsIn(draft, { gt: bounds.gt, lt, reverse: true, limit: sizes.entries })
    return { found, isCut: found.length === sizes.entries }
  }
  const begun =
    after === undefined
      ? []
      : await runsIn(draft, {
          gt: bounds.gt,
          lte: runKey(flow, user, after),
          reverse: true,
          limit: 1,
        })
  const gt = after === undefined ? bounds.gt : runKey(flow, user, after)
  const found = await runsIn(draft, { gt, lt: bounds.lt, limit: sizes.entries })
  return { found: [...begun, ...found], isCut: found.length === sizes.entries }
}

async function runsIn(draft: Draft, range: Range): Promise<Run[]> {
  const entries = await entriesIn(draft, range)
  return entries.map((entry) => decodeRun(entry).run)
}

async function entriesIn(draft: Draft, range: Range): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const page of draft.scan(range)) entries.push(...page)
  return entries
}

/** Of these, in their order, so many as their blocks may be read for. */
async function queuedJobs({ draft, sizes }: Place, asked: readonly Waiting[]): Promise<Part> {
  const again = asked.filter((job) => job.again).map(({ number }) => number)
  const records = await jobRecords(draft, again)
  const known = new Map(again.map((number, at) => [number, records[at]]))
  const found: FoundJob[] = []
  let left = sizes.bytes
  let block: number | undefined
  for (const [place, { number, again }] of asked.entries()) {
    const record = known.get(number)
    if (record !== undefined) found.push({ number, job: jobOf(record) })
    else if (again) await draft.contradiction(`job ${number} is queued without a record`)
    else {
      const isNext = blockOf(number) !== block
      if (isNext && left <= 0) return { found, end: asked[place - 1]?.number }
      block = blockOf(number)
      const read = await readBlock(draft, block)
      if (isNext) left -= read?.size ?? 0
      const stored = read?.at(slotOf(number), number)
      if (stored !== undefined) found.push({ number, job: queuedJobOf(stored) })
      else await draft.contradiction(`job ${number} is queued without a document`)
    }
  }
  return { found, end: undefined }
}

function numbersOf({ first, hashes }: Run, isReverse: boolean): number[] {
  const numbers = Array.from(hashes, (_, slot) => first + slot)
  return isReverse ? numbers.reverse() : numbers
}
