// Cores that several processes have open at once: each row of what broke before is a test.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import { overSharedPlaces, type SharedPlace } from '../fixtures/shared-places.js'
import { exported, keysOf, slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { VirtualClock } from '../flow/virtual-clock.js'
import { mostInMemory } from '../../src/knowledge/library/memory-parts.js'
import { createLorekeep, type Lorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import type { Backend } from '../../src/storage.js'

interface Test {
  teardown(fn: () => Promise<void>): unknown
}

const ref = { user: 'u', id: 'core' }
const leaseMs = 30_000

/** Processes over one place, with clocks of their own that go on together. */
class Town {
  readonly place: SharedPlace
  /** Of who looks on. */
  readonly backend: Backend
  readonly clocks: VirtualClock[] = []
  readonly errors: unknown[] = []
  readonly #t: Test

  constructor(t: Test, place: SharedPlace) {
    this.#t = t
    this.place = place
    this.backend = place.backend()
    t.teardown(() => this.backend.close())
  }

  async open(
    options: Partial<LorekeepOptions> = {},
    backend: Backend = this.place.backend(),
  ): Promise<Lorekeep> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1) + 60_000 * this.clocks.length)
    const onError = (error: unknown) => void this.errors.push(error)
    const keep = await createLorekeep({
      backend,
      clock,
      leaseMs,
      onError,
      indexThreads: 0,
      ...options,
    })
    this.clocks.push(clock)
    this.#t.teardown(() => keep.close())
    return keep
  }

  async pass(ms: number, clocks: readonly VirtualClock[] = this.clocks): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1000) {
      for (const clock of clocks) await clock.advance(1000)
      await this.place.quiet()
    }
  }

  async kinds(): Promise<Record<string, number>> {
    const { cores, slices } = await keysOf(this.backend)
    const counts: Record<string, number> = { slice: slices.length }
    for (const [kind] of cores) counts[String(kind)] = (counts[String(kind)] ?? 0) + 1
    return counts
  }
}

/** Two processes, the second over a backend that can be watched: more than 8 segments become a part before they are read. */
async function twoOfSmallMemory(t: Test, place: SharedPlace) {
  const usual = { ...mostInMemory }
  mostInMemory.segments = 8
  t.teardown(async () => void Object.assign(mostInMemory, usual))
  const town = new Town(t, place)
  const backend = new FaultyBackend(place.backend())
  return { a: await town.open(), b: await town.open({}, backend), backend }
}

const over = await overSharedPlaces(t)

const patternOf = (name: string) => ({ s: { v: `http://example.org/${name}/0`, e: true } })

over('a question ends, however much comes meanwhile', async (t, place) => {
  const { a, b, backend } = await twoOfSmallMemory(t, place)
  const most = 200
  let written = 0
  const write = async () => {
    const name = `core${written}`
    await a.knowledge.write({ user: 'u', id: name }, [triplesMessage(name)])
    written++
  }
  while (written < 20) await write()
  // Less than what is read meanwhile, and more than nothing whenever anything is.
  let last = Promise.resolve()
  backend.beforeCall = (call) => {
    if (call % 6 > 0 || written >= most) return Promise.resolve()
    return (last = last.then(write))
  }
  const count = () => b.knowledge.graph({ user: 'u' }).count()
  const found = (await count()) / 3
  t.ok(20 <= found && found <= written, `${found} of ${written}`)
  t.ok(written < most, `${written} were there before it ended`)
  while (written < most) await write()
  backend.beforeCall = undefined
  t.equal(await count(), 3 * most)
})

over('what is indexed for a question that gives up is there for the next one', async (t, place) => {
  const { a, b, backend } = await twoOfSmallMemory(t, place)
  for (let n = 0; n < 20; n++) {
    await a.knowledge.write({ user: 'u', id: `core${n}` }, [triplesMessage(`m${n}`)])
  }
  const leaving = new AbortController()
  const reason = new Error('enough')
  const first = backend.calls
  backend.beforeCall = async (call) => {
    // It has begun to read them.
    if (call > first + 30) leaving.abort(reason)
  }
  await t.rejects(b.knowledge.graph({ user: 'u' }).count({}, { signal: leaving.signal }), reason)
  const waiting = async () => (await b.knowledge.indexState({ user: 'u' })).waiting.segments
  for (let left = 1000; left > 0 && (await waiting()) > 0; left--) await turn()
  t.equal(await waiting(), 0)
})

