// What a library sees of small cores while parts are made of them and merged, at every point.

import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { pace } from '../../../src/knowledge/library/policy.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Backend, PartitionName, Storage } from '../../../src/storage.js'
import type { CoreMessage, Triple } from '../../../src/types.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { keysOf, openStore } from '../../fixtures/stores.js'
import { entity, literal, matched, messageOf, setOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'
import {
  assertAsked,
  assertSound,
  contentOf,
  messagesOf,
  modelRun,
  user,
  type Model,
} from './model.js'

const seed = pickSeed()
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
    const triples = await modelRun({
      backend: create(t),
      random: new Random(seed),
      steps: engine === 'level' ? 120 : 400,
      cores: 60,
      every: 5,
      onError: (error) => t.fail('in the background', { error }),
    })
    t.ok(triples > 100, `${triples} triples`)
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

t.test('what comes last before a pause is merged with the small parts in one write', async (t) => {
  // Nothing is merged otherwise.
  const never = { quietMs: 1e6, idleMs: 1e6, fanOut: 1e6 }
  hurried(t, { ...never, manySegments: 2 })
  const backend = new MemoryBackend()
  const { knowledge } = await openStore(t, backend)
  const stateOnceIndexed = async () => {
    for (;;) {
      const state = await knowledge.indexState({ user })
      if (state.waiting.segments === 0) return state
      await turn()
    }
  }
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  for (const [n, id] of names.entries()) {
    if (n === 6) Object.assign(pace, { quietMs: 1 })
    await knowledge.write({ user, id }, said(id))
    if (n % 2 === 1) t.equal((await stateOnceIndexed()).parts, (n + 1) / 2)
  }
  const { parts, triples } = await stateOnceIndexed()
  t.same({ parts, triples }, { parts: 1, triples: names.length })
  t.same(await matched(knowledge.graph({ user })), setOf(names.map(saying)))
  // What was merged is deleted, and so is the part that it passed through.
  while ((await kindsOf(backend)).includes('garbage-part')) await turn()
  t.equal((await keysOf(backend)).slices.length, 1)
  t.notOk((await kindsOf(backend)).includes('staged'))
})

t.test('what nobody says any more goes, also where several say the rest', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend(), { indexThreads: 0 })
  const common = messageOf(['a', 'b', 'c', 'd'].map(saying))
  for (const id of ['one', 'other']) await knowledge.write({ user, id }, [common])
  await knowledge.write({ user, id: 'gone' }, said('gone'))
  t.match(await knowledge.index({ user }), { parts: 1, triples: 5 })
  await knowledge.delete({ user, id: 'gone' })
  t.match(await knowledge.index({ user }), { parts: 1, triples: 4 })
})

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
      getBytes: (key, from, to) => real.getBytes(key, from, to),
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
