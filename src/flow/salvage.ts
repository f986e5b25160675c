// What can be read of damaged flows, written anew: definitions, and the jobs whose documents are
// whole. Claims are void: their jobs are queued again. Held are 8 bytes for each record of a job.

import { randomBytes } from 'node:crypto'
import { deserialize } from 'node:v8'
import { keyPrefix } from '../keys.js'
import { encodeRecord } from '../record.js'
import type { Operation, Storage } from '../storage.js'
import type { Source } from '../verify/finding.js'
import { Numbers } from '../verify/numbers.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { tupleText, type Report } from '../verify/report.js'
import { Block } from './queue/block.js'
import { BlockCache } from './queue/draft.js'
import { decodeRun, encodeRun } from './queue/lanes.js'
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
  runKey,
  slotOf,
  type CountsRecord,
  type DoneRecord,
  type FlowRecord,
  type HeadRecord,
  type JobRecord,
  type LatestRecord,
  type LeaseRecord,
} from './queue/records.js'
import { hashOf, noCounts } from './queue/state.js'
import { isFlow, isJob } from './record-shapes.js'

export interface SalvagedFlows {
  flows: number
  jobs: number
}

const cacheBytes = 32 * 1024 * 1024

export async function salvageFlows(
  from: Source,
  to: Storage,
  report: Report,
): Promise<SalvagedFlows> {
  const salvage = new FlowSalvage(from, to, report)
  await salvage.run()
  return salvage.kept
}

class FlowSalvage {
  readonly kept: SalvagedFlows = { flows: 0, jobs: 0 }
  readonly #reading: Reading
  readonly #to: Storage
  readonly #report: Report
  readonly #counts = new Map<string, CountsRecord>()
  readonly #blocks = new BlockCache(cacheBytes)
  /** Jobs that have a record. */
  readonly #recorded = new Numbers()
  /** The block of each job that needs one, as often. */
  readonly #needed = new Numbers()
  /** Of each flow, in the order of their numbers. */
  readonly #done = new Map<string, number[]>()
  #operations: Operation[] = []

  constructor(from: Source, to: Storage, report: Report) {
    this.#reading = new Reading('flows', from, report)
    this.#to = to
    this.#report = report
  }

  async run(): Promise<void> {
    for await (const entry of this.#reading.entries(flowKeys())) {
      const flow = this.#reading.record<FlowRecord>(entry)
      if (flow === undefined) continue
      if (!isFlow(flow)) this.#reading.damaged(entry.key, 'it is not the definition of a flow')
      else {
        this.#counts.set(flow.id, noCounts())
        this.#put(flowKey(flow.id), entry.value)
        this.kept.flows++
      }
    }
    for await (const entry of this.#reading.entries(keyPrefix('latest'))) {
      const latest = this.#reading.record<LatestRecord>(entry)
      if (Number.isSafeInteger(latest?.number)) this.#put(entry.key, entry.value)
      await this.#flush()
    }
    await this.#write()
    for await (const entry of this.#reading.entries(leaseKeys())) {
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const job = this.#reading.record<LeaseRecord>(entry)?.job
      if (number === undefined || !isJob(job)) continue
      await this.#takeJob(number, { ...job, state: 'queued' })
    }
    const leased = this.#recorded.sorted().slice()
    for await (const entry of this.#reading.entries(keyPrefix('job'))) {
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const job = this.#reading.record<JobRecord>(entry)
      if (number === undefined || job === undefined || isIn(leased, number)) continue
      if (isJob(job)) await this.#takeJob(number, job)
      else this.#reading.damaged(entry.key, 'it is not the record of a job')
    }
    await this.#takeRuns()
    await this.#writeBlocks()
    await this.#writeRecords()
  }