over('questions see what another process has changed', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open()]
  const count = async (keep: Lorekeep, cores?: string[]) =>
    keep.knowledge.graph({ user: 'u', ...(cores && { cores }) }).count()
  await a.knowledge.write(ref, [triplesMessage('one')])
  t.equal(await count(b), 3)
  t.equal(await count(b, ['core']), 3)
  await a.knowledge.write(ref, [triplesMessage('two')])
  // Whoever does not see that would wait for ever for what comes next.
  if (!t.equal(await count(b), 6)) return
  t.equal(await count(b, ['core']), 6)
  t.match(await b.knowledge.stat(ref), { segments: 2 })
  await b.knowledge.index(ref)
  t.match(await a.knowledge.indexState(ref), { state: 'complete', triples: 6 })
  await b.knowledge.write(ref, [triplesMessage('three')], { mode: 'replace' })
  t.equal(await count(a), 3)
  t.equal(await count(a, ['core']), 3)
  t.match(await a.knowledge.indexState(ref), { state: 'none', segments: 1 })
  t.match(await a.knowledge.indexState({ user: 'u' }), { waiting: { segments: 1 } })
  t.equal(await a.knowledge.delete(ref), true)
  t.equal(await b.knowledge.delete(ref), false)
  t.equal(await count(b), 0)
  await t.rejects(count(b, ['core']), { code: 'LK_CORE_NOT_FOUND' })
  const listed: string[] = []
  for await (const { id } of b.knowledge.list({ user: 'u' })) listed.push(id)
  t.same(listed, [])
})

over('what others brought goes with the core that they brought it to', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open()]
  await a.knowledge.write(ref, [triplesMessage('one')])
  t.equal(await a.knowledge.graph({ user: 'u' }).count(), 3)
  await b.knowledge.write(ref, [triplesMessage('two')])
  await a.knowledge.write(ref, [triplesMessage('three')], { mode: 'replace' })
  t.same((await town.kinds())['waiting'], 1)
  t.equal(await b.knowledge.graph({ user: 'u' }).count(), 3)
})

over('an import that runs is nothing that another process deletes', async (t, place) => {
  const town = new Town(t, place)
  const a = await town.open()
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const importing = a.knowledge.write(
    ref,
    (async function* () {
      for (let n = 0; n < 200; n++) yield slicedMessage(`first ${n}`)
      await held
      yield slicedMessage('last')
    })(),
  )
  while ((await town.kinds())['staged'] === undefined) await turn()
  const b = await town.open()
  await town.pass(leaseMs * 3)
  goOn()
  const { bytes } = await importing
  t.equal((await exported(b.knowledge, ref)).length, bytes)
  t.match(await b.knowledge.stat(ref), { bytes })
})

over('what a dead process left goes, and it can commit nothing that it held', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open()]
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const importing = (name: string) =>
    a.knowledge.write(
      { user: 'u', id: name },
      (async function* () {
        if (name === 'large') for (let n = 0; n < 200; n++) yield slicedMessage(`first ${n}`)
        await held
        yield triplesMessage('last')
      })(),
    )
  const [large, small] = [importing('large'), importing('small')].map((work) =>
    work.catch((error: unknown) => error),
  )
  while (((await town.kinds())['slice'] ?? 0) === 0) await turn()
  t.ok(await town.kinds().then(({ staged }) => staged !== undefined))
  const [, living] = town.clocks
  await town.pass(leaseMs * 3, [living as VirtualClock])
  t.match(await town.kinds(), { slice: 0 })
  t.equal((await town.kinds())['staged'], undefined)
  goOn()
  t.match(await large, { code: 'LK_STORAGE_UNAVAILABLE' })
  t.match(await small, { code: 'LK_STORAGE_UNAVAILABLE' })
  t.same(await b.knowledge.stat({ user: 'u', id: 'small' }), undefined)
  await town.place.quiet()
  // It has joined anew, and goes on.
  await a.knowledge.write(ref, [triplesMessage('again')])
  t.equal(await b.knowledge.graph({ user: 'u' }).count(), 3)
  await town.pass(leaseMs * 3)
  t.match(await town.kinds(), { slice: 0 })
})

