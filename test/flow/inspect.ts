// What has to hold of the `flows` partition at rest, read past the queue: every record belongs to
// something, every job is in exactly the one place that its state says, and counts are right.

import { Block, type StoredDocument } from '../../src/flow/queue/block.js'
import { decodeRun } from '../../src/flow/queue/lanes.js'
import { blockOf, slotOf } from '../../src/flow/queue/records.js'
import type {
  CountsRecord,
  DoneRecord,
  HeadRecord,
  JobRecord,
  LatestRecord,
  LeaseRecord,
} from '../../src/flow/queue/records.js'
import { hashOf, noCounts } from '../../src/flow/queue/state.js'
import type { Flow, JobState } from '../../src/flow/types.js'
import { decodeKey } from '../../src/keys.js'
import { decodeRecord } from '../../src/record.js'
import type { Storage } from '../../src/storage.js'

/** What is wrong, each in a line; nothing where all is well. Call it while nothing is written. */
export async function problemsOf(storage: Storage): Promise<string[]> {
  const inspection = new Inspection()
  for await (const page of storage.scan({})) {
    for (const { key, value } of page) inspection.take(key, value)
  }
  return inspection.finish()
}

/** Where a job was found, beside its record. */
interface Place {
  readonly state: JobState
  readonly flow: string
  readonly user?: string
  readonly hash?: number
  readonly again?: boolean
  readonly dueAt?: number
}

class Inspection {
  readonly #problems: string[] = []
  #head: HeadRecord | undefined
  readonly #flows = new Map<string, Flow>()
  readonly #counts = new Map<string, CountsRecord>()
  readonly #blocks = new Map<number, Block>()
  readonly #left = new Map<number, number>()
  readonly #bodies = new Map<number, Block>()
  readonly #jobs = new Map<number, JobRecord>()
  /** Records of active jobs, which lie in their leases. */
  readonly #leased = new Map<number, JobRecord>()
  readonly #places = new Map<number, Place[]>()
  readonly #outputs = new Map<number, Set<number>>()
  readonly #documents = new Map<number, string>()
  readonly #done = new Map<string, number[]>()
  readonly #latest = new Map<string, LatestRecord>()
  readonly #tokens = new Set<string>()

