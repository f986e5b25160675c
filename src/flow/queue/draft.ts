// A commit in the making: what it writes, over what is in storage. A draft changes the state that it
// stands on; where its commit fails, that state is thrown away and read anew.

import { LorekeepError } from '../../errors.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Entry, Operation, Precondition, Range, Storage } from '../../storage.js'
import type { AcceptedDocument } from '../document.js'
import type { JobEvent } from '../types.js'
import { DocumentBlock, BlockBuilder, Ticket } from './block.js'
import { loadEventOf } from './job-view.js'
import type { Blocks } from './blocks.js'
import { ChangeNotes } from './changes.js'
import {
  blockKey,
  changeKey,
  countsKey,
  doneKey,
  headKey,
  keptChanges,
  leaseKey,
  leftKey,
  runKey,
} from './records.js'
import type { DoneRecord, HeadRecord, LeaseRecord, OpenGate } from './records.js'
import { encodeRun, type Run } from './run.js'
import { documentName, hashOf } from './state.js'
import type { Active, FlowState, State } from './state.js'

/** Thrown by a change that has to read a range: it begins the next draft, with nothing under way. */
export class NeedsCleanDraft extends Error {}

// One for all: to take down the stack costs 10 us, and nobody reads it.
const needsCleanDraft = new NeedsCleanDraft()

/** Thrown to begin again with what is in storage: somebody else has written. */
export class OutdatedState extends Error {}

type Overlay = ReadonlyMap<string, Operation>

interface DraftOptions {
  readonly storage: Storage
  readonly state: State
  /** Of the commits that are being written, the newest first. */
  readonly under: readonly Overlay[]
  readonly now: number
  /** As the clock's elapsed(). */
  readonly elapsed: number
  /** Who writes it, of those who share the backend. */
  readonly member: string | undefined
  readonly createId: () => string
  readonly token: string
  readonly blocks: Blocks
  /** Somebody wants to hear of events. */
  readonly watched: boolean
  /** Those who share the backend wait for each other. */
  readonly isCrowded: boolean
}

export class Draft {
  readonly state: State
  readonly now: number
  readonly elapsed: number
  readonly member: string | undefined
  readonly blocks: Blocks
  readonly events: JobEvent[] = []
  /** Flows in which something can be claimed now. */
  readonly queued = new Set<string>()
  /** Jobs that were taken from whoever processed them. */
  readonly cancelled: number[] = []
  /** Counts what was changed, in the state or in what is written. */
  changes = 0
  /** About how much is to be written. */
  bytes = 0
  /** As the head will say. */
  gate: OpenGate | undefined
  /** What it requires beside its head. */
  readonly require: Precondition[] = []
  readonly isCrowded: boolean
  /** Something was read of the storage, where others may have written meanwhile. */
  hasRead = false
  readonly #storage: Storage
  readonly #under: readonly Overlay[]
  readonly #createId: () => string
  readonly #token: string
  readonly #watched: boolean
  readonly #operations = new Map<string, Operation>()
  /** Where there are others, what they are told of it. */
  readonly #notes: ChangeNotes | undefined
  readonly #counted = new Set<FlowState>()
  readonly #used = new Set<number>()
  readonly #done = new Map<FlowState, number[]>()
  readonly #builders: BlockBuilder[] = []
  readonly #loaded: { readonly ticket: Ticket; readonly flow: string }[] = []

  constructor(options: DraftOptions) {
    const { storage, state, under, now, elapsed, member, createId, token, blocks, watched } =
      options
    this.state = state
    this.gate = state.head.gate
    this.isCrowded = options.isCrowded
    this.now = now
    this.elapsed = elapsed
    this.member = member
    this.blocks = blocks
    this.#storage = storage
    this.#under = under
    this.#createId = createId
    this.#token = token
    this.#watched = watched
    if (storage.sharing !== undefined) this.#notes = new ChangeNotes()
  }

  /** There are others. */
  get isShared(): boolean {
    return this.#notes !== undefined
  }

  get overlay(): Overlay {
    return this.#operations
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const pending = this.#pending(key)
    if (pending === undefined) {
      this.hasRead = true
      return this.#storage.get(key)
    }
    return pending.type === 'put' ? pending.value : undefined
  }

