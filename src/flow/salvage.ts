// What can be read of damaged flows, written anew: definitions, and the jobs whose documents are
// whole. Claims are void: their jobs are queued again. Held are 8 bytes for each record of a job.

import { randomBytes } from 'node:crypto'
import { deserialize } from 'node:v8'
import { keyPrefix } from '../keys.js'
import { encodeRecord } from '../record.js'
import type { Operation, Storage } from '../storage.js'
import type { Finding, Source } from '../verify/finding.js'
import { Numbers, placeOf } from '../verify/numbers.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { givenOut, keyText, tupleText, type Report } from '../verify/report.js'
import { firstFlow } from './definition.js'
import { DocumentBlock, numberIn, type StoredDocument } from './queue/block.js'
import { formatVersion } from './queue/opening.js'
import { decodeHashes, decodeRun, encodeRun, type Run } from './queue/run.js'
import {
  blockKey,
  blockOf,
  bodyKey,
  countsKey,
  deadKey,
  delayedKey,
  documentKey,
  doneKey,
  flowKey,
  flowKeys,
  formatKey,
  headKey,
  jobKey,
  latestKey,
  leaseKeys,
  leftKey,
  outputKey,
  recordedPlaces,
  runKey,
  slotOf,
  slotsPerBlock,
  type CountsRecord,
  type DoneRecord,
  type FlowRecord,
  type HeadRecord,
  type JobRecord,
  type LatestRecord,
  type LeaseRecord,
  type PostRecord,
} from './queue/records.js'
import { hashOf, noCounts } from './queue/state.js'
import { StoredBlocks } from './verify/stored-blocks.js'
import {
  hasText,
  isDocument,
  isFlow,
  isHead,
  isJob,
  isLatest,
  isLoadOf,
  isNamed,
  isPost,
  isRun,
} from './verify/record-shapes.js'

export interface SalvagedFlows {
  flows: number
  jobs: number
}

/** What is written in one go. */
const writeBytes = 1024 * 1024

/** Numbers of jobs in one record of those that are done. */
const numbersPerDone = 1000

/** Gives out what it leaves behind, or corrects, as it comes to it. */
export async function* salvageFlows(
  from: Source,
  to: Storage,
  report: Report,
): AsyncGenerator<Finding, SalvagedFlows, undefined> {
  const salvage = new FlowSalvage(from, to, report)
  yield* givenOut(salvage.run(), report)
  return salvage.kept
}

class FlowSalvage {
  readonly kept: SalvagedFlows = { flows: 0, jobs: 0 }
  readonly #reading: Reading
  readonly #to: Storage
  readonly #report: Report
  readonly #counts = new Map<string, CountsRecord>()
  readonly #blocks: StoredBlocks
  /** Jobs that have a record. */
  readonly #recorded = new Numbers()
  /** The block of each job that needs one, as often. */
  readonly #needed = new Numbers()
  /** The block of each job that is lost, and whose document it has. */
  readonly #told = new Numbers()
  /** Of each flow, in the order of their numbers. */
  readonly #done = new Map<string, Numbers>()
  /** Done jobs that a newer load has superseded: what that is shows when all others are known. */
  readonly #superseded = new Numbers()
  /** Newest loads that are not written yet, by their keys. */
  readonly #latest = new Map<string, Uint8Array>()
  /** The first block whose number was not given; what is known of it. */
  #nextBlock = 1
  #operations: Operation[] = []
  #bytes = 0

  constructor(from: Source, to: Storage, report: Report) {
    this.#reading = new Reading('flows', from, report)
    this.#blocks = new StoredBlocks(this.#reading, checkNames)
    this.#to = to
    this.#report = report
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    const value = await this.#reading.get(headKey())
    const head = value && this.#reading.record<HeadRecord>({ key: headKey(), value })
    const isKnown = isHead(head)
    if (isKnown) this.#nextBlock = head.nextBlock
    else if (head !== undefined) this.#reading.damaged(headKey(), 'it is not a head')
    yield* this.#takeFlows()
    yield* this.#takeLatest(isKnown)
    for await (const entry of this.#reading.entries(leaseKeys())) {
      yield
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const lease = this.#reading.record<LeaseRecord>(entry)
      if (number === undefined || lease === undefined) continue
      if (isJob(lease.job)) await this.#takeJob(number, { ...lease.job, state: 'active' })
      else this.#reading.damaged(entry.key, 'it is not a lease')
    }
    const leased = this.#recorded.sorted().slice()
    for await (const entry of this.#reading.entries(keyPrefix('job'))) {
      yield
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const job = this.#reading.record<JobRecord>(entry)
      if (number === undefined || job === undefined || isIn(leased, number)) continue
      if (isJob(job)) await this.#takeJob(number, job)
      else this.#reading.damaged(entry.key, 'it is not the record of a job')
    }
    yield* this.#takeSuperseded()
    yield* this.#tellUnrecorded()
    yield* this.#takeRuns()
    yield* this.#writeBlocks()
    yield* this.#tellUnlisted()
    await this.#writeRecords()
  }

