import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { index } from '../../../src/flow/steps/index-objects.js'
import { chunkSchema } from '../../../src/flow/steps/object-schemas.js'
import type { SchemaDefinition } from '../../../src/objects/types.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { openStore } from '../../fixtures/stores.js'
import { contextOf, documentOf, knowledgeOf, openMemory, storedObjects } from './knowledge.js'

t.test('chunks and entities can be queried with filters, and lead to each other', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  const progress: string[] = []
  const context = contextOf(keep, document, {
    progress: (done, total) => progress.push(`${done}/${total}`),
  })
  t.same(await index().run(knowledgeOf(document), context), { chunks: 3, entities: 3 })
  t.same(progress, ['3/6', '6/6'])

  const filters = { document: document.id, name: 'Bob' }
  const entities = await keep.objects.query({ schema_name: 'lorekeep_entity', filters })
  const [bob] = entities.objects
  t.match(bob, {
    uri: 'http://trustgraph.ai/e/bob',
    chunks: [0, 1],
    _user: 'alice',
    _collection: 'letters',
    _metadata: { flow: 'default', job: 'job-1' },
  })

  const query = {
    schema_name: 'lorekeep_chunk',
    filters: { entities: 'http://trustgraph.ai/e/bob' },
    sort: { index: 'asc' },
  } as const
  const { objects: chunks } = await keep.objects.query(query)
  t.match(chunks, [
    { uri: 'urn:letters:1/c0', text: 'Ada met Bob in Oslo. ', start: 0, end: 21 },
    { uri: 'urn:letters:1/c1', text: '🦉 Bob went home. ', start: 21, end: 39 },
  ])
  const schemas = await keep.objects.schemas()
  t.same(
    schemas.map(({ indexes }) => indexes),
    [
      ['document', 'uri', 'entities'],
      ['document', 'uri', 'name'],
    ],
  )
})

t.test('a chunk that is cut inside of a character is kept, as the core has it', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf({ text: 'a🦉b' })
  const chunks = [
    { index: 0, start: 0, end: 2 },
    { index: 1, start: 2, end: 4 },
  ]
  await index().run({ chunks }, contextOf(keep, document))
  const query = { schema_name: 'lorekeep_chunk', sort: { index: 'asc' } } as const
  const { objects } = await keep.objects.query(query)
  t.match(objects, [{ text: 'a\uFFFD' }, { text: '\uFFFDb' }])
})

t.test('a document that comes again replaces its objects, also in another place', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  await index().run(knowledgeOf(document), contextOf(keep, document))
  const first = await storedObjects(keep)
  await index().run(knowledgeOf(document), contextOf(keep, document))
  t.same(await storedObjects(keep), first)
  t.equal(first.length, 6)

  const shorter = documentOf({ text: 'Ada stayed.' })
  await index().run(knowledgeOf(shorter, ['Ada']), contextOf(keep, shorter))
  t.match(await storedObjects(keep), [{ text: 'Ada stayed.' }, { name: 'Ada', chunks: [0] }])
  t.equal((await storedObjects(keep)).length, 2)

  const moved = documentOf({ text: 'Ada stayed.', collection: 'archive' })
  await index().run(knowledgeOf(moved, ['Ada']), contextOf(keep, moved))
  t.match(await storedObjects(keep), [{ _collection: 'archive' }, { _collection: 'archive' }])
  t.equal((await storedObjects(keep)).length, 2)
})

t.test('users with the same document in one collection have their own objects', async (t) => {
  const keep = await openMemory(t)
  for (const user of ['alice', 'bob']) {
    const document = documentOf({ user })
    await index().run(knowledgeOf(document), contextOf(keep, document))
  }
  t.equal((await storedObjects(keep)).length, 12)
  const shorter = documentOf({ user: 'bob', text: '' })
  await index().run({ chunks: [] }, contextOf(keep, shorter))
  const left = await storedObjects(keep)
  t.equal(left.length, 6)
  t.ok(left.every(({ _user }) => _user === 'alice'))
})

t.test('objects that a user stored under the schemas stay', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  await index().run(knowledgeOf(document), contextOf(keep, document))
  const own = { id: 'mine', uri: 'urn:x', name: 'Mine', document: document.id, chunks: [] }
  await keep.objects.import({
    metadata: { id: 'batch', user: 'alice', collection: 'letters' },
    schema_name: 'lorekeep_entity',
    values: [own],
  })
  await index().run({ chunks: [] }, contextOf(keep, documentOf({ text: '' })))
  t.match(await storedObjects(keep), [{ id: 'mine' }])
})

