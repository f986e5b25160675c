// On an engine that trusts `durable`: what was acknowledged is there after a power cut at that
// moment, and a cut after any write leaves what can be opened, whole, with nothing left behind.

import assert from 'node:assert/strict'
import t from 'tap'
import type { LibraryIndexState } from '../src/graph/types.js'
import { createLorekeep, type Lorekeep } from '../src/lorekeep.js'
import type { ObjectImportOptions } from '../src/objects/types.js'
import type { JsonObject } from '../src/types.js'
import type { JobQueue } from '../src/flow/queue/queue.js'
import { coreProblems, objectProblems } from './fixtures/problems.js'
import { bigStream, exported, triplesMessage } from './fixtures/stores.js'
import { encodeMessage } from '../src/codec/encoder.js'
import { VolatileBackend } from './fixtures/volatile-backend.js'
import { documentOf, failureOf, flowOf, jobsOf, openQueue, steps } from './flow/queue/queues.js'
import { VirtualClock } from './flow/virtual-clock.js'

const user = 'alice'
const core = { user, id: 'core' }
const definition = { name: 'things', fields: { group: { type: 'integer' } }, indexes: ['group'] }
const redefined = { ...definition, indexes: ['_id'] }

const put = (
  { objects }: Lorekeep,
  values: readonly JsonObject[],
  options?: ObjectImportOptions,
) => {
  const metadata = { id: 'batch', user, collection: 'c' }
  return objects.import({ metadata, schema_name: 'things', values }, options)
}

const numbered = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => ({ id: from + n, group: n % 3 }))

const knowledge: Readonly<Record<string, (keep: Lorekeep) => Promise<unknown>>> = {
  import: (keep) => keep.knowledge.import(core, bigStream('first', 2, encodeMessage)),
  append: (keep) => keep.knowledge.write(core, [triplesMessage('second')]),
  'append that is indexed soon': (keep) =>
    keep.knowledge.write(core, [triplesMessage('third')], { index: true }),
  'append with its index': (keep) =>
    keep.knowledge.import(core, bigStream('fourth', 2, encodeMessage), { index: true }),
  index: (keep) => keep.knowledge.index(core),
  'another core': (keep) => keep.knowledge.write({ user, id: 'b' }, [triplesMessage('b')]),
  replace: (keep) => keep.knowledge.write(core, [triplesMessage('new')], { mode: 'replace' }),
  'index of all': (keep) => keep.knowledge.index({ user }),
  delete: (keep) => keep.knowledge.delete(core),
  'index of all that is left': (keep) => keep.knowledge.index({ user }),
}

const isTold = (error: unknown) => assert.fail(String(error))

const objects: Readonly<Record<string, (keep: Lorekeep) => Promise<unknown>>> = {
  defineSchema: (keep) => keep.objects.defineSchema(definition),
  import: (keep) => put(keep, numbered(0, 300)),
  'a find that stays': (keep) =>
    keep.objects.find({ schema_name: 'things' })[Symbol.asyncIterator]().next(),
  'import that replaces': (keep) => put(keep, numbered(100, 200), { onDuplicate: 'replace' }),
  patch: (keep) => keep.objects.patch('c', 3, { group: 9 }),
  replace: (keep) => keep.objects.replace('c', 4, { group: 8 }),
  delete: (keep) => keep.objects.delete('c', 5),
  'another definition': (keep) => keep.objects.defineSchema(redefined),
  createCollection: (keep) => keep.objects.createCollection('d'),
  deleteCollection: (keep) => keep.objects.deleteCollection('c'),
  dropSchema: (keep) => keep.objects.dropSchema('things'),
}

for (const [store, operations] of Object.entries({ knowledge, objects })) {
  t.test(`${store}: what was acknowledged survives a power cut`, async (t) => {
    const backend = new VolatileBackend()
    // What the background writes comes at times of its own: below.
    const options = { onError: isTold, closeTimeoutMs: 100, indexThreads: 0 }
    const keep = await createLorekeep({ backend, ...options })
    const cuts: { readonly name: string; readonly backend: VolatileBackend }[] = []
    let name = ''
    backend.onWrite = async () => {
      const cut = await backend.cut()
      cuts.push({ name: `${name}, write ${cuts.length}`, backend: cut })
    }
    const views: string[] = [JSON.stringify(await viewOf(keep))]
    for (const [operation, run] of Object.entries(operations)) {
      name = operation
      await run(keep)
      const cut = await createLorekeep({ backend: await backend.cut(), ...options })
      const view = JSON.stringify(await viewOf(keep))
      assert.equal(JSON.stringify(await viewOf(cut)), view, `${store}: ${operation}`)
      await cut.close()
      views.push(view)
    }
    await keep.close()
    t.ok(cuts.length >= Object.keys(operations).length, `${cuts.length} writes`)
    let at = 0
    for (const { name, backend } of cuts) {
      const again = await createLorekeep({ backend, ...options })
      if (!name.startsWith('deleteCollection') && !name.includes('definition')) {
        // It goes forward: what a cut shows is what was acknowledged, or the next step.
        const found = views.indexOf(JSON.stringify(await viewOf(again)), at)
        assert.ok(found >= at, `${name}: half of a step`)
        at = found
      }
      // Deletions that were cut off go on.
      await again.objects.deleteCollection('c')
      await again.close()
      assert.deepEqual(await objectProblems(backend), [], name)
      assert.deepEqual(await coreProblems(backend), [], name)
    }
  })
}

