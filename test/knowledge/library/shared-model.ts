// Several processes over one shared storage, of which some fail, stand still, wake, end and come anew, at random, while
// cores are changed through any of them; beside a map of what each has to say.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { createLorekeep, type Lorekeep } from '../../../src/lorekeep.js'
import { hasCode, LorekeepError } from '../../../src/errors.js'
import type { Graph, GraphSnapshot } from '../../../src/graph/types.js'
import type { CoreExport } from '../../../src/knowledge/types.js'
import type { Backend } from '../../../src/storage.js'
import { Gate } from '../../fixtures/gate.js'
import { Random } from '../../fixtures/random.js'
import { VirtualClock } from '../../flow/virtual-clock.js'
import { entity, matched, setOf } from '../../graph/asked.js'
import { memberKey } from '../../../src/presence.js'
import { KeptBackend } from '../../objects/kept-backend.js'
import { assertSound, contentOf, messagesOf, user, type Model } from './model.js'

const leaseMs = 30_000
const transient = ['LK_STORAGE_FAILED', 'LK_STORAGE_UNAVAILABLE']

interface Process {
  readonly gate: Gate
  readonly clock: VirtualClock
  readonly keep: Lorekeep
  /** Others have taken it for dead: what it had under way can happen no more. */
  expelled: Promise<void> | undefined
}

interface SharedRun {
  /** Another backend of the same storage. */
  readonly backend: () => Backend
  readonly seed: number
  readonly processes: number
  /** Who changes cores of his own, one after the other, and asks. */
  readonly workers: number
  readonly steps: number
}

export async function sharedRun(run: SharedRun): Promise<Record<string, number>> {
  return new World(run).run()
}

class World {
  readonly tally: Record<string, number> = {}
  readonly #run: SharedRun
  readonly #random: Random
  #processes: Process[] = []
  readonly #dead: Process[] = []
  #opened = 0
  #isOver = false
  #problem: unknown

  constructor(run: SharedRun) {
    this.#run = run
    this.#random = new Random(run.seed)
  }

