// Processes that share one database, and what has to hold of it in the end, whatever became of them meanwhile: what
// was acknowledged is there, once, and nothing is left of what was not.

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresBackend } from '../../adapters/postgres/index.js'
import { databaseUrl } from '../../src/cli/config/place.js'
import type { Job } from '../../src/flow/types.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { commonCore, definitionOf, flow, schema, user, type Order } from './sharers-work.js'

const drainMs = 120_000
const settleMs = 60_000

export interface SharersOptions {
  readonly data: string
  readonly seed: number
  readonly leaseMs: number
  readonly retryMs: number
}

interface Sharer {
  readonly child: ChildProcess
  /** Resolves when it has opened the store, or has ended. */
  readonly open: Promise<unknown>
  readonly ended: Promise<unknown>
}

export class Sharers {
  readonly errors: string[] = []
  readonly background: string[] = []
  /** Of what was acknowledged, by its kind. */
  readonly longestMs: Record<string, number> = {}
  /** Batches, digests of cores by their ids, names of messages, jobs. */
  readonly objects = new Set<string>()
  readonly cores = new Map<string, string>()
  readonly jobs = new Set<string>()
  readonly appended = new Set<string>()
  /** In which nothing of anybody was acknowledged. */
  longestGapMs = 0
  #lastAt = 0
  readonly #begun = new Set<string>()
  readonly #options: SharersOptions
  #places = 0

  constructor(options: SharersOptions) {
    this.#options = options
  }

  get acknowledged(): number {
    return this.objects.size + this.cores.size + this.jobs.size + this.appended.size
  }

  start(): Sharer {
    const { seed } = this.#options
    const place = this.#places++
    const order: Order = { ...this.#options, place, seed: seed + place }
    const program = join('dist/test/torture', 'sharers-child.js')
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.on('error', () => undefined)
    const lines = createInterface({ input: child.stdout })
    const opened = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        if (line === 'open') resolve()
        else this.#follow(line)
      })
    })
    const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
    return { child, open: Promise.race([opened, ended]), ended }
  }

  /** Lets one come to its end by itself. */
  async stop({ child, ended }: Sharer): Promise<void> {
    child.stdin?.write('stop\n')
    await ended
    assert.equal(child.exitCode, 0, 'a process failed')
  }

  /** Throws where something is lost, or wrong, or left. */
  async check(): Promise<Job[]> {
    const { data, leaseMs, seed } = this.#options
    await using keep = await createLorekeep({
      backend: new PostgresBackend({ ...databaseUrl(data), shared: true }),
      leaseMs,
    })
    await keep.flows.define(definitionOf(new Random(seed)))
    const runner = keep.flows.run()
    await drain(keep)
    await runner.stop()
    await this.#checkObjects(keep)
    const jobs = await this.#checkJobs(keep)
    await this.#checkCores(keep, jobs)
    await settled(keep)
    return jobs
  }

  #follow(line: string): void {
    const [kind, ...rest] = line.split(' ')
    const [first = ''] = rest
    if (['object', 'core', 'append', 'job'].includes(kind ?? '')) this.#note()
    if (kind === 'object') this.objects.add(first)
    else if (kind === 'core') this.cores.set(rest.slice(1).join(' '), first)
    else if (kind === 'begin') this.#begun.add(first)
    else if (kind === 'append') this.appended.add(first)
    else if (kind === 'job') this.jobs.add(first)
    else if (kind === 'longest') {
      this.longestMs[first] = Math.max(this.longestMs[first] ?? 0, Number(rest[1]))
    } else if (kind === 'error') this.errors.push(rest.join(' '))
    else if (kind === 'background') this.background.push(rest.join(' '))
  }

  #note(): void {
    const now = performance.now()
    if (this.#lastAt > 0) this.longestGapMs = Math.max(this.longestGapMs, now - this.#lastAt)
    this.#lastAt = now
  }

  async #checkObjects({ objects }: Lorekeep): Promise<void> {
    const counts = new Map<string, number>()
    for await (const { id } of objects.find<{ id: string }>({ schema_name: schema.name })) {
      const batch = id.slice(0, id.lastIndexOf('.'))
      counts.set(batch, (counts.get(batch) ?? 0) + 1)
    }
    for (const batch of this.objects) assert.equal(counts.get(batch), 3, `objects of ${batch}`)
    for (const [batch, count] of counts) assert.equal(count, 3, `${batch} is not whole`)
    const { total } = await objects.query({ schema_name: schema.name, limit: 0 })
    assert.equal(total, 3 * counts.size)
  }

  async #checkJobs({ flows }: Lorekeep): Promise<Job[]> {
    const jobs: Job[] = []
    for await (const job of flows.jobs({ flow })) jobs.push(job)
    const ids = new Set(jobs.map(({ id }) => id))
    assert.equal(ids.size, jobs.length, 'a job is there twice')
    for (const job of this.jobs) assert.ok(ids.has(job), `${job} is lost`)
    for (const { id, state } of jobs) assert.equal(state, 'done', id)
    return jobs
  }

  async #checkCores({ knowledge }: Lorekeep, jobs: readonly Job[]): Promise<void> {
    for (const [id, digest] of this.cores) {
      assert.equal((await knowledge.stat({ user, id }))?.digest, digest, id)
    }
    const found = new Map<string, number>()
    if (this.appended.size > 0) {
      for await (const [kind, data] of knowledge.messages({ user, id: commonCore })) {
        // Its subjects have the name of the message.
        const name = kind === 't' ? data.t[0]?.s.v.split('/').at(-2) : undefined
        assert.ok(name !== undefined)
        found.set(name, (found.get(name) ?? 0) + 1)
      }
    }
    for (const name of this.appended) assert.equal(found.get(name), 1, `message ${name}`)
    for (const [name, count] of found) {
      assert.ok(this.#begun.has(name), `message ${name} is nobody's`)
      assert.equal(count, 1, `message ${name} is there twice`)
    }
    for (const job of jobs) {
      const stat = await knowledge.stat({ user: job.user, id: job.document })
      assert.equal(stat?.messages, 1, `the core of ${job.document}`)
    }
  }
}

async function drain({ flows }: Lorekeep): Promise<void> {
  for (const end = performance.now() + drainMs; ; await delay(50)) {
    const { queued, active, delayed, dead } = await flows.stats(flow)
    assert.equal(dead, 0, 'dead letters')
    if (queued + active + delayed === 0) return
    assert.ok(performance.now() < end, `left: ${queued}, ${active}, ${delayed}`)
  }
}

/** Whoever has died is taken for dead, and what he left is gone. */
async function settled(keep: Lorekeep): Promise<void> {
  for (const end = performance.now() + settleMs; ; await delay(500)) {
    const left: string[] = []
    for await (const { partition, what, message } of keep.verify()) {
      left.push(`${partition} ${what}: ${message}`)
    }
    if (left.length === 0) return
    assert.ok(performance.now() < end, left.slice(0, 10).join('\n'))
  }
}
