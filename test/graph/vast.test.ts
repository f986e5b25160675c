// Scans of graphs whose terms are more than memory has room for: those of many rows are read in the order in
// which they lie.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { pieceBytes } from '../../src/graph/index/layout.js'
import { MergedView } from '../../src/graph/index/merged-view.js'
import { PartView } from '../../src/graph/index/part-view.js'
import { Matches } from '../../src/graph/matches.js'
import { withBlocks } from '../../src/graph/miss.js'
import { vast } from '../../src/graph/many-rows.js'
import type { OrderedTerms } from '../../src/graph/view.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { Triple } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { entity, literal, matched, messageOf, setOf, textOf } from './asked.js'
import { partViews } from './index/part-views.js'

const seed = pickSeed()
const user = 'u'
const usual = { ...vast }
t.before(() => Object.assign(vast, { fewest: 600, most: 5000 }))
t.teardown(() => Object.assign(vast, usual))

const triplesOf = (random: Random, count: number): Triple[] =>
  Array.from({ length: count }, () => ({
    s: entity(`s${random.below(count)}`),
    p: entity(`p${random.below(5)}`),
    o: random.chance(0.3)
      ? entity(`s${random.below(count)}`)
      : literal(`${random.next()}`.repeat(4)),
  }))

/** Of two parts and what waits, with a cache that holds next to nothing. */
async function fill(random: Random, counts: readonly [number, number, number] = [5000, 2000, 50]) {
  const backend = new FaultyBackend(new MemoryBackend())
  const keep = await createLorekeep({ backend, indexThreads: 0, graphCacheBytes: 1 })
  const { knowledge } = keep
  const contents = counts.map((count) => triplesOf(random, count))
  for (const [n, triples] of contents.entries()) {
    const ref = { user, id: `${n}` }
    await knowledge.import(ref, [encodeMessage(messageOf(triples))])
    if (n < 2) await knowledge.index(ref)
  }
  return { backend, keep, triples: contents.flat() }
}

