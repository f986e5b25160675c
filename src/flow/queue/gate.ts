// The way in for loads where several share the backend and wait for each other: while the gate is open whoever loads
// posts, in a write of its own beside the head, and whoever has the turn next takes in what was posted. What was not
// taken in is in no run and no count; so whatever needs all that there is takes it in first, or closes the gate.

import { decodeRecord } from '../../record.js'
import { isSame, OutdatedState, type Draft } from './draft.js'
import {
  blockOf,
  gateKey,
  inboxes,
  inboxKey,
  postKey,
  type GateRecord,
  type HeadRecord,
  type InboxRecord,
  type OpenGate,
  type PostRecord,
} from './records.js'
import { decodeHashes } from './run.js'

/** After a gate so many commits are made without one: what closes it may be about to come again. */
const versionsBetween = 100

/** What was in the inboxes at the moment of a head that had a gate. */
export interface Posted {
  readonly gate: OpenGate
  readonly inboxes: readonly (InboxRecord | undefined)[]
  /** As they are stored. */
  readonly values: readonly (Uint8Array | undefined)[]
}

export const inboxKeys = Array.from({ length: inboxes }, (_, inbox) => inboxKey(inbox))

/** `values`: of the inboxes, read in one go with the head. */
export function postedAt(
  head: HeadRecord,
  values: readonly (Uint8Array | undefined)[],
): Posted | undefined {
  return head.gate && postedBehind(head.gate, values)
}

function postedBehind(gate: OpenGate, values: readonly (Uint8Array | undefined)[]): Posted {
  return { gate, inboxes: values.map((value) => value && decodeRecord(value)), values }
}

/** Whether something is to be done about what was seen, where the head has this gate by now. */
export function isUntaken(gate: OpenGate | undefined, seen: Posted | undefined): seen is Posted {
  if (gate === undefined || seen?.gate.token !== gate.token) return false
  return seen.gate.isClosed === true || postsBehind(gate, seen).length > 0
}

function postsBehind({ taken }: OpenGate, seen: Posted): [inbox: number, post: number][] {
  return seen.inboxes.flatMap((inbox, place) => {
    const [posts] = taken[place]!
    const count = Math.max(0, (inbox?.posts ?? 0) - posts)
    return Array.from({ length: count }, (_, n): [number, number] => [place, posts + 1 + n])
  })
}

/** How many jobs were posted, and not taken in. */
export function untakenJobs({ gate, inboxes }: Posted): number {
  const jobs = inboxes.map((inbox, place) => (inbox?.jobs ?? 0) - gate.taken[place]![1])
  return jobs.reduce((sum, each) => sum + each, 0)
}

/** From the commit on loads are posted. False where it is too soon for that, or it is open. */
export function openGate(draft: Draft): boolean {
  const { version, gate: before, closed = -Infinity } = draft.state.head
  // One that this draft has ended counts as well.
  const mayOpen = before === undefined && draft.gate === undefined
  if (!draft.isShared || !mayOpen || version - closed < versionsBetween) return false
  const token = draft.state.head.token
  const gate: GateRecord = { token }
  draft.putRecord(gateKey(), gate)
  draft.gate = { token, taken: Array.from({ length: inboxes }, () => [0, 0]) }
  return true
}

/** From the commit on nothing is posted any more; what was is taken in by who sees that. */
export function closeGate(draft: Draft): void {
  if (draft.gate === undefined || draft.gate.isClosed === true) return
  draft.delete(gateKey())
  draft.gate = { ...draft.gate, isClosed: true }
}

/** Puts what was posted where loads are put that went by the head. */
export async function takeIn(draft: Draft, seen: Posted): Promise<void> {
  const { gate, state } = draft
  if (!isUntaken(gate, seen) || gate === undefined) return
  const places = postsBehind(gate, seen)
  const keys = places.map(([inbox, post]) => postKey(inbox, post))
  const posts = await draft.records<PostRecord>(keys)
  const runs = posts.flatMap((post) => post?.runs ?? [])
  const isWhole = posts.every((post) => post !== undefined)
  if (!isWhole || runs.some(([flow]) => !state.flows.has(flow))) {
    await assertUnchanged(draft, seen)
    return draft.contradiction('what was posted is gone, or the flow that it is for')
  }
  runs.sort(([, , a], [, , b]) => a - b)
  for (const [id, user, first, hashes] of runs) {
    // It is there.
    const flow = state.flows.get(id)!
    const run = { first, hashes: decodeHashes(hashes), again: false, stored: first }
    draft.count(flow).queued += run.hashes.length
    draft.putRun(id, user, run, true)
    flow.lanes.add(user, run)
    draft.queued.add(id)
    state.nextBlock = Math.max(state.nextBlock, blockOf(first) + 1)
  }
  for (const key of keys) draft.delete(key)
  const taken = seen.inboxes.map((inbox, place): readonly [number, number] => {
    const [posts, jobs] = gate.taken[place]!
    return [Math.max(posts, inbox?.posts ?? 0), Math.max(jobs, inbox?.jobs ?? 0)]
  })
  draft.gate = { ...gate, taken }
  if (seen.gate.isClosed === true) endGate(draft, seen)
}

/** After a fail-over that has lost posts and no head, what was seen before is not there. */
async function assertUnchanged(draft: Draft, { values }: Posted): Promise<void> {
  const found = await draft.getMany(inboxKeys)
  const isChanged = found.some((value, place) => {
    const before = values[place]
    return value !== before && !isSame(value, before)
  })
  if (isChanged) throw new OutdatedState()
}

/**
 * On condition that nothing was posted behind what was seen: a post that was on its way when the gate was closed may be
 * there after whatever was read since, since an engine need only keep writes in an order with reads that are writes'.
 */
function endGate(draft: Draft, { values }: Posted): void {
  for (const [place, value] of values.entries()) {
    const key = inboxKeys[place]!
    draft.require.push(
      value === undefined ? { type: 'absent', key } : { type: 'equals', key, value },
    )
    if (value !== undefined) draft.delete(key)
  }
  draft.delete(gateKey())
  draft.gate = undefined
}

/** Of a store that nobody shares any more: what was posted to whoever did. */
export async function takeInAlone(draft: Draft): Promise<void> {
  if (draft.gate === undefined) return
  const values = await draft.getMany(inboxKeys)
  await takeIn(draft, postedBehind({ ...draft.gate, isClosed: true }, values))
}
