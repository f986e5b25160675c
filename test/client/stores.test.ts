// One program, over the stores in process and over those of a server: it can tell no difference.

import t from 'tap'
import type { Test } from 'tap'
import { connect } from '../../src/client/index.js'
import type { RemoteLorekeep } from '../../src/client/index.js'
import type { Graph } from '../../src/graph/types.js'
import { fillCores, knows, uri } from '../http/fixtures/graphs.js'
import { core, serve } from '../http/fixtures/serving.js'
import type { Serving } from '../http/fixtures/serving.js'

type Stores = Pick<RemoteLorekeep, 'knowledge' | 'objects' | 'flows'>

const doors: Readonly<Record<string, (serving: Serving) => Stores>> = {
  'in process': ({ lorekeep }) => lorekeep as unknown as Stores,
  'over HTTP': ({ url }) => connect({ url, token: 'admin' }),
}

for (const [door, open] of Object.entries(doors)) {
  const on = async (t: Test) => {
    const serving = await serve(t)
    return { serving, ...open(serving) }
  }

  t.test(`${door}: cores`, async (t) => {
    const { knowledge } = await on(t)
    const ref = { user: 'alice', id: 'https://example.com/a?b#c/.%2F ü' }
    const bytes = core(ref.id, 'alice')
    const summary = await knowledge.import(ref, bytes)
    t.match(summary, { bytes: bytes.length, messages: 4, duplicate: false })
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
    }
    const again = await knowledge.import(ref, pieces(), { index: true })
    t.equal(again.duplicate, true)
    t.equal((await knowledge.import(ref, new Blob([bytes]).stream())).duplicate, true)
    t.match(await knowledge.stat(ref), { ...ref, digest: summary.digest })
    t.equal(await knowledge.stat({ ...ref, id: 'none' }), undefined)
    const found = await knowledge.export(ref)
    t.match({ ...found }, { ...ref, bytes: bytes.length, digest: summary.digest })
    t.strictSame(await bytesOf(found), bytes)
    await t.rejects(knowledge.export({ ...ref, id: 'none' }), { code: 'LK_CORE_NOT_FOUND' })
    await t.rejects(knowledge.import(ref, Buffer.from('x')), { code: 'LK_CORE_FORMAT' })
    t.match(await knowledge.index(ref), { state: 'complete' })
    t.match(await knowledge.indexState({ user: 'alice' }), { state: 'complete' })
    for (const id of ['a', 'b', 'c']) await knowledge.import({ ...ref, id }, core(id, 'alice', 1))
    const ids = async (query: object) =>
      (await all(knowledge.list({ user: 'alice', ...query }))).map(({ id }) => id)
    t.strictSame(await ids({ limit: 2 }), ['a', 'b'])
    const { cores, next = '' } = await knowledge.corePage({ user: 'alice', limit: 2 })
    t.strictSame([...cores.map(({ id }) => id), ...(await ids({ after: next }))], await ids({}))
    t.strictSame(await ids({ prefix: 'c' }), ['c'])
    const forged = { user: 'alice', after: 'forged' }
    await t.rejects(knowledge.corePage(forged), { code: 'LK_CURSOR' })
    await t.rejects(all(knowledge.list(forged)), { code: 'LK_CURSOR' })
    t.equal(await knowledge.delete(ref), true)
    t.equal(await knowledge.delete(ref), false)
  })

  t.test(`${door}: questions`, async (t) => {
    const { knowledge, serving } = await on(t)
    await fillCores(serving.knowledge)
    const graph = knowledge.graph({ user: 'alice' })
    t.equal((await all(graph.match({ p: knows }))).length, 3)
    t.equal((await all(graph.match({ p: knows }, { limit: 2 }))).length, 2)
    t.equal(await graph.count({ p: knows }), 3)
    const limit = Infinity
    t.equal((await all(graph.match({ p: knows }, { limit }))).length, 3)
    t.equal((await all(graph.describe(uri('ann'), { limit }))).length, 2)
    t.equal((await all(graph.neighbours(uri('ben'), { limit }))).length, 2)
    const patterns = [{ s: '?a', p: knows, o: uri('ben') }] as const
    t.strictSame(await all(graph.solve(patterns)), [{ a: uri('ann') }])
    t.strictSame(await all(graph.solve(patterns, { limit })), [{ a: uri('ann') }])
    const near = await graph.nearest(new Float32Array([1, 0, 0]), { k: 1 })
    t.match(near, [{ entity: uri('ann'), core: 'family' }])
    t.match(await graph.retrieve({ vector: [1, 0, 0], entities: 1 }), { entities: near })
    t.strictSame(await graph.search({ text: 'boats' }), [])
    t.equal((await all(graph.describe(uri('ann')))).length, 2)
    t.equal((await all(graph.neighbours(uri('ben')))).length, 2)
    const loop = { s: uri('eve'), p: knows, o: uri('eve') }
    const others = ['x', 'y'].map((name) => ({ s: uri(name), p: knows, o: uri('eve') }))
    await serving.knowledge.write({ user: 'alice', id: 'loop' }, [
      ['t', { m: { i: 'loop', u: 'alice', m: [], c: 'c' }, t: [loop, ...others] }],
    ])
    for (const limit of [1, 2, 3, 9]) {
      const found = await all(graph.neighbours(uri('eve'), { limit }))
      const directions = found.map(({ direction }) => direction)
      t.strictSame(directions, ['out', 'in', 'in'].slice(0, limit), `${limit} with a loop`)
    }
    await graph.merge(uri('ann'), uri('ben'))
    await graph.split(uri('ann'), uri('ben'))
    const one = knowledge.graph({ user: 'alice', cores: ['firm'] })
    t.equal(await one.count(), 3)
    await t.rejects(knowledge.graph({ user: 'alice', cores: ['none'] }).count(), {
      code: 'LK_CORE_NOT_FOUND',
    })
    await t.rejects(graph.count({ s: 7 as never }), {
      code: 'LK_GRAPH_QUERY',
      details: { errors: [{ path: 's' }] },
    })
  })

  t.test(`${door}: answers`, async (t) => {
    const { knowledge, serving } = await on(t)
    const said = { s: uri('letter'), p: { v: 'https://schema.org/text', e: true } }
    const t_ = [{ ...said, o: { v: 'Ellen lives by the Thames.', e: false } }]
    const m = { i: '', m: [], u: '', c: 'x' }
    await serving.knowledge.write({ user: 'alice', id: 'letters' }, [['t', { m, t: t_ }]])
    const graph: Pick<Graph, 'answer'> = knowledge.graph({ user: 'alice' }) as never
    const asked = { text: 'Where does Ellen live?', depth: 0 }
    const whole = await graph.answer(asked)
    t.match(whole, { citations: [{ n: 1, source: { chunk: uri('letter') } }] })
    const stream = graph.answer(asked)
    t.match(await stream.sources(), [{ chunk: uri('letter') }])
    t.equal((await all(stream)).join(''), whole.text)
    t.strictSame(await stream, whole)
  })

  t.test(`${door}: objects`, async (t) => {
    const { objects } = await on(t)
    const fields = { id: { type: 'string' }, seats: { type: 'integer', required: true } }
    for (const name of [undefined, '', 7]) {
      await t.rejects(objects.defineSchema({ name, fields }), {
        code: 'LK_SCHEMA_INVALID',
        details: { errors: [{ path: 'name' }] },
      })
    }
    t.match(await objects.defineSchema({ name: 'boats', fields }), { name: 'boats' })
    t.equal((await objects.schemas()).length, 1)
    t.equal(await objects.schema('none'), undefined)
    const metadata = { id: 'b1', user: 'alice', collection: 'a/b' }
    const values = Array.from({ length: 5 }, (_, n) => ({ id: `b${n}`, seats: n }))
    const batch = { metadata, schema_name: 'boats', values }
    t.match(await objects.import(batch), { imported: 5 })
    await t.rejects(objects.import(batch), { code: 'LK_OBJECT_DUPLICATE' })
    t.match(await objects.import(batch, { onDuplicate: 'skip' }), { skipped: 5 })
    const query = { schema_name: 'boats', filters: { seats: { $gt: 1 } } }
    t.match(await objects.query({ ...query, limit: 1 }), { total: 3, limit: 1 })
    const ids = (await all(objects.find(query))).map(({ _id }) => _id)
    t.strictSame(ids.toSorted(), ['b2', 'b3', 'b4'])
    t.equal((await all(objects.find({ ...query, limit: 2, offset: 1 }))).length, 2)
    t.match(await objects.explain(query), { plan: 'scan', total: 3 })
    t.match(await objects.get('a/b', 'b1'), { _id: 'b1', seats: 1 })
    t.equal(await objects.get('a/b', 'none'), undefined)
    t.match(await objects.replace('a/b', 'b1', { seats: 9 }), { seats: 9 })
    t.match(await objects.patch('a/b', 'b1', { seats: 8 }), { seats: 8 })
    t.equal(await objects.patch('a/b', 'none', { seats: 8 }), undefined)
    await t.rejects(objects.patch('a/b', 'b1', { seats: 'x' }), { code: 'LK_OBJECT_INVALID' })
    t.equal(await objects.delete('a/b', 'b1'), true)
    t.equal(await objects.delete('a/b', 'b1'), false)
    t.equal(await objects.createCollection('new'), true)
    t.equal(await objects.createCollection('new'), false)
    t.match(await objects.collections(), [{ name: 'a/b', objects: 4 }, { name: 'new' }])
    await t.rejects(objects.dropSchema('boats'), { code: 'LK_SCHEMA_IN_USE' })
    t.equal(await objects.deleteCollection('a/b'), 4)
    t.equal(await objects.deleteCollection('none'), undefined)
    t.equal(await objects.dropSchema('boats'), true)
    t.equal(await objects.dropSchema('boats'), false)
  })

  t.test(`${door}: changes on condition`, async (t) => {
    const { knowledge, objects, flows } = await on(t)
    const refused = { code: 'LK_PRECONDITION' }
    const late = { ifVersion: 'late' }
    const none = { ifVersion: null }
    const ref = { user: 'alice', id: 'core' }
    const { version } = await knowledge.import(ref, core('core', 'alice', 1), none)
    const other = core('core', 'alice', 2)
    await t.rejects(knowledge.import(ref, other, none), refused)
    await t.rejects(knowledge.import(ref, other, { ...late, mode: 'replace' }), refused)
    await t.rejects(knowledge.import(ref, other, { ifNotVersion: version }), refused)
    await t.rejects(knowledge.delete(ref, late), refused)
    await t.rejects(knowledge.delete(ref, { ifVersion: [] }), refused)
    t.equal((await knowledge.stat(ref))?.digest, version)
    t.equal(await knowledge.delete(ref, { ifVersion: ['late', version] }), true)

    const schema = { name: 'boats', fields: { id: { type: 'string' } } }
    await objects.defineSchema(schema, none)
    const wider = { ...schema, fields: { ...schema.fields, seats: { type: 'integer' } } }
    await t.rejects(objects.defineSchema(wider, none), refused)
    await t.rejects(objects.defineSchema(wider, late), refused)
    const ofSchema = { ifVersion: await objects.schemaVersion('boats') } as { ifVersion: string }
    await objects.defineSchema(wider, ofSchema)
    await t.rejects(objects.dropSchema('boats', ofSchema), refused)
    t.equal(await objects.schemaVersion('none'), undefined)
    // So large that its answer is encoded.
    const fields = Array.from({ length: 100 }, (_, n) => [`field${n}`, { type: 'string' }])
    await objects.defineSchema({
      name: 'large',
      fields: { ...schema.fields, ...Object.fromEntries(fields) },
    })
    t.match(await objects.schemaVersion('large'), /^[^.]+$/)

    const metadata = { id: 'b', user: 'alice', collection: 'c' }
    await objects.import({ metadata, schema_name: 'boats', values: [{ id: 'a', seats: 1 }] })
    const read = { ifVersion: (await objects.get('c', 'a'))?._version } as { ifVersion: string }
    const changed = await objects.patch('c', 'a', { seats: 2 }, read)
    await t.rejects(objects.patch('c', 'a', { seats: 3 }, read), refused)
    await t.rejects(objects.replace('c', 'a', { seats: 3 }, read), refused)
    await t.rejects(objects.delete('c', 'a', read), refused)
    t.match(await objects.get('c', 'a'), { seats: 2, _version: changed?._version })
    await t.rejects(objects.createCollection('c', none), refused)
    await t.rejects(objects.deleteCollection('c', late), refused)
    t.equal(await objects.delete('c', 'a', { ifVersion: changed?._version ?? '' }), true)
    t.equal(await objects.deleteCollection('c', { ifVersion: '*' }), 0)

    await flows.define({ id: 'letters', steps: ['chunk'] }, none)
    await t.rejects(flows.define({ id: 'letters', steps: ['chunk', 'store'] }, none), refused)
    const ofFlow = { ifVersion: await flows.version('letters') } as { ifVersion: string }
    await flows.stop('letters', ofFlow)
    await t.rejects(flows.start('letters', ofFlow), refused)
    await t.rejects(flows.remove('letters', ofFlow), refused)
    t.equal(await flows.version('none'), undefined)
    t.match(await flows.get('letters'), { active: false, steps: [{ name: 'chunk' }] })
  })

  t.test(`${door}: parts of an export`, async (t) => {
    const { knowledge } = await on(t)
    const ref = { user: 'alice', id: 'core' }
    const bytes = core('core', 'alice', 4)
    await knowledge.import(ref, bytes)
    const last = bytes.length
    const ranges = [
      [0, last],
      [0, 1],
      [3, 90],
      [90, last + 5],
      [7, 7],
      [last, last],
      [last + 9, last + 10],
    ]
    for (const [from, to] of ranges as [number, number][]) {
      const part = await knowledge.export(ref, { from, to })
      t.strictSame(await bytesOf(part), bytes.subarray(from, to), `${from} to ${to}`)
    }
    t.strictSame(await bytesOf(await knowledge.export(ref, { from: 5 })), bytes.subarray(5))
    t.strictSame(await bytesOf(await knowledge.export(ref, { from: 1e9 })), Buffer.of())
    t.strictSame(await bytesOf(await knowledge.export(ref, { from: 6, to: 5 })), Buffer.of())
    const dialect = await knowledge.export(ref, { dialect: 'trustgraph-2' })
    t.ok((await bytesOf(dialect)).length > 0)
    await t.rejects(knowledge.export(ref, { dialect: 'trustgraph-2', from: 1 }), TypeError)
  })

  t.test(`${door}: flows`, async (t) => {
    const { flows, knowledge, serving } = await on(t)
    for (const id of [undefined, '', 7]) {
      await t.rejects(flows.define({ id } as never), {
        code: 'LK_FLOW_INVALID',
        details: { errors: [{ path: 'id' }] },
      })
    }
    t.match(await flows.define({ id: 'letters', steps: ['chunk', 'store'] }), { active: true })
    t.equal((await flows.list()).length, 2)
    t.equal(await flows.get('none'), undefined)
    t.match(await flows.stop('letters'), { active: false })
    const text = { id: 'urn:visit', content: 'Ellen lives by the Thämes.', user: 'alice' }
    await t.rejects(flows.load('letters', text), { code: 'LK_FLOW_INACTIVE' })
    await flows.start('letters')
    const { job } = await flows.load('letters', text)
    t.match(await flows.job(job), { id: job, state: 'queued', document: text.id })
    t.equal(await flows.job('none'), undefined)
    t.equal((await all(flows.jobs({ flow: 'letters' }))).length, 1)
    t.strictSame(await all(flows.deadLetters('letters')), [])
    const seen = all(flows.watch({ job }))
    const runner = serving.flows.run()
    t.match((await seen).at(-1), { type: /done|state/, state: 'done' })
    t.match(await flows.stats('letters'), { done: 1, queued: 0 })
    const ref = { user: 'alice', document: text.id }
    t.match(await flows.document(ref), { ...ref, completed: { job } })
    t.strictSame(Object.keys((await flows.document(ref)) ?? {}).sort(), [
      'completed',
      'document',
      'jobs',
      'user',
    ])
    t.match(await all(flows.documents({ user: 'alice' })), [ref])
    t.match(await knowledge.stat({ user: 'alice', id: text.id }), { id: text.id })
    const file = {
      id: 'urn:f',
      bytes: Buffer.from('# A visit\n\nEllen.'),
      name: 'a.md',
      user: 'alice',
    }
    const about = { s: uri('f'), p: uri('by'), o: uri('ellen') }
    const loaded = await flows.load('letters', { ...file, metadata: [about] })
    t.match((await all(flows.watch({ job: loaded.job }))).at(-1), { state: 'done' })
    // A Blob is sent as it is: a file of a browser is not read before.
    const blob = new Blob([file.bytes])
    blob.arrayBuffer = () => Promise.reject(new Error('was read'))
    for (const metadata of door === 'in process' ? [] : [undefined, [about]]) {
      const document = `urn:blob:${metadata?.length ?? 0}`
      const sent = { ...file, id: document, bytes: blob, ...(metadata && { metadata }) }
      const { job } = await flows.load('letters', sent)
      t.match((await all(flows.watch({ job }))).at(-1), { state: 'done' })
      t.match(await knowledge.stat({ user: 'alice', id: document }), { id: document })
    }
    // A member that is null is none.
    const nulls = { user: null, collection: null, type: null, metadata: null }
    const nobodys = await flows.load('letters', { ...file, ...nulls, id: 'urn:null' } as never)
    t.match((await all(flows.watch({ job: nobodys.job }))).at(-1), { state: 'done' })
    t.match(await flows.job(nobodys.job), { user: 'trustgraph' })
    const { id } = text
    const wrong: readonly (readonly [fields: object, path: string])[] = [
      [{}, 'text'],
      [{ content: null }, 'text'],
      [{ text: 'no base64!', content: undefined }, 'text'],
      [{ text: 'RWxsZW4=', content: 'Ellen' }, 'content'],
      [{ charset: 'latin1', content: 'Thämes' }, 'charset'],
      [{ content: 'Ellen\ud800' }, 'content'],
      [{ bytes: null }, 'bytes'],
    ]
    for (const [fields, path] of wrong) {
      await t.rejects(flows.load('letters', { id, user: 'alice', ...fields } as never), {
        code: 'LK_DOCUMENT_INVALID',
        details: { errors: [{ path }] },
      })
    }
    // A member without a value is none in JSON.
    if (door === 'over HTTP') {
      const plain = { ...text, id: 'urn:plain', bytes: undefined }
      const { job } = await flows.load('letters', plain as never)
      t.match((await all(flows.watch({ job }))).at(-1), { state: 'done' })
    }
    await t.rejects(flows.retry(job), { code: 'LK_JOB_STATE' })
    await t.rejects(flows.cancel('none'), { code: 'LK_JOB_NOT_FOUND' })
    await t.rejects(flows.retryAll({ flow: 'none' }), { code: 'LK_FLOW_NOT_FOUND' })
    t.equal(await flows.removeDocument(ref), true)
    t.equal(await flows.removeDocument(ref), false)
    t.equal(await flows.document(ref), undefined)
    await runner.stop()
    t.equal(await flows.remove('letters'), true)
    t.equal(await flows.remove('letters'), false)
  })
}

t.test('all jobs that match are changed in as many requests as that takes', async (t) => {
  const { url, flows: inProcess } = await serve(t)
  const asked: string[] = []
  const few = (url: string, init: RequestInit) => {
    const { searchParams } = new URL(url)
    asked.push(searchParams.get('limit') ?? '')
    return fetch(url.replace('limit=10000', 'limit=2'), init)
  }
  const { flows } = connect({ url, token: 'admin', fetch: few })
  for (let n = 0; n < 5; n++) await inProcess.load('default', { id: `d${n}`, content: 'x' })
  t.strictSame(await flows.retryAll({ flow: 'default' }), { retried: 0 })
  const { cancelled, next = '' } = await flows.cancelAll({ state: ['queued'], limit: 1 })
  t.equal(cancelled, 1)
  const rest = await flows.cancelAll({ state: ['queued'], after: next })
  t.strictSame(rest, { cancelled: 4 })
  t.strictSame(asked, ['10000', '1', '10000', '10000'])
  const reason = new Error('enough')
  await t.rejects(flows.cancelAll({ signal: AbortSignal.abort(reason) }), reason)
})

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await all(chunks))
}