t.test('a run that fails anywhere is made good by the next one', async (t) => {
  const [before, after] = [documentOf(), documentOf({ text: 'Bob stayed.', collection: 'new' })]
  let failures = 0
  for (let failAt = 1, failed = true; failed && failAt < 100; failAt++) {
    const backend = new FaultyBackend(new MemoryBackend())
    const keep = await openStore(t, backend, { onError: () => {} })
    await index().run(knowledgeOf(before), contextOf(keep, before))
    backend.failAt = backend.calls + failAt
    const run = async () => index().run(knowledgeOf(after, ['Bob']), contextOf(keep, after))
    await run().catch(() => failures++)
    failed = backend.failed
    backend.failAt = Infinity
    t.same(await run(), { chunks: 1, entities: 1 })
    const left = await storedObjects(keep)
    t.same(
      left.map(({ _collection, text, name }) => [_collection, text ?? name]),
      [
        ['new', 'Bob stayed.'],
        ['new', 'Bob'],
      ],
    )
  }
  t.ok(failures >= 3)
})

t.test('chunks and entities share a write', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const keep = await openStore(t, backend)
  const [first, second] = [documentOf(), documentOf({ id: 'urn:second' })]
  await index().run(knowledgeOf(first), contextOf(keep, first))
  const { calls } = backend
  await index().run(knowledgeOf(second), contextOf(keep, second))
  t.equal(backend.calls - calls, 1)
})

t.test('many objects go in several batches, smaller ones where the store wants that', async (t) => {
  const document = documentOf({ text: 'Ada wrote. '.repeat(1200) })
  for (const limits of [{}, { maxBatchObjects: 90 }]) {
    const keep = await openMemory(t, { limits })
    const knowledge = knowledgeOf(document, ['Ada'])
    t.same(await index().run(knowledge, contextOf(keep, document)), { chunks: 1200, entities: 1 })
    t.equal((await storedObjects(keep)).length, 1201)
    await index().run({ chunks: [] }, contextOf(keep, document))
    t.same(await storedObjects(keep), [])
  }
  const keep = await openMemory(t, { limits: { maxObjectBytes: 50 } })
  const run = async () => index().run(knowledgeOf(document), contextOf(keep, document))
  await t.rejects(run(), { code: 'LK_OBJECT_INVALID' })
})

t.test('an abort ends it between batches', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf({ text: 'Ada wrote. '.repeat(1200) })
  const abort = new AbortController()
  const reason = new Error('the runner stops')
  const context = contextOf(keep, document, {
    signal: abort.signal,
    progress: () => abort.abort(reason),
  })
  await t.rejects(async () => index().run(knowledgeOf(document), context), reason)
  t.equal((await storedObjects(keep)).length, 503, 'a batch of chunks, and one of entities')
})

t.test('a schema of the same name that is not ours is left alone, and refused', async (t) => {
  for (const definition of [
    { fields: { id: { type: 'string' }, text: { type: 'number' } } },
    { ...chunkSchema, id_field: 'uri' },
  ]) {
    const keep = await openMemory(t)
    await keep.objects.defineSchema({ ...definition, name: 'lorekeep_chunk' })
    const document = documentOf()
    const run = async () => index().run(knowledgeOf(document), contextOf(keep, document))
    await t.rejects(run(), { code: 'LK_STEP_INPUT', details: { schema: 'lorekeep_chunk' } })
    t.same(await storedObjects(keep), [])
  }

  const keep = await openMemory(t)
  const document = documentOf()
  await index().run(knowledgeOf(document), contextOf(keep, document))
  const [, ours] = (await keep.objects.schemas()) as [SchemaDefinition, SchemaDefinition]
  const wider = { ...ours, indexes: [], fields: { ...ours.fields, note: { type: 'text' } } }
  await keep.objects.defineSchema(wider)
  await index().run(knowledgeOf(document), contextOf(keep, document))
  t.match(await keep.objects.schema('lorekeep_entity'), { fields: { note: { type: 'text' } } })

  const narrower = { ...wider, fields: { ...wider.fields, note: { type: 'text', required: true } } }
  await index().run({ chunks: [] }, contextOf(keep, document))
  await keep.objects.defineSchema(narrower)
  const run = async () => index().run(knowledgeOf(document), contextOf(keep, document))
  await t.rejects(run(), { code: 'LK_STEP_INPUT', details: { errors: [{ path: 'fields.note' }] } })
})

t.test('inputs, options and collections that cannot be are refused', async (t) => {
  const keep = await openMemory(t, { collections: 'declared' })
  const document = documentOf()
  const run = async (input: unknown) => index().run(input as never, contextOf(keep, document))
  await t.rejects(run(document), {
    code: 'LK_STEP_INPUT',
    details: { errors: [{ path: 'chunks' }] },
  })
  await t.rejects(run(knowledgeOf(document)), { code: 'LK_COLLECTION_NOT_FOUND' })
  t.throws(() => index({ base: 'nowhere' }), TypeError)
})