t.test('what the background does to an index survives a power cut at any write', async (t) => {
  const backend = new VolatileBackend()
  const keep = await createLorekeep({ backend, onError: isTold })
  const cuts: { readonly backend: VolatileBackend; readonly there: readonly number[] }[] = []
  const there = new Set<number>()
  backend.onWrite = async () => {
    const acknowledged = [...there]
    cuts.push({ there: acknowledged, backend: await backend.cut() })
  }
  const stateOf = ({ knowledge }: Lorekeep) => knowledge.indexState({ user })
  const until = async (isSo: (state: LibraryIndexState) => boolean) => {
    while (!isSo(await stateOf(keep))) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const ref = (n: number) => ({ user, id: `core ${n}` })
  for (const n of Array(9).keys()) {
    await keep.knowledge.write(ref(n), [triplesMessage(`core ${n}`)])
    there.add(n)
    await until(({ waiting }) => waiting.segments === 0)
  }
  // Eight of one size are merged at the latest.
  await until(({ parts }) => parts < 8)
  const { bytes } = await stateOf(keep)
  // Much more than a fifth of what they are in, which is made anew without them.
  for (const n of Array(7).keys()) {
    there.delete(n)
    await keep.knowledge.delete(ref(n))
  }
  await until((state) => state.bytes < bytes)
  await keep.close()
  t.ok(cuts.length > 30, `${cuts.length} writes`)

  for (const [n, { backend, there }] of cuts.entries()) {
    const again = await createLorekeep({ backend, onError: isTold, indexThreads: 0 })
    for (const n of there) {
      const graph = again.knowledge.graph({ user, cores: [ref(n).id] })
      assert.equal(await graph.count(), (await again.knowledge.stat(ref(n)))?.triples)
    }
    await again.knowledge.index({ user })
    const { parts, state } = await stateOf(again)
    assert.ok(state === 'complete' && parts <= 1, `write ${n}`)
    await again.close()
    assert.deepEqual(await coreProblems(backend), [], `write ${n}`)
  }
})

t.test('an index that a thread has made survives a power cut with its core', async (t) => {
  const backend = new VolatileBackend()
  const keep = await createLorekeep({ backend })
  t.teardown(() => keep.close())
  // From 8 MiB on.
  const bytes = bigStream('large', 9, encodeMessage)
  const { triples } = await keep.knowledge.import(core, bytes, { index: true })
  const cut = await backend.cut()
  t.strictSame(await coreProblems(cut), [])
  const again = await createLorekeep({ backend: cut })
  t.teardown(() => again.close())
  const graph = again.knowledge.graph({ user, cores: [core.id] })
  t.equal((await again.knowledge.stat(core))?.triples, triples)
  t.ok((await graph.count({})) > 0)
})

/** What users see of cores and objects. */
async function viewOf(keep: Lorekeep): Promise<unknown> {
  const found: unknown[] = [await keep.objects.schemas(), await keep.objects.collections()]
  for (const { name } of await keep.objects.schemas()) {
    for await (const object of keep.objects.find({ schema_name: name })) found.push(object)
  }
  for await (const stat of keep.knowledge.list({ user })) {
    const bytes = await exported(keep.knowledge, { user, id: stat.id })
    const indexed = await keep.knowledge.indexState({ user, id: stat.id })
    found.push(stat, bytes.toString('latin1'), indexed)
  }
  return found
}

t.test('flows: what was acknowledged survives a power cut', async (t) => {
  const backend = new VolatileBackend()
  const storage = await backend.open('flows')
  const clock = new VirtualClock()
  const queue = await openQueue(storage, { clock })
  const check = async (name: string) => {
    const cut = await openQueue(await (await backend.cut()).open('flows'), { clock })
    assert.deepEqual(await queueView(cut), await queueView(queue), name)
  }
  await check('opening')
  await queue.define(flowOf('g', { maxAttempts: 1 }))
  await check('define')
  for (let n = 0; n < 5; n++) await queue.load('g', documentOf(`d${n}`))
  await check('load')
  const { jobs } = await queue.claim('g', 3)
  await check('claim')
  const [done, dead, late] = jobs
  assert.ok(done !== undefined && dead !== undefined && late !== undefined)
  await queue.record(done, ['a'], Buffer.from('output'))
  await check('record')
  await queue.complete(done, steps)
  await check('complete')
  await queue.fail(dead, failureOf(dead))
  await check('fail')
  await queue.renew(late)
  await check('renew')
  await queue.release(late, failureOf(late))
  await check('release')
  for (const { id, state } of await jobsOf(queue, { flow: 'g' })) {
    if (state !== 'done') await queue.cancel(id)
    await check('cancel')
  }
  await queue.remove('g')
  await check('remove')
  t.equal(backend.volatile, 0)
})

async function queueView(queue: JobQueue): Promise<unknown> {
  const flows = queue.flows().map(({ id }) => id)
  const jobs: unknown[] = []
  for (const flow of flows) jobs.push(...(await jobsOf(queue, { flow })), queue.stats(flow))
  return { flows, jobs }
}
