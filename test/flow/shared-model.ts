// Processes that fail, stand still, wake, end and come anew, each of which processes a flow, while documents are loaded,
// cancelled and retried, one or all, removed and asked for through any of them; beside a map of what each worker has
// loaded.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { hasCode } from '../../src/errors.js'
import type { Job, Step } from '../../src/flow/types.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { Backend } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import { coreProblems, flowProblems } from '../fixtures/problems.js'
import { Processes, type Outcome } from '../fixtures/processes.js'
import { Random } from '../fixtures/random.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { VirtualClock } from './virtual-clock.js'

const flow = 'f'

interface SharedFlowsRun {
  /** Another backend of the same storage. */
  readonly backend: () => Backend
  readonly seed: number
  readonly processes: number
  /** Who loads documents of his own, one after the other. */
  readonly workers: number
  readonly steps: number
}

/** Gives what happened, how often. */
export async function sharedFlowsRun(run: SharedFlowsRun): Promise<Record<string, number>> {
  const { backend, seed, processes: count, workers } = run
  const random = new Random(seed)
  const begin = async ({ flows }: Lorekeep) => {
    await defineFlow(flows, random.fork())
    flows.run()
  }
  const processes = new Processes({ backend, count, random, begin })
  const all = Array.from({ length: workers }, (_, n) => new Worker(processes, run, n))
  await processes.run(all.map((worker) => () => worker.work()))
  await processes.close()
  // Alone, so that leases are void; what is left is processed.
  const alone = new KeptBackend(backend(), false)
  const clock = new VirtualClock(Date.UTC(2027, 0, 1))
  const last = await createLorekeep({ backend: alone, clock })
  await defineFlow(last.flows, new Random(seed))
  last.flows.run()
  for (let seconds = 0; !(await isIdle(last)); seconds++) {
    assert.ok(seconds < 1000, 'what waits is not processed')
    await clock.advance(1000)
  }
  let documents = 0
  for (const worker of all) documents += await worker.assertAllDone(last)
  for await (const { state, attempts, failures, id, superseded } of last.flows.jobs({ flow })) {
    assert.equal(state, 'done', id)
    const counted = failures.filter(({ cause }) => cause !== 'released').length
    // Whoever has a newer one done before him is not delivered again.
    assert.equal(attempts, superseded === true ? counted : counted + 1, `attempts of ${id}`)
    if (superseded === true) processes.count('superseded')
    processes.count(attempts > 1 ? 'done after more than one attempt' : 'done')
    for (const { cause } of failures) processes.count(cause)
  }
  let cores = 0
  for (let n = 0; n < workers; n++) {
    for await (const _ of last.knowledge.list({ user: userOf(n) })) cores++
  }
  assert.equal(cores, documents, 'cores of nobody')
  await last.close()
  assert.deepEqual(await flowProblems(await alone.open('flows')), [])
  assert.deepEqual(await coreProblems(alone), [])
  return processes.tally
}

class Worker {
  readonly #processes: Processes
  readonly #steps: number
  readonly #user: string
  readonly #random: Random
  readonly #documents = new Map<string, Loaded>()
  #texts = 0

  constructor(processes: Processes, { seed, steps }: SharedFlowsRun, number: number) {
    this.#processes = processes
    this.#steps = steps
    this.#user = userOf(number)
    this.#random = new Random(seed + number)
    for (const id of ['a', 'b', 'c']) this.#documents.set(id, new Loaded())
  }

