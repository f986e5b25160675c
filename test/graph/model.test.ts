// Random sequences of what changes cores and asks them, against a model that is a map of lists.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { GraphQuery } from '../../src/graph/types.js'
import { isSame } from '../../src/terms.js'
import type { CoreMessage, Term, Triple } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import {
  entity,
  matched,
  messageOf,
  nameOf,
  patternsOf,
  randomTriples,
  setOf,
  textOf,
} from './asked.js'

const user = 'alice'
const ids = ['one', 'two', 'three']
const collections = ['a', 'b']

interface Content {
  readonly seed: number
  /** Each said in a collection of its own choice. */
  readonly triples: readonly (readonly [collection: string, triple: Triple])[]
  readonly vectors: readonly (readonly [entity: Term, vector: readonly number[]])[]
}

/** The segments of each core; a core that is not there is not in the map. */
type Model = Map<string, readonly Content[]>

interface Held {
  readonly rest: AsyncIterator<Triple>
  readonly begun: string[]
  readonly expected: readonly string[]
}

class Real {
  keep!: Lorekeep
  backend!: FaultyBackend
  readonly held: Held[] = []
  readonly #createBackend: () => MemoryBackend | LevelBackend

  constructor(createBackend: () => MemoryBackend | LevelBackend) {
    this.#createBackend = createBackend
  }

  async open(): Promise<this> {
    this.backend = new FaultyBackend(this.#createBackend())
    const { backend } = this
    this.keep = await createLorekeep({ backend, onError: () => undefined, graphCacheBytes: 1 })
    return this
  }
}

interface Command extends fc.AsyncCommand<Model, Real> {
  readonly name: string
}

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return { name, run, check, toString: () => name }
}

const importing = (
  id: string,
  seed: number,
  size: number,
  mode: 'append' | 'replace',
  index: boolean,
  fault: number,
) =>
  command(
    `import(${id}, ${seed} x ${size}, ${mode}, index ${index}, fault ${fault})`,
    async (model, { keep, backend }) => {
      const content = contentOf(seed, size)
      backend.failAt = backend.calls + fault
      const ref = { user, id }
      const error = await keep.knowledge.write(ref, messagesOf(content), { mode, index }).then(
        () => undefined,
        (error: unknown) => error,
      )
      backend.failAt = Infinity
      // Also where the content was there, and its index could not be made.
      if (error !== undefined) return
      const held = mode === 'replace' ? [] : (model.get(id) ?? [])
      model.set(id, held.some((segment) => segment.seed === seed) ? held : [...held, content])
    },
  )

const deleting = (id: string) =>
  command(`delete(${id})`, async (model, { keep }) => {
    assert.equal(await keep.knowledge.delete({ user, id }), model.delete(id))
  })

const indexing = (id: string) =>
  command(
    `index(${id})`,
    async (model, { keep }) => {
      const state = await keep.knowledge.index({ user, id })
      const segments = model.get(id)?.length
      assert.deepEqual(
        [state.state, state.segments, state.indexedSegments],
        ['complete', segments, segments],
      )
    },
    (model) => model.has(id),
  )

const holding = (query: GraphQuery, begun: number) =>
  command(
    `hold(${JSON.stringify(query)}, ${begun})`,
    async (model, { keep, held }) => {
      const rest = keep.knowledge.graph(query).match()[Symbol.asyncIterator]()
      const found: string[] = []
      const expected = setOf(triplesOf(model, query))
      for (let n = 0; n < Math.min(begun, expected.length); n++) {
        const next = await rest.next()
        if (next.done !== true) found.push(textOf(next.value))
      }
      // Not one that was all given at once.
      if (found.length > 0) held.push({ rest, begun: found, expected })
    },
    (model) => (query.cores ?? []).every((id) => model.has(id)),
  )

const readingHeld = () =>
  command('readHeld()', async (_model, { held }) => {
    const first = held.shift()
    if (first === undefined) return
    const { rest, begun, expected } = first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      begun.push(textOf(next.value))
    }
    assert.deepEqual(begun.sort(), expected, 'a question is not what it was asked of')
  })

const reopening = () =>
  command('reopen()', async (_model, real) => {
    for (const { rest } of real.held.splice(0)) await rest.return?.()
    await real.keep.close()
    await real.open()
  })

const anId = fc.constantFrom(...ids)
const aQuery = fc
  .record({
    cores: fc.option(fc.uniqueArray(anId, { minLength: 1 }), { nil: undefined }),
    collection: fc.option(fc.constantFrom(...collections), { nil: undefined }),
  })
  .map(({ cores, collection }) => ({
    user,
    ...(cores && { cores }),
    ...(collection !== undefined && { collection }),
  }))
const anImport = fc
  .tuple(
    anId,
    fc.integer({ min: 0, max: 5 }),
    fc.constantFrom(1, 5, 40, 200),
    fc.constantFrom('append' as const, 'append' as const, 'append' as const, 'replace' as const),
    fc.boolean(),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(Infinity) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 14 }) },
    ),
  )
  .map(([id, seed, size, ...others]) => importing(id, seed * 1000 + size, size, ...others))
const always = [
  anImport,
  anImport,
  anId.map(deleting),
  anId.map(indexing),
  fc.tuple(aQuery, fc.constantFrom(0, 1, 20, 100)).map((args) => holding(...args)),
  fc.constant(readingHeld()),
]

const seed = pickSeed() | 0

