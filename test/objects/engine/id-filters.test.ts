import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { EntryPage } from '../../../src/objects/engine/entries.js'
import { IdFilter, IdFilters } from '../../../src/objects/engine/id-filters.js'
import type { Index, Run } from '../../../src/objects/engine/index-runs.js'
import type { EntryPages } from '../../../src/objects/engine/list.js'
import { Pages } from '../../../src/objects/engine/pages.js'
import { PageCache } from '../../../src/page-cache.js'
import { CountedBackend } from '../../fixtures/counted-backend.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { writtenRun } from './written-run.js'

const seed = pickSeed()

t.test(`a filter has all that was added, seed ${seed}`, async () => {
  const hash = fc.oneof(fc.maxSafeNat(), fc.nat(100), fc.constantFrom(0, 2 ** 32, 2 ** 53 - 1))
  fc.assert(
    fc.property(fc.array(hash, { minLength: 1, maxLength: 200 }), (hashes) => {
      const filter = new IdFilter(hashes.length)
      for (const one of hashes) filter.add(one)
      return filter.placesOf(Float64Array.from(hashes)).length === hashes.length
    }),
    { seed: seed | 0 },
  )
})

t.test(`and few others, seed ${seed}`, async (t) => {
  const random = new Random(seed)
  const hash = () => random.below(2 ** 21) * 2 ** 32 + random.below(2 ** 31) * 2
  const filter = new IdFilter(50_000)
  for (let n = 0; n < 50_000; n++) filter.add(hash())
  const others = Float64Array.from({ length: 100_000 }, () => hash() + 1)
  const found = filter.placesOf(others).length
  // One in 1,700 is 59: so many more come once in a thousand million runs.
  t.ok(found < 59 + 6 * Math.sqrt(59), `${found} of 100,000`)
})

t.test(
  `filters take half of the memory for pages, and go with their runs, seed ${seed}`,
  async (t) => {
    const random = new Random(seed)
    const hash = () => random.below(2 ** 21) * 2 ** 32 + random.below(2 ** 32)
    const known = new Map<number, Float64Array>()
    const backend = new MemoryBackend()
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    const cache = new PageCache(8 * 1024 * 1024)
    const entries: EntryPages = new Pages(storage, cache, EntryPage.decode)
    const pagesOf = 40
    let number = 0
    const runOfIds = (ids: number): Promise<Run> => {
      const from = number
      const refs = Float64Array.from({ length: ids }, (_, n) => n)
      const pages = Array.from({ length: pagesOf }, () => {
        const keys = Float64Array.from({ length: ids }, hash).sort()
        known.set(++number, keys)
        return { number, keys, refs }
      })
      return writtenRun(storage, from, pages)
    }
    const filters = new IdFilters(cache, entries)
    const add = (runs: readonly Run[], run: Run, missing = pagesOf) =>
      filters.add({ runs } as Index, new Map([[run, run.adds.pages.slice(0, missing)]]))
    const isIn = (run: Run) =>
      run.adds.pages.every((page) =>
        known.get(page)!.every((key) => filters.peek(run)?.mayHave(key)),
      )

    const small = await runOfIds(100)
    t.notOk(await add([small], small, pagesOf / 4 - 1), 'nearly all of its pages are in memory')
    t.equal(filters.peek(small), undefined)
    t.ok(await add([small], small, pagesOf / 4))
    t.ok(isIn(small))

    // Settled: 4 of 132,000 ids are in one filter of 1 MiB.
    const runs: Run[] = []
    while (runs.length < 12) {
      const run = await runOfIds(3300)
      runs.push(run)
      t.ok(await add([small, ...runs], run))
    }
    t.ok(runs.every(isIn))
    t.equal(new Set(runs.map((run) => filters.peek(run))).size, 3)
    const [more, another] = [await runOfIds(3300), await runOfIds(3300)]
    t.notOk(
      await add([small, ...runs, more], more),
      'a fourth, and that of the small run, are more than half',
    )
    t.equal(filters.peek(more), undefined)
    t.ok(await add([...runs, more], more), 'without the small run there is room')
    t.equal(filters.peek(small), undefined)
    t.ok([...runs, more].every(isIn))
    for (let n = 1; n <= 200; n++) cache.keep(-n, { size: 64 * 1024 })
    t.ok(cache.bytes <= 4 * 1024 * 1024, `${cache.bytes} bytes of pages beside them`)
    t.ok([...runs, more].every(isIn), 'pages take none of their room')

    runs.push(more)
    while (runs.length < 16) {
      const run = await runOfIds(3300)
      runs.push(run)
      t.ok(await add(runs, run))
    }
    t.notOk(await add([...runs, another], another))
    const left = runs.slice(4)
    t.ok(await add([...left, another], another), 'where four are gone there is room')
    t.equal(filters.peek(runs[0]!), undefined)
    t.ok([...left, another].every(isIn))
  },
)

