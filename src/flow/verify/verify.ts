// What has to hold of the `flows` partition: every record belongs to something, every job is in
// exactly the one place that its state says, and counts are right. Of the queue it holds 8 bytes for
// each run and each record of a job, and a few blocks.

import { deserialize } from 'node:v8'
import type { Entry, Range } from '../../storage.js'
import { Balance } from '../../verify/balance.js'
import type { Finding, Source } from '../../verify/finding.js'
import { verifyFormat, verifyKeys } from '../../verify/partition-check.js'
import { Reading, tupleOf } from '../../verify/reading.js'
import { givenOut, keyText, tupleText, type Report } from '../../verify/report.js'
import { isCount } from '../../verify/shapes.js'
import { keyPrefix } from '../../keys.js'
import { numberIn } from '../queue/block.js'
import { formatVersion } from '../queue/opening.js'
import { decodeRun, type Run } from '../queue/run.js'
import {
  blockKey,
  blockOf,
  countsKey,
  flowKeys,
  formatKey,
  headKey,
  jobKey,
  latestKey,
  leaseKey,
  leaseKeys,
  leftKey,
  slotOf,
  type CountsRecord,
  type DoneRecord,
  type FlowRecord,
  type HeadRecord,
  type JobRecord,
  type LatestRecord,
  type LeaseRecord,
  recordedPlaces,
} from '../queue/records.js'
import { hashOf, noCounts } from '../queue/state.js'
import { BlocksCheck } from './blocks.js'
import { PostsCheck } from './posts.js'
import {
  isCounts,
  isFlow,
  isHead,
  isJob,
  isLatest,
  isLease,
  isLoadOf,
  isRun,
} from './record-shapes.js'

/** Records of jobs whose newest load is looked up at a time. */
const jobsAtOnce = 500

/** What follows in a key of each kind: numbers and strings. */
const shapes = new Map([
  ['format', ''],
  ['head', ''],
  ['flow', 's'],
  ['counts', 's'],
  ['block', 'n'],
  ['left', 'n'],
  ['run', 'ssn'],
  ['lease', 'n'],
  ['job', 'n'],
  ['output', 'nn'],
  ['delayed', 'snn'],
  ['dead', 'sn'],
  ['body', 'n'],
  ['done', 'sn'],
  ['document', 'ssn'],
  ['latest', 'ss'],
  ['withheld', 'sss'],
  ['ending', 'ns'],
  ['change', 'n'],
  ['gate', ''],
  ['inbox', 'n'],
  ['post', 'nn'],
])

interface FlowCheck {
  readonly counted: CountsRecord
  readonly found: CountsRecord
  /** The place behind the done jobs that were seen. */
  nextDone: number
}

export async function* verifyFlows(
  source: Source,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  const check = new FlowsCheck(new Reading('flows', source, report), report)
  yield* givenOut(check.run(), report)
}

class FlowsCheck {
  readonly #reading: Reading
  readonly #report: Report
  readonly #flows = new Map<string, FlowCheck>()
  /** Flows whose record, or whose counts, cannot be read: no more is said of their jobs. */
  readonly #unknown = new Set<string>()
  readonly #balance = new Balance()
  readonly #blocks: BlocksCheck
  readonly #tokens = new Set<string>()
  readonly #posts: PostsCheck
  /** The flow and the user of the last run, and the number behind it. */
  #lane = { name: '', end: 0 }