  async run(): Promise<Record<string, number>> {
    const { processes, workers, backend } = this.#run
    for (let n = 0; n < processes; n++) this.#processes.push(await this.#open())
    const models = Array.from({ length: workers }, (): Model => new Map())
    const driving = this.#drive()
    const working = models.map((model, n) => this.#work(n, model))
    try {
      await Promise.all([...working, driving.catch((error: unknown) => this.#fail(error))])
    } finally {
      this.#isOver = true
      await Promise.allSettled(working)
      await driving.catch(() => undefined)
    }
    if (this.#problem !== undefined) throw this.#problem
    for (const { gate } of this.#processes) gate.failing = 0
    for (const { gate } of this.#dead) gate.wake()
    for (const { keep } of [...this.#processes, ...this.#dead]) await keep.close()
    // Alone, so that what is left goes.
    const last = await createLorekeep({ backend: new KeptBackend(backend(), false) })
    for (const [n, model] of models.entries()) await this.#assertSays(last, n, model)
    await assertSound(last)
    await last.knowledge.index({ user })
    for (const [n, model] of models.entries()) await this.#assertSays(last, n, model)
    await assertSound(last)
    await last.close()
    if (this.#problem !== undefined) throw this.#problem
    return this.tally
  }

  #fail(error: unknown): never {
    this.#isOver = true
    this.#problem ??= error
    throw error
  }

  #count(what: string): void {
    this.tally[what] = (this.tally[what] ?? 0) + 1
  }

  async #open(): Promise<Process> {
    const random = new Random(this.#random.below(2 ** 32))
    const gate = new Gate(this.#run.backend(), random)
    const clock = new VirtualClock(Date.UTC(2026, 0, 1) + 60_000 * this.#opened++)
    const onError = (error: unknown) => {
      if (isTransient(error)) this.#count('told')
      else this.#problem ??= new Error('in the background', { cause: error })
    }
    const options = { clock, leaseMs, onError, graphCacheBytes: 64 * 1024 }
    const keep = await createLorekeep({ backend: gate, ...options })
    gate.failing = this.#random.pick([0, 0.5, 2])
    return { gate, clock, keep, expelled: undefined }
  }

  // What happens to processes

  async #drive(): Promise<void> {
    while (!this.#isOver) {
      for (let n = 0; n < 20 && !this.#isOver; n++) await turn()
      await this.#pass(1000)
      if (this.#random.chance(0.15) && !this.#isOver) await this.#stopOne()
    }
  }

  async #pass(ms: number): Promise<void> {
    for (const { clock, gate } of this.#processes) {
      if (!gate.isStopped) await clock.advance(Math.floor(ms * (0.5 + this.#random.next())))
    }
  }

  async #stopOne(): Promise<void> {
    const process = this.#random.pick(this.#processes)
    if (this.#processes.length < 2) return
    this.#processes = this.#processes.filter((other) => other !== process)
    let gone = (): void => undefined
    process.expelled = new Promise((resolve) => (gone = resolve))
    process.gate.standStill()
    this.#count('stopped')
    // In steps that are short beside the turns that a beat takes.
    const cores = await this.#run.backend().open('cores')
    const isThere = async () => (await cores.get(memberKey(process.gate.member))) !== undefined
    for (let ms = 0; ms < 2 * leaseMs || (await isThere()); ms += 200) await this.#pass(200)
    gone()
    if (this.#random.chance(0.5)) {
      // It ends: what it had under way is never answered.
      this.#dead.push(process)
      this.#processes.push(await this.#open())
      this.#count('ended')
    } else {
      process.gate.wake()
      process.expelled = undefined
      this.#processes.push(process)
    }
  }

  // What is asked of them

  async #work(worker: number, model: Model): Promise<void> {
    try {
      const random = new Random(this.#run.seed + worker)
      for (let step = 0; step < this.#run.steps && !this.#isOver; step++) {
        await this.#change(worker, model, random, step)
        if (random.chance(0.5)) await this.#ask(worker, model, random)
        if (random.chance(0.1)) await this.#hold(worker, model, random)
        if (random.chance(0.05)) {
          await this.#tried(random, ({ knowledge }) => knowledge.index({ user }))
        }
      }
      if (worker === 0) await turn()
      this.#working--
      if (this.#working === 0) this.#isOver = true
    } catch (error) {
      this.#fail(error)
    }
  }

  #working = 0

  async #change(worker: number, model: Model, random: Random, step: number): Promise<void> {
    this.#working ||= this.#run.workers
    // Some are everybody's: they are only appended to.
    const id = random.chance(0.3) ? 'common' : `core ${worker} ${random.below(3)}`
    const before = model.get(id)
    const drawn = contentOf(random, `${id} ${worker} ${step}`)
    const content = { ...drawn, collection: `of ${worker}` }
    const kind = id === 'common' ? 9 : random.below(10)
    const mode = kind < 4 ? 'replace' : 'append'
    const after =
      kind === 0 ? undefined : mode === 'replace' ? [content] : [...(before ?? []), content]
    const index = random.chance(0.5)
    const outcome = await this.#tried(random, async ({ knowledge }) => {
      const ref = { user, id }
      if (kind === 0) assert.equal(await knowledge.delete(ref), before !== undefined)
      else await knowledge.write(ref, messagesOf(content), { mode, index })
    })
    this.#count(kind === 0 ? 'delete' : mode)
    const set = (segments: Model extends Map<string, infer S> ? S | undefined : never) => {
      if (segments === undefined) model.delete(id)
      else model.set(id, segments)
    }
    if (outcome === 'done') return set(after)
    this.#count(outcome)
    // It happened as a whole, or not at all; which, everybody sees.
    const said = await this.#asked(random, (graph) => matched(graph), `of ${worker}`)
    const candidates = [before, after].map((segments) => {
      const changed: Model = new Map(model)
      if (segments === undefined) changed.delete(id)
      else changed.set(id, segments)
      return setOf(triplesOf(changed))
    })
    const found = candidates.findIndex((each) => String(each) === String(said))
    assert.ok(found >= 0, `half of a change of ${id} by ${worker}: ${outcome}`)
    if (String(candidates[0]) !== String(candidates[1])) set(found === 0 ? before : after)
    else if (kind === 0) set((await this.#isThere(random, id)) ? before : after)
  }

  async #isThere(random: Random, id: string): Promise<boolean> {
    let isThere = false
    const look = async ({ knowledge }: Lorekeep) => {
      isThere = (await knowledge.stat({ user, id })) !== undefined
    }
    while ((await this.#tried(random, look)) !== 'done');
    return isThere
  }

  async #ask(worker: number, model: Model, random: Random): Promise<void> {
    const collection = `of ${worker}`
    const said = await this.#asked(random, (graph) => matched(graph), collection)
    assert.deepEqual(said, setOf(triplesOf(model)), `what ${worker} said`)
    const ids = [...model.keys()].filter(() => random.chance(0.5))
    const some: Model = new Map([...model].filter(([id]) => ids.includes(id)))
    const counted = await this.#asked(random, (graph) => graph.count(), collection, ids)
    assert.equal(counted, setOf(triplesOf(some)).length, `of ${ids.join()}`)
    this.#count('asked')
  }

  /** A snapshot and an export are what they were, whatever happens meanwhile; but for who was taken for dead. */
  async #hold(worker: number, model: Model, random: Random): Promise<void> {
    const process = random.pick(this.#processes)
    const { knowledge } = process.keep
    const own = [...model.keys()].filter((id) => id !== 'common')
    const id = own.length > 0 ? random.pick(own) : undefined
    const said = setOf(triplesOf(model))
    let snapshot: GraphSnapshot | undefined
    let held: CoreExport | undefined
    const opened = await this.#settled(process, async () => {
      snapshot = await knowledge.graph({ user, collection: `of ${worker}` }).snapshot()
      if (id !== undefined) held = await knowledge.export({ user, id })
    })
    for (let n = random.below(300); n > 0; n--) await turn()
    await this.#change(worker, model, random, random.below(1e9))
    const read = async () => {
      let bytes = 0
      for await (const chunk of held ?? []) bytes += chunk.length
      assert.equal(bytes, held?.bytes ?? 0)
      if (snapshot !== undefined) {
        assert.deepEqual(await matched(snapshot), said, 'a snapshot has changed')
      }
    }
    if (opened === 'done') this.#count(`held ${await this.#settled(process, read)}`)
    held?.close()
    snapshot?.close()
  }

  async #asked<T>(
    random: Random,
    ask: (graph: Graph) => Promise<T>,
    collection: string,
    cores?: readonly string[],
  ): Promise<T> {
    for (let tries = 0; tries < 1000; tries++) {
      let answer: T | undefined
      const outcome = await this.#tried(random, async ({ knowledge }) => {
        answer = await ask(knowledge.graph({ user, collection, ...(cores && { cores }) }))
      })
      if (outcome === 'done') return answer as T
    }
    throw new Error('nobody answers')
  }

  /** Through any of the processes. */
  #tried(random: Random, work: (keep: Lorekeep) => Promise<unknown>) {
    const process = random.pick(this.#processes)
    return this.#settled(process, () => work(process.keep))
  }

  /** What became of it, once nothing more can. */
  async #settled(
    process: Process,
    work: () => Promise<unknown>,
  ): Promise<'done' | 'failed' | 'lost'> {
    const { gate } = process
    // One that stands still by now would not answer.
    if (gate.isStopped) return 'failed'
    const settled = work().then(
      () => 'done' as const,
      (error: unknown) => {
        if (isTransient(error)) return 'failed' as const
        throw error
      },
    )
    const lost = gate.stop.then(() => 'lost' as const)
    const outcome = await Promise.race([settled, lost])
    if (outcome !== 'lost') return outcome
    settled.catch((error: unknown) => {
      // Nobody waits for the answer any more, and much may have changed; but nothing is damaged.
      if (hasCode(error, 'LK_STORAGE_CORRUPT')) this.#problem ??= error
    })
    await process.expelled
    return 'lost'
  }

  /** All that a worker brought, in whatever process it is asked. */
  async #assertSays({ knowledge }: Lorekeep, worker: number, model: Model): Promise<void> {
    const graph = knowledge.graph({ user, collection: `of ${worker}` })
    assert.deepEqual(await matched(graph), setOf(triplesOf(model)), `at the end, ${worker}`)
    const s = entity('s1')
    const about = triplesOf(model).filter((triple) => triple.s.v === s.v)
    assert.deepEqual(await matched(graph, { s }), setOf(about))
  }
}

function triplesOf(model: Model) {
  return [...model.values()].flat().flatMap(({ triples }) => triples)
}

function isTransient(error: unknown): boolean {
  return error instanceof LorekeepError && transient.includes(error.code)
}
