// Loads beside the head, while its gate is open: those that wait at the same time share a write, one after the other,
// so that many of them share it. Nobody waits for a turn, and what was posted is taken in by who has one.

import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../clock.js'
import { hasCode, LorekeepError } from '../../errors.js'
import { refused } from '../../presence.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Operation, Precondition, Storage } from '../../storage.js'
import { contextOfWrite, runIn, type Context } from '../../tracing.js'
import type { AcceptedDocument } from '../document.js'
import type { JobEvent } from '../types.js'
import { BlockBuilder, Ticket } from './block.js'
import type { Committer } from './committer.js'
import { isSame } from './draft.js'
import { inboxKeys, postedAt, untakenJobs, type Posted } from './gate.js'
import { loadEventOf } from './job-view.js'
import type { Membership } from './members.js'
import {
  blockKey,
  countsKey,
  flowKey,
  gateKey,
  headKey,
  inboxes,
  inboxKey,
  jobKey,
  leaseKey,
  postKey,
  type CountsRecord,
  type FlowRecord,
  type HeadRecord,
  type InboxRecord,
  type JobRecord,
  type LeaseRecord,
  type PostRecord,
} from './records.js'
import { encodeHashes } from './run.js'
import { hashOf, noCounts, type FlowState } from './state.js'

/** What came of a load: the id of its job, or why it was not posted. `isFull`: not all who may post now have room. */
type Outcome =
  | { readonly id: string; readonly isFull?: never }
  | { readonly id?: never; readonly isFull: boolean }

interface PostingOptions {
  readonly storage: Storage
  readonly committer: Committer
  readonly clock: Clock
  readonly createId: () => string
  readonly presence?: Membership | undefined
  readonly isWatched: () => boolean
  readonly onPosted?:
    | ((posted: {
        readonly events: readonly JobEvent[]
        readonly queued: ReadonlySet<string>
      }) => void)
    | undefined
}

interface Waiting {
  readonly flow: string
  readonly document: AcceptedDocument
  readonly member: string | undefined
  readonly context: Context | undefined
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** Of one post. */
const mostJobs = 512
const mostBytes = 512 * 1024
/** Posts of an inbox that are not taken in: from so many on it is asked for, and with so many it is waited for. */
const manyPosts = 16
const mostPosts = 64

/** As many as may be posted by others between a look and the write that it is for. */
const slack = inboxes * mostJobs

type Put = Extract<Operation, { type: 'put' }>

type Counted = Pick<FlowState, 'flow' | 'counts'>

export function isFull({ flow: { maxQueued }, counts: { queued, delayed } }: Counted): boolean {
  return queued + delayed >= maxQueued
}

export function flowFull({ flow: { id, maxQueued } }: Counted): LorekeepError {
  const detail = `${maxQueued} documents wait in '${id}'; try again later`
  return new LorekeepError('LK_FLOW_FULL', detail, { details: { flow: id, maxQueued } })
}

/** Whether all who post at the same time have room, where so many were posted and are not counted. */
export function hasRoom(
  { flow: { maxQueued }, counts: { queued, delayed } }: Counted,
  posted: number,
): boolean {
  return queued + delayed + posted + slack <= maxQueued
}

const again: Outcome = { isFull: false }
const full: Outcome = { isFull: true }

export class Posting {
  readonly #options: PostingOptions
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #inbox: number | undefined
  #taking: Promise<void> | undefined

  constructor(options: PostingOptions) {
    this.#options = options
  }

  /** Something is posted, or waits for it: what comes now comes behind. */
  get isBusy(): boolean {
    return this.#running !== undefined
  }

  /** @throws LorekeepError `LK_FLOW_FULL`, `LK_STORAGE_*` */
  load(flow: string, document: AcceptedDocument, member: string | undefined): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const context = contextOfWrite()
      this.#waiting.push({ flow, document, member, context, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  async drained(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Loads of one turn of the caller go together.
    await undefined
    while (this.#waiting.length > 0) {
      const loads = this.#take()
      try {
        await this.#post(loads)
      } catch (error) {
        for (const { reject } of loads) reject(error)
      }
      // Whoever was answered and goes on at once shares the next one with those that wait for it.
      await turn()
    }
    this.#running = undefined
  }