over('exports and questions are whole while others replace what they read', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open({ graphCacheBytes: 1 })]
  const messages = Array.from({ length: 60 }, (_, n) => slicedMessage(`first ${n}`))
  await a.knowledge.write(ref, messages)
  await a.knowledge.write({ user: 'u', id: 'many' }, [triplesMessage('many', 20_000)])
  await a.knowledge.index({ user: 'u' })
  const exporting = await b.knowledge.export(ref)
  const snapshot = await b.knowledge.graph({ user: 'u', cores: ['many'] }).snapshot()
  const other = { mode: 'replace' } as const
  await a.knowledge.write(ref, [triplesMessage('other')], other)
  await a.knowledge.delete({ user: 'u', id: 'many' })
  await a.knowledge.index({ user: 'u' })
  await town.pass(leaseMs * 4)
  t.match(await town.kinds(), { garbage: 1 }, 'that which is read')
  let bytes = 0
  for await (const chunk of exporting) bytes += chunk.length
  t.equal(bytes, exporting.bytes)
  let triples = 0
  for await (const _ of snapshot.match({})) triples++
  t.equal(triples, 20_000)
  snapshot.close()
  await town.pass(leaseMs * 4)
  const left = await town.kinds()
  t.equal(left['garbage'], undefined)
  t.equal(left['garbage-part'], undefined)
  await a.close()
  await b.close()
})

over('what nobody reads goes soon, also where nothing is asked any more', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open()]
  for (const name of ['x', 'y']) {
    await a.knowledge.write({ user: 'u', id: name }, [triplesMessage(name)])
    await a.knowledge.index({ user: 'u', id: name })
  }
  t.equal(await b.knowledge.graph({ user: 'u' }).count(), 6)
  await a.knowledge.index({ user: 'u' })
  t.match(await town.kinds(), { 'garbage-part': 2 })
  await town.pass(leaseMs)
  t.equal((await town.kinds())['garbage-part'], undefined)
  t.equal(await b.knowledge.graph({ user: 'u' }).count(patternOf('x')), 1)
})

over('garbage of a process that has ended is taken by others', async (t, place) => {
  const town = new Town(t, place)
  const [a, b] = [await town.open(), await town.open()]
  await a.knowledge.write(ref, [triplesMessage('one')])
  await a.knowledge.delete(ref)
  await a.close()
  t.match(await town.kinds(), { garbage: 1 })
  await town.pass(leaseMs * 2)
  t.equal((await town.kinds())['garbage'], undefined)
  await b.close()
  // The ticks stay, so that nobody misses what came last; all else of those who were there is gone.
  const left = await town.kinds()
  t.same(
    Object.keys(left).sort(),
    ['format', 'retired', 'slice', 'tick'].filter((kind) => left[kind] !== undefined),
  )
  t.same(await coreProblems(town.backend), [])
})

over(
  'a process that wakes and finds what it read gone says that, and no damage',
  async (t, place) => {
    const town = new Town(t, place)
    const [a, b] = [await town.open({ graphCacheBytes: 1 }), await town.open()]
    const messages = Array.from({ length: 60 }, (_, n) => slicedMessage(`first ${n}`))
    await a.knowledge.write(ref, messages)
    await a.knowledge.write({ user: 'u', id: 'many' }, [triplesMessage('many', 20_000)])
    await a.knowledge.index({ user: 'u' })
    const exporting = await a.knowledge.export(ref)
    const snapshot = await a.knowledge.graph({ user: 'u', cores: ['many'] }).snapshot()
    const [, living] = town.clocks
    await b.knowledge.delete(ref)
    await b.knowledge.delete({ user: 'u', id: 'many' })
    await b.knowledge.index({ user: 'u' })
    await town.pass(leaseMs * 5, [living as VirtualClock])
    t.equal((await town.kinds())['garbage'], undefined)
    const read = async (from: AsyncIterable<unknown>) => {
      for await (const _ of from);
    }
    await t.rejects(read(exporting), { code: 'LK_STORAGE_UNAVAILABLE' })
    await t.rejects(read(snapshot.match({})), { code: 'LK_STORAGE_UNAVAILABLE' })
    snapshot.close()
    t.equal(await a.knowledge.graph({ user: 'u' }).count(), 0)
  },
)
