// Whose turn it is. A lane holds the queued jobs of one user of a flow, first in, first out; lanes
// give one job each in turn, so that a user with one document does not wait for a thousand of
// another's. Lanes are a cache over the runs in storage: what is not in memory is read when it is
// wanted, so opening a long queue costs what opening an empty one does.

import type { Entry, Range, Storage } from '../../storage.js'
import { blockOf, runKey, runKeys, runKeysOf } from './records.js'
import { decodeRun, type Run } from './run.js'

type Reading = Pick<Storage, 'scan'>

/** What a draft offers to lanes: storage as it will be. */
interface Writing extends Reading {
  /** `isNew`: none of its jobs were queued before. */
  putRun(flow: string, user: string, run: Run, isNew: boolean): void
  deleteRun(flow: string, user: string, first: number): void
}

/** A run as another process has left it. */
interface FollowedRun {
  readonly first: number
  readonly length: number
  /** Absent where its jobs were in one run before. */
  readonly hashes: Uint32Array | undefined
  readonly again: boolean
}

interface Lane {
  readonly user: string
  /** By number. */
  runs: Run[]
  /** No run of this user lies in storage that is not here. */
  whole: boolean
  /** Nothing of what is here may run now. */
  stuck: boolean
  /** Rows that are read next. */
  rows: number
  /** It has given a job since it was found. */
  hadTurn: boolean
}

export interface Turn {
  readonly user: string
  readonly number: number
  readonly hash: number
  readonly again: boolean
}

/** More are not held: beyond, a lane that had its turn is forgotten, and found again in storage. */
const maxLanes = 10_000
/** With more lanes all are looked for anew, as if none had been known. */
const mostRecalled = 64
/**
 * Of a lane, at a time: rows read, and jobs after which no more are read. A lane begins with few, as one of a thousand
 * has a turn or two before the rest of them had theirs: 64 rows take 0.5 ms, these 0.15.
 */
const fewestRuns = 8
const runsPerFill = 64
const jobsPerFill = 4096
/** Behind so many, what comes is read when these are taken: each load by itself is a run. */
const mostRuns = 4 * runsPerFill
/** Lanes. */
const readAtOnce = 8
/** Rows read where it is not known whose they are, beginning with the fewest: more once these were of several users. */
const runsPerLook = 32
/** How many documents that may not be processed now a lane looks past. */
const maxPassed = 64

export class Lanes {
  readonly #flow: string
  readonly #lanes = new Map<string, Lane>()
  /** The next one's turn first. */
  #order: Lane[] = []
  /** Every user with queued jobs has a lane here. Until then each fill looks for more of them. */
  #whole = false
  /** The users up to here have been looked for. */
  #cursor: string | undefined
  #runsToLook = fewestRuns
  /** How many lanes, the first ones, had no turn since they were found. */
  #fresh = 0
  /** Lanes were forgotten since the search began at the first user. */
  #forgotten = false
  #served: string | undefined
  /** Who had a lane in a state that was given up, the next one's turn first. */
  #former: readonly string[] = []
  readonly #changed = new Map<Run, string>()

  /** `before`: those of a state that was given up. */
  constructor(flow: string, before?: Lanes) {
    this.#flow = flow
    this.#served = before?.served
    this.#cursor = this.#served
    this.#forgotten = this.#served !== undefined
    if (before !== undefined) this.#former = before.#users
  }

  /** Those whom it is worth to look for at once. */
  get #users(): readonly string[] {
    const users = [...this.#former, ...this.#order.map(({ user }) => user)]
    return users.length > mostRecalled ? [] : users
  }

  /** The user who had the last turn. */
  get served(): string | undefined {
    return this.#served
  }

