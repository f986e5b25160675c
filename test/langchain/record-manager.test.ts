// As LangChain's own tests of record managers, and with its index() over a vector store.

import { index } from '@langchain/core/indexing'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepRecordManager, LorekeepVectorStore } from '../../src/langchain/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectQuery } from '../../src/objects/types.js'
import { doors, WordEmbeddings } from './fixtures.js'

for (const [door, open] of Object.entries(doors)) {
  const on = async (t: Test) => {
    const { objects, knowledge, lorekeep } = await open(t)
    const manager = new LorekeepRecordManager({ objects, user: 'alice' })
    await manager.createSchema()
    await manager.createSchema()
    return { objects, knowledge, lorekeep, manager }
  }

  t.test(`${door}: keys are kept, listed and deleted`, async (t) => {
    const { manager, objects } = await on(t)
    t.strictSame(await manager.exists(['a', 'b']), [false, false])
    t.strictSame(await manager.listKeys(), [])
    await manager.update(['a', 'b', 'a'], { groupIds: ['g', null, 'h'] })
    t.strictSame(await manager.exists(['b', 'none', 'a']), [true, false, true])
    t.strictSame((await manager.listKeys()).sort(), ['a', 'b'])
    t.strictSame(await manager.listKeys({ groupIds: ['h'] }), ['a'])
    t.strictSame(await manager.listKeys({ groupIds: [null] }), ['b'])
    t.strictSame(await manager.listKeys({ groupIds: [] }), [])
    t.equal((await manager.listKeys({ groupIds: [null, 'h'] })).length, 2)
    const between = (await manager.getTime()) + 1
    while ((await manager.getTime()) <= between) await new Promise((done) => setTimeout(done, 1))
    await manager.update(['c', 'b'], {})
    t.strictSame(await manager.listKeys({ before: between }), ['a'])
    t.strictSame((await manager.listKeys({ after: between })).sort(), ['b', 'c'])
    t.strictSame(await manager.listKeys({ limit: 1 }), ['a'])
    t.strictSame(await manager.listKeys({ limit: 0 }), [])
    const late = (await manager.getTime()) + 100_000
    await t.rejects(manager.update(['a'], { timeAtLeast: late }), RangeError)
    await t.rejects(manager.update(['a'], { groupIds: [] }), TypeError)
    const other = new LorekeepRecordManager({ objects, user: 'alice', collection: 'other' })
    t.strictSame(await other.exists(['a']), [false])
    await manager.deleteKeys(['a', 'none'])
    t.strictSame((await manager.listKeys()).sort(), ['b', 'c'])
  })

  t.test(`${door}: what is there is looked up by its key`, async (t) => {
    const { manager, objects, lorekeep } = await on(t)
    await manager.update(Array.from({ length: 2000 }, (_, n) => `key ${n}`))
    const asked: ObjectQuery[] = []
    const watched = new LorekeepRecordManager({
      objects: new Proxy(objects, {
        get: (store, name) =>
          name === 'query'
            ? (query: ObjectQuery) => (asked.push(query), store.query(query))
            : (Reflect.get(store, name) as unknown),
      }),
      user: 'alice',
    })
    t.strictSame(await watched.exists(['key 7', 'key 2001']), [true, false])
    const [query] = asked
    const plan = query && (await lorekeep.objects.explain(query))
    t.match(plan, { plan: 'index', objectsRead: 1 })
  })

  t.test(`${door}: each user has keys of their own`, async (t) => {
    const { manager, objects } = await on(t)
    const bob = new LorekeepRecordManager({ objects, user: 'bob' })
    await manager.update(['a', 'b'], { groupIds: ['g', 'g'] })
    await bob.update(['a'], { groupIds: ['h'] })
    t.strictSame(await manager.listKeys({ groupIds: ['g'] }), ['a', 'b'])
    t.strictSame(await bob.listKeys(), ['a'])
    await bob.deleteKeys(['a', 'b'])
    t.strictSame(await bob.exists(['a']), [false])
    t.strictSame(await manager.exists(['a', 'b']), [true, true])
  })

  t.test(`${door}: more keys than a request has`, async (t) => {
    const { manager } = await on(t)
    const keys = Array.from({ length: 2500 }, (_, n) => `k${n}`)
    await manager.update(keys)
    t.equal((await manager.listKeys()).length, 2500)
    t.equal((await manager.listKeys({ limit: 1500 })).length, 1500)
    t.ok((await manager.exists(keys)).every(Boolean))
    await manager.deleteKeys(keys)
    t.strictSame(await manager.listKeys(), [])
  })

  t.test(`${door}: index() adds, leaves and deletes what it has to`, async (t) => {
    const { manager, knowledge } = await on(t)
    const vectorStore = new LorekeepVectorStore(new WordEmbeddings(), { knowledge, user: 'alice' })
    const run = (texts: readonly string[], cleanup: 'full' | 'incremental') =>
      index({
        docsSource: texts.map((pageContent) => ({
          pageContent,
          metadata: { source: pageContent[0] },
        })),
        recordManager: manager,
        vectorStore,
        options: { cleanup, sourceIdKey: 'source' },
      })
    t.match(await run(['a one', 'a two', 'b one'], 'incremental'), { numAdded: 3 })
    await tick()
    t.match(await run(['a one', 'a two', 'b one'], 'incremental'), { numAdded: 0, numSkipped: 3 })
    await tick()
    t.match(await run(['a three'], 'incremental'), { numAdded: 1, numDeleted: 2 })
    t.strictSame(await textsOf(vectorStore), ['a three', 'b one'])
    await tick()
    t.match(await run(['c'], 'full'), { numAdded: 1, numDeleted: 2 })
    t.strictSame(await textsOf(vectorStore), ['c'])
  })
}

t.test('options that cannot be are TypeErrors', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { objects } = keep
  for (const wrong of [{ objects }, { user: 'a' }, { objects, user: 'a', namespace: 'x' }]) {
    t.throws(() => new LorekeepRecordManager(wrong as never), TypeError)
  }
})

/** Times are in milliseconds. */
function tick(): Promise<void> {
  return new Promise((done) => setTimeout(done, 5))
}

async function textsOf(store: LorekeepVectorStore): Promise<string[]> {
  const found = await store.similaritySearch('one', 100)
  return found.map(({ pageContent }) => pageContent).sort()
}