t.test('what was read before all was cleared stays out of memory', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  t.teardown(() => backend.close())
  const storage = await backend.open('objects')
  const cache = new PageCache(8 * 1024 * 1024)
  const entries: EntryPages = new Pages(storage, cache, EntryPage.decode)
  const refs = Float64Array.from({ length: 100 }, (_, n) => n)
  const pages = Array.from({ length: 40 }, (_, n) => ({ number: n + 1, keys: refs, refs }))
  const run = await writtenRun(storage, 0, pages)
  const filters = new IdFilters(cache, entries)
  const clear = async () => {
    cache.clear()
    filters.clear()
  }
  backend.afterGet = clear
  await entries.load(1)
  t.equal(entries.peek(1), undefined)
  backend.afterGet = clear
  await entries.loadMany([1, 2])
  t.equal(entries.peek(2), undefined)
  backend.afterGet = clear
  await filters.add({ runs: [run] } as unknown as Index, new Map([[run, run.adds.pages]]))
  t.equal(filters.peek(run), undefined)
  await entries.load(1)
  t.ok(entries.peek(1), 'and what is read behind it comes in')
})

t.test('imports look for their ids in few pages, where memory has not room for all', async (t) => {
  const backend = new CountedBackend(new MemoryBackend())
  const keep = await createLorekeep({ backend, objectCacheBytes: 1024 * 1024 })
  t.teardown(() => keep.close())
  await keep.objects.defineSchema({ name: 'thing', fields: { id: { type: 'integer' } } })
  const put = (from: number, values = Array.from({ length: 1000 }, (_, n) => ({ id: from + n }))) =>
    keep.objects.import({
      schema_name: 'thing',
      metadata: { id: `batch ${from}`, user: 'u', collection: 'c' },
      values,
    })
  const count = 150_000
  for (let from = 0; from < count; from += 1000) await put(from)
  // Of 1,024 ids in a page.
  const allPages = Math.ceil(count / 1024)
  await put(count)
  backend.values = 0
  await put(count + 1000)
  t.ok(backend.values < allPages / 2, `${backend.values} values read, of ${allPages} pages`)

  // Each run would be read for each, but for the filters.
  backend.values = 0
  for (let id = 1; id <= 100; id++) t.equal(await keep.objects.get('c', `${-id}`), undefined)
  t.ok(backend.values <= 10, `${backend.values} values read for 100 ids that are not there`)

  for (const id of [0, 1023, 1024, 77_777, count + 1999]) {
    await t.rejects(put(-1, [{ id: 500_000 }, { id }]), { code: 'LK_OBJECT_DUPLICATE' }, `${id}`)
  }
  // What was deleted may come again, once.
  for (const id of [0, 77_777]) {
    t.ok(await keep.objects.delete('c', id))
    await put(-2 - id, [{ id }])
    await t.rejects(put(-3 - id, [{ id }]), { code: 'LK_OBJECT_DUPLICATE' })
  }
  t.equal((await keep.objects.query({ schema_name: 'thing', limit: 0 })).total, count + 2000)
})