  #take(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { document } of this.#waiting) {
      if (count === mostJobs || bytes >= mostBytes) break
      bytes += document.text.length + document.metadataLength
      count++
    }
    return this.#waiting.splice(0, count)
  }

  /** Settles all of them, unless it throws: then nothing of them was written, as far as can be known. */
  async #post(loads: readonly Waiting[]): Promise<void> {
    const { committer, presence } = this.#options
    const self = presence?.id
    const condition = presence?.condition('flows')
    let left = loads.filter(({ member, reject }) => {
      if (member !== self) reject(refused())
      return member === self
    })
    while (left.length > 0) {
      const look = await this.#look(left)
      const inbox = this.#inboxOf()
      if (look !== undefined && untakenIn(look.posted, inbox) >= mostPosts) {
        await (this.#taking ?? committer.refresh())
        continue
      }
      left = left.filter(({ flow, resolve, reject }, place) => {
        const outcome = look === undefined ? again : outcomeOf(look, flow, place)
        if (outcome instanceof Error) reject(outcome)
        else if (outcome !== undefined) resolve(outcome)
        return outcome === undefined
      })
      if (look === undefined || left.length === 0) return
      if (await this.#write(look, inbox, left, condition)) {
        if (untakenIn(look.posted, inbox) >= manyPosts) this.#taking ??= this.#haveTaken()
        return
      }
    }
  }

  /** Whoever has no documents to claim takes in what he has posted himself. */
  async #haveTaken(): Promise<void> {
    await this.#options.committer.refresh().catch(() => undefined)
    this.#taking = undefined
  }

  /** Others may have the same: then one of them takes another. */
  #inboxOf(): number {
    this.#inbox ??= crc32(this.#options.presence?.id ?? '') % inboxes
    return this.#inbox
  }

  /** All that a post depends on, at one moment; undefined where the gate is not open. */
  async #look(loads: readonly Waiting[]): Promise<Look | undefined> {
    const ids = [...new Set(loads.map(({ flow }) => flow))]
    const [head, gate, ...values] = await this.#options.storage.getMany([
      headKey(),
      gateKey(),
      ...inboxKeys,
      ...ids.map(flowKey),
      ...ids.map(countsKey),
    ])
    if (head === undefined || gate === undefined) return undefined
    const record = decodeRecord<HeadRecord>(head)
    const posted = postedAt(record, values.slice(0, inboxes))
    if (posted === undefined) return undefined
    const flows = new Map<string, FoundFlow>()
    for (const [n, id] of ids.entries()) {
      const bytes = values[inboxes + n]
      const counted = values[inboxes + ids.length + n]
      if (bytes === undefined) continue
      const counts = counted === undefined ? noCounts() : decodeRecord<CountsRecord>(counted)
      flows.set(id, { flow: decodeRecord<FlowRecord>(bytes), bytes, counts })
    }
    return { head: record, gate, posted, inboxes: values, flows }
  }

  /** False where something was written meanwhile on which it depends, and it is to be made anew. */
  async #write(
    look: Look,
    inbox: number,
    loads: readonly Waiting[],
    member: Precondition | undefined,
  ): Promise<boolean> {
    const { storage, committer, clock, createId, presence, isWatched, onPosted } = this.#options
    const tickets = loads.map(({ document }) => new Ticket(document, hashOf(document.id)))
    const runs: PostRecord['runs'][number][] = []
    const operations: Put[] = []
    let block = firstBlock(look, inbox)
    for (const builder of buildersOf(loads, tickets)) {
      const id = createId()
      for (const { flow, user, tickets } of builder.number(block, id)) {
        const hashes = Uint32Array.from(tickets, ({ hash }) => hash)
        // A lane has one or more.
        runs.push([flow, user, tickets[0]!.number, encodeHashes(hashes)])
      }
      const value = builder.build(id, clock.now())
      operations.push({ type: 'put', key: blockKey(block), value })
      block += inboxes
    }
    const before = look.posted.inboxes[inbox]
    const { token } = look.posted.gate
    const record: InboxRecord = {
      gate: token,
      token: createId(),
      posts: (before?.posts ?? 0) + 1,
      jobs: (before?.jobs ?? 0) + loads.length,
      block: block - inboxes,
    }
    const key = inboxKey(inbox)
    const value = encodeRecord(record)
    const post = encodeRecord({ runs } satisfies PostRecord)
    operations.push({ type: 'put', key: postKey(inbox, record.posts), value: post })
    operations.push({ type: 'put', key, value })
    const known = look.inboxes[inbox]
    const require: Precondition[] = [
      known === undefined ? { type: 'absent', key } : { type: 'equals', key, value: known },
      { type: 'equals', key: gateKey(), value: look.gate },
    ]
    for (const [id, { bytes }] of look.flows) {
      require.push({ type: 'equals', key: flowKey(id), value: bytes })
    }
    if (member !== undefined) require.push(member)
    try {
      await runIn(loads[0]?.context, () => storage.write(operations, { durable: true, require }))
    } catch (error) {
      const refusal = presence?.refusal(error, require)
      if (refusal !== undefined) throw refusal
      if (hasCode(error, 'LK_STORAGE_CONFLICT')) {
        if (error.details['index'] === 0) this.#inbox = (inbox + 1) % inboxes
        return false
      }
      if (!(await wasMade(storage, operations, tickets))) throw error
    }
    // Its blocks are not kept in memory: a fail-over may lose them before they are taken in, which no head would tell.
    committer.lastLook.outdate()
    for (const [place, { resolve }] of loads.entries()) resolve({ id: tickets[place]!.id })
    const now = clock.now()
    const events = isWatched()
      ? tickets.map((ticket, place) => loadEventOf(ticket, loads[place]!.flow, now))
      : []
    onPosted?.({ events, queued: new Set(loads.map(({ flow }) => flow)) })
    return true
  }
}

