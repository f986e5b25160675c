// Processes that fail, stand still, wake, end and come anew, through any of which objects are changed and asked for,
// beside a map of what each worker has stored.

import assert from 'node:assert/strict'
import { hasCode } from '../../src/errors.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Backend } from '../../src/storage.js'
import type { JsonObject } from '../../src/types.js'
import { objectProblems } from '../fixtures/problems.js'
import { Processes, type Outcome } from '../fixtures/processes.js'
import { Random } from '../fixtures/random.js'
import { KeptBackend } from './kept-backend.js'

const schema = {
  name: 's',
  fields: { w: { type: 'integer' }, k: { type: 'integer' }, text: { type: 'text' } },
}
const indexes = ['w', 'k', { text: ['text'] }, '_collection']
/** Everybody stores the same ids there: of each, one of them. */
const contested = 'contested'
/** Everybody stores his own there. */
const common = 'common'

/** By collection and id. */
type Model = Map<string, JsonObject>

interface SharedObjectsRun {
  /** Another backend of the same storage. */
  readonly backend: () => Backend
  readonly seed: number
  readonly processes: number
  /** Who changes objects of his own, one change after the other, and asks. */
  readonly workers: number
  readonly steps: number
}

/** Gives what happened, how often. */
export async function sharedObjectsRun(run: SharedObjectsRun): Promise<Record<string, number>> {
  const { backend, seed, processes: count, workers } = run
  const begin = async ({ objects }: Lorekeep) => {
    if ((await objects.schema(schema.name)) === undefined) await objects.defineSchema(schema)
  }
  const options = { objectCacheBytes: 64 * 1024 }
  const processes = new Processes({ backend, count, random: new Random(seed), options, begin })
  const won = new Map<number, number>()
  const all = Array.from({ length: workers }, (_, n) => new Worker(processes, run, n, won))
  await processes.run(all.map((worker) => () => worker.work()))
  await processes.close()
  // Alone, so that what is left goes.
  const alone = new KeptBackend(backend(), false)
  const last = await createLorekeep({ backend: alone })
  let objects = 0
  for (const worker of all) objects += await worker.assertSays(last.objects)
  for (const [id, worker] of won) {
    assert.equal((await last.objects.get(contested, id))?.['w'], worker, `who has stored ${id}`)
  }
  const stored = await last.objects.query({
    schema_name: schema.name,
    filters: { _collection: { $ne: contested } },
  })
  assert.equal(stored.total, objects, 'objects of nobody')
  await last.close()
  assert.deepEqual(await objectProblems(alone), [])
  return processes.tally
}

class Worker {
  readonly #processes: Processes
  readonly #steps: number
  readonly #number: number
  readonly #random: Random
  /** Who was told that he has stored which of the contested. */
  readonly #won: Map<number, number>
  #model: Model = new Map()
  #ids = 0

  constructor(
    processes: Processes,
    { seed, steps }: SharedObjectsRun,
    number: number,
    won: Map<number, number>,
  ) {
    this.#processes = processes
    this.#steps = steps
    this.#number = number
    this.#random = new Random(seed + number)
    this.#won = won
  }