  async work(): Promise<void> {
    for (let step = 0; step < this.#steps && !this.#processes.isOver; step++) {
      const id = this.#random.pick([...this.#documents.keys()])
      const kind = this.#random.below(13)
      if (kind < 6) await this.#load(id)
      else if (kind < 8) await this.#cancel(id)
      else if (kind < 9) await this.#remove(id)
      else {
        // So that some wait.
        await Promise.all([...this.#documents.keys()].map((each) => this.#load(each)))
        await (kind < 11 ? this.#retryAll() : this.#cancelAll())
      }
      await this.#ask(id)
      for (let turns = this.#random.below(200); turns > 0; turns--) await turn()
    }
  }

  /** Gives how many documents there are of this one. */
  async assertAllDone(last: Lorekeep): Promise<number> {
    let count = 0
    for (const [id, loaded] of this.#documents) {
      const jobs = await statusOf(last, this.#user, id)
      const text = await contentOf(last, this.#user, id)
      loaded.assertSays(jobs, text, `${this.#user} ${id} at the end`)
      if (text !== undefined) count++
    }
    return count
  }

  async #load(id: string): Promise<void> {
    const text = String(++this.#texts)
    let job = ''
    const outcome = await this.#tried('load', async ({ flows }) => {
      ;({ job } = await flows.load(flow, { id, user: this.#user, content: text }))
    })
    const loaded = this.#loaded(id)
    if (outcome === 'done') loaded.jobs.set(job, text)
    else {
      const jobs = await this.#processes.asked(this.#random, (keep) =>
        statusOf(keep, this.#user, id),
      )
      const unknown = jobs.filter((found) => !loaded.jobs.has(found.id))
      assert.ok(unknown.length <= 1, `${unknown.length} jobs of a load`)
      for (const found of unknown) loaded.jobs.set(found.id, text)
    }
  }

  async #cancel(id: string): Promise<void> {
    const loaded = this.#loaded(id)
    if (loaded.jobs.size === 0) return
    const job = this.#random.pick([...loaded.jobs.keys()])
    let isDone = false
    const outcome = await this.#tried('cancel', async ({ flows }) => {
      try {
        await flows.cancel(job)
      } catch (error) {
        if (!hasCode(error, 'LK_JOB_STATE')) throw error
        isDone = true
      }
    })
    const isGone =
      outcome === 'done'
        ? !isDone
        : (await this.#processes.asked(this.#random, ({ flows }) => flows.job(job))) === undefined
    if (isGone) loaded.cancel(job)
  }

  /** What waits for its next attempt has it at once. */
  async #retryAll(): Promise<void> {
    const known = [...this.#documents.values()].reduce((sum, { jobs }) => sum + jobs.size, 0)
    await this.#tried('retryAll', async ({ flows }) => {
      const { retried } = await flows.retryAll({ user: this.#user })
      assert.ok(retried <= known, `${retried} of ${known} jobs were retried`)
      if (retried > 0) this.#processes.count('some retried')
    })
  }

  /** Of some documents, or of all. A call that failed has cancelled some of them. */
  async #cancelAll(): Promise<void> {
    const document = this.#random.pick([undefined, ...this.#documents.keys()])
    const asked = { user: this.#user, ...(document !== undefined && { document }) }
    let cancelled: number | undefined
    const outcome = await this.#tried('cancelAll', async ({ flows }) => {
      ;({ cancelled } = await flows.cancelAll(asked))
    })
    let gone = 0
    for (const [id, loaded] of this.#documents) {
      if (document !== undefined && document !== id) continue
      for (const job of [...loaded.jobs.keys()]) {
        const now = await this.#processes.asked(this.#random, ({ flows }) => flows.job(job))
        if (now === undefined) {
          loaded.cancel(job)
          gone++
        } else if (outcome === 'done') assert.equal(now.state, 'done', `${job} is left`)
      }
    }
    if (outcome === 'done') assert.equal(gone, cancelled, 'as many are gone as it says')
    if (gone > 0) this.#processes.count('some cancelled')
  }

  async #remove(id: string): Promise<void> {
    let isRemoved = false
    const remove = async ({ flows }: Lorekeep) => {
      try {
        await flows.removeDocument({ user: this.#user, document: id })
        isRemoved = true
      } catch (error) {
        // A step is waited for, and not for ever.
        if (!hasCode(error, 'LK_JOB_STATE')) throw error
      }
    }
    while (!isRemoved && !this.#processes.isOver) await this.#tried('remove', remove)
    this.#documents.set(id, new Loaded())
  }

  async #ask(id: string): Promise<void> {
    const [jobs, text] = await this.#processes.asked(
      this.#random,
      async (keep) =>
        [await statusOf(keep, this.#user, id), await contentOf(keep, this.#user, id)] as const,
    )
    this.#loaded(id).assertSays(jobs, text, `${this.#user} ${id}`)
    this.#processes.count('asked')
  }

  async #tried(what: string, work: (keep: Lorekeep) => Promise<unknown>): Promise<Outcome> {
    const outcome = await this.#processes.tried(this.#random, work)
    this.#processes.count(`${what} ${outcome}`)
    return outcome
  }

  #loaded(id: string): Loaded {
    return this.#documents.get(id) as Loaded
  }
}

/** What is known of a document since it was removed. */
class Loaded {
  /** The text of each load that is stored, by its job, the newest last. */
  readonly jobs = new Map<string, string>()
  /** Texts whose steps may have begun before they were cancelled: what those do is not undone. */
  readonly #cancelled = new Set<string>()

  cancel(job: string): void {
    this.#cancelled.add(this.jobs.get(job) as string)
    this.jobs.delete(job)
  }

  /** What is known of it, and its text, which was asked for afterwards. */
  assertSays(jobs: readonly Job[], text: string | undefined, name: string): void {
    const ids = [...this.jobs.keys()]
    const states = new Map(jobs.map(({ id, state }) => [id, state]))
    for (const { id } of jobs) assert.ok(this.jobs.has(id), `${name} has a job of nobody`)
    const active = jobs.filter(({ state }) => state === 'active')
    assert.ok(active.length <= 1, `${name} is processed ${active.length} times at once`)
    assert.ok(![...states.values()].includes('dead'), `${name} is dead`)
    // Of those that are done the newest is told.
    const newest = ids.findLastIndex((id) => states.get(id) === 'done')
    for (const id of ids.slice(newest + 1)) assert.ok(states.has(id), `a job of ${name} is lost`)
    if (text !== undefined && this.#cancelled.has(text)) return
    const at = text === undefined ? -1 : [...this.jobs.values()].indexOf(text)
    assert.ok(text === undefined || at >= 0, `${name} has ${text}, which nobody has loaded`)
    assert.ok(at >= newest, `${name} has the text of load ${at} behind ${newest}`)
  }
}

const userOf = (worker: number) => `user ${worker}`

async function defineFlow(flows: Lorekeep['flows'], random: Random): Promise<void> {
  const step: Step = {
    name: 'write',
    run: async (_, { document: { id, user, text }, knowledge }) => {
      for (let turns = random.below(50); turns > 0; turns--) await turn()
      if (random.chance(0.1)) throw new Error('on purpose')
      await knowledge.write({ user, id }, messagesOf(user, id, text), { mode: 'replace' })
      for (let turns = random.below(50); turns > 0; turns--) await turn()
    },
  }
  const waits = { maxAttempts: 100, minDelayMs: 100, maxDelayMs: 1000 }
  await flows.define({ id: flow, steps: [step], concurrency: 2, ...waits })
}

function messagesOf(user: string, id: string, text: string): CoreMessage[] {
  const triple = {
    s: { v: `urn:${id}`, e: true },
    p: { v: 'urn:text', e: true },
    o: { v: text, e: false },
  }
  return [['t', { m: { i: id, m: [], u: user, c: 'default' }, t: [triple] }]]
}

/** The text that a document was loaded with, as its core has it. */
async function contentOf(
  { knowledge }: Lorekeep,
  user: string,
  id: string,
): Promise<string | undefined> {
  const texts: string[] = []
  const found = knowledge.graph({ user }).match({ s: { v: `urn:${id}`, e: true } })
  for await (const { o } of found) texts.push(o.v)
  assert.ok(texts.length <= 1, `${id} has the texts ${texts.join()}`)
  return texts[0]
}

/** The jobs of a document, of which one is done at most: the newest. */
async function statusOf({ flows }: Lorekeep, user: string, document: string) {
  return (await flows.document({ user, document }))?.jobs ?? []
}

async function isIdle({ flows }: Lorekeep): Promise<boolean> {
  const { queued, active, delayed } = await flows.stats(flow)
  return queued + active + delayed === 0
}
