import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { backendAt } from './place.js'
import { numberIn } from '../../src/flow/queue/block.js'
import type { Job } from '../../src/flow/types.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { flowProblems } from '../fixtures/problems.js'
import { clockOf, definitionOf, leaseMs, maxAttempts } from './flows-crash-flow.js'
import { killedRun } from './killed-run.js'

export interface FlowsCrashReport {
  readonly cycles: number
  readonly acknowledged: number
  readonly done: number
  /** Deliveries that a kill ended. */
  readonly crashed: number
  /** Kills that fell into the opening. */
  readonly killedOpening: number
}

interface Loaded {
  readonly version: number
  readonly user: string
  readonly document: string
}

/**
 * Kills a process that loads documents and processes them at random moments, again and again on one
 * directory, each time with a clock that is right or a day off. Then everything is brought to its end and looked at: nothing acknowledged is lost,
 * nothing ran behind its completion, each redelivery says why it came, and each core is whole and
 * of the newest load of its document. Throws where that is not so.
 */
export async function flowsCrashLoop(options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle?: (cycle: number) => void
}): Promise<FlowsCrashReport> {
  const { data, cycles, seed, onCycle } = options
  const random = new Random(seed)
  const loaded = new Map<string, Loaded>()
  /** Completions that were told. */
  const done = new Set<string>()
  let version = 1
  let killedOpening = 0
  const follow = (line: string, place: string) => {
    const [kind, ...rest] = line.split(' ') as [string, string, string, string, string]
    if (kind === 'begin') version = Math.max(version, Number(rest[0]) + 1)
    else if (kind === 'loaded') {
      const [number, job, user, document] = rest
      loaded.set(job, { version: Number(number), user, document })
    } else if (kind === 'step') {
      assert.ok(!done.has(rest[1]), `${place}: ${rest[1]} was delivered behind its completion`)
    } else if (kind === 'done') done.add(rest[0])
  }
  // Kills that all fall into the opening would show nothing.
  const last = () => (loaded.size === 0 ? 5 * cycles : cycles)
  for (let cycle = 0; cycle < last(); cycle++) {
    const args = [data, String(random.below(2 ** 31)), String(version)]
    const lines = await killedRun('flows-crash-child.js', args, random)
    const place = `seed ${seed}, cycle ${cycle}`
    for (const line of lines) follow(line, place)
    if (lines.at(-1) === 'opening') killedOpening++
    const backend = backendAt(data)
    assert.deepEqual(await flowProblems(await backend.open('flows')), [], place)
    await backend.close()
    onCycle?.(cycle)
  }
  const keep = await createLorekeep({
    backend: backendAt(data),
    leaseMs,
    clock: clockOf(random),
  })
  const end = `seed ${seed}, at the end`
  await keep.flows.define(definitionOf(random, (line) => follow(line, end)))
  const runner = keep.flows.run()
  await drain(keep, end)
  await runner.stop()
  const jobs = new Map<string, Job>()
  for await (const job of keep.flows.jobs({ flow: 'f' })) jobs.set(job.id, job)
  for (const id of [...loaded.keys(), ...done]) assert.ok(jobs.has(id), `${end}: ${id} is lost`)
  let crashed = 0
  for (const job of jobs.values()) {
    assert.equal(job.state, 'done', `${end}: ${job.id}`)
    assert.ok(job.attempts <= maxAttempts, `${end}: ${job.id}`)
    const causes = job.failures.map(({ cause }) => cause)
    const known = Math.min(Math.max(job.attempts - 1, 0), 20)
    if (job.superseded === true) assert.ok(causes.length >= known - 1, `${end}: ${job.id}`)
    else assert.equal(causes.length, known, `${end}: ${job.id} has ${causes.join()}`)
    crashed += causes.filter((cause) => cause === 'crashed').length
  }
  await checkCores(keep, [...jobs.values()], loaded, end)
  await keep.close()
  const closed = backendAt(data)
  assert.deepEqual(await flowProblems(await closed.open('flows')), [], end)
  await closed.close()
  return { cycles, acknowledged: loaded.size, done: jobs.size, crashed, killedOpening }
}

async function drain({ flows }: Lorekeep, place: string): Promise<void> {
  for (let n = 0; n < 3000; n++) {
    const { queued, active, delayed, dead } = await flows.stats('f')
    assert.equal(dead, 0, `${place}: dead letters`)
    if (queued + active + delayed === 0) return
    await delay(20)
  }
  assert.fail(`${place}: it does not come to its end`)
}

/** Each core has all of one job, which is the newest one of its document. */
async function checkCores(
  { knowledge }: Lorekeep,
  jobs: readonly Job[],
  loaded: ReadonlyMap<string, Loaded>,
  place: string,
): Promise<void> {
  const newest = new Map<string, Job>()
  // In the order in which they were done: the last one that was processed has written last.
  for (const job of jobs) {
    if (job.superseded !== true) newest.set(JSON.stringify([job.user, job.document]), job)
  }
  for (const { id, user, document } of newest.values()) {
    const found = new Map<string, string[]>()
    for await (const [kind, message] of knowledge.messages({ user, id: document })) {
      if (kind !== 't') continue
      for (const { p, o } of message.t) found.set(p.v, [...(found.get(p.v) ?? []), o.v])
    }
    assert.deepEqual(found.get('urn:job'), [id, id], `${place}: ${user} ${document}`)
    const [text, other] = found.get('urn:text') ?? []
    assert.equal(text, other, `${place}: ${user} ${document} is half one, half another`)
    const version = loaded.get(id)?.version
    if (version !== undefined) assert.equal(text, `version ${version}`, place)
    const numbers = jobs
      .filter((job) => job.user === user && job.document === document)
      .map((job) => numberIn(job.id) ?? 0)
    assert.equal(Math.max(...numbers), numberIn(id), `${place}: ${user} ${document} is an old one`)
  }
}
