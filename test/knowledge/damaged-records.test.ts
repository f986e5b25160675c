// One damaged record of a core takes nothing with it: others are asked, written and listed, and what the record has said
// follows from others, or is given up with the core.

import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { pace } from '../../src/knowledge/library/policy.js'
import {
  coreKey,
  libraryKey,
  segmentKey,
  smallKey,
  waitingKey,
} from '../../src/knowledge/records.js'
import type { CoreStat, KnowledgeStore } from '../../src/knowledge/types.js'
import type { Storage } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import { coreProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { openStore, slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { UnreadableBackend } from '../fixtures/unreadable-backend.js'

const user = 'alice'
const [bad, good] = [
  { user, id: 'bad' },
  { user, id: 'good' },
]
const corrupt = { code: 'LK_STORAGE_CORRUPT' }
const ofBad = { ...corrupt, message: /'bad' of 'alice'/, details: { user, id: 'bad' } }

type Damage = (backend: UnreadableBackend, key: Uint8Array) => Promise<void>

const damages: Readonly<Record<string, Damage>> = {
  unreadable: async (backend, key) => backend.lose('cores', key),
  'no record': async (backend, key) => {
    await (await backend.open('cores')).write([{ type: 'put', key, value: Buffer.from('{"id":') }])
  },
}

/** A store of which 'bad' has a segment of each kind. */
async function filled(t: Parameters<typeof openStore>[0]) {
  const backend = new UnreadableBackend(new MemoryBackend())
  // All within one millisecond: a core is told to have changed later each time all the same.
  const { now } = Date
  const moment = now()
  const keep = await openStore(t, backend, { indexThreads: 0 })
  const { knowledge } = keep
  Date.now = () => moment
  try {
    await knowledge.write(good, [triplesMessage('good')])
    await knowledge.write(bad, [triplesMessage('bad')])
    await knowledge.write(bad, [slicedMessage('sliced')])
    await knowledge.write({ user: 'bob', id: 'bad' }, [triplesMessage('bob')])
  } finally {
    Date.now = now
  }
  const stat = await knowledge.stat(bad)
  await keep.close()
  const told: unknown[] = []
  const reopened = async (threads = 0) => {
    const options = { indexThreads: threads, onError: (error: unknown) => void told.push(error) }
    return (await openStore(t, backend, options)).knowledge
  }
  return { backend, stat, told, reopened, cores: await backend.open('cores') }
}

async function generationOf(cores: Storage, ref: { user: string; id: string }): Promise<string> {
  const stored = await cores.get(coreKey(ref))
  return (JSON.parse(Buffer.from(stored as Uint8Array).toString()) as { generation: string })
    .generation
}

async function listed(knowledge: KnowledgeStore, given: CoreStat[] = []): Promise<string[]> {
  for await (const core of knowledge.list({ user })) given.push(core)
  return given.map(({ id }) => id)
}

/** What a sweep takes goes soon. */
async function problems(backend: UnreadableBackend): Promise<string[]> {
  for (let looks = 0; looks < 200; looks++) {
    if ((await coreProblems(backend)).length === 0) return []
    await sleep(5)
  }
  return coreProblems(backend)
}

const count = (knowledge: KnowledgeStore, cores?: readonly string[]) =>
  knowledge.graph({ user, ...(cores && { cores }) }).count()
const empty: readonly CoreMessage[] = []

for (const [how, damage] of Object.entries(damages)) {
  t.test(`${how}: that a segment waits follows from its core and the segment`, async (t) => {
    for (const n of [0, 1]) {
      const { backend, cores, told, reopened } = await filled(t)
      const generation = await generationOf(cores, bad)
      await damage(backend, waitingKey(user, generation, n))
      const knowledge = await reopened()
      t.match(await knowledge.write(good, [triplesMessage('more')]), { triples: 3 })
      t.match(await knowledge.write({ user, id: 'new' }, [triplesMessage('new')]), { triples: 3 })
      t.equal(await count(knowledge), 13)
      t.equal(await count(knowledge, ['bad']), 4)
      t.match(told, [{ ...corrupt, message: /'bad' of 'alice'/ }], 'told, and once')
      t.match(await knowledge.index({ user }), { state: 'complete', triples: 13 })
      t.strictSame(await problems(backend), [], 'it is gone for good')
    }
  })

  t.test(`${how}: a core of which it is damaged that a segment waits is given up`, async (t) => {
    for (const mode of ['replace', 'delete'] as const) {
      const { backend, cores, reopened } = await filled(t)
      const generation = await generationOf(cores, bad)
      await damage(backend, waitingKey(user, generation, 0))
      const knowledge = await reopened()
      if (mode === 'delete') t.equal(await knowledge.delete(bad), true)
      else await knowledge.write(bad, [triplesMessage('again')], { mode })
      t.equal(await count(knowledge), mode === 'delete' ? 3 : 6)
      t.strictSame(await problems(backend), [])
    }
  })

  t.test(`${how}: what waits and is not known is refused to whoever needs it`, async (t) => {
    const { backend, cores, told, reopened } = await filled(t)
    const generation = await generationOf(cores, bad)
    await damage(backend, waitingKey(user, generation, 0))
    await damage(backend, segmentKey(generation, 0))
    const knowledge = await reopened(1)
    await t.rejects(count(knowledge), ofBad)
    await t.rejects(count(knowledge, ['bad']), ofBad)
    await t.rejects(knowledge.index(bad), ofBad)
    t.equal(await count(knowledge, ['good']), 3)
    t.match(await knowledge.index(good), { state: 'complete' })
    t.match(await knowledge.write(good, [triplesMessage('more')]), { triples: 3 })
    t.match(await knowledge.indexState({ user }), { state: 'partial' })
    t.strictSame(told, [])
    await knowledge.write(bad, [triplesMessage('again')], { mode: 'replace' })
    t.equal(await count(knowledge), 9)
  })

  t.test(`${how}: a generation of which a record is damaged is deleted all the same`, async (t) => {
    for (const mode of ['replace', 'delete'] as const) {
      for (const key of [segmentKey, smallKey]) {
        const { backend, cores, told, reopened } = await filled(t)
        await damage(backend, key(await generationOf(cores, bad), 0))
        const knowledge = await reopened()
        if (mode === 'delete') t.equal(await knowledge.delete(bad), true)
        else await knowledge.write(bad, [triplesMessage('again')], { mode })
        t.strictSame(await problems(backend), [])
        t.strictSame(told, [])
      }
    }
  })

  t.test(`${how}: slices whose record is damaged stay, and that is told once`, async (t) => {
    const { backend, cores, told, reopened } = await filled(t)
    await damage(backend, segmentKey(await generationOf(cores, bad), 1))
    const knowledge = await reopened()
    t.equal(await knowledge.delete(bad), true)
    while (told.length === 0) await sleep(5)
    t.match(told, [{ ...corrupt, message: /the slices of a deleted segment/ }])
    const [left, ...others] = await coreProblems(backend)
    t.match(left, /^unreferenced \("[0-9a-f]{32}", 0\)/)
    t.strictSame(others, [])
    await reopened()
    t.equal(told.length, 1)
  })

  const changes: Readonly<
    Record<string, readonly [(knowledge: KnowledgeStore) => Promise<unknown>, number]>
  > = {
    'an import in its place': [(k) => k.write(bad, [triplesMessage('n')], { mode: 'replace' }), 3],
    'an empty one in its place': [(k) => k.write(bad, empty, { mode: 'replace' }), 0],
    'its deletion': [(k) => k.delete(bad), 0],
    'an import of more': [(k) => k.write(bad, [triplesMessage('n')]), 7],
    'an import with an index': [(k) => k.write(bad, [triplesMessage('n')], { index: true }), 7],
    'an import of what it has': [(k) => k.write(bad, [triplesMessage('bad')]), 4],
    'an import of nothing': [(k) => k.write(bad, empty), 4],
  }
  for (const [name, [change, triples]] of Object.entries(changes)) {
    t.test(`${how}: ${name} makes a damaged record of a core anew`, async (t) => {
      for (const isIndexed of [false, true]) {
        const { backend, stat, told, reopened } = await filled(t)
        if (isIndexed) await (await reopened()).index({ user })
        await damage(backend, coreKey(bad))
        const knowledge = await reopened()
        await t.rejects(knowledge.stat(bad), ofBad)
        await t.rejects(knowledge.export(bad), ofBad)
        await t.rejects(count(knowledge, ['bad']), ofBad)
        t.equal(await count(knowledge), 7, 'the index has all of it')
        t.match(await knowledge.write(good, [triplesMessage('more')]), { triples: 3 })
        t.strictSame(told, [])
        await change(knowledge)
        t.match(told, [{ ...ofBad, message: /'bad' of 'alice': it was damaged/ }])
        t.equal(await count(knowledge), triples + 6)
        const now = await knowledge.stat(bad)
        t.equal(now?.triples ?? 0, triples)
        if (name === 'an import of nothing') t.strictSame(now, stat)
        t.strictSame(await listed(knowledge), now ? ['bad', 'good'] : ['good'])
        t.strictSame(await problems(backend), [])
        t.equal(told.length, 1)
      }
    })
  }

  t.test(`${how}: all cores but the damaged one are listed, and that is told`, async (t) => {
    const { backend, reopened } = await filled(t)
    await damage(backend, coreKey(bad))
    const knowledge = await reopened()
    const given: CoreStat[] = []
    await t.rejects(listed(knowledge, given), ofBad)
    t.match(given, [{ id: 'good' }])
    t.strictSame(Object.keys(given[0] as object).includes('generation'), false)
    await t.rejects(knowledge.corePage({ user }), ofBad)
    const page = await knowledge.corePage({ user, prefix: 'g' })
    t.match(page.cores, [{ id: 'good' }])
    t.equal(page.next, undefined)
    await knowledge.write(bad, empty)
    t.match((await knowledge.corePage({ user })).cores, [{ id: 'bad' }, { id: 'good' }])
  })

  t.test(`${how}: without the record of an index its user alone is refused`, async (t) => {
    const { backend, reopened } = await filled(t)
    const keep = await openStore(t, backend, { indexThreads: 0 })
    await keep.knowledge.index({ user })
    await keep.close()
    await damage(backend, libraryKey(user))
    const knowledge = await reopened()
    await t.rejects(count(knowledge), corrupt)
    await t.rejects(knowledge.write(good, [triplesMessage('more')]), corrupt)
    await t.rejects(knowledge.delete(bad), corrupt)
    t.strictSame(await listed(knowledge), ['bad', 'good'])
    t.ok((await buffer(await knowledge.export(good))).length > 0)
    t.equal(await knowledge.graph({ user: 'bob' }).count(), 3)
    t.match(await knowledge.write({ user: 'bob', id: 'good' }, [triplesMessage('of bob')]), {
      triples: 3,
    })
  })

  t.test(`${how}: of several damaged records each is made anew by itself`, async (t) => {
    const { backend, reopened } = await filled(t)
    for (const ref of [bad, good, { user: 'bob', id: 'bad' }]) await damage(backend, coreKey(ref))
    const knowledge = await reopened()
    t.equal(await knowledge.delete(bad), true)
    t.match(await knowledge.write(good, [triplesMessage('good')]), { duplicate: true })
    t.match(await knowledge.write({ user: 'bob', id: 'bad' }, empty), { duplicate: true })
    t.strictSame(await problems(backend), [])
  })

  t.test(`${how}: those who change a damaged core at once do so one after the other`, async (t) => {
    const { backend, told, reopened } = await filled(t)
    await damage(backend, coreKey(bad))
    const knowledge = await reopened()
    await Promise.all([
      ...['a', 'b', 'c'].map((name) =>
        knowledge.write(bad, [triplesMessage(name)], { mode: 'replace' }),
      ),
      knowledge.write(bad, [triplesMessage('d')]),
      knowledge.delete(bad),
    ])
    t.equal(told.length, 1)
    t.strictSame(await problems(backend), [])
  })

  t.test(`${how}: an empty core has no segments to be known by`, async (t) => {
    const { backend, reopened } = await filled(t)
    const first = await reopened()
    await first.write({ user, id: 'empty' }, empty)
    await damage(backend, coreKey({ user, id: 'empty' }))
    const knowledge = await reopened()
    t.match(await knowledge.write({ user, id: 'empty' }, [triplesMessage('e')]), { triples: 3 })
    t.strictSame(await problems(backend), [])
  })

  t.test(`${how}: what a core was is not guessed where more of it is damaged`, async (t) => {
    const losses: Readonly<Record<string, (generation: string, cores: Storage) => Uint8Array>> = {
      'the record of a segment': (generation) => segmentKey(generation, 0),
      'the record of the last one': (generation) => segmentKey(generation, 1),
    }
    for (const isGone of [true, false]) {
      for (const [name, lost] of Object.entries(losses)) {
        const { backend, cores, told, reopened } = await filled(t)
        const generation = await generationOf(cores, bad)
        const key = lost(generation, cores)
        if (isGone) await cores.write([{ type: 'del', key }])
        else await damage(backend, key)
        await damage(backend, coreKey(bad))
        const knowledge = await reopened()
        const before = await coreProblems(backend)
        await t.rejects(knowledge.delete(bad), ofBad, name)
        await t.rejects(knowledge.write(bad, empty, { mode: 'replace' }), ofBad, name)
        t.strictSame(await coreProblems(backend), before)
        t.strictSame(told, [])
      }
    }
  })

  t.test(`${how}: segments that nobody can be told to have are left`, async (t) => {
    const { backend, cores, reopened } = await filled(t)
    const generation = await generationOf(cores, good)
    await damage(backend, coreKey(good))
    await damage(backend, smallKey(generation, 0))
    const knowledge = await reopened()
    await t.rejects(knowledge.delete(good), { ...corrupt, details: { id: 'good' } })
    // Another core knows its own.
    await damage(backend, coreKey(bad))
    t.equal(await knowledge.delete(bad), true)
  })
}

t.test('a record that is none is made anew among those who share it', async (t) => {
  const shared = new SharedMemory()
  const a = await openStore(t, shared.backend())
  const b = await openStore(t, shared.backend())
  await a.knowledge.write(bad, [triplesMessage('bad')])
  const backend = shared.backend()
  const cores = await backend.open('cores')
  await cores.write([{ type: 'put', key: coreKey(bad), value: Buffer.from('{"id":') }])
  await t.rejects(b.knowledge.stat(bad), ofBad)
  await Promise.all([
    a.knowledge.write(bad, [triplesMessage('one')], { mode: 'replace' }),
    b.knowledge.write(bad, [triplesMessage('two')], { mode: 'replace' }),
  ])
  for (const { knowledge } of [a, b]) t.match(await knowledge.stat(bad), { triples: 3 })
  await a.close()
  await b.close()
})

t.test('a record that cannot be read stays as it is where others may change it', async (t) => {
  const shared = new SharedMemory()
  const backend = new UnreadableBackend(shared.backend())
  const { knowledge } = await openStore(t, backend)
  await knowledge.write(bad, [triplesMessage('bad')])
  backend.lose('cores', coreKey(bad))
  await t.rejects(knowledge.delete(bad), ofBad)
  await t.rejects(knowledge.write(bad, empty), ofBad)
})

t.test('in the background what is whole is indexed beside what is damaged', async (t) => {
  const usual = { ...pace }
  t.teardown(() => Object.assign(pace, usual))
  Object.assign(pace, { quietMs: 20, idleMs: 20 })
  const backend = new UnreadableBackend(new MemoryBackend())
  const first = await openStore(t, backend, { indexThreads: 0 })
  const cores = await backend.open('cores')
  for (let n = 0; n < 10; n++) {
    const ref = { user, id: `${n}` }
    await first.knowledge.write(ref, [triplesMessage(`${n}`)])
    if (n % 2 === 1) backend.lose('cores', smallKey(await generationOf(cores, ref), 0))
  }
  await first.close()
  const told: unknown[] = []
  const { knowledge } = await openStore(t, backend, { onError: (error) => void told.push(error) })
  let waiting = Infinity
  // After an error of another kind the next try is a second later, then two, four and eight.
  for (let looks = 0; looks < 100 && waiting > 5; looks++) {
    await sleep(20)
    waiting = (await knowledge.indexState({ user })).waiting.segments
  }
  t.equal(waiting, 5)
  t.match(told[0], { ...corrupt, message: /core '\d' of 'alice' cannot be indexed/ })
  await t.rejects(count(knowledge), corrupt)
  t.equal(await count(knowledge, ['0', '2']), 6)
})
