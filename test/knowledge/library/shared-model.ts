// Several processes over one shared storage, of which some fail, stand still, wake, end and come anew, at random, while
// cores are changed through any of them; beside a map of what each has to say.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { createLorekeep, type Lorekeep } from '../../../src/lorekeep.js'
import type { Graph, GraphSnapshot } from '../../../src/graph/types.js'
import type { CoreExport } from '../../../src/knowledge/types.js'
import type { Backend } from '../../../src/storage.js'
import { Processes } from '../../fixtures/processes.js'
import { Random } from '../../fixtures/random.js'
import { entity, matched, setOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'
import { assertSound, contentOf, messagesOf, user, type Model } from './model.js'

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
  readonly #run: SharedRun
  readonly #processes: Processes

  constructor(run: SharedRun) {
    const { backend, processes: count, seed } = run
    this.#run = run
    const options = { graphCacheBytes: 64 * 1024 }
    this.#processes = new Processes({ backend, count, random: new Random(seed), options })
  }

  async run(): Promise<Record<string, number>> {
    const models = Array.from({ length: this.#run.workers }, (): Model => new Map())
    await this.#processes.run(models.map((model, n) => () => this.#work(n, model)))
    await this.#processes.close()
    // Alone, so that what is left goes.
    const last = await createLorekeep({ backend: new KeptBackend(this.#run.backend(), false) })
    for (const [n, model] of models.entries()) await this.#assertSays(last, n, model)
    await assertSound(last)
    await last.knowledge.index({ user })
    for (const [n, model] of models.entries()) await this.#assertSays(last, n, model)
    await assertSound(last)
    await last.close()
    return this.#processes.tally
  }

  // What is asked of them

  async #work(worker: number, model: Model): Promise<void> {
    const random = new Random(this.#run.seed + worker)
    for (let step = 0; step < this.#run.steps && !this.#processes.isOver; step++) {
      await this.#change(worker, model, random, step)
      if (random.chance(0.5)) await this.#ask(worker, model, random)
      if (random.chance(0.1)) await this.#hold(worker, model, random)
      if (random.chance(0.05)) {
        await this.#processes.tried(random, ({ knowledge }) => knowledge.index({ user }))
      }
    }
  }

  async #change(worker: number, model: Model, random: Random, step: number): Promise<void> {
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
    const outcome = await this.#processes.tried(random, async ({ knowledge }) => {
      const ref = { user, id }
      if (kind === 0) assert.equal(await knowledge.delete(ref), before !== undefined)
      else await knowledge.write(ref, messagesOf(content), { mode, index })
    })
    this.#processes.count(kind === 0 ? 'delete' : mode)
    const set = (segments: Model extends Map<string, infer S> ? S | undefined : never) => {
      if (segments === undefined) model.delete(id)
      else model.set(id, segments)
    }
    if (outcome === 'done') return set(after)
    this.#processes.count(outcome)
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

  #isThere(random: Random, id: string): Promise<boolean> {
    return this.#processes.asked(random, async ({ knowledge }) => {
      return (await knowledge.stat({ user, id })) !== undefined
    })
  }

  async #ask(worker: number, model: Model, random: Random): Promise<void> {
    const collection = `of ${worker}`
    const said = await this.#asked(random, (graph) => matched(graph), collection)
    assert.deepEqual(said, setOf(triplesOf(model)), `what ${worker} said`)
    const ids = [...model.keys()].filter(() => random.chance(0.5))
    const some: Model = new Map([...model].filter(([id]) => ids.includes(id)))
    const counted = await this.#asked(random, (graph) => graph.count(), collection, ids)
    assert.equal(counted, setOf(triplesOf(some)).length, `of ${ids.join()}`)
    this.#processes.count('asked')
  }

  /** A snapshot and an export are what they were, whatever happens meanwhile; but for who was taken for dead. */
  async #hold(worker: number, model: Model, random: Random): Promise<void> {
    const process = this.#processes.any(random)
    const { knowledge } = process.keep
    const own = [...model.keys()].filter((id) => id !== 'common')
    const id = own.length > 0 ? random.pick(own) : undefined
    const said = setOf(triplesOf(model))
    let snapshot: GraphSnapshot | undefined
    let held: CoreExport | undefined
    const opened = await this.#processes.settled(process, async () => {
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
    if (opened === 'done')
      this.#processes.count(`held ${await this.#processes.settled(process, read)}`)
    held?.close()
    snapshot?.close()
  }

  #asked<T>(
    random: Random,
    ask: (graph: Graph) => Promise<T>,
    collection: string,
    cores?: readonly string[],
  ): Promise<T> {
    return this.#processes.asked(random, ({ knowledge }) => {
      return ask(knowledge.graph({ user, collection, ...(cores && { cores }) }))
    })
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