  // Flows, and what is known of documents

  async *#takeFlows(): AsyncGenerator<void, void, undefined> {
    for await (const entry of this.#reading.entries(flowKeys())) {
      yield
      const [id] = tupleOf<[string]>(entry.key, 's') ?? []
      const flow = this.#reading.record<FlowRecord>(entry)
      if (id === undefined || flow === undefined) continue
      if (flow.id !== id || !isFlow(flow)) {
        this.#reading.damaged(entry.key, 'it is not the definition of this flow')
        continue
      }
      this.#counts.set(id, noCounts())
      this.#put(flowKey(id), entry.value)
      this.kept.flows++
    }
    const first = firstFlow()
    if (this.#counts.has(first.id)) return
    this.#counts.set(first.id, noCounts())
    this.#put(flowKey(first.id), encodeRecord(first))
    // One that was removed has left nothing.
    if (
      !(await this.#reading.has(flowKey(first.id))) &&
      !(await this.#reading.has(countsKey(first.id)))
    ) {
      return
    }
    const message = 'its definition; it is defined as in a new store'
    this.#report.error('flows', 'lost', tupleText('flow', first.id), message)
  }

  async *#takeLatest(isHeadKnown: boolean): AsyncGenerator<void, void, undefined> {
    for await (const entry of this.#reading.entries(keyPrefix('latest'))) {
      yield
      const [user, document] = tupleOf<[string, string]>(entry.key, 'ss') ?? []
      const latest = this.#reading.record<LatestRecord>(entry)
      if (user === undefined || document === undefined || latest === undefined) continue
      if (!isLatest(latest)) {
        this.#reading.damaged(entry.key, 'it is not the record of a load')
        continue
      }
      const { number } = latest
      const value = await this.#reading.get(jobKey(number))
      const job = value && this.#reading.record<JobRecord>({ key: jobKey(number), value })
      const isOther = job !== undefined && isJob(job) && !isLoadOf(job, latest, user, document)
      if (isOther || (isHeadKnown && blockOf(number) >= this.#nextBlock)) {
        const message = `the newest load that it names, job ${number}, is no such load`
        this.#report.error('flows', 'lost', keyText(entry.key), message)
        continue
      }
      this.#give(number)
      this.#put(entry.key, entry.value)
      await this.#flush()
    }
    await this.#write()
  }

  // Jobs

  /** A job that was claimed before. */
  async #takeJob(number: number, { superseded, ...found }: JobRecord): Promise<void> {
    this.#recorded.add(number)
    this.#give(number)
    const whose = `'${found.document}' of '${found.user}', ${found.state}`
    const counts = this.#counts.get(found.flow)
    if (counts === undefined)
      return this.#loseDocument(number, `${whose}: there is no flow '${found.flow}'`)
    if (found.state === 'done') {
      if (numberIn(found.id) !== number)
        return this.#lose(number, `${whose}: its id '${found.id}' is of another number`)
      if (superseded === true) return this.#superseded.add(number)
      return this.#takeDone(number, found)
    }
    if (found.lost !== undefined)
      return this.#lose(number, `${whose}: its document was lost before`)
    const body = found.ownBody === true ? await this.#reading.get(bodyKey(number)) : undefined
    const stored = found.ownBody === true ? only(body, number) : await this.#documentOf(number)
    const isIt =
      stored?.document === found.document &&
      stored.flow === found.flow &&
      stored.user === found.user
    if (!isIt) return this.#loseDocument(number, `${whose}: its document cannot be read`)
    if (body !== undefined) this.#put(bodyKey(number), body)
    else this.#needed.add(blockOf(number))
    const { dueAt, steps: _, unrecorded: _places, ...rest } = found
    const isDelayed = found.state === 'delayed' && dueAt !== undefined
    const state = isDelayed || found.state === 'dead' ? found.state : 'queued'
    const isRight = numberIn(found.id) === number
    if (!isRight || (found.state === 'delayed') !== (dueAt !== undefined)) {
      const message = `${whose}: its record did not fit its state or number, and is ${state} now`
      this.#report.error('flows', 'different', tupleText('job', number), message)
    }
    const recorded = await this.#takeOutputs(number, found)
    const job: JobRecord = {
      ...rest,
      id: isRight ? found.id : stored.job,
      state,
      ...recorded,
      ...(isDelayed && { dueAt }),
    }
    this.#put(jobKey(number), encodeRecord(job))
    const { flow, user, document } = job
    if (job.failures.length > 0) this.#put(documentKey(user, document, number), nothing)
    if (isDelayed) this.#put(delayedKey(flow, dueAt, number), nothing)
    else if (state === 'dead') this.#put(deadKey(flow, number), nothing)
    else {
      const hashes = Uint32Array.of(hashOf(document))
      this.#put(runKey(flow, user, number), encodeRun({ hashes, again: true }))
    }
    counts[state as 'queued']++
    this.kept.jobs++
    await this.#flush()
  }

  /** The outputs of the first steps, as far as they can be read: the others run again. */
  async #takeOutputs(
    number: number,
    record: JobRecord,
  ): Promise<Pick<JobRecord, 'steps' | 'unrecorded'>> {
    const { steps, unrecorded = [] } = record
    let end = 0
    for (const place of recordedPlaces(record)) {
      const key = outputKey(number, place)
      const value = await this.#reading.get(key)
      try {
        if (value === undefined) throw new Error('it is not there')
        deserialize(value)
      } catch {
        this.#lose(number, `what its step '${steps[place]}' returned; it runs again`)
        break
      }
      this.#put(key, value)
      end = place + 1
    }
    const places = unrecorded.filter((place) => place < end)
    return { steps: steps.slice(0, end), ...(places.length > 0 && { unrecorded: places }) }
  }