  take(key: Uint8Array, value: Uint8Array): void {
    const [kind, a, b, c] = decodeKey(key) as [string, never, never, never]
    switch (kind) {
      case 'format':
        break
      case 'head':
        this.#head = decodeRecord(value)
        break
      case 'flow':
        this.#flows.set(a, decodeRecord(value))
        break
      case 'counts':
        this.#counts.set(a, decodeRecord(value))
        break
      case 'block':
        this.#blocks.set(a, new Block(value))
        break
      case 'left':
        this.#left.set(a, decodeRecord<{ left: number }>(value).left)
        break
      case 'body':
        this.#bodies.set(a, new Block(value))
        break
      case 'job':
        this.#jobs.set(a, decodeRecord(value))
        break
      case 'output':
        this.#outputs.set(a, (this.#outputs.get(a) ?? new Set()).add(b))
        break
      case 'document':
        this.#documents.set(c, JSON.stringify([a, b]))
        break
      case 'latest':
        this.#latest.set(JSON.stringify([a, b]), decodeRecord(value))
        break
      case 'lease': {
        const { token, job } = decodeRecord<LeaseRecord>(value)
        if (this.#tokens.has(token)) this.#tell(`two leases have the token ${token}`)
        this.#tokens.add(token)
        this.#leased.set(a, job)
        this.#put(a, { state: 'active', flow: job.flow })
        break
      }
      case 'delayed':
        this.#put(c, { state: 'delayed', flow: a, dueAt: b })
        break
      case 'dead':
        this.#put(b, { state: 'dead', flow: a })
        break
      case 'done': {
        const { numbers } = decodeRecord<DoneRecord>(value)
        if (numbers.length === 0) this.#tell(`${String(a)} has nothing done at ${String(b)}`)
        for (const number of numbers) this.#put(number, { state: 'done', flow: a })
        const places = numbers.map((_, n) => Number(b) + n)
        this.#done.set(a, [...(this.#done.get(a) ?? []), ...places])
        break
      }
      case 'run':
        this.#takeRun(a, key, value)
        break
      default:
        this.#tell(`a key of no kind: ${String(kind)}`)
    }
  }

  finish(): string[] {
    for (const [number, record] of this.#leased) {
      if (this.#jobs.has(number)) this.#tell(`job ${number} has a record beside its lease`)
      this.#jobs.set(number, record)
    }
    for (const number of this.#jobs.keys()) {
      if (!this.#places.has(number)) this.#tell(`job ${number} is nowhere`)
    }
    for (const [number, places] of this.#places) this.#checkJob(number, places)
    this.#checkBytes()
    for (const number of this.#outputs.keys()) {
      if (!this.#jobs.has(number)) this.#tell(`outputs of ${number}, which is no job`)
    }
    for (const number of this.#documents.keys()) {
      if (!this.#jobs.has(number)) this.#tell(`document of ${number}, which is no job`)
    }
    this.#checkCounts()
    return this.#problems
  }

  #tell(problem: string): void {
    this.#problems.push(problem)
  }

  #put(number: number, place: Place): void {
    this.#places.set(number, [...(this.#places.get(number) ?? []), place])
  }

  #takeRun(flow: string, key: Uint8Array, value: Uint8Array): void {
    const { user, run } = decodeRun({ key, value })
    if (run.hashes.length === 0) this.#tell(`the run ${run.first} is empty`)
    if (run.again && run.hashes.length !== 1) this.#tell(`the run ${run.first} has more than one`)
    for (const [slot, hash] of run.hashes.entries()) {
      this.#put(run.first + slot, { state: 'queued', flow, user, hash, again: run.again })
    }
  }

  #checkJob(number: number, places: readonly Place[]): void {
    const by = `job ${number}`
    const record = this.#jobs.get(number)
    const [place] = places
    if (place === undefined || places.length > 1) {
      this.#tell(`${by} is in ${places.map(({ state }) => state).join(' and ')}`)
      return
    }
    const stored = this.#documentOf(number, record)
    if ((place.state === 'queued' && place.again === true) || place.state !== 'queued') {
      if (record === undefined) {
        this.#tell(`${by} is ${place.state} and has no record`)
        return
      }
    } else if (record !== undefined) this.#tell(`${by} was never claimed and has a record`)
    if (place.state !== 'done' && stored === undefined) this.#tell(`${by} has lost its document`)
    if (stored !== undefined && stored.flow !== place.flow) this.#tell(`${by} is in another flow`)
    if (!this.#flows.has(place.flow)) this.#tell(`${by} is of no flow: ${place.flow}`)
    if (record === undefined) {
      if (place.hash !== hashOf(stored?.document ?? '')) this.#tell(`${by} has another hash`)
      return
    }
    if (record.state !== place.state) this.#tell(`${by} is ${place.state}, not ${record.state}`)
    if (record.flow !== place.flow) this.#tell(`${by} is of ${record.flow}, not ${place.flow}`)
    if (place.user !== undefined && place.user !== record.user) this.#tell(`${by}: other user`)
    if (place.hash !== undefined && place.hash !== hashOf(record.document)) {
      this.#tell(`${by} is in a place of another document`)
    }
    if (record.dueAt !== place.dueAt) this.#tell(`${by} is due at ${record.dueAt}`)
    const isListed = record.state !== 'done' && record.failures.length > 0
    const listed = isListed ? JSON.stringify([record.user, record.document]) : undefined
    if (this.#documents.get(number) !== listed) {
      this.#tell(`${by} is listed under ${this.#documents.get(number)}, not ${listed}`)
    }
    if (record.state === 'done' && record.ownBody === true) this.#tell(`${by} says it has a body`)
    const outputs = [...(this.#outputs.get(number) ?? [])].sort()
    const wanted = record.state === 'done' ? [] : record.steps.map((_, step) => step)
    // The last step's is not recorded.
    if (outputs.join() !== wanted.join()) this.#tell(`${by} has the outputs ${outputs.join()}`)
    const latest = this.#latest.get(JSON.stringify([record.user, record.document]))
    if (record.state === 'done' && record.superseded !== true) {
      if (latest === undefined || latest.number < number) this.#tell(`${by} is not the latest`)
    }
    if (
      record.state === 'done' &&
      record.superseded === true &&
      !(latest && latest.number > number)
    )
      this.#tell(`${by} is superseded by nothing`)
  }

  #documentOf(number: number, record: JobRecord | undefined): StoredDocument | undefined {
    if (record?.state === 'done') return undefined
    if (record?.ownBody === true) return this.#bodies.get(number)?.at(0, number)
    return this.#blocks.get(blockOf(number))?.at(slotOf(number), number)
  }

  /** Blocks and bodies are there for as long as somebody needs them. */
  #checkBytes(): void {
    const needed = new Map<number, number>()
    for (const [number, [place]] of this.#places) {
      if (place?.state === 'done' || this.#jobs.get(number)?.ownBody === true) continue
      needed.set(blockOf(number), (needed.get(blockOf(number)) ?? 0) + 1)
    }
    for (const [number, block] of this.#blocks) {
      const left = this.#left.get(number) ?? block.size
      if (left !== (needed.get(number) ?? 0)) {
        this.#tell(`block ${number} has ${left} left, and ${needed.get(number) ?? 0} need it`)
      }
      if (number >= (this.#head?.nextBlock ?? 0)) this.#tell(`block ${number} is not yet given`)
    }
    for (const number of this.#left.keys()) {
      if (!this.#blocks.has(number)) this.#tell(`${number} has some left, and is no block`)
    }
    for (const number of this.#bodies.keys()) {
      const record = this.#jobs.get(number)
      if (record?.ownBody !== true) this.#tell(`the body ${number} is nobody's`)
    }
  }

  #checkCounts(): void {
    for (const flow of this.#counts.keys()) {
      if (!this.#flows.has(flow)) this.#tell(`counts of ${flow}, which is no flow`)
    }
    for (const flow of this.#flows.keys()) {
      const counted = this.#counts.get(flow) ?? noCounts()
      const found = { ...noCounts(), done: counted.done, pruned: counted.pruned }
      for (const places of this.#places.values()) {
        for (const place of places) {
          if (place.flow === flow && place.state !== 'done') found[place.state]++
        }
      }
      if (JSON.stringify(found) !== JSON.stringify(counted)) {
        this.#tell(`${flow} counts ${JSON.stringify(counted)}, there are ${JSON.stringify(found)}`)
      }
      const places = this.#done.get(flow) ?? []
      const { done, pruned } = counted
      if (places.length !== done - pruned || places.some((at, n) => at !== pruned + n)) {
        this.#tell(`${flow} has ${places.length} done, not those from ${pruned} to ${done}`)
      }
    }
  }
}
