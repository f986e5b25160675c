// Fast-check commands over an ObjectStore and its model.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { hasCode } from '../../src/errors.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Backend } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { Random } from '../fixtures/random.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { chooseOperation, chooseQuery } from './objects-model-choice.js'
import { allCollections, type CollectionRecord } from '../../src/objects/engine/records.js'
import { decodeKey } from '../../src/keys.js'
import { decodeRecord } from '../../src/record.js'
import { checkQuery, isLike, type LaneOf } from './objects-model-check.js'
import { applied, carriedOut, emptyModel, type Model, type Operation } from './objects-model.js'

/** How often what came of which kind of command. */
type Tally = Record<string, number>

interface Opened {
  readonly keep: Lorekeep
  readonly backend: FaultyBackend
}

/** One store; or several, which share a backend as processes do. */
class Real {
  stores: readonly Opened[] = []
  readonly kept: Backend
  readonly tally: Tally
  readonly #options: { readonly cacheBytes: number; readonly count: number }
  readonly #random: Random

  constructor(
    kept: Backend,
    options: { cacheBytes: number; count: number; seed: number },
    tally: Tally,
  ) {
    this.kept = kept
    this.tally = tally
    this.#options = options
    this.#random = new Random(options.seed)
  }

  async open(): Promise<this> {
    const { count, cacheBytes: objectCacheBytes } = this.#options
    this.stores = await Promise.all(
      Array.from({ length: count }, async () => {
        const backend = new FaultyBackend(this.kept)
        const onError = (error: unknown) => assert.fail(String(error))
        return { backend, keep: await createLorekeep({ backend, objectCacheBytes, onError }) }
      }),
    )
    return this
  }

  any(): Opened {
    return this.#random.pick(this.stores)
  }

  /** Of any of them. */
  get objects(): ObjectStore {
    return this.any().keep.objects
  }

  async lanes(): Promise<LaneOf> {
    const lanes = new Map<unknown, number>()
    const storage = await this.kept.open('objects')
    for await (const page of storage.scan(allCollections())) {
      for (const { key, value } of page) {
        const { lane = 0 } = decodeRecord<CollectionRecord>(value)
        lanes.set(decodeKey(key)[1], lane)
      }
    }
    return (collection) => lanes.get(collection) ?? 0
  }

  async close(): Promise<void> {
    for (const { keep } of this.stores) await keep.close()
  }
}

interface Held {
  model: Model
}

type Command = fc.AsyncCommand<Held, Real>

/** One operation, with a fault at one of its storage calls or without. */
class One implements Command {
  readonly seed: number
  readonly faultAt: number
  readonly when: 'before' | 'after'
  #text = ''

  constructor(seed: number, faultAt: number, when: 'before' | 'after') {
    this.seed = seed
    this.faultAt = faultAt
    this.when = when
  }

  check = () => true

  async run(held: Held, real: Real) {
    const { tally } = real
    const { keep, backend } = real.any()
    const operation = chooseOperation(new Random(this.seed), held.model)
    this.#text = textOf(operation)
    const [next, expected] = applied(held.model, operation)
    Object.assign(backend, { failAt: backend.calls + this.faultAt, when: this.when })
    let found: string | undefined
    try {
      found = await carriedOut(keep.objects, operation)
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_FAILED')) throw error
    }
    backend.failAt = Infinity
    count(tally, `${operation.type} ${found === undefined ? 'fault' : resultOf(found)}`)
    // A deletion is made of steps: the next try does the rest.
    if (found === undefined && operation.type === 'deleteCollection') {
      await keep.objects.deleteCollection(operation.collection)
      held.model = next
    } else if (found === undefined) {
      held.model = (await isLike(real.objects, held.model, await real.lanes())) ? held.model : next
    } else {
      assert.equal(found, expected, `${this.toString()} gives ${found}`)
      held.model = next
    }
  }

  toString = () => `one(${this.seed}, ${this.faultAt} ${this.when}: ${this.#text})`
}

/** Many small changes one after another: they make many runs and blocks, which are merged. */
class Many implements Command {
  readonly seed: number
  readonly count: number

  constructor(seed: number, count: number) {
    this.seed = seed
    this.count = count
  }

  check = ({ model }: Readonly<Held>) => model.schemas.size > 0

  async run(held: Held, real: Real) {
    const random = new Random(this.seed)
    for (let n = 0; n < this.count; n++) {
      const operation = chooseOperation(random, held.model, 'small')
      const [next, expected] = applied(held.model, operation)
      assert.equal(await carriedOut(real.objects, operation), expected, textOf(operation))
      held.model = next
    }
  }

  toString = () => `many(${this.seed}, ${this.count})`
}

/** Several at once: there is an order in which they give what they gave, and leave what is there. */
class AtOnce implements Command {
  readonly seed: number
  readonly count: number
  #text = ''

  constructor(seed: number, count: number) {
    this.seed = seed
    this.count = count
  }

  check = ({ model }: Readonly<Held>) => model.schemas.size > 0

