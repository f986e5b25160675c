// Many small cores, which come, grow, are replaced and go, while parts are made of them and merged at
// every point; asked all the time, and compared with a map of what they say.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { pace } from '../../../src/knowledge/library/policy.js'
import { createLorekeep, type Lorekeep } from '../../../src/lorekeep.js'
import type { GraphSnapshot } from '../../../src/graph/types.js'
import type { Backend, PartitionName, Storage } from '../../../src/storage.js'
import type { CoreMessage, Triple } from '../../../src/types.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { keysOf, openStore } from '../../fixtures/stores.js'
import { entity, literal, matched, messageOf, nameOf, setOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'

const user = 'u'
const seed = pickSeed()
const collections = ['a', 'b', 'c']

interface Content {
  readonly collection: string
  readonly triples: readonly Triple[]
  readonly vector: readonly number[]
}

/** What each core says, segment by segment. */
type Model = Map<string, readonly Content[]>

function contentOf(random: Random, name: string): Content {
  const triples = Array.from({ length: 1 + random.below(12) }, () => ({
    s: entity(`s${random.below(40)}`),
    p: entity(`p${random.below(4)}`),
    o: random.chance(0.5) ? entity(`s${random.below(40)}`) : literal(`o${random.below(60)}`),
  }))
  const own = { s: entity(name), p: entity('p0'), o: literal(name) }
  return {
    collection: random.pick(collections),
    triples: [own, ...triples],
    vector: [random.next() - 0.5, random.next() - 0.5, random.next() - 0.5],
  }
}

function messagesOf({ collection, triples, vector }: Content): CoreMessage[] {
  const m = { i: '', m: [], u: '', c: collection }
  const own = triples[0] as Triple
  return [messageOf(triples, collection), ['ge', { m, e: [{ e: own.s, v: [[...vector]] }] }]]
}

function triplesOf(model: Model, cores: readonly string[] | undefined, collection?: string) {
  return [...model]
    .filter(([id]) => cores === undefined || cores.includes(id))
    .flatMap(([, segments]) => segments)
    .filter((content) => collection === undefined || content.collection === collection)
    .flatMap(({ triples }) => triples)
}

async function assertAsked({ knowledge }: Lorekeep, model: Model, random: Random): Promise<void> {
  const ids = [...model.keys()]
  const some = ids.filter(() => random.chance(3 / Math.max(1, ids.length)))
  const collection = random.chance(0.5) ? random.pick(collections) : undefined
  for (const cores of [undefined, some]) {
    const graph = knowledge.graph({
      user,
      ...(cores && { cores }),
      ...(collection && { collection }),
    })
    const said = triplesOf(model, cores, collection)
    const place = `${cores?.join() ?? 'all'} in ${collection ?? 'all'}`
    assert.equal(await graph.count(), setOf(said).length, place)
    const s = entity(`s${random.below(40)}`)
    const about = said.filter((triple) => nameOf(triple.s) === nameOf(s))
    assert.deepEqual(await matched(graph, { s }), setOf(about), place)
    const vectors = [...model].filter(([id]) => cores === undefined || cores.includes(id))
    const names = new Set(
      vectors.flatMap(([, segments]) =>
        segments
          .filter((content) => collection === undefined || content.collection === collection)
          .map(({ triples }) => (triples[0] as Triple).s.v),
      ),
    )
    const found = await graph.nearest([1, 0.5, -0.5], { k: 1000 })
    assert.deepEqual(found.map(({ entity: { v } }) => v).sort(), [...names].sort(), place)
    for (const { entity: named, core } of found) {
      const isSaid = model.get(core)?.some(({ triples }) => triples[0]?.s.v === named.v)
      assert.ok(isSaid, `${named.v} of ${core}`)
    }
  }
}

async function assertSound(keep: Lorekeep): Promise<void> {
  const findings: string[] = []
  for await (const { severity, what, message } of keep.verify({ deep: true })) {
    if (severity === 'error') findings.push(`${what}: ${message}`)
  }
  assert.deepEqual(findings, [])
}

interface Held {
  readonly snapshot: GraphSnapshot
  readonly said: readonly string[]
}

/** A change of the model once it has happened. */
async function change({ knowledge }: Lorekeep, model: Model, random: Random): Promise<string> {
  const id = `core ${random.below(60)}`
  const ref = { user, id }
  const kind = random.below(10)
  if (kind === 0) {
    assert.equal(await knowledge.delete(ref), model.delete(id))
    return `delete ${id}`
  }
  const content = contentOf(random, `${id} ${random.below(1e9)}`)
  const mode = kind < 4 ? 'replace' : 'append'
  await knowledge.write(ref, messagesOf(content), { mode, index: random.chance(0.5) })
  model.set(id, mode === 'replace' ? [content] : [...(model.get(id) ?? []), content])
  return `${mode} ${id}`
}

function hurried(t: Test, values: Partial<typeof pace>): void {
  const before = { ...pace }
  Object.assign(pace, values)
  t.teardown(() => Object.assign(pace, before))
}

for (const [engine, create] of [
  ['memory', () => new MemoryBackend()],
  ['level', (t: Test) => new LevelBackend(t.testdir())],
] as const) {
  t.test(`${engine}: parts are made and merged while cores change (seed ${seed})`, async (t) => {
    hurried(t, { manySegments: 3, quietMs: 1, idleMs: 5, fanOut: 2 })
    const random = new Random(seed)
    const backend = create(t)
    let keep = await createLorekeep({
      backend: new KeptBackend(backend),
      onError: (error) => t.fail('in the background', { error }),
    })
    const model: Model = new Map()
    const held: Held[] = []
    const steps = engine === 'level' ? 120 : 400
    for (let step = 0; step < steps; step++) {
      await change(keep, model, random)
      if (step % 5 === 0) await assertAsked(keep, model, random)
      if (random.chance(0.02)) {
        const snapshot = await keep.knowledge.graph({ user }).snapshot()
        held.push({ snapshot, said: setOf(triplesOf(model, undefined)) })
      }
      if (held.length > 0 && random.chance(0.02)) {
        const { snapshot, said } = held.shift() as Held
        assert.deepEqual(await matched(snapshot), said, 'a snapshot has changed')
        snapshot.close()
      }
      if (random.chance(0.01)) await keep.knowledge.index({ user })
      if (random.chance(0.05)) await new Promise((resolve) => setTimeout(resolve, 3))
      if (random.chance(0.004)) {
        for (const { snapshot } of held.splice(0)) snapshot.close()
        await keep.close()
        keep = await createLorekeep({ backend: new KeptBackend(backend) })
      }
    }
    for (const { snapshot } of held) snapshot.close()
    await assertAsked(keep, model, random)
    await assertSound(keep)
    const state = await keep.knowledge.index({ user })
    t.match(state, { state: 'complete', waiting: { segments: 0, bytes: 0 }, parts: 2 })
    t.equal(state.triples, setOf(triplesOf(model, undefined)).length)
    await assertAsked(keep, model, random)
    await assertSound(keep)
    await keep.close()
    await backend.close()
  })
}

t.test(`any call of the storage may fail, now and then (seed ${seed})`, async (t) => {
  hurried(t, { manySegments: 3, quietMs: 1, idleMs: 2, fanOut: 2 })
  for (let round = 0; round < 12; round++) {
    const random = new Random(seed + round)
    const real = new MemoryBackend()
    const backend = new FaultyBackend(new KeptBackend(real))
    const keep = await createLorekeep({ backend, onError: () => undefined })
    const model: Model = new Map()
    for (let step = 0; step < 30; step++) {
      const id = `core ${random.below(8)}`
      const content = contentOf(random, `${id} ${step}`)
      const mode = random.chance(0.4) ? 'replace' : 'append'
      if (random.chance(0.4)) {
        const when = random.pick(['before', 'after'] as const)
        Object.assign(backend, { failAt: backend.calls + 1 + random.below(12), when })
      }
      const error = await keep.knowledge.write({ user, id }, messagesOf(content), { mode }).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (random.chance(0.3)) await turn()
      if (random.chance(0.3)) await keep.knowledge.index({ user }).catch(() => undefined)
      backend.failAt = Infinity
      // What has failed by now is told to whoever waits for it.
      for (let turns = 0; turns < 5; turns++) await turn()
      if (error !== undefined) continue
      model.set(id, mode === 'replace' ? [content] : [...(model.get(id) ?? []), content])
      if (step % 6 === 5) await assertAsked(keep, model, random)
    }
    await assertAsked(keep, model, random)
    await keep.knowledge.index({ user })
    await assertAsked(keep, model, random)
    await assertSound(keep)
    await keep.close()
    const again = await createLorekeep({ backend: new KeptBackend(real) })
    await assertAsked(again, model, random)
    await assertSound(again)
    await again.close()
  }
  t.pass()
})

t.test('a process that ends at any moment goes on with what is stored', async (t) => {
  hurried(t, { manySegments: 3, quietMs: 1, idleMs: 2, fanOut: 2 })
  for (let round = 0; round < 10; round++) {
    const random = new Random(seed + 1000 + round)
    const real: Backend = new MemoryBackend()
    const model: Model = new Map()
    for (let life = 0; life < 4; life++) {
      const backend = new FaultyBackend(new KeptBackend(real))
      const keep = await createLorekeep({ backend, onError: () => undefined })
      // From some call on nothing comes through any more.
      const end = backend.calls + 20 + random.below(200)
      Object.assign(backend, { failAt: end, lasting: true, when: 'before' })
      for (let step = 0; step < 40 && backend.calls < end; step++) {
        const id = `core ${random.below(8)}`
        const content = contentOf(random, `${id} ${life} ${step}`)
        const mode = random.chance(0.4) ? 'replace' : 'append'
        const work = keep.knowledge.write({ user, id }, messagesOf(content), { mode })
        const isDone = await work.then(
          () => true,
          () => false,
        )
        if (!isDone) break
        model.set(id, mode === 'replace' ? [content] : [...(model.get(id) ?? []), content])
        if (random.chance(0.3)) await turn()
      }
      await keep.close().catch(() => undefined)
    }
    const keep = await createLorekeep({ backend: new KeptBackend(real) })
    await assertAsked(keep, model, random)
    await assertSound(keep)
    await keep.knowledge.index({ user })
    await assertAsked(keep, model, random)
    await keep.close()
  }
  t.pass()
})

const saying = (name: string): Triple => ({ s: entity(name), p: entity('p'), o: literal(name) })
const said = (name: string): CoreMessage[] => [messageOf([saying(name)])]

async function kindsOf(backend: Backend): Promise<unknown[]> {
  return (await keysOf(backend)).cores.map(([kind]) => kind)
}

t.test('what memory has of a core that was replaced is not seen again', async (t) => {
  // Nothing but what was given up is looked after: the others wait for ever.
  hurried(t, { manySegments: 1e6, quietMs: 1e6, idleMs: 1 })
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  await knowledge.write({ user, id: 'a' }, said('old'))
  await knowledge.write({ user, id: 'b' }, said('b'))
  const graph = knowledge.graph({ user })
  t.equal(await graph.count(), 2)
  await knowledge.write({ user, id: 'a' }, said('new'), { mode: 'replace' })
  while ((await kindsOf(backend)).includes('retired')) await turn()
  t.same(await matched(graph), setOf([saying('b'), saying('new')]))
})

/** Its writes are seen by others some turns before those who wrote know of them. */
class LateBackend extends KeptBackend {
  override async open(partition: PartitionName): Promise<Storage> {
    const real = await super.open(partition)
    return {
      get: (key) => real.get(key),
      getMany: (keys) => real.getMany(keys),
      scan: (range) => real.scan(range),
      write: async (operations, options) => {
        await real.write(operations, options)
        for (let turns = 0; turns < 5; turns++) await turn()
      },
      close: () => real.close(),
      [Symbol.asyncDispose]: () => real.close(),
    }
  }
}

t.test('changes of one core at once leave nothing waiting of what they gave up', async (t) => {
  for (let round = 0; round < 20; round++) {
    const real = new MemoryBackend()
    const { knowledge } = await openStore(t, new LateBackend(real), { indexThreads: 0 })
    await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        knowledge.write({ user, id: 'a' }, said(`${n}`), { mode: 'replace' }),
      ),
    )
    t.equal((await kindsOf(real)).filter((kind) => kind === 'waiting').length, 1)
    t.equal(await knowledge.graph({ user }).count(), 1)
  }
})

t.test('what waits when a process ends is indexed by the next, without being asked', async (t) => {
  hurried(t, { quietMs: 1 })
  const real = new MemoryBackend()
  const first = await createLorekeep({ backend: new KeptBackend(real), indexThreads: 0 })
  for (const name of ['a', 'b', 'c']) {
    await first.knowledge.write({ user: name, id: 'core' }, said(name))
  }
  await first.close()
  t.equal((await kindsOf(real)).filter((kind) => kind === 'waiting').length, 3)
  const second = await createLorekeep({ backend: new KeptBackend(real) })
  while ((await kindsOf(real)).includes('waiting')) await turn()
  t.equal(await second.knowledge.graph({ user: 'b' }).count(), 1)
  await second.close()
})