  /** A job that was claimed before. */
  async #takeJob(number: number, { superseded, ...found }: JobRecord): Promise<void> {
    this.#recorded.add(number)
    const whose = `'${found.document}' of '${found.user}', ${found.state}`
    const counts = this.#counts.get(found.flow)
    if (counts === undefined)
      return this.#lose(number, `${whose}: there is no flow '${found.flow}'`)
    if (found.state === 'done')
      return this.#takeDone(number, { ...found, ...(superseded && { superseded }) })
    if (found.lost !== undefined)
      return this.#lose(number, `${whose}: its document was lost before`)
    const body = found.ownBody === true ? await this.#reading.get(bodyKey(number)) : undefined
    const stored = found.ownBody === true ? only(body) : await this.#documentOf(number)
    if (stored?.document !== found.document || stored.flow !== found.flow) {
      return this.#lose(number, `${whose}: its document cannot be read`)
    }
    if (body !== undefined) this.#put(bodyKey(number), body)
    else this.#needed.add(blockOf(number))
    const { dueAt, ...rest } = found
    const state = found.state === 'delayed' && dueAt === undefined ? 'queued' : found.state
    const steps = await this.#takeOutputs(number, found.steps)
    const job: JobRecord = {
      ...rest,
      state,
      steps,
      ...(state === 'delayed' && { dueAt: dueAt as number }),
    }
    this.#put(jobKey(number), encodeRecord(job))
    const { flow, user, document } = job
    if (job.failures.length > 0) this.#put(documentKey(user, document, number), nothing)
    if (state === 'delayed') this.#put(delayedKey(flow, dueAt as number, number), nothing)
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
  async #takeOutputs(number: number, steps: readonly string[]): Promise<readonly string[]> {
    for (const [step] of steps.entries()) {
      const key = outputKey(number, step)
      const value = await this.#reading.get(key)
      try {
        if (value === undefined) throw new Error('it is not there')
        deserialize(value)
      } catch {
        this.#lose(number, `what its step '${steps[step]}' returned; it runs again`)
        return steps.slice(0, step)
      }
      this.#put(key, value)
    }
    return steps
  }

  async #takeDone(number: number, job: JobRecord): Promise<void> {
    const key = latestKey(job.user, job.document)
    const value = await this.#to.get(key)
    const latest = value && this.#reading.record<LatestRecord>({ key, value })
    const isNewest = latest === undefined || latest.number < number
    if (job.superseded === true && isNewest) {
      return this.#lose(number, `'${job.document}' of '${job.user}', which another load superseded`)
    }
    if (isNewest) {
      const { id, flow, collection, updatedAt } = job
      const record: LatestRecord = { number, job: id, flow, collection, at: updatedAt }
      this.#put(key, encodeRecord(record))
    }
    const { ownBody: _, ...kept } = job
    this.#put(jobKey(number), encodeRecord(kept))
    this.#done.set(job.flow, [...(this.#done.get(job.flow) ?? []), number])
    this.kept.jobs++
    // The next one of the document has to see it.
    await this.#write()
  }

  /** Jobs that were never claimed. */
  async #takeRuns(): Promise<void> {
    const recorded = this.#recorded.sorted()
    for await (const entry of this.#reading.entries(keyPrefix('run'))) {
      const [flow, user, first] = tupleOf<[string, string, number]>(entry.key, 'ssn') ?? []
      if (flow === undefined || user === undefined || first === undefined) continue
      if (entry.value[0] !== 0 || (entry.value.length - 1) % 4 !== 0) continue
      const counts = this.#counts.get(flow)
      const { hashes } = decodeRun(entry).run
      let begun: { first: number; hashes: number[] } | undefined
      const end = () => {
        if (begun === undefined) return
        const run = { hashes: Uint32Array.from(begun.hashes), again: false }
        this.#put(runKey(flow, user, begun.first), encodeRun(run))
        begun = undefined
      }
      for (const [n, hash] of hashes.entries()) {
        const number = first + n
        const stored = isIn(recorded, number) ? undefined : await this.#documentOf(number)
        const isIt =
          counts !== undefined &&
          stored?.flow === flow &&
          stored.user === user &&
          hashOf(stored.document) === hash
        if (!isIt) {
          end()
          if (!isIn(recorded, number)) this.#lose(number, `queued for '${user}': it cannot be read`)
          continue
        }
        begun ??= { first: number, hashes: [] }
        begun.hashes.push(hash)
        this.#needed.add(blockOf(number))
        counts.queued++
        this.kept.jobs++
      }
      end()
      await this.#flush()
    }
  }

  async #writeBlocks(): Promise<void> {
    const needed = this.#needed.sorted()
    for (let at = 0; at < needed.length;) {
      const number = needed[at] as number
      let left = 0
      for (; needed[at] === number; at++) left++
      const bytes = await this.#reading.get(blockKey(number))
      if (bytes === undefined) throw new Error(`block ${number} was there a moment ago`)
      this.#put(blockKey(number), bytes)
      this.#put(leftKey(number), encodeRecord({ left }))
      await this.#flush()
    }
  }

  async #writeRecords(): Promise<void> {
    const recorded = this.#recorded.sorted()
    const needed = this.#needed.sorted()
    const last = Math.max(blockOf(recorded.at(-1) ?? 0), needed.at(-1) ?? 0)
    const value = await this.#reading.get(headKey())
    const head = value && this.#reading.record<HeadRecord>({ key: headKey(), value })
    const given = Number.isSafeInteger(head?.nextBlock) ? Number(head?.nextBlock) : 1
    for (const [flow, numbers] of this.#done) {
      const counts = this.#counts.get(flow) as CountsRecord
      for (let at = 0; at < numbers.length; at += 1000) {
        const done: DoneRecord = { numbers: numbers.slice(at, at + 1000) }
        this.#put(doneKey(flow, at), encodeRecord(done))
      }
      counts.done = numbers.length
    }
    for (const [flow, counts] of this.#counts) this.#put(countsKey(flow), encodeRecord(counts))
    const token = randomBytes(8).toString('hex')
    const next: HeadRecord = { version: 1, token, nextBlock: Math.max(given, last + 1) }
    this.#put(formatKey(), encodeRecord({ format: 1 }))
    this.#put(headKey(), encodeRecord(next))
    await this.#write()
  }

  async #documentOf(number: number) {
    const held = this.#blocks.get(blockOf(number))
    if (held !== undefined) return held.at(slotOf(number), number)
    const bytes = await this.#reading.get(blockKey(blockOf(number)))
    if (bytes === undefined) return undefined
    const block = new Block(bytes)
    try {
      const found = block.at(slotOf(number), number)
      this.#blocks.keep(blockOf(number), block)
      return found
    } catch (error) {
      this.#reading.damaged(blockKey(blockOf(number)), (error as Error).message)
      return undefined
    }
  }

  #lose(number: number, message: string): void {
    this.#report.error('flows', 'lost', tupleText('job', number), message)
  }

  #put(key: Uint8Array, value: Uint8Array): void {
    this.#operations.push({ type: 'put', key, value })
  }

  async #flush(): Promise<void> {
    if (this.#operations.length >= 1000) await this.#write()
  }

  async #write(): Promise<void> {
    const operations = this.#operations
    this.#operations = []
    if (operations.length > 0) await this.#to.write(operations, { durable: true })
  }
}

const nothing = new Uint8Array(0)

/** The one document of a block of one. */
function only(bytes: Uint8Array | undefined) {
  if (bytes === undefined) return undefined
  try {
    return new Block(bytes).at(0, 0)
  } catch {
    return undefined
  }
}

function isIn(sorted: Float64Array, number: number): boolean {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return sorted[low] === number
}