  constructor(reading: Reading, report: Report) {
    this.#reading = reading
    this.#report = report
    this.#blocks = new BlocksCheck(reading)
    this.#posts = new PostsCheck(reading)
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    const counts = await verifyKeys(this.#reading, shapes)
    // Nothing was ever stored.
    if (counts.size === 0) return
    await this.#readRecords()
    yield* this.#readLatest()
    yield* this.#readJobs()
    yield* this.#blocks.compare()
    while (this.#balance.isOpen) {
      this.#balance.list()
      this.#report.isMuted = true
      for await (const _ of this.#readJobs());
      this.#report.isMuted = false
      for (const { text, weight } of this.#balance.differences()) this.#tellDifference(text, weight)
      yield
    }
    this.#compareCounts()
  }

  #error(code: Finding['code'], what: string, message: string): void {
    this.#report.error('flows', code, what, message)
  }

  async #readRecords(): Promise<void> {
    await verifyFormat(this.#reading, formatKey(), 'format', formatVersion)
    const value = await this.#reading.get(headKey())
    if (value === undefined)
      this.#error('missing', tupleText('head'), 'says which blocks were given')
    else {
      const head = this.#reading.record<HeadRecord>({ key: headKey(), value })
      if (isHead(head)) {
        const last = await this.#posts.begin(head)
        this.#blocks.nextBlock = Math.max(head.nextBlock, last + 1)
      } else if (head !== undefined) this.#reading.damaged(headKey(), 'it is not a head')
    }
    for await (const entry of this.#reading.entries(flowKeys())) {
      const [id] = tupleOf<[string]>(entry.key, 's') ?? []
      if (id === undefined) continue
      const flow = this.#reading.record<FlowRecord>(entry)
      if (flow !== undefined && (flow.id !== id || !isFlow(flow))) {
        this.#reading.damaged(entry.key, 'it is not the definition of this flow')
      }
      const counts = await this.#reading.get(countsKey(id))
      const counted =
        counts && this.#reading.record<CountsRecord>({ key: countsKey(id), value: counts })
      if (counts !== undefined && !isCounts(counted)) {
        if (counted !== undefined) this.#reading.damaged(countsKey(id), 'it does not count jobs')
        this.#unknown.add(id)
        continue
      }
      const { pruned } = counted ?? noCounts()
      this.#flows.set(id, { counted: counted ?? noCounts(), found: noCounts(), nextDone: pruned })
    }
    for await (const { key } of this.#reading.entries({ ...keyPrefix('counts'), keysOnly: true })) {
      const [id] = tupleOf<[string]>(key, 's') ?? []
      if (id !== undefined && !this.#isKnown(id)) {
        this.#error('unreferenced', keyText(key), 'there is no such flow')
      }
    }
  }

  /** Each names a job that is done, or whose record was pruned since. */
  async *#readLatest(): AsyncGenerator<void, void, undefined> {
    for await (const page of this.#reading.pages(keyPrefix('latest'))) {
      const found: { key: Uint8Array; user: string; document: string; latest: LatestRecord }[] = []
      for (const entry of page) {
        const [user, document] = tupleOf<[string, string]>(entry.key, 'ss') ?? []
        const latest = this.#reading.record<LatestRecord>(entry)
        if (user === undefined || document === undefined || latest === undefined) continue
        if (isLatest(latest)) found.push({ key: entry.key, user, document, latest })
        else this.#reading.damaged(entry.key, 'it is not the record of a load')
      }
      const jobs = await this.#reading.getMany(found.map(({ latest }) => jobKey(latest.number)))
      for (const [n, { key, user, document, latest }] of found.entries()) {
        const wrong = (message: string) => this.#error('different', keyText(key), message)
        if (blockOf(latest.number) >= this.#blocks.nextBlock) {
          wrong(`names the job ${latest.number}; the head has not given that number yet`)
        }
        const value = jobs[n]
        if (value === undefined) continue
        const job = this.#reading.record<JobRecord>({ key: jobKey(latest.number), value })
        // One that is no record is told with the jobs.
        if (job !== undefined && isJob(job) && !isLoadOf(job, latest, user, document)) {
          wrong(`names the job ${latest.number}, which is no such load that was completed`)
        }
      }
      yield
    }
  }

  #isKnown(flow: string): boolean {
    return this.#flows.has(flow) || this.#unknown.has(flow)
  }

  // Jobs and their places