  /** A run that a commit under way writes: of new jobs, or of one that comes back. */
  add(user: string, run: Run): void {
    const lane = this.#lanes.get(user)
    if (lane === undefined) {
      if (this.#lanes.size >= maxLanes) {
        this.#whole = false
        this.#forgotten = true
        return
      }
      // Where lanes are missing, this user may have more in storage.
      const runs = this.#whole ? [run] : []
      const entered = laneOf(user, this.#whole, fewestRuns, runs)
      this.#lanes.set(user, entered)
      this.#order.push(entered)
      return
    }
    const place = lane.runs.findLastIndex(({ first }) => first < run.first) + 1
    if (place < lane.runs.length) lane.runs.splice(place, 0, run)
    else if (lane.runs.length >= mostRuns) lane.whole = false
    else if (lane.whole) lane.runs.push(run)
  }

  /** What a commit of another process has made of a user's runs: where there are none any more, and those that are. */
  follow(user: string, gone: readonly number[], runs: readonly FollowedRun[]): void {
    const lane = this.#lanes.get(user)
    if (lane === undefined) {
      for (const run of runs) this.#addFollowed(user, run)
      return
    }
    const { runs: known } = lane
    const last = known.at(-1)
    const end = last === undefined ? 0 : last.first + last.hashes.length
    const changed = new Set([...gone, ...runs.map(({ first }) => first)])
    const kept = known.filter(({ first }) => !changed.has(first))
    // In their order: what is left out lies behind all that is kept.
    for (const { first, length, hashes, again } of runs.toSorted((a, b) => a.first - b.first)) {
      if (kept.length >= mostRuns && first >= end) lane.whole = false
      // What lies behind the runs that are known is read when it is wanted.
      if (!lane.whole && first >= end) continue
      const found = hashes ?? hashesOf(known, first, length)
      if (found === undefined) {
        this.forget(user)
        return
      }
      kept.push({ first, hashes: found, again, stored: first })
    }
    known.splice(0, known.length, ...kept.sort((a, b) => a.first - b.first))
    lane.stuck = false
    if (known.length === 0 && lane.whole) this.#drop(lane)
  }

  #addFollowed(user: string, { first, hashes, again }: FollowedRun): void {
    if (hashes !== undefined) this.add(user, { first, hashes, again, stored: first })
    // The commit has put others of this user, too, that came first here.
    else if (this.#lanes.has(user)) this.forget(user)
    // Of a user of whom nothing is known, whom the search may have behind it.
    else if (this.#whole) this.#whole = false
    else this.#forgotten = true
  }

  #drop(lane: Lane): void {
    const place = this.#order.indexOf(lane)
    this.#order.splice(place, 1)
    if (place < this.#fresh) this.#fresh--
    this.#lanes.delete(lane.user)
  }

  /** Reads a user's runs anew when they are wanted: they were changed behind its back. */
  forget(user: string): void {
    const lane = this.#lanes.get(user)
    if (lane === undefined) return
    lane.runs.length = 0
    lane.whole = false
    lane.stuck = false
  }

  /** Whether something is queued, or may be, that is not in memory. */
  get lacks(): boolean {
    return !this.#whole || this.#order.some(isDrained)
  }

  /** Reads some of what is not in memory. Users who had no turn yet come first. */
  async fill(draft: Writing, turns: number): Promise<void> {
    this.#putFirst(await this.#findMore(draft, turns))
    // Those who may have a turn now, and what of them is not here.
    const drained: Lane[] = []
    let next = 0
    for (const lane of this.#order) {
      if (next === turns) break
      if (isDrained(lane)) drained.push(lane)
      else if (lane.stuck) continue
      next++
    }
    // Some at once: where the storage is far away, each by itself takes as long as all.
    for (let from = 0; from < drained.length; from += readAtOnce) {
      const some = drained.slice(from, from + readAtOnce)
      await Promise.all(some.map((lane) => this.#read(draft, lane, turns / next)))
    }
  }

  /** Recalls those who were known before, and looks for others. Gives whom it found that had no turn yet. */
  async #findMore(draft: Writing, turns: number): Promise<ReadonlySet<Lane>> {
    if (this.#former.length > 0) await this.recall(draft)
    const found = new Set<Lane>()
    // No faster than turns are given: who was forgotten would be found again before others had one.
    for (let looked = 0; looked < turns && this.#fresh + found.size < turns && !this.#whole;) {
      const lanes = await this.#discover(draft, turns - looked)
      looked += Math.max(lanes.length, 1)
      for (const lane of lanes) {
        const known = this.#lanes.get(lane.user)
        if (known === undefined) {
          this.#lanes.set(lane.user, lane)
          found.add(lane)
        } else if (known.runs.length === 0 && !known.whole) {
          // Of new jobs alone: without this, what it had before would be read once more.
          Object.assign(known, {
            runs: lane.runs,
            whole: lane.whole,
            stuck: false,
            rows: lane.rows,
          })
          if (!known.hadTurn) found.add(known)
        }
      }
    }
    return found
  }

  #putFirst(found: ReadonlySet<Lane>): void {
    if (found.size === 0) return
    const isFound = (lane: Lane) => found.has(lane)
    this.#fresh += found.size - this.#order.slice(0, this.#fresh).filter(isFound).length
    this.#order = [...found, ...this.#order.filter((lane) => !isFound(lane))]
  }

  /** The blocks of about so many of the jobs that come next, as far as they are in memory: the first ones first. */
  blocksAhead(jobs: number): Set<number> {
    const blocks = new Set<number>()
    const next = this.#order.slice(0, jobs)
    let lanes = next.map(({ runs }) => ({ runs, left: jobs / next.length }))
    for (let place = 0; lanes.length > 0; place++) {
      lanes = lanes.filter((lane) => {
        const run = lane.runs[place]
        if (run === undefined || lane.left <= 0) return false
        // One that comes back may have its document by itself.
        if (!run.again) blocks.add(blockOf(run.first))
        lane.left -= run.hashes.length
        return true
      })
    }
    return blocks
  }

  /**
   * The next turns, at most so many. `mayRun` says of a user and the hash of a document whether it
   * may be processed now; the jobs of one that may not are passed over.
   */
  take(turns: number, mayRun: (user: string, hash: number) => boolean): Turn[] {
    const taken: Turn[] = []
    for (let idle = 0; taken.length < turns && idle < this.#order.length;) {
      // idle < length: there is one.
      const lane = this.#order.shift()!
      if (this.#fresh > 0) this.#fresh--
      const turn = this.#takeFrom(lane, mayRun)
      if (turn !== undefined) {
        idle = 0
        taken.push(turn)
        lane.hadTurn = true
        this.#served = turn.user
      }
      if (lane.runs.length === 0 && lane.whole) this.#lanes.delete(lane.user)
      else if (!this.#whole && this.#order.length >= maxLanes) {
        this.#lanes.delete(lane.user)
        this.#forgotten = true
      } else {
        this.#order.push(lane)
        if (turn === undefined) idle++
      }
    }
    return taken
  }

  /** Writes what take() has changed. */
  write(draft: Writing): void {
    for (const [run, user] of this.#changed) {
      if (run.stored !== undefined && (run.stored !== run.first || run.hashes.length === 0)) {
        draft.deleteRun(this.#flow, user, run.stored)
        run.stored = undefined
      }
      if (run.hashes.length > 0) {
        run.stored = run.first
        draft.putRun(this.#flow, user, run, false)
      }
    }
    this.#changed.clear()
  }

  #takeFrom(lane: Lane, mayRun: (user: string, hash: number) => boolean): Turn | undefined {
    lane.stuck = false
    const passed = new Set<number>()
    for (let place = 0; place < lane.runs.length; place++) {
      const run = lane.runs[place]!
      for (let slot = 0; slot < run.hashes.length; slot++) {
        const hash = run.hashes[slot]!
        if (passed.has(hash)) continue
        if (mayRun(lane.user, hash)) {
          const turn = { user: lane.user, number: run.first + slot, hash, again: run.again }
          this.#cut(lane, place, slot)
          return turn
        }
        if (passed.add(hash).size === maxPassed) return undefined
      }
    }
    lane.stuck = true
    return undefined
  }

  /** Takes a job out of a run, which leaves what is before it, and what is after. */
  #cut(lane: Lane, place: number, slot: number): void {
    const { user } = lane
    const run = lane.runs[place]!
    const { first, hashes } = run
    if (slot > 0) {
      const before: Run = { ...run, hashes: hashes.subarray(0, slot) }
      lane.runs.splice(place, 0, before)
      this.#changed.set(before, user)
      run.stored = undefined
    }
    run.first = first + slot + 1
    run.hashes = hashes.subarray(slot + 1)
    if (run.hashes.length === 0) lane.runs.splice(lane.runs.indexOf(run), 1)
    this.#changed.set(run, user)
  }

  /** The lanes of the next users behind the cursor, none at the end. One read finds one or some. */
  async #discover(draft: Writing, most: number): Promise<readonly Lane[]> {
    const all = runKeys(this.#flow)
    const gt = this.#cursor === undefined ? all.gt : runKeysOf(this.#flow, this.#cursor).lt
    const rows: Entry[] = []
    const limit = this.#runsToLook
    for await (const page of draft.scan({ gt, lt: all.lt, limit })) rows.push(...page)
    if (rows.length === 0) {
      this.#cursor = undefined
      this.#whole = !this.#forgotten
      this.#forgotten = false
      return []
    }
    const lanes = new Map<string, Lane>()
    for (const { user, run } of rows.map(decodeRun)) {
      const lane = lanes.get(user) ?? laneOf(user, true, 2 * fewestRuns)
      lanes.set(user, lane)
      lane.runs.push(run)
    }
    const users = [...lanes.values()]
    const next = users.length > 1 ? 2 * limit : limit / 2
    // There may be more of the last one's: behind others the next read begins with it, or it would soon be read again.
    if (rows.length === limit) {
      const last = users.length > 1 ? users.pop() : users[0]
      if (last !== undefined) last.whole = false
    }
    this.#runsToLook = Math.min(runsPerLook, Math.max(fewestRuns, next))
    const found = users.slice(0, most)
    this.#cursor = found.at(-1)?.user
    return found
  }

  /**
   * Reads what there is of former lanes, and whether there is anything beside: all at once. Only where there is nothing
   * of them yet.
   */
  async recall(storage: Reading): Promise<void> {
    const users = [...new Set(this.#former)]
    if (users.length === 0) return
    const lanes = users.map((user) => this.#lanes.get(user) ?? laneOf(user, false, runsPerFill))
    const reads = lanes.map((lane) => (isDrained(lane) ? this.#read(storage, lane, 0) : undefined))
    const known = users.map((user) => runKeysOf(this.#flow, user))
    known.sort((a, b) => Buffer.compare(a.gt, b.gt))
    const all = runKeys(this.#flow)
    const gaps = [...known, { gt: all.lt, lt: all.lt }].map(({ gt: lt }, place) => {
      return hasAny(storage, { gt: known[place - 1]?.lt ?? all.gt, lt })
    })
    const [others] = await Promise.all([Promise.all(gaps), ...reads])
    this.#former = []
    const found = lanes.filter(({ user, runs, whole }) => {
      return !this.#lanes.has(user) && (runs.length > 0 || !whole)
    })
    for (const lane of found) this.#lanes.set(lane.user, lane)
    this.#order.unshift(...found)
    this.#whole = !others.includes(true)
    if (!this.#whole) return
    this.#cursor = undefined
    this.#forgotten = false
  }

  /** `turns`: how many this lane may have now. */
  async #read(storage: Reading, lane: Lane, turns: number): Promise<void> {
    const most = Math.min(runsPerFill, Math.max(lane.rows, Math.ceil(turns)))
    const runs: Run[] = []
    let jobs = 0
    let whole = true
    // Behind what is here.
    const last = lane.runs.at(-1)
    const behind = last && runKey(this.#flow, lane.user, last.first + last.hashes.length - 1)
    const { gt, lt } = runKeysOf(this.#flow, lane.user)
    const range = { gt: behind ?? gt, lt, limit: most + 1 }
    for await (const page of storage.scan(range)) {
      for (const entry of page) {
        if (runs.length === most || jobs >= jobsPerFill) {
          whole = false
          break
        }
        const { run } = decodeRun(entry)
        runs.push(run)
        jobs += run.hashes.length
      }
      if (!whole) break
    }
    lane.runs.push(...runs)
    lane.whole = whole
    lane.stuck = false
    lane.rows = 2 * most
  }
}

function laneOf(user: string, whole: boolean, rows: number, runs: Run[] = []): Lane {
  return { user, runs, whole, stuck: false, rows, hadTurn: false }
}

/** Of jobs that are in one run. */
function hashesOf(runs: readonly Run[], first: number, length: number): Uint32Array | undefined {
  const run = runs.find((run) => run.first <= first && first < run.first + run.hashes.length)
  const hashes = run?.hashes.subarray(first - run.first, first - run.first + length)
  return hashes?.length === length ? hashes : undefined
}

async function hasAny(storage: Reading, bounds: Range): Promise<boolean> {
  for await (const _ of storage.scan({ ...bounds, keysOnly: true, limit: 1 })) return true
  return false
}

function isDrained({ runs, whole, stuck }: Lane): boolean {
  return !whole && (runs.length === 0 || stuck)
}