t.test(`every triple comes once, as it was said (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const { keep, triples } = await fill(random)
  const graph = keep.knowledge.graph({ user })
  assert.deepEqual(await matched(graph), setOf(triples))
  const p = entity('p3')
  const about = triples.filter((triple) => triple.p.v === 'p3')
  assert.deepEqual(await matched(graph, { p }), setOf(about))
  const one = keep.knowledge.graph({ user, cores: ['0'] })
  assert.deepEqual(await matched(one), setOf(triples.slice(0, 5000)))
  const said = new Set(triples.map(textOf))
  for (const limit of [599, 601, 3000]) {
    let told = 0
    for await (const triple of graph.match({}, { limit })) {
      if (said.has(textOf(triple))) told++
    }
    t.equal(told, limit)
  }
  await keep.close()
})

/** Counts what is read of it in the order in which it lies. */
class CountedView extends PartView {
  /** Terms that were read in one go, and their characters: of subjects, which are held, then of objects. */
  readonly counts: { terms: number; characters: number }[] = []

  override termsInOrder(): OrderedTerms {
    const ordered = super.termsInOrder()
    const count = { terms: 0, characters: 0 }
    this.counts.push(count)
    let last = -1
    const term = (id: number) => {
      assert.ok(id > last, `${id} behind ${last}`)
      const read = ordered.term(id)
      last = id
      count.terms++
      count.characters += read.v.length
      return read
    }
    return { ...ordered, term }
  }

  get held() {
    return this.counts.filter((_, n) => n % 2 === 0)
  }
}

/** One part, of which nothing was read, and its triples as a reader of sixteen at a time gets them. */
async function scan(triples: readonly Triple[], cacheBytes: number) {
  const storage = await new MemoryBackend().open('slices')
  const [view] = (await partViews(storage, [triples], cacheBytes, CountedView)) as [CountedView]
  const nothing = () => undefined
  const matches = new Matches({ view, check: nothing, release: nothing }, {}, Infinity)
  const found: string[] = []
  while (!matches.isDone) {
    for (const triple of await withBlocks(() => matches.next(16))) found.push(textOf(triple))
  }
  assert.deepEqual(found.sort(), setOf(triples))
  return view
}

/** Each with a subject and an object of its own: subjects come in the order in which they lie. */
const distinct = (count: number, long = 1): Triple[] =>
  Array.from({ length: count }, (_, n) => ({
    s: entity(`s${n}`.padEnd(long, '-')),
    p: entity('p'),
    o: literal(`o${n}`),
  }))

t.test('of what a reader goes on with more is read each time', async (t) => {
  const { counts } = await scan(distinct(20_000), 1)
  // 16, 64 and 256 before. Each is of subjects, and of objects.
  const wanted = [1024, 5000, 5000, 5000, 3640].flatMap((count) => [count, count])
  t.strictSame(
    counts.map(({ terms }) => terms),
    wanted,
  )
})

t.test('no more terms are held than there is room for', async (t) => {
  Object.assign(vast, { terms: 1000, most: 50_000 })
  t.teardown(() => Object.assign(vast, { terms: usual.terms, most: 5000 }))
  // How many there are is looked at when a piece of rows is through.
  const { held } = await scan(distinct(20_000), 1)
  const most = Math.max(...held.map(({ terms }) => terms))
  t.ok(most <= vast.terms + pieceBytes / 8, `${most}`)
  // Many rows have one subject: all are taken at once that there may be.
  const few = distinct(20_000).map((triple, n) => ({ ...triple, s: entity(`s${n % 100}`) }))
  const { counts } = await scan(few, 1)
  const told = counts.map(({ terms }) => terms)
  t.ok(told.includes(16_384), `${told.join()}`)
})

t.test('of long texts no more is held than there is room for', async (t) => {
  vast.characters = 1 << 20
  t.teardown(() => (vast.characters = usual.characters))
  const long = 16 * 1024
  const { held } = await scan(distinct(1000, long), 1)
  t.ok(held.length > 0)
  const most = Math.max(...held.map(({ characters }) => characters))
  t.ok(most <= vast.characters + long, `${most}`)
})

t.test('of texts of some length as many are read at once as have room', async (t) => {
  vast.characters = 1 << 20
  t.teardown(() => (vast.characters = usual.characters))
  const { held } = await scan(distinct(6000, 1000), 1)
  // Three quarters of it.
  t.strictSame(
    held.slice(0, 3).map(({ terms }) => terms),
    [1024, 787, 787],
  )
  const all = held.reduce((sum, { terms }) => sum + 1000 * terms, 0)
  t.equal(
    held.reduce((sum, { characters }) => sum + characters, 0),
    all,
    'none is left',
  )
})

t.test('terms of several parts are read in order', async (t) => {
  const storage = await new MemoryBackend().open('slices')
  const contents = [distinct(1000), distinct(2000).slice(1000)]
  const view = new MergedView(await partViews(storage, contents, 1))
  const ordered = view.termsInOrder()
  for (let id = 0; id < 4000; id += 1 + (id % 3)) {
    if (id % 500 === 0) ordered.bringAfter(id)
    const read = await withBlocks(() => ordered.term(id))
    assert.deepEqual(read, await withBlocks(() => view.term(id)))
  }
  t.pass()
})

t.test('nothing is read in that way where memory has room', async (t) => {
  t.strictSame((await scan(distinct(2000), Infinity)).counts, [])
})

t.test('a reader that leaves, and a signal, end it', async (t) => {
  const { keep } = await fill(new Random(seed))
  const graph = keep.knowledge.graph({ user })
  let told = 0
  for await (const _ of graph.match()) if (++told === 3000) break
  t.equal(told, 3000)
  const controller = new AbortController()
  const stopped = (async () => {
    for await (const _ of graph.match({}, { signal: controller.signal })) {
      if (++told === 5000) controller.abort(new Error('enough'))
    }
  })()
  await t.rejects(stopped, { message: 'enough' })
  await keep.close()
})

t.test('a storage that fails is told, and the next question finds all', async (t) => {
  // Each of some 50 rounds reads all twice: no more than has several reads in order, of both parts.
  const { keep, backend, triples } = await fill(new Random(seed), [1500, 700, 50])
  vast.most = 1000
  t.teardown(() => (vast.most = 5000))
  const expected = setOf(triples).length
  let calls = Infinity
  let failures = 0
  const others = [keep]
  // Each takes two scans: some 50 of them.
  for (let failAt = 0; failAt <= calls; failAt += failAt === 0 ? 1 : Math.ceil(calls / 50)) {
    // Another one, which has read nothing yet.
    const other = await createLorekeep({ backend, indexThreads: 0, graphCacheBytes: 1 })
    const graph = other.knowledge.graph({ user })
    await graph
      .match({ s: entity('nobody') })
      [Symbol.asyncIterator]()
      .next()
    const start = backend.calls
    Object.assign(backend, { failAt: failAt === 0 ? Infinity : start + failAt, when: 'before' })
    const error = await matched(graph).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failAt === 0) calls = backend.calls - start
    backend.failAt = Infinity
    // What is read ahead, and fails, is read again.
    if (error !== undefined) failures++
    assert.equal((await matched(graph)).length, expected, `call ${failAt}`)
    others.push(other)
  }
  t.ok(failures > 0, `${failures} failures of ${calls} calls`)
  for (const each of others) await each.close()
})