  /** Adds all to the balance, what places say on one side and what records say on the other. */
  async *#readJobs(): AsyncGenerator<void, void, undefined> {
    yield* this.#each('run', (entry) => this.#readRun(entry))
    for await (const { key, flow, user, run } of this.#posts.runs()) {
      if (!this.#isKnown(flow) && !this.#report.isMuted) {
        this.#error('unreferenced', keyText(key), `there is no flow '${flow}'`)
      }
      await this.#checkDocuments(key, flow, user, run)
    }
    yield
    for await (const { key } of this.#keys('delayed')) {
      const [flow, dueAt, number] = tupleOf<[string, number, number]>(key, 'snn') ?? []
      if (flow === undefined) continue
      this.#count(flow, 'delayed', key)
      this.#balance.add(tupleText('delayed', number as number, flow, dueAt as number), 1)
    }
    yield
    for await (const { key } of this.#keys('dead')) {
      const [flow, number] = tupleOf<[string, number]>(key, 'sn') ?? []
      if (flow === undefined) continue
      this.#count(flow, 'dead', key)
      this.#balance.add(tupleText('dead', number as number, flow), 1)
    }
    yield* this.#each('done', (entry) => this.#readDone(entry))
    let jobs: [number, JobRecord][] = []
    for await (const entry of this.#reading.entries(keyPrefix('job'))) {
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const record = this.#reading.record<JobRecord>(entry)
      if (number === undefined || record === undefined) continue
      if (!isJob(record) || record.state === 'active') {
        this.#reading.damaged(entry.key, 'it is not the record of a job at rest')
        continue
      }
      jobs.push([number, record])
      if (jobs.length < jobsAtOnce) continue
      await this.#checkJobs(jobs)
      jobs = []
      yield
    }
    await this.#checkJobs(jobs)
    yield* this.#readLeases()
    yield* this.#readParts()
  }

  #keys(kind: string): AsyncGenerator<Entry, void, undefined> {
    return this.#reading.entries({ ...keyPrefix(kind), keysOnly: true })
  }

  async *#each(kind: string, take: (entry: Entry) => void | Promise<void>, range: Range = {}) {
    for await (const page of this.#reading.pages({ ...keyPrefix(kind), ...range })) {
      for (const entry of page) await take(entry)
      yield
    }
  }

  #count(flow: string, state: 'queued' | 'delayed' | 'active' | 'dead', key: Uint8Array, jobs = 1) {
    if (this.#report.isMuted) return
    const check = this.#flows.get(flow)
    if (check !== undefined) check.found[state] += jobs
    else if (!this.#unknown.has(flow)) {
      this.#error('unreferenced', keyText(key), `there is no flow '${flow}'`)
    }
  }

  async #readRun({ key, value }: Entry): Promise<void> {
    const [flow, user, number] = tupleOf<[string, string, number]>(key, 'ssn') ?? []
    if (flow === undefined || user === undefined || number === undefined) return
    if (!isRun(number, value)) {
      this.#reading.damaged(key, 'it is not a run of queued jobs')
      return
    }
    const { hashes, again } = decodeRun({ key, value }).run
    const jobs = hashes.length
    this.#count(flow, 'queued', key, jobs)
    const lane = tupleText(flow, user)
    if (lane === this.#lane.name && number < this.#lane.end && !this.#report.isMuted) {
      this.#error('duplicate', keyText(key), `the run before it has the job ${number}, too`)
    }
    this.#lane = { name: lane, end: number + jobs }
    if (again) {
      this.#balance.add(tupleText('queued', number, flow, user, hashes[0] as number), 1)
      return
    }
    await this.#checkDocuments(key, flow, user, { first: number, hashes })
  }

  /** Of jobs that were never claimed. */
  async #checkDocuments(
    key: Uint8Array,
    flow: string,
    user: string,
    { first: number, hashes }: Pick<Run, 'first' | 'hashes'>,
  ): Promise<void> {
    this.#need(number, hashes.length)
    if (!this.#report.deep || this.#report.isMuted) return
    const block = await this.#blocks.get(blockOf(number))
    if (block === undefined) return
    for (const [n, hash] of hashes.entries()) {
      const stored = block.at(slotOf(number + n), number + n)
      const isIt = stored?.flow === flow && stored.user === user && hashOf(stored.document) === hash
      if (!isIt) {
        const message = `the job ${number + n} is not that document of its block`
        this.#error('different', keyText(key), message)
      }
    }
  }

  /** So many documents of its block are needed for the jobs from that number on. */
  #need(number: number, jobs = 1): void {
    const block = blockOf(number)
    if (this.#report.deep) this.#balance.add(tupleText('block', block), jobs)
    if (!this.#report.isMuted) this.#blocks.need(block)
  }

  async #readDone(entry: Entry): Promise<void> {
    const [flow, place] = tupleOf<[string, number]>(entry.key, 'sn') ?? []
    if (flow === undefined || place === undefined) return
    const record = this.#reading.record<DoneRecord>(entry)
    if (record === undefined) return
    const { numbers } = record
    if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every(isCount)) {
      this.#reading.damaged(entry.key, 'it does not list jobs')
      return
    }
    // The record of one whose document was removed is gone, and its place stays.
    const records = await this.#reading.getMany(numbers.map(jobKey))
    for (const [n, number] of numbers.entries()) {
      if (records[n] !== undefined) this.#balance.add(tupleText('done', number, flow), 1)
    }
    if (this.#report.isMuted) return
    const check = this.#flows.get(flow)
    if (check === undefined) {
      if (!this.#unknown.has(flow)) {
        this.#error('unreferenced', keyText(entry.key), `there is no flow '${flow}'`)
      }
      return
    }
    if (place !== check.nextDone) {
      this.#error('different', keyText(entry.key), `the place behind the last is ${check.nextDone}`)
    }
    check.nextDone = place + numbers.length
  }

  async #checkJobs(jobs: readonly (readonly [number, JobRecord])[]): Promise<void> {
    if (jobs.length === 0) return
    const done = jobs.filter(([, { state }]) => state === 'done')
    const keys = done.map(([, { user, document }]) => latestKey(user, document))
    const latest = this.#report.isMuted ? [] : await this.#reading.getMany(keys)
    for (const [n, [number, record]] of done.entries()) {
      if (!this.#report.isMuted) this.#checkLatest(number, record, keys[n] as Uint8Array, latest[n])
    }
    for (const [number, record] of jobs) await this.#checkJob(number, record, jobKey(number))
  }

  #checkLatest(number: number, { superseded }: JobRecord, key: Uint8Array, value?: Uint8Array) {
    const latest = value && this.#reading.record<LatestRecord>({ key, value })
    // The removal of a document leaves none, and older jobs; what is no record was told.
    if (!isLatest(latest)) return
    const what = tupleText('job', number)
    if (superseded === true) {
      const isBehind = latest.number > number
      if (!isBehind) this.#error('different', what, 'is superseded, by no newer load')
    } else if (latest.number < number) {
      this.#error('different', what, 'is done, and not known as the newest load of its document')
    }
  }

  async #checkJob(number: number, record: JobRecord, key: Uint8Array): Promise<void> {
    const { state, flow, user, document, failures, dueAt, ownBody } = record
    // Of one whose document could not be read only the hash is known.
    const hash = record.lost ?? hashOf(document)
    if (state === 'queued') this.#balance.add(tupleText('queued', number, flow, user, hash), -1)
    if (state === 'delayed' && dueAt !== undefined) {
      this.#balance.add(tupleText('delayed', number, flow, dueAt), -1)
    }
    if (state === 'dead' || state === 'done') this.#balance.add(tupleText(state, number, flow), -1)
    if (state !== 'done') {
      if (failures.length > 0) this.#balance.add(tupleText('document', user, document, number), 1)
      for (const place of recordedPlaces(record)) {
        this.#balance.add(tupleText('output', number, place), 1)
      }
      if (ownBody === true) this.#balance.add(tupleText('body', number), 1)
      else this.#need(number)
    }
    if (this.#report.isMuted) return
    const wrong = (message: string) => this.#error('different', keyText(key), message)
    if (blockOf(number) >= this.#blocks.nextBlock) wrong('the head has not given that number yet')
    if ((state === 'delayed') !== (dueAt !== undefined)) wrong(`is ${state}, and due at ${dueAt}`)
    if (state === 'done' && ownBody === true) wrong('is done, and says that it has a body')
    if (numberIn(record.id) !== number) wrong(`its id '${record.id}' is of another number`)
    if (state === 'done' || record.lost !== undefined || !this.#report.deep) return
    const stored = await this.#blocks.documentOf(number, ownBody === true)
    if (stored === undefined) return
    if (stored.flow !== flow || stored.user !== user || stored.document !== document) {
      wrong(`is ${named(record)}; what is stored for it is ${named(stored)}`)
    }
  }

  async *#readLeases(): AsyncGenerator<void, void, undefined> {
    for await (const entry of this.#reading.entries(leaseKeys())) {
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const lease = this.#reading.record<LeaseRecord>(entry)
      if (number === undefined || lease === undefined) continue
      if (!isLease(lease)) {
        this.#reading.damaged(entry.key, 'it is not a lease')
        continue
      }
      const { token, job } = lease
      this.#count(job.flow, 'active', entry.key)
      if (!this.#report.isMuted) {
        const what = keyText(entry.key)
        if (job.state !== 'active') this.#error('different', what, `its job is ${job.state}`)
        if (this.#tokens.has(token)) this.#error('duplicate', what, 'another lease has its token')
        this.#tokens.add(token)
        if ((await this.#reading.get(jobKey(number))) !== undefined) {
          this.#error('duplicate', what, 'the job has a record beside its lease')
        }
      }
      await this.#checkJob(number, { ...job, state: 'active' }, leaseKey(number))
      yield
    }
  }

  // What belongs to jobs

  async *#readParts(): AsyncGenerator<void, void, undefined> {
    for await (const { key } of this.#keys('document')) {
      const parts = tupleOf<[string, string, number]>(key, 'ssn')
      if (parts !== undefined) this.#balance.add(tupleText('document', ...parts), -1)
    }
    yield
    const keysOnly = !this.#report.deep || this.#report.isMuted
    yield* this.#each('output', (entry) => this.#readOutput(entry, keysOnly), { keysOnly })
    for await (const { key } of this.#keys('body')) {
      const [number] = tupleOf<[number]>(key, 'n') ?? []
      if (number !== undefined) this.#balance.add(tupleText('body', number), -1)
    }
    yield* this.#readLeft()
    if (!this.#report.deep) return
    for await (const { key } of this.#keys('block')) {
      const [number] = tupleOf<[number]>(key, 'n') ?? []
      if (number === undefined) continue
      if (!this.#report.isMuted) await this.#blocks.checkDocuments(number)
      // Those that have a `left` were added there.
      const left = await this.#reading.get(leftKey(number))
      if (left !== undefined) continue
      const size = (await this.#blocks.get(number))?.count
      if (size !== undefined) this.#balance.add(tupleText('block', number), -size)
      yield
    }
  }

  #readOutput({ key, value }: Entry, keysOnly: boolean): void {
    const parts = tupleOf<[number, number]>(key, 'nn')
    if (parts === undefined) return
    this.#balance.add(tupleText('output', ...parts), -1)
    if (keysOnly) return
    try {
      deserialize(value)
    } catch (error) {
      this.#reading.damaged(key, (error as Error).message)
    }
  }

  async *#readLeft(): AsyncGenerator<void, void, undefined> {
    for await (const entry of this.#reading.entries(keyPrefix('left'))) {
      const [number] = tupleOf<[number]>(entry.key, 'n') ?? []
      const record = this.#reading.record<{ left: number }>(entry)
      if (number === undefined || record === undefined) continue
      if (!isCount(record.left) || record.left === 0) {
        this.#reading.damaged(entry.key, 'it does not say how many are left')
        continue
      }
      if (this.#report.deep) this.#balance.add(tupleText('block', number), -record.left)
      if (this.#report.isMuted) continue
      if (!(await this.#reading.has(blockKey(number)))) {
        this.#error('unreferenced', keyText(entry.key), 'there is no such block')
      }
      yield
    }
  }

  // What two sides say

  #tellDifference(text: string, weight: number): void {
    const [, kind = '', digits] = /^\("(\w+)"(?:, (\d+))?/.exec(text) ?? []
    const number = Number(digits)
    const isMore = weight > 0
    if (kind === 'block') {
      if (this.#blocks.isTold(number)) return
      const message = isMore
        ? `is needed by ${weight} jobs more than it counts`
        : `counts ${-weight} documents that no job needs`
      this.#error('different', text, message)
    } else if (kind === 'output' || kind === 'body') {
      const message = isMore ? 'is not there; the record of the job names it' : 'of no job'
      this.#error(isMore ? 'missing' : 'unreferenced', text, message)
    } else if (kind === 'document') {
      const message = isMore ? 'is not there; the job has failed' : 'no such job has failed'
      this.#error(isMore ? 'missing' : 'unreferenced', text, message)
    } else {
      const message = isMore
        ? `is listed as ${kind}${weight > 1 ? ` ${weight} times` : ''}; its record does not say so`
        : `its record says ${text}, and it is not listed so`
      this.#error('different', tupleText('job', number), isMore ? `${message}: ${text}` : message)
    }
  }

  #compareCounts(): void {
    for (const [flow, { counted, found, nextDone }] of this.#flows) {
      const what = tupleText('counts', flow)
      for (const state of ['queued', 'delayed', 'active', 'dead'] as const) {
        if (counted[state] === found[state]) continue
        this.#error(
          'different',
          what,
          `counts ${counted[state]} ${state}; there are ${found[state]}`,
        )
      }
      if (nextDone !== counted.done) {
        this.#error('different', what, `counts ${counted.done} done; the list ends at ${nextDone}`)
      }
    }
  }
}

function named({ flow, user, document }: Pick<JobRecord, 'flow' | 'user' | 'document'>): string {
  return `'${document}' of '${user}' for '${flow}'`
}
