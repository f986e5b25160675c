import { decodeMulti } from '@msgpack/msgpack'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { cut } from '../codec/scan.js'
import { longMessages, pack, parts, payloads } from '../codec/dialects/payloads.js'
import { longest } from '../../src/turns.js'
import { exported, openStore } from '../fixtures/stores.js'
import { countTurns } from '../fixtures/turns.js'

const ref = { user: 'alice', id: 'core' }

t.test('an import reads every dialect, and says which and what was left out', async (t) => {
  for (const { name, dialect, bytes, messages, skipped = {} } of payloads) {
    const { knowledge } = await openStore(t, new MemoryBackend())
    const summary = await knowledge.import(ref, bytes)
    t.match(summary, { dialect, messages: messages.length, duplicate: false }, name)
    t.same(summary.skipped, skipped, name)
    const stored = await exported(knowledge, ref)
    t.same([...decodeMulti(stored)], messages, name)
    t.equal(summary.bytes, stored.length)
    const stat = await knowledge.stat(ref)
    t.notOk(stat && ('dialect' in stat || 'skipped' in stat))
    if (messages.length > 0)
      t.match(await knowledge.import(ref, bytes), { duplicate: true, dialect })
    const options = { dialect: 'specification', mode: 'replace' } as const
    await t.rejects(knowledge.import(ref, bytes, options), { code: /^LK_CORE_(FORMAT|TYPE)$/ })
    t.same(await exported(knowledge, ref), stored)
    t.match(await knowledge.import({ ...ref, id: 'b' }, stored, options), {
      dialect: 'specification',
      skipped: {},
    })
  }
})

t.test(
  'what is exported for the newest reference system is the same core here again',
  async (t) => {
    for (const { name, bytes, messages } of payloads) {
      const { knowledge } = await openStore(t, new MemoryBackend())
      await knowledge.import(ref, bytes)
      const core = await knowledge.export(ref, { dialect: 'trustgraph-2' })
      t.equal(core.bytes, (await knowledge.stat(ref))?.bytes)
      const written = await all(core)
      // A core of the same name: what is stored can be compared byte by byte.
      const { knowledge: other } = await openStore(t, new MemoryBackend())
      const summary = await other.import(ref, written)
      if (messages.length > 0) t.equal(summary.dialect, 'trustgraph-2', name)
      t.same(summary.skipped, {})
      t.same(await all(await other.export(ref, { dialect: 'trustgraph-2' })), written)
      const isFlat = !name.startsWith('one entity') && !name.startsWith('terms with types')
      if (isFlat) t.same(await exported(other, ref), await exported(knowledge, ref), name)
    }
  },
)

t.test('others have turns while a long message is read', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const before = longest.ms
  longest.ms = -1
  t.teardown(() => (longest.ms = before))
  for (const { where, typed } of longMessages) {
    const turnsSince = countTurns()
    await knowledge.import(ref, cut(typed, 4096))
    const turns = turnsSince()
    // It comes in chunks, is walked over, and converted.
    const least = Math.floor(typed.length / 4096) + 2 * Math.floor(typed.length / 34_000)
    t.ok(turns >= least, `${where}: ${turns} turns for ${typed.length} bytes`)
  }
})

t.test('an export in another dialect can be left and closed like any', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  await knowledge.import(ref, payloads[0]!.bytes)
  const closed = await knowledge.export(ref, { dialect: 'trustgraph-2' })
  closed.close()
  const left = await knowledge.export(ref, { dialect: 'trustgraph-2' })
  for await (const _ of left) break
  const aborted = new AbortController()
  const { signal } = aborted
  const stopped = await knowledge.export(ref, { dialect: 'trustgraph-2', signal })
  aborted.abort(new Error('enough'))
  await t.rejects(all(stopped), { message: 'enough' })
  await knowledge.delete(ref)
  const options = { dialect: 'trustgraph-1' } as unknown as { dialect: 'trustgraph-2' }
  await t.rejects(knowledge.export(ref, options), TypeError)
  await t.rejects(knowledge.export(ref, { dialect: 'trustgraph-2' }), { code: 'LK_CORE_NOT_FOUND' })
})

t.test('what was converted can be asked, and is indexed in the same pass', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const { typed, entity, cats, isA, iri } = parts
  const m = { i: 'doc', c: 'default' }
  const stream = pack(
    ['t', { m, t: [{ ...typed, o: { t: 'l', v: 'chat', ln: 'fr' } }] }],
    ['ge', { m, e: [{ e: iri(cats), v: [0.5, 1] }] }],
  )
  await knowledge.import(ref, stream, { index: true })
  const found = []
  const graph = knowledge.graph({ user: ref.user })
  for await (const { o } of graph.match({ s: entity(cats), p: entity(isA) })) found.push(o)
  t.same(found, [{ v: 'chat', e: false, ln: 'fr' }])
})

t.test('what a stream becomes has the bound of a core, too', async (t) => {
  const triples = Array.from({ length: 4000 }, (_, n) => ({ s: `s${n}`, p: 'p', o: 'o' }))
  const m = { i: 'doc', m: [], u: 'u', c: 'c' }
  const stream = pack(['t', { m, t: triples }])
  const limits = { limits: { maxCoreBytes: stream.length + 1000 } }
  const { knowledge } = await openStore(t, new MemoryBackend(), limits)
  await t.rejects(knowledge.import(ref, stream), { code: 'LK_CORE_TOO_LARGE' })
  t.equal(await knowledge.stat(ref), undefined)
})

t.test('an unknown dialect is the mistake of a program', async (t) => {
  const { knowledge } = await openStore(t, new MemoryBackend())
  const options = { dialect: 'trustgraph-2' } as unknown as { dialect: 'any' }
  await t.rejects(knowledge.import(ref, [], options), TypeError)
})

async function all(core: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of core) chunks.push(chunk)
  return Buffer.concat(chunks)
}
