// What a commit has changed of what others know, where several share the backend: each says so beside its head, and
// whoever comes behind it applies that, in place of reading all anew. With 250 jobs under way in each of four
// processes a state is a thousand leases and some hundred runs, and to read it took a third of each turn.

import type { Lanes } from './lanes.js'
import type { ChangeRecord, LaneChange, LeaseChange } from './records.js'
import { decodeHashes, encodeHashes, type Run } from './run.js'
import { documentName, type Active, type FlowState, type State } from './state.js'

/** A run as it is now; undefined: there is none under this number. */
type NotedRun = (Pick<Run, 'hashes' | 'again'> & { readonly isNew: boolean }) | undefined

interface NotedLane {
  readonly flow: string
  readonly user: string
  /** By the number that they are stored under. */
  readonly runs: Map<number, NotedRun>
}

/** Takes down what a draft changes. */
export class ChangeNotes {
  readonly #lanes = new Map<string, NotedLane>()
  readonly #leases = new Map<number, LeaseChange | undefined>()
  #isMore = false

  /** `isNew`: none of its jobs were queued before; else all of them were, in one run. */
  run(flow: string, user: string, { first, hashes, again }: Run, isNew: boolean): void {
    this.#laneOf(flow, user).runs.set(first, { hashes, again, isNew })
  }

  noRun(flow: string, user: string, first: number): void {
    this.#laneOf(flow, user).runs.set(first, undefined)
  }

  lease({ number, hash, token, beat, leaseMs, record: { user } }: Active): void {
    this.#leases.set(number, [number, user, hash, token, beat, leaseMs])
  }

  noLease(number: number): void {
    this.#leases.set(number, undefined)
  }

  /** Something else has changed: others read all anew. */
  more(): void {
    this.#isMore = true
  }

  record(commit: {
    readonly before: string
    readonly token: string
    readonly member: string | undefined
    readonly flows: Iterable<FlowState>
    /** How many documents of blocks are needed yet. */
    readonly left: readonly (readonly [block: number, left: number])[]
  }): ChangeRecord {
    const { before, token, member, flows, left } = commit
    if (this.#isMore) return { before, token, isMore: true }
    const leases = [...this.#leases.values()].filter((lease) => lease !== undefined)
    const ended = [...this.#leases].filter(([, lease]) => lease === undefined)
    return {
      before,
      token,
      ...(member !== undefined && { member }),
      flows: [...flows].map(({ flow, counts, nextDue }) => {
        return [flow.id, { ...counts }, nextDue === Infinity ? null : nextDue]
      }),
      lanes: [...this.#lanes.values()].map(laneChangeOf),
      leases,
      ended: ended.map(([number]) => number),
      left,
    }
  }

  #laneOf(flow: string, user: string): NotedLane {
    const name = `${flow.length} ${flow}${user}`
    const lane = this.#lanes.get(name) ?? { flow, user, runs: new Map<number, NotedRun>() }
    this.#lanes.set(name, lane)
    return lane
  }
}

function laneChangeOf({ flow, user, runs }: NotedLane): LaneChange {
  const gone: number[] = []
  const put: LaneChange[3][number][] = []
  for (const [first, run] of runs) {
    if (run === undefined) gone.push(first)
    else if (run.again) put.push([first, 1, encodeHashes(run.hashes), 1])
    else if (run.isNew) put.push([first, run.hashes.length, encodeHashes(run.hashes)])
    else put.push([first, run.hashes.length])
  }
  return [flow, user, gone, put]
}

/**
 * Applies what the commit behind this state has changed; the state's head is that of the commit then. False where
 * that cannot be done, and the state is of no use any more.
 */
export function follow(state: State, change: ChangeRecord, elapsed: number): boolean {
  const { before, token, member, isMore, flows = [], lanes = [] } = change
  // Of another history: after a fail-over that lost the end of this one.
  if (before !== state.head.token || isMore === true) return false
  for (const [id, counts, nextDue] of flows) {
    const flow = state.flows.get(id)
    if (flow === undefined) return false
    flow.counts = counts
    flow.nextDue = nextDue ?? Infinity
  }
  for (const [id, user, gone, runs] of lanes) {
    const known = state.flows.get(id)
    if (known === undefined) return false
    followLane(known.lanes, user, gone, runs)
  }
  for (const number of change.ended ?? []) {
    const lease = state.active.get(number) ?? state.others.get(number)
    if (lease === undefined) continue
    state.active.delete(number)
    state.others.delete(number)
    state.busy.delete(documentName(lease.user, lease.hash))
  }
  for (const [number, user, hash, token, beat, leaseMs] of change.leases ?? []) {
    state.active.delete(number)
    const lease = { token, beat, leaseMs, member, seenAt: elapsed }
    state.others.set(number, { number, user, hash, ...lease })
    state.busy.add(documentName(user, hash))
  }
  for (const [block, left] of change.left ?? []) {
    if (left === 0) state.left.delete(block)
    else if (state.left.has(block)) state.left.set(block, left)
  }
  const { version, nextBlock } = state.head
  state.head = { version: version + 1, token, nextBlock }
  return true
}

function followLane(lanes: Lanes, user: string, gone: LaneChange[2], runs: LaneChange[3]): void {
  const put = runs.map(([first, length, hashes, again]) => {
    const decoded = hashes === undefined ? undefined : decodeHashes(hashes)
    return { first, length, hashes: decoded, again: again === 1 }
  })
  lanes.follow(user, gone, put)
}
