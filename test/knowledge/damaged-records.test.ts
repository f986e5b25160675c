// One damaged record of a core takes nothing with it: others are asked, written and listed, and what the record has said
// follows from others, or is given up with the core.

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { coreKey, segmentKey, smallKey, waitingKey } from '../../src/knowledge/records.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import type { Storage } from '../../src/storage.js'
import { coreProblems } from '../fixtures/problems.js'
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
  const keep = await openStore(t, backend, { indexThreads: 0 })
  const { knowledge } = keep
  await knowledge.write(good, [triplesMessage('good')])
  await knowledge.write(bad, [triplesMessage('bad')])
  await knowledge.write(bad, [slicedMessage('sliced')])
  await knowledge.write({ user: 'bob', id: 'bad' }, [triplesMessage('bob')])
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
}