  async #takeDone(number: number, job: JobRecord): Promise<void> {
    const { id, flow, user, document, collection, updatedAt } = job
    const key = latestKey(user, document)
    const latest = await this.#latestUnder(key)
    if (job.superseded === true) {
      if (latest !== undefined && latest.number <= number) {
        return this.#lose(number, `'${document}' of '${user}', superseded, and by no newer load`)
      }
    } else if (latest === undefined ? await this.#reading.has(key) : latest.number < number) {
      // Where it never was, the document was removed.
      const record: LatestRecord = { number, job: id, flow, collection, at: updatedAt }
      const value = encodeRecord(record)
      this.#put(key, value)
      this.#latest.set(textOf(key), value)
    }
    const { ownBody: _, dueAt: _due, ...kept } = job
    this.#put(jobKey(number), encodeRecord(kept))
    const done = this.#done.get(flow) ?? new Numbers()
    this.#done.set(flow, done)
    done.add(number)
    this.kept.jobs++
    await this.#flush()
  }

  async #latestUnder(key: Uint8Array): Promise<LatestRecord | undefined> {
    const value = this.#latest.get(textOf(key)) ?? (await this.#to.get(key))
    return value && this.#reading.record<LatestRecord>({ key, value })
  }

  async *#takeSuperseded(): AsyncGenerator<void, void, undefined> {
    for (const number of this.#superseded.sorted()) {
      const key = jobKey(number)
      const value = await this.#reading.get(key)
      const job = value && this.#reading.record<JobRecord>({ key, value })
      if (job !== undefined) await this.#takeDone(number, job)
      yield
    }
  }

  /** Jobs that are listed, and whose record is lost. */
  async *#tellUnrecorded(): AsyncGenerator<void, void, undefined> {
    const recorded = this.#recorded.sorted()
    for (const [kind, shape] of [
      ['delayed', 'snn'],
      ['dead', 'sn'],
    ] as const) {
      for await (const { key } of this.#reading.entries({ ...keyPrefix(kind), keysOnly: true })) {
        const number = tupleOf<(string | number)[]>(key, shape)?.at(-1)
        if (typeof number !== 'number' || isIn(recorded, number)) continue
        this.#loseDocument(number, `it is ${kind}, and its record is lost`)
        yield
      }
    }
  }

  /** Jobs that were never claimed. */
  async *#takeRuns(): AsyncGenerator<void, void, undefined> {
    const recorded = this.#recorded.sorted()
    let last = { lane: '', end: 0 }
    for await (const entry of this.#reading.entries(keyPrefix('run'))) {
      yield
      const [flow, user, first] = tupleOf<[string, string, number]>(entry.key, 'ssn') ?? []
      if (flow === undefined || user === undefined || first === undefined) continue
      if (!isRun(first, entry.value)) {
        this.#reading.damaged(entry.key, 'it is not a run of queued jobs')
        continue
      }
      const { hashes, again } = decodeRun(entry).run
      if (again) {
        if (!isIn(recorded, first))
          this.#loseDocument(first, `queued for '${user}', and its record is lost`)
        continue
      }
      const lane = tupleText(flow, user)
      const taken = lane === last.lane ? last.end : 0
      last = { lane, end: Math.max(taken, first + hashes.length) }
      await this.#takeRun(flow, user, { first, hashes }, (number) => {
        return number >= taken && !isIn(recorded, number)
      })
      await this.#flush()
    }
    yield* this.#takePosts((number) => !isIn(recorded, number))
  }

  /** Loads that nobody had taken in. */
  async *#takePosts(isOwn: (number: number) => boolean): AsyncGenerator<void, void, undefined> {
    for await (const entry of this.#reading.entries(keyPrefix('post'))) {
      yield
      const post = this.#reading.record<PostRecord>(entry)
      if (post !== undefined && !isPost(post)) {
        this.#reading.damaged(entry.key, 'it does not list jobs')
      } else {
        for (const [flow, user, first, hashes] of post?.runs ?? []) {
          await this.#takeRun(flow, user, { first, hashes: decodeHashes(hashes) }, isOwn)
        }
      }
      await this.#flush()
    }
  }

  /** `isOwn`: no other record has the job. */
  async #takeRun(
    flow: string,
    user: string,
    { first, hashes }: Pick<Run, 'first' | 'hashes'>,
    isOwn: (number: number) => boolean,
  ): Promise<void> {
    const counts = this.#counts.get(flow)
    let begun: { first: number; hashes: number[] } | undefined
    const end = () => {
      if (begun === undefined) return
      const run = { hashes: Uint32Array.from(begun.hashes), again: false }
      this.#put(runKey(flow, user, begun.first), encodeRun(run))
      begun = undefined
    }
    for (const [n, hash] of hashes.entries()) {
      const number = first + n
      const stored = isOwn(number) ? await this.#documentOf(number) : undefined
      const isIt =
        counts !== undefined &&
        stored?.flow === flow &&
        stored.user === user &&
        hashOf(stored.document) === hash
      if (!isIt) {
        end()
        if (isOwn(number)) this.#loseDocument(number, `queued for '${user}': it cannot be read`)
        continue
      }
      begun ??= { first: number, hashes: [] }
      begun.hashes.push(hash)
      this.#needed.add(blockOf(number))
      counts.queued++
      this.kept.jobs++
    }
    end()
  }

  // Blocks

  async *#writeBlocks(): AsyncGenerator<void, void, undefined> {
    const needed = this.#needed.sorted()
    for (let at = 0; at < needed.length;) {
      const number = needed[at] as number
      let left = 0
      for (; needed[at] === number; at++) left++
      const bytes = await this.#reading.get(blockKey(number))
      if (bytes === undefined) throw new Error(`block ${number} was there a moment ago`)
      this.#give(number * slotsPerBlock)
      this.#put(blockKey(number), cleared(bytes))
      this.#put(leftKey(number), encodeRecord({ left }))
      await this.#flush()
      yield
    }
  }

  /** Documents that are still needed, and of which no job, run or list speaks any more. */
  async *#tellUnlisted(): AsyncGenerator<void, void, undefined> {
    const needed = this.#needed.sorted()
    const told = this.#told.sorted()
    for await (const { key } of this.#reading.entries({ ...keyPrefix('block'), keysOnly: true })) {
      const [number] = tupleOf<[number]>(key, 'n') ?? []
      if (number === undefined) continue
      const known = countOf(number, needed) + countOf(number, told)
      const unlisted = (await this.#leftOf(number)) - known
      if (unlisted > 0) {
        const message = `${unlisted} documents, of whose jobs every record is lost`
        this.#report.error('flows', 'lost', keyText(key), message)
      }
      yield
    }
  }

  /** How many documents of a block are still needed, as far as it can be told. */
  async #leftOf(number: number): Promise<number> {
    const key = leftKey(number)
    const value = await this.#reading.get(key)
    if (value === undefined) return (await this.#blocks.get(number))?.count ?? 0
    const left = this.#reading.record<{ left: unknown }>({ key, value })?.left
    return typeof left === 'number' ? left : 0
  }

  async #documentOf(number: number): Promise<StoredDocument | undefined> {
    const stored = (await this.#blocks.get(blockOf(number)))?.at(slotOf(number), number)
    return stored !== undefined && isDocument(stored) ? stored : undefined
  }

  // Writing

  async #writeRecords(): Promise<void> {
    for (const [flow, done] of this.#done) {
      const counts = this.#counts.get(flow) as CountsRecord
      const numbers = done.sorted()
      for (let at = 0; at < numbers.length; at += numbersPerDone) {
        const record: DoneRecord = { numbers: [...numbers.subarray(at, at + numbersPerDone)] }
        this.#put(doneKey(flow, at), encodeRecord(record))
        await this.#flush()
      }
      counts.done = numbers.length
    }
    for (const [flow, counts] of this.#counts) this.#put(countsKey(flow), encodeRecord(counts))
    const token = randomBytes(8).toString('hex')
    const head: HeadRecord = { version: 1, token, nextBlock: this.#nextBlock }
    this.#put(formatKey(), encodeRecord({ format: formatVersion }))
    this.#put(headKey(), encodeRecord(head))
    await this.#write()
  }

  /** A number that was given; the queue gives no block of it once more. */
  #give(number: number): void {
    this.#nextBlock = Math.max(this.#nextBlock, blockOf(number) + 1)
  }

  /** Of a job whose document lies in a block, and is needed there. */
  #loseDocument(number: number, message: string): void {
    this.#told.add(blockOf(number))
    this.#lose(number, message)
  }

  #lose(number: number, message: string): void {
    this.#report.error('flows', 'lost', tupleText('job', number), message)
  }

  #put(key: Uint8Array, value: Uint8Array): void {
    this.#operations.push({ type: 'put', key, value })
    this.#bytes += value.length
  }

  async #flush(): Promise<void> {
    if (this.#operations.length >= 1000 || this.#bytes >= writeBytes) await this.#write()
  }

  async #write(): Promise<void> {
    const operations = this.#operations
    this.#operations = []
    this.#bytes = 0
    if (operations.length > 0) await this.#to.write(operations, { durable: true })
    this.#latest.clear()
  }
}

const nothing = new Uint8Array(0)

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}

/** The one document of a block of one. */
function only(bytes: Uint8Array | undefined, number: number): StoredDocument | undefined {
  if (bytes === undefined) return undefined
  try {
    const stored = new DocumentBlock(bytes).at(0, number)
    return stored !== undefined && isDocument(stored) ? stored : undefined
  } catch {
    return undefined
  }
}

function checkNames(block: DocumentBlock): void {
  if (!documentsIn(block).every(isNamed)) throw new Error('what it names is no document')
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` */
function documentsIn(block: DocumentBlock): StoredDocument[] {
  return Array.from({ length: block.count }, (_, slot) => block.at(slot, slot) as StoredDocument)
}

/** With spaces for texts that are none: nobody needs them, and they lie between others. */
function cleared(bytes: Uint8Array): Uint8Array {
  for (const stored of documentsIn(new DocumentBlock(bytes))) {
    if (!hasText(stored)) stored.text.fill(0x20)
  }
  return bytes
}

function countOf(number: number, sorted: Float64Array): number {
  return placeOf(number + 1, sorted) - placeOf(number, sorted)
}

function isIn(sorted: Float64Array, number: number): boolean {
  return sorted[placeOf(number, sorted)] === number
}