  async run(held: Held, real: Real) {
    const { tally } = real
    const random = new Random(this.seed)
    const operations: Operation[] = []
    while (operations.length < this.count) {
      const operation = chooseOperation(random, held.model)
      if (operation.type !== 'deleteCollection') operations.push(operation)
    }
    this.#text = operations.map(textOf).join(', ')
    const [name = ''] = held.model.schemas.keys()
    const query = real.objects.query({ schema_name: name, limit: 0 }).catch(() => undefined)
    const found = await Promise.all(
      operations.map((operation) => carriedOut(real.objects, operation)),
    )
    const page = await query
    for (const outcome of found) count(tally, `at once ${resultOf(outcome)}`)
    for (const order of permutations(operations.map((_, n) => n))) {
      let { model } = held
      const totals = [totalOf(model, name)]
      const isSame = order.every((n) => {
        const [next, outcome] = applied(model, operations[n] as Operation)
        model = next
        totals.push(totalOf(model, name))
        return outcome === found[n]
      })
      const isSeen = page === undefined || totals.includes(page.total)
      if (!isSame || !isSeen || !(await isLike(real.objects, model, await real.lanes()))) continue
      held.model = model
      return
    }
    assert.fail(`${this.toString()}: no order gives ${found.join(', ')}`)
  }

  toString = () => `atOnce(${this.seed}, ${this.count}: ${this.#text})`
}

class Ask implements Command {
  readonly seed: number

  constructor(seed: number) {
    this.seed = seed
  }

  check = ({ model }: Readonly<Held>) => model.schemas.size > 0

  async run({ model }: Held, real: Real) {
    const random = new Random(this.seed)
    const laneOf = await real.lanes()
    for (let n = 0; n < 5; n++) {
      await checkQuery(real.objects, model, chooseQuery(random, model), laneOf)
    }
  }

  toString = () => `ask(${this.seed})`
}

class Reopen implements Command {
  check = () => true

  async run(_: Held, real: Real) {
    await real.close()
    await real.open()
  }

  toString = () => 'reopen()'
}

const seeds = fc.integer({ min: 0, max: 2 ** 31 })
const when = fc.constantFrom('before' as const, 'after' as const)
const noFault = fc.constant(Infinity)
const one = fc.tuple(seeds, noFault, when).map((args) => new One(...args))
const faulty = fc.tuple(seeds, fc.integer({ min: 1, max: 3 }), when).map((args) => new One(...args))
const commands = [
  ...[one, one, one, faulty, faulty],
  fc.tuple(seeds, fc.integer({ min: 5, max: 60 })).map((args) => new Many(...args)),
  fc.tuple(seeds, fc.integer({ min: 2, max: 4 })).map((args) => new AtOnce(...args)),
  ...[seeds.map((seed) => new Ask(seed)), seeds.map((seed) => new Ask(seed))],
  fc.constant(new Reopen()),
]

export async function modelRuns(options: {
  readonly engine: 'memory' | 'level'
  /** So many stores, which share the backend. */
  readonly stores?: number
  readonly runs: number
  readonly seed: number
  readonly cacheBytes: number
}): Promise<{ readonly steps: number; readonly tally: Tally }> {
  const { engine, stores: count = 1, runs, seed, cacheBytes } = options
  const tally: Tally = {}
  let steps = 0
  const property = fc.asyncProperty(
    fc.commands(commands, { maxCommands: 30, size: 'max' }),
    async (sequence) => {
      const directory = engine === 'level' ? mkdtempSync(join(tmpdir(), 'lorekeep-model-')) : ''
      const backend = engine === 'level' ? new LevelBackend(directory) : new MemoryBackend()
      const kept = new KeptBackend(backend, count > 1)
      const real = await new Real(kept, { cacheBytes, count, seed }, tally).open()
      const held: Held = { model: await begun(real) }
      try {
        await fc.asyncModelRun(() => ({ model: held, real }), checked(sequence))
      } finally {
        await real.close()
        await backend.close()
        if (directory) rmSync(directory, { recursive: true })
      }
    },
  )
  // A sequence may be short, and a few all are in one seed of 200: as many more until they are not.
  for (let n = 0; steps < 5 * runs; n++) {
    await fc.assert(property, { seed: (seed + n) | 0, numRuns: runs })
  }
  return { steps, tally }

  /** Each command, and after it a look at everything. */
  function* checked(all: Iterable<Command>): Iterable<Command> {
    for (const command of all) {
      yield {
        check: (held) => command.check(held),
        run: async (held, real) => {
          await command.run(held, real)
          steps++
          for (const { keep } of real.stores) {
            assert.ok(
              await isLike(keep.objects, held.model, await real.lanes()),
              `after ${command.toString()}`,
            )
          }
          assert.deepEqual(await objectProblems(real.kept), [], `after ${command.toString()}`)
        },
        toString: () => command.toString(),
      }
    }
  }
}

/** A schema and some objects, so that what follows has something to meet. */
async function begun(real: Real): Promise<Model> {
  const random = new Random(1)
  let model = emptyModel
  for (let n = 0; n < 6 || model.objects.size < 50; n++) {
    const operation = chooseOperation(random, model)
    if (operation.type !== 'define' && operation.type !== 'import') continue
    await carriedOut(real.objects, operation)
    ;[model] = applied(model, operation)
  }
  return model
}

function* permutations(all: readonly number[]): Generator<readonly number[]> {
  if (all.length === 0) yield []
  for (const first of all) {
    for (const rest of permutations(all.filter((n) => n !== first))) yield [first, ...rest]
  }
}

function count(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1
}

/** A code, or that it went well. */
const resultOf = (outcome: string) => (outcome.startsWith('LK_') ? outcome : 'ok')

function totalOf(model: Model, schema: string): number {
  return [...model.objects.values()].filter((object) => object.schema === schema).length
}

function textOf(operation: Operation): string {
  const text = JSON.stringify(operation)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