  async record<R>(key: Uint8Array): Promise<R | undefined> {
    const bytes = await this.get(key)
    return bytes === undefined ? undefined : decodeRecord<R>(bytes)
  }

  async records<R>(keys: readonly Uint8Array[]): Promise<(R | undefined)[]> {
    const found = await this.getMany(keys)
    return found.map((bytes) => (bytes === undefined ? undefined : decodeRecord<R>(bytes)))
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const pending = keys.map((key) => this.#pending(key))
    const asked = keys.filter((_, place) => pending[place] === undefined)
    this.hasRead ||= asked.length > 0
    const found = asked.length === 0 ? [] : await this.#storage.getMany(asked)
    let next = 0
    return pending.map((operation) => {
      if (operation === undefined) return found[next++]
      return operation.type === 'put' ? operation.value : undefined
    })
  }

  /** As assertClean(): what is being written would not show. */
  scan(range: Range): AsyncIterable<readonly Entry[]> {
    this.assertClean()
    this.hasRead = true
    return this.#storage.scan(range)
  }

  /** @throws NeedsCleanDraft where something is written, or about to be */
  assertClean(): void {
    if (this.changes > 0 || this.#under.length > 0) throw needsCleanDraft
  }

  /**
   * What a record says is there is not: either somebody else has written meanwhile, or a key was
   * damaged or lost, and nobody may take that for absence.
   */
  async contradiction(detail: string): Promise<never> {
    await this.assertNewest()
    throw new LorekeepError('LK_STORAGE_CORRUPT', detail)
  }

  /** @throws OutdatedState where somebody else has written since the state was read */
  async assertNewest(): Promise<void> {
    this.assertClean()
    const head = await this.#storage.get(headKey())
    if (!isSame(head, this.state.headBytes)) throw new OutdatedState()
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.changes++
    this.bytes += value.length
    this.#operations.set(nameOf(key), { type: 'put', key, value })
  }

  putRecord(key: Uint8Array, record: object): void {
    this.put(key, encodeRecord(record))
  }

  delete(key: Uint8Array): void {
    this.changes++
    this.#operations.set(nameOf(key), { type: 'del', key })
  }

  /** A flow whose counts are about to change. */
  count(flow: FlowState): FlowState['counts'] {
    this.changes++
    this.#counted.add(flow)
    return flow.counts
  }

  /** A block that some documents of are no longer needed, or none. */
  countLeft(block: number): void {
    this.changes++
    this.#used.add(block)
  }

  /** A job that is done, in the order of completion. */
  countDone(flow: FlowState, number: number): void {
    const finished = this.#done.get(flow) ?? []
    this.#done.set(flow, finished)
    finished.push(number)
    this.count(flow).done++
  }

  /** Puts a document at the end of its user's lane. Its ticket is good once the draft is finished. */
  enqueue(flow: FlowState, document: AcceptedDocument): Ticket {
    const { id } = flow.flow
    this.count(flow).queued++
    this.bytes += document.text.length + document.metadataLength
    const ticket = new Ticket(document, hashOf(document.id))
    let builder = this.#builders.at(-1)
    // Numbers are given lane by lane: loads of one document in two flows keep their order only in
    // two blocks.
    if (builder === undefined || builder.isFull || builder.meets(id, ticket)) {
      builder = new BlockBuilder()
      this.#builders.push(builder)
    }
    builder.add(id, ticket)
    this.queued.add(id)
    if (this.#watched) this.#loaded.push({ ticket, flow: id })
    return ticket
  }

  /** Puts a job that was claimed before back into its user's lane, where its number belongs. */
  requeue(flow: FlowState, user: string, number: number, document: string): void {
    this.count(flow).queued++
    const run = { first: number, hashes: Uint32Array.of(hashOf(document)), again: true }
    const stored = { ...run, stored: number }
    this.putRun(flow.flow.id, user, stored, true)
    flow.lanes.add(user, stored)
    this.queued.add(flow.flow.id)
  }

  /** `isNew`: none of its jobs were queued before. */
  putRun(flow: string, user: string, run: Run, isNew: boolean): void {
    this.put(runKey(flow, user, run.first), encodeRun(run))
    this.#notes?.run(flow, user, run, isNew)
  }

  deleteRun(flow: string, user: string, first: number): void {
    this.delete(runKey(flow, user, first))
    this.#notes?.noRun(flow, user, first)
  }

  putLease(active: Active): void {
    const { number, token, beat, leaseMs, member, record: job } = active
    const lease: LeaseRecord = {
      token,
      beat,
      leaseMs,
      ...(member !== undefined && { member }),
      job,
    }
    this.putRecord(leaseKey(number), lease)
    this.#notes?.lease(active)
  }

  /** Something has changed that others know, and that is not told of by itself. */
  tellMore(): void {
    this.#notes?.more()
  }

  /** Makes a job one that is under way. */
  activate(active: Active): void {
    this.state.active.set(active.number, active)
    this.state.busy.add(documentName(active.user, active.hash))
  }

  deactivate({ number, user, hash }: Active): void {
    this.state.active.delete(number)
    this.state.others.delete(number)
    this.state.busy.delete(documentName(user, hash))
    this.#notes?.noLease(number)
  }

  /** Where nobody listens, an event is not made. */
  tell(make: () => JobEvent): void {
    if (this.#watched) this.events.push(make())
  }

  /** What is to be written, and under which head. */
  finish(): readonly Operation[] {
    for (const builder of this.#builders) this.#putBlock(builder)
    for (const { ticket, flow } of this.#loaded)
      this.tell(() => loadEventOf(ticket, flow, this.now))
    for (const block of this.#used) {
      const left = this.state.left.get(block)
      if (left !== undefined) this.putRecord(leftKey(block), { left })
    }
    for (const [{ flow, counts }, numbers] of this.#done) {
      const done: DoneRecord = { numbers }
      this.putRecord(doneKey(flow.id, counts.done - numbers.length), done)
    }
    for (const { flow, counts } of this.#counted) {
      if (this.state.flows.has(flow.id)) this.putRecord(countsKey(flow.id), counts)
    }
    const { head, nextBlock } = this.state
    const { gate } = this
    const version = head.version + 1
    const closed = head.gate !== undefined && gate === undefined ? version : head.closed
    const next: HeadRecord = {
      version,
      token: this.#token,
      nextBlock,
      ...(gate !== undefined && { gate }),
      ...(closed !== undefined && { closed }),
    }
    const headBytes = encodeRecord(next)
    this.put(headKey(), headBytes)
    if (this.#notes !== undefined) this.#tellChange(this.#notes, next)
    this.state.head = next
    this.state.headBytes = headBytes
    return [...this.#operations.values()]
  }

  #tellChange(notes: ChangeNotes, { version, token }: HeadRecord): void {
    const { head, left, flows } = this.state
    const record = notes.record({
      before: head.token,
      token,
      member: this.member,
      flows: [...this.#counted].filter(({ flow }) => flows.has(flow.id)),
      left: [...this.#used].map((block) => [block, left.get(block) ?? 0]),
    })
    this.putRecord(changeKey(version), record)
    if (version > keptChanges) this.delete(changeKey(version - keptChanges))
  }

  #putBlock(builder: BlockBuilder): void {
    const block = this.state.nextBlock++
    const id = this.#createId()
    for (const { flow, user, tickets } of builder.number(block, id)) {
      // A lane has one or more.
      const first = tickets[0]!.number
      const hashes = Uint32Array.from(tickets, ({ hash }) => hash)
      const run = { first, hashes, again: false, stored: first }
      this.putRun(flow, user, run, true)
      this.state.flows.get(flow)?.lanes.add(user, run)
    }
    const bytes = builder.build(id, this.now)
    this.put(blockKey(block), bytes)
    this.blocks.keep(block, new DocumentBlock(bytes))
  }

  #pending(key: Uint8Array): Operation | undefined {
    if (this.#operations.size === 0 && this.#under.length === 0) return undefined
    const name = nameOf(key)
    const own = this.#operations.get(name)
    if (own !== undefined) return own
    for (const overlay of this.#under) {
      const operation = overlay.get(name)
      if (operation !== undefined) return operation
    }
    return undefined
  }
}

export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0
}

/** A string that is equal where the bytes are. */
function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}