for (const engine of ['memory', 'level'] as const) {
  t.test(`${engine}: any sequence answers as the model does (seed ${seed})`, async () => {
    const commands = engine === 'level' ? [...always, fc.constant(reopening())] : always
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 20 }), async (sequence) => {
        const directory = engine === 'level' ? mkdtempSync(join(tmpdir(), 'lorekeep-model-')) : ''
        const real = await new Real(() =>
          engine === 'level' ? new LevelBackend(directory) : new MemoryBackend(),
        ).open()
        const model: Model = new Map()
        try {
          await fc.asyncModelRun(() => ({ model, real }), checked(sequence))
          for (const { rest } of real.held.splice(0)) await rest.return?.()
          await keepTidy(real)
        } finally {
          await real.keep.close()
          if (directory) rmSync(directory, { recursive: true })
        }
      }),
      { seed, numRuns: engine === 'level' ? 12 : 30 },
    )
  })
}

/** Each command, and after it some questions over all cores and a choice of them. */
function* checked(sequence: Iterable<fc.AsyncCommand<Model, Real>>) {
  let n = 0
  for (const step of sequence) {
    const random = new Random(seed + n++)
    yield {
      check: (model: Readonly<Model>) => step.check(model),
      run: async (model: Model, real: Real) => {
        await step.run(model, real)
        const all: GraphQuery = { user }
        await assertAsked(model, real, all, random)
        await assertAsked(model, real, { user, collection: random.pick(collections) }, random)
        const cores = [...model.keys()].filter(() => random.chance(0.6))
        await assertAsked(model, real, { user, cores }, random)
        await assertNearest(model, real, all, random)
      },
      toString: () => String(step),
    }
  }
}

async function assertAsked(
  model: Model,
  { keep }: Real,
  query: GraphQuery,
  random: Random,
): Promise<void> {
  const triples = triplesOf(model, query)
  const sample = triples.length > 0 ? random.pick(triples) : unknown
  const graph = keep.knowledge.graph(query)
  for (const pattern of [{}, random.pick(patternsOf(sample))]) {
    const expected = setOf(
      triples.filter((triple) =>
        Object.entries(pattern).every(([place, term]) =>
          isSame(triple[place as 's' | 'p' | 'o'], term),
        ),
      ),
    )
    const place = `${JSON.stringify(query)}, ${JSON.stringify(pattern)}`
    assert.deepEqual(await matched(graph, pattern), expected, place)
    assert.equal(await graph.count(pattern), expected.length, `${place}, counted`)
  }
}

/** The best score of each entity, and a core that has it. */
async function assertNearest(
  model: Model,
  { keep }: Real,
  query: GraphQuery,
  random: Random,
): Promise<void> {
  const asked = [random.next() - 0.5, random.next() - 0.5]
  const best = new Map<string, number>()
  const having = new Set<string>()
  for (const [id, segments] of model) {
    for (const [entity, vector] of segments.flatMap(({ vectors }) => vectors)) {
      const score = cosine(asked, vector)
      const key = nameOf(entity)
      best.set(key, Math.max(best.get(key) ?? -1, score))
      having.add(`${id} ${key} ${score.toFixed(4)}`)
    }
  }
  const found = await keep.knowledge.graph(query).nearest(asked, { k: 8, exact: true })
  const scores = [...best.values()].sort((a, b) => b - a)
  assert.equal(found.length, Math.min(8, scores.length))
  assert.equal(new Set(found.map(({ entity }) => nameOf(entity))).size, found.length)
  for (const [n, { entity, score, core }] of found.entries()) {
    assert.ok(Math.abs(score - (scores[n] as number)) < 1e-5)
    const exact = best.get(nameOf(entity)) as number
    assert.ok(Math.abs(score - exact) < 1e-5)
    const key = `${core} ${nameOf(entity)} ${exact.toFixed(4)}`
    assert.ok(having.has(key), key)
  }
}

/** With nothing held and no fault, the background deletes what is left. */
async function keepTidy({ keep, backend }: Real): Promise<void> {
  await keep.knowledge.write({ user: 'other', id: 'last' }, [messageOf([])])
  for (let turns = 0; (await coreProblems(backend.real)).length > 0; turns++) {
    if (turns > 2000) assert.deepEqual(await coreProblems(backend.real), [])
    await turn()
  }
}

const unknown: Triple = { s: entity('nobody'), p: entity('says'), o: entity('this') }

function triplesOf(model: Model, { cores = [...model.keys()], collection }: GraphQuery): Triple[] {
  return cores
    .flatMap((id) => model.get(id) ?? [])
    .flatMap(({ triples }) => triples)
    .filter(([of]) => collection === undefined || of === collection)
    .map(([, triple]) => triple)
}

function contentOf(seed: number, size: number): Content {
  const random = new Random(seed)
  const triples = randomTriples(random, size)
  const isMixed = random.chance(0.5)
  return {
    seed,
    triples: triples.map((triple) => [isMixed ? random.pick(collections) : 'a', triple] as const),
    vectors: triples.slice(0, 20).map(({ s }) => {
      const vector = random.chance(0.1) ? [0, 0] : [random.next() - 0.5, random.next() - 0.5]
      return [s, vector] as const
    }),
  }
}

function messagesOf({ seed, triples, vectors }: Content): CoreMessage[] {
  const of = (collection: string) =>
    triples.filter(([name]) => name === collection).map(([, triple]) => triple)
  return [
    // What no other content has: else two would be one.
    messageOf([], String(seed)),
    ...collections.map((collection) => messageOf(of(collection), collection)),
    [
      'ge',
      {
        m: { i: 'i', m: [], u: 'u', c: 'a' },
        e: vectors.map(([e, vector]) => ({ e, v: [vector] })),
      },
    ],
  ]
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, n) => sum + value * (y[n] as number), 0)
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths === 0 ? 0 : dot(a, b) / lengths
}
