import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { index } from '../../../src/flow/steps/index-objects.js'
import { removeKnowledge } from '../../../src/flow/steps/knowledge-removal.js'
import { store } from '../../../src/flow/steps/store.js'
import type { FlowDocument } from '../../../src/flow/types.js'
import type { Lorekeep } from '../../../src/lorekeep.js'
import type { JsonObject } from '../../../src/types.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { openStore } from '../../fixtures/stores.js'
import { contextOf, documentOf, knowledgeOf, openMemory, storedObjects } from './knowledge.js'

async function load(keep: Lorekeep, document: FlowDocument) {
  const output = await store().run(knowledgeOf(document), contextOf(keep, document))
  await index().run(output, contextOf(keep, document))
}

const ref = { user: 'alice', document: documentOf().id }

t.test('removal takes the core and the objects of one document of one user', async (t) => {
  const keep = await openMemory(t)
  t.equal(await removeKnowledge(ref, keep), false)
  await load(keep, documentOf())
  await load(keep, documentOf({ user: 'bob' }))
  await load(keep, documentOf({ id: 'urn:letters:2' }))

  t.equal(await removeKnowledge(ref, keep), true)
  t.equal(await keep.knowledge.stat({ user: 'alice', id: ref.document }), undefined)
  t.ok(await keep.knowledge.stat({ user: 'bob', id: ref.document }))
  t.ok(await keep.knowledge.stat({ user: 'alice', id: 'urn:letters:2' }))
  const left = await storedObjects(keep)
  t.equal(left.length, 12)
  t.ok(left.every(({ _user, document }) => _user !== ref.user || document !== ref.document))
  t.equal(await removeKnowledge(ref, keep), false)
})

t.test("it finds the user's objects in every collection, and a core without any", async (t) => {
  const keep = await openMemory(t)
  const [first] = knowledgeOf(documentOf()).chunks
  await index().run({ chunks: [first as never] }, contextOf(keep, documentOf()))
  // As an earlier run leaves it that ended before it had deleted what is no longer.
  const [chunk] = await storedObjects(keep)
  const own = Object.entries(chunk ?? {}).filter(([name]) => !name.startsWith('_'))
  for (const [user, collection] of [
    ['alice', 'elsewhere'],
    ['bob', 'hers'],
  ] as const) {
    await keep.objects.import({
      metadata: { id: 'batch', user, collection },
      schema_name: 'lorekeep_chunk',
      values: [Object.fromEntries(own) as JsonObject],
    })
  }
  t.equal(await removeKnowledge(ref, keep), true)
  t.match(await storedObjects(keep), [{ _user: 'bob' }])

  await store().run(knowledgeOf(documentOf()), contextOf(keep, documentOf()))
  t.equal(await removeKnowledge(ref, keep), true)
})

t.test('a removal that fails or is aborted is finished by the next', async (t) => {
  let failures = 0
  for (let failAt = 1, failed = true; failed && failAt < 100; failAt++) {
    const backend = new FaultyBackend(new MemoryBackend())
    const keep = await openStore(t, backend, { onError: () => {} })
    await load(keep, documentOf())
    backend.failAt = backend.calls + failAt
    const first = await removeKnowledge(ref, keep).catch(() => 'failed')
    failed = backend.failed
    backend.failAt = Infinity
    if (first === 'failed') {
      failures++
      t.equal(await removeKnowledge(ref, keep), true)
    }
    t.equal(await keep.knowledge.stat({ user: 'alice', id: ref.document }), undefined)
    t.same(await storedObjects(keep), [])
  }
  t.ok(failures > 2)

  const keep = await openMemory(t)
  await load(keep, documentOf())
  const reason = new Error('enough')
  await t.rejects(removeKnowledge(ref, keep, { signal: AbortSignal.abort(reason) }), reason)
  t.ok(await keep.knowledge.stat({ user: 'alice', id: ref.document }))
})

t.test("a user's own schema of that name is not looked into", async (t) => {
  const keep = await openMemory(t)
  await keep.objects.defineSchema({
    name: 'lorekeep_chunk',
    fields: { key: { type: 'string' } },
    strict: true,
  })
  t.equal(await removeKnowledge(ref, keep), false)
})
