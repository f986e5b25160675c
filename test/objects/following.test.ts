// Several processes over one backend: what one has changed the others follow by what it tells of it, and by as few
// reads as that takes. What holds over every storage is in shared.test.ts.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { deleteCollection } from '../../src/objects/collection-deletion.js'
import { Committer } from '../../src/objects/engine/committer.js'
import { openState } from '../../src/objects/engine/opening.js'
import { changeKey } from '../../src/objects/engine/records.js'
import { objectProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { batch, definition, one } from './sharing-store.js'

t.test('what others have changed is read by one call, and nothing else', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 30; n++) {
    await a.store.import(batch(n * 10, 10, `c${n % 4}`))
    if (n % 7 === 3) t.ok((await a.store.delete('c0', 0 + n * 0)) !== undefined)
  }
  await a.store.import(batch(990, 1))
  await b.store.query({ schema_name: 's', limit: 0 })
  Object.assign(b.seen, { gets: 0, scans: 0 })
  await a.store.import(batch(1000, 5))
  await a.store.patch('c', 1001, { group: 77 })
  await a.store.deleteCollection('c1')
  await a.store.createCollection('empty')
  t.same(await b.store.collections(), await a.store.collections())
  t.equal(b.seen.gets, 1)
  t.equal(b.seen.scans, 0)
  const query = { schema_name: 's', filters: { group: { $gte: 0 } }, limit: 1000 } as const
  t.same(await b.store.query(query), await a.store.query(query))
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('a turn is kept for who goes on, and what others have made is read together', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 3; n++) await a.store.import(batch(n * 40, 40))
  await b.store.collections()
  b.seen.gets = 0
  await b.store.import(batch(1000, 40))
  t.equal(b.seen.gets, 3, 'the look, all entries, and the small blocks')
  for (let n = 0; n < 6; n++) await b.store.import(batch(3000 + n * 40, 40))
  t.equal(b.seen.gets, 3, 'what is merged later was read then, too')
  const { sharing } = a.real
  let turns = 0
  const take = sharing!.turn.bind(sharing)
  sharing!.turn = (...asked) => (turns++, take(...asked))
  const since = performance.now()
  for (let n = 0; n < 8; n++) await a.store.import(batch(2000 + n, 1))
  // One ends when it is over, and no sooner.
  const most = 1 + Math.ceil((performance.now() - since) / 100)
  t.ok(turns > 0 && turns <= most, `${turns} turns`)
})

t.test('what is far behind, or has lost what leads on, reads everything', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  await b.store.schemas()
  for (let n = 0; n < 20; n++) await a.store.import(batch(n, 1))
  t.equal((await b.store.query({ schema_name: 's' })).total, 20)
  for (let n = 20; n < 23; n++) await a.store.import(batch(n, 1))
  for (let version = 1; version < 40; version++) {
    if (version % 2 === 0) continue
    await a.real.write([{ type: 'del', key: changeKey(version) }])
  }
  b.seen.scans = 0
  t.equal((await b.store.query({ schema_name: 's' })).total, 23)
  t.ok(b.seen.scans > 0)
  t.same(await b.store.collections(), await a.store.collections())
})

t.test('a deletion that another one has ended is not taken up again', async (t) => {
  const storage = await new MemoryBackend().open('objects')
  const committer = new Committer(storage, await openState(storage, true), {
    cacheBytes: 1024,
    isShared: true,
    presence: undefined,
    reads: 'fresh',
    now: Date.now,
    elapsed: () => 0,
  })
  await committer.commit(async (draft) => draft.createCollection('anew'))
  const { signal } = new AbortController()
  t.equal(await deleteCollection(committer, 'anew', signal, { begun: 5 }), undefined)
  t.ok(committer.known.collections.has('anew'))
  // It was filled since, and somebody else deletes that.
  await committer.commit(async (draft) => {
    draft.setCollection('anew', { ...draft.collection('anew')!, deleting: 8 })
  })
  t.equal(await deleteCollection(committer, 'anew', signal, { begun: 5 }), undefined)
  t.equal(committer.known.collections.get('anew')?.deleting, 8)
  t.equal(await deleteCollection(committer, 'anew', signal), 0)
  t.notOk(committer.known.collections.has('anew'))
})