  async work(): Promise<void> {
    for (let step = 0; step < this.#steps && !this.#processes.isOver; step++) {
      const kind = this.#random.below(20)
      if (kind === 0) await this.#define()
      else if (kind < 4) await this.#contest()
      else if (kind === 4) await this.#deleteCollection()
      else await this.#change(kind)
      if (this.#random.chance(0.5)) await this.#ask()
    }
  }

  /** Compares all that this one has stored; gives how much that is. */
  async assertSays(objects: ObjectStore): Promise<number> {
    assert.deepEqual(await this.#said(objects), linesOf(this.#model), `at the end, ${this.#number}`)
    return this.#model.size
  }

  async #change(kind: number): Promise<void> {
    const random = this.#random
    const own = [...this.#model.keys()]
    const [collection, id] = placeOf(own.length > 0 ? random.pick(own) : nameOf(this.#own(), 1))
    const next: Model = new Map(this.#model)
    let work: (objects: ObjectStore) => Promise<unknown>
    let gives: unknown
    let what: string
    if (kind < 14) {
      const onDuplicate = random.pick(['reject', 'replace', 'skip'] as const)
      const batch = this.#batch()
      const there = batch.values.filter(({ id }) =>
        this.#model.has(nameOf(batch.collection, id)),
      ).length
      const isRefused = onDuplicate === 'reject' && there > 0
      const skipped = onDuplicate === 'skip' ? there : 0
      for (const value of isRefused ? [] : batch.values) {
        const name = nameOf(batch.collection, value.id)
        if (onDuplicate !== 'skip' || !next.has(name)) next.set(name, value)
      }
      what = `import ${onDuplicate}`
      gives = isRefused ? 'LK_OBJECT_DUPLICATE' : [batch.values.length - skipped, skipped]
      work = async (objects) => {
        const given = importOf(batch.collection, batch.values)
        const { imported, skipped } = await objects.import(given, { onDuplicate })
        return [imported, skipped]
      }
    } else if (kind < 17) {
      const changes = { k: random.below(50) }
      const before = this.#model.get(nameOf(collection, id))
      if (before !== undefined) next.set(nameOf(collection, id), { ...before, ...changes })
      what = 'patch'
      gives = before && changes.k
      work = async (objects) => (await objects.patch(collection, id, changes))?.['k']
    } else {
      what = 'delete'
      gives = next.delete(nameOf(collection, id))
      work = (objects) => objects.delete(collection, id)
    }
    let given: unknown
    const outcome = await this.#processes.tried(random, async ({ objects }) => {
      given = await codeOr(work(objects))
    })
    this.#processes.count(`${what} ${outcome}`)
    if (outcome === 'done') {
      assert.deepEqual(given, gives, `${what} by ${this.#number}`)
      this.#model = next
    } else await this.#either(next, `${what} ${outcome}`)
  }

  /** It happened as a whole, or not at all; which, everybody sees. */
  async #either(next: Model, what: string): Promise<void> {
    const said = await this.#processes.asked(this.#random, ({ objects }) => this.#said(objects))
    const isDone = String(said) === String(linesOf(next))
    if (!isDone) {
      assert.deepEqual(said, linesOf(this.#model), `half of it by ${this.#number}: ${what}`)
    } else this.#model = next
  }

  async #deleteCollection(): Promise<void> {
    const collection = this.#own()
    // In steps, of which some may have been made: the next try does the rest.
    let outcome: Outcome
    do {
      outcome = await this.#processes.tried(this.#random, ({ objects }) =>
        objects.deleteCollection(collection),
      )
      this.#processes.count(`delete collection ${outcome}`)
    } while (outcome !== 'done' && !this.#processes.isOver)
    for (const name of this.#model.keys()) {
      if (placeOf(name)[0] === collection) this.#model.delete(name)
    }
  }

  /** Others do it meanwhile, and what is stored has to be in whatever comes of it. */
  async #define(): Promise<void> {
    const some = indexes.filter(() => this.#random.chance(0.6))
    const outcome = await this.#processes.tried(this.#random, ({ objects }) =>
      objects.defineSchema({ ...schema, indexes: some }),
    )
    this.#processes.count(`define ${outcome}`)
  }

  async #contest(): Promise<void> {
    const id = this.#random.below(2 * this.#steps)
    const outcome = await this.#processes.tried(this.#random, async ({ objects }) => {
      const value = { id, w: this.#number, k: 1000, text: 'contested' }
      const code = await codeOr(objects.import(importOf(contested, [value])))
      if (code === 'LK_OBJECT_DUPLICATE') return
      assert.ok(!this.#won.has(id), `${id} is stored twice`)
      this.#won.set(id, this.#number)
    })
    this.#processes.count(`contest ${outcome}`)
  }

  async #ask(): Promise<void> {
    const random = this.#random
    const w = this.#number
    const k = random.below(50)
    const filters = random.pick([
      { w, k: { $gte: k, $lt: k + 10 } },
      { w, k, _collection: { $ne: contested } },
      { w, _collection: common },
    ])
    const lines = await this.#processes.asked(random, ({ objects }) => linesOfAll(objects, filters))
    const expected = [...this.#model].filter(([name, value]) => {
      const own = Number(value['k'])
      if (filters._collection === common) return placeOf(name)[0] === common
      return typeof filters.k === 'number' ? own === k : own >= k && own < k + 10
    })
    assert.deepEqual(lines, linesOf(new Map(expected)), JSON.stringify(filters))
    this.#processes.count('asked')
  }

  #said(objects: ObjectStore): Promise<string[]> {
    return linesOfAll(objects, { w: this.#number, k: { $lt: 1000 } })
  }

  #own(): string {
    return `of ${this.#number} ${this.#random.below(2)}`
  }

  #batch() {
    const random = this.#random
    const collection = random.chance(0.3) ? common : this.#own()
    const ids = new Set<number>()
    for (let n = random.pick([1, 1, 3, 20, 200]); n > 0; n--) {
      ids.add(random.chance(0.9) ? this.#ids++ : random.below(this.#ids + 1))
    }
    const values = [...ids].map((n) => ({
      id: this.#number * 1e6 + n,
      w: this.#number,
      k: random.below(50),
      text: `word${n % 7} of all`,
    }))
    return { collection, values }
  }
}

const nameOf = (collection: string, id: number) => JSON.stringify([collection, id])
const placeOf = (name: string) => JSON.parse(name) as [collection: string, id: number]

const lineOf = (collection: string, { id, _id, w, k, text }: JsonObject) =>
  JSON.stringify([collection, _id ?? id, w, k, text])

function linesOf(model: Model): string[] {
  return [...model].map(([name, value]) => lineOf(placeOf(name)[0], value)).sort()
}

/** Page by page. The total is told with each, and is exact. */
async function linesOfAll(objects: ObjectStore, filters: JsonObject): Promise<string[]> {
  const lines: string[] = []
  let total
  do {
    const page = { schema_name: schema.name, filters, limit: 1000, offset: lines.length }
    const found = await objects.query(page)
    total = found.total
    lines.push(...found.objects.map((object) => lineOf(object._collection, object)))
    if (found.objects.length === 0) break
  } while (lines.length < total)
  assert.equal(lines.length, total, JSON.stringify(filters))
  return lines.sort()
}

const importOf = (collection: string, values: readonly JsonObject[]) => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: schema.name,
  values,
})

async function codeOr(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (hasCode(error, 'LK_OBJECT_DUPLICATE')) return 'LK_OBJECT_DUPLICATE'
    throw error
  }
}