interface FoundFlow extends Counted {
  readonly bytes: Uint8Array
}

interface Look {
  readonly head: HeadRecord
  readonly gate: Uint8Array
  readonly posted: Posted
  /** The bytes of the inboxes come first. */
  readonly inboxes: readonly (Uint8Array | undefined)[]
  readonly flows: ReadonlyMap<string, FoundFlow>
}

/** Posts that are not taken in. */
function untakenIn({ gate, inboxes }: Posted, inbox: number): number {
  return (inboxes[inbox]?.posts ?? 0) - gate.taken[inbox]![0]
}

/** What came of a load that is not posted, behind `before` others; undefined where it is. */
function outcomeOf(
  { flows, posted }: Look,
  id: string,
  before: number,
): Outcome | LorekeepError | undefined {
  const flow = flows.get(id)
  // By the head it is told what is wrong.
  if (flow?.flow.active !== true) return again
  // However many were posted.
  if (isFull(flow)) return flowFull(flow)
  return hasRoom(flow, untakenJobs(posted) + before) ? undefined : full
}

/** Behind all that was accepted by now. */
function firstBlock({ head, posted }: Look, inbox: number): number {
  const last = Math.max(head.nextBlock - 1, ...posted.inboxes.map((one) => one?.block ?? 0))
  return last + 1 + ((((inbox - last - 1) % inboxes) + inboxes) % inboxes)
}

function buildersOf(loads: readonly Waiting[], tickets: readonly Ticket[]): BlockBuilder[] {
  const builders: BlockBuilder[] = []
  for (const [place, { flow }] of loads.entries()) {
    const ticket = tickets[place]!
    let builder = builders.at(-1)
    if (builder === undefined || builder.meets(flow, ticket)) {
      builder = new BlockBuilder()
      builders.push(builder)
    }
    builder.add(flow, ticket)
  }
  return builders
}

/**
 * Whether a post is stored that nobody has answered for. Others may have posted behind it, or ended the gate and its
 * inboxes; its blocks stay until the last of their documents goes, and then there are the jobs. A number may be given
 * again, an id is not. False where it cannot be told.
 */
async function wasMade(
  storage: Storage,
  operations: readonly Put[],
  tickets: readonly Ticket[],
): Promise<boolean> {
  // It has a load or more, a block first, and the inbox last.
  const [block, inbox, { id, number }] = [operations[0]!, operations.at(-1)!, tickets[0]!]
  const keys = [inbox.key, block.key, jobKey(number), leaseKey(number)]
  try {
    const [last, first, job, lease] = await storage.getMany(keys)
    if (isSame(last, inbox.value) || isSame(first, block.value)) return true
    if (job !== undefined && decodeRecord<JobRecord>(job).id === id) return true
    return lease !== undefined && decodeRecord<LeaseRecord>(lease).job.id === id
  } catch {
    return false
  }
}
