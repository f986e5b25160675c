import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { EntryPage } from '../../../src/objects/engine/entries.js'
import { IdFilter, IdFilters } from '../../../src/objects/engine/id-filters.js'
import { runOf, type Index, type Run } from '../../../src/objects/engine/index-runs.js'
import type { EntryPages } from '../../../src/objects/engine/list.js'
import { Pages } from '../../../src/objects/engine/pages.js'
import { pageKey, type RunRecord } from '../../../src/objects/engine/records.js'
import { PageCache } from '../../../src/page-cache.js'
import { CountedBackend } from '../../fixtures/counted-backend.js'
import { pickSeed, Random } from '../../fixtures/random.js'

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
  t.ok(found < 300, `${found} of 100,000`)
})

t.test('a run is in no filter that memory has let go of and made anew for another', async (t) => {
  const backend = new MemoryBackend()
  t.teardown(() => backend.close())
  const storage = await backend.open('objects')
  const cache = new PageCache(1024 * 1024)
  const entries: EntryPages = new Pages(storage, cache, EntryPage.decode)
  let number = 0
  const ids = 100
  const runOfIds = async (): Promise<Run> => {
    const from = number
    const pages = Array.from({ length: 40 }, () => ++number)
    const keysOf = (page: number) => Float64Array.from({ length: ids }, (_, n) => page * ids + n)
    const refs = Float64Array.from({ length: ids }, (_, n) => n)
    await storage.write(
      pages.map((page) => {
        const value = EntryPage.encode({ keys: keysOf(page), refs })
        return { type: 'put', key: pageKey(page), value }
      }),
      { durable: false },
    )
    const adds = {
      pages,
      counts: pages.map(() => ids),
      keys: pages.map((p) => p * ids),
      refs: pages,
    }
    const none = { pages: [], counts: [], keys: [], refs: [] }
    return runOf(from, { adds, dels: none, irregular: 0 } as RunRecord)
  }
  const filters = new IdFilters(cache, entries)
  const [a, b] = [await runOfIds(), await runOfIds()]
  // 2 bytes an id, of half of the memory.
  const indexOf = (ids: number) => ({ runs: [{ adds: { length: ids } }] }) as unknown as Index
  t.ok(filters.isWorth(indexOf(2 ** 18), a, 10))
  t.notOk(filters.isWorth(indexOf(2 ** 18 + 1), a, 10), 'more than memory has room for')
  t.notOk(filters.isWorth(indexOf(2 ** 18), a, 9), 'nearly all pages are in memory')
  await filters.add(a)
  await filters.add(b)
  const both = filters.peek(a)
  t.ok(both)
  t.equal(filters.peek(b), both, 'two runs have one')
  t.ok(both?.mayHave(b.adds.pages[0]! * ids))
  // More than memory has room for.
  for (let n = 1; n <= 40; n++) cache.keep(1_000_000 + n, { size: 64 * 1024 })
  t.equal(filters.peek(a), undefined)
  await filters.add(a)
  t.ok(filters.peek(a))
  t.equal(filters.peek(b), undefined)
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
