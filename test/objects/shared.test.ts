// Objects that several processes have open at once: each row of what broke before is a test.

import t, { type Test } from 'tap'
import { buildingKey } from '../../src/objects/engine/records.js'
import type { Operation, Storage } from '../../src/storage.js'
import { objectProblems } from '../fixtures/problems.js'
import { overSharedPlaces, type SharedPlace } from '../fixtures/shared-places.js'
import { cases, outcomeOf } from './outdated-cases.js'
import { batch, definition, even, more, one, totals, type Seen } from './sharing-store.js'

const over = await overSharedPlaces(t)

over('what one has changed the others see at once', async (t, place) => {
  const [a, b] = [await one(t, place), await one(t, place)]
  const seen = async (n: number) => (await b.store.get('c', n))?.['group']
  t.same(await b.store.schemas(), [])
  await a.store.defineSchema(definition)
  t.equal((await b.store.schemas()).length, 1)
  await a.store.import(batch(0, 30))
  t.equal((await b.store.query({ schema_name: 's' })).total, 30)
  t.equal(await seen(4), 1)
  await a.store.patch('c', 4, { group: 77 })
  t.equal(await seen(4), 77)
  const found = await b.store.query({ schema_name: 's', filters: { group: 77 } })
  t.same(
    found.objects.map(({ _id }) => _id),
    [4],
  )
  await a.store.delete('c', 4)
  t.equal(await seen(4), undefined)
  await a.store.createCollection('empty')
  t.same(await b.store.collections(), await a.store.collections())
  await a.store.deleteCollection('c')
  t.equal((await b.store.query({ schema_name: 's' })).total, 0)
  t.same(await b.store.collections(), await a.store.collections())
  t.strictSame(await objectProblems(a.backend), [])
})

for (const [name, { before, meanwhile, then, gives, options }] of Object.entries(cases)) {
  over(name, async (t, place) => {
    const first = await one(t, place)
    await before(first.store)
    const second = await one(t, place, options)
    await meanwhile(first.store)
    t.strictSame(await outcomeOf(then(second.store)), gives)
  })
}

over('of several that open an empty place at once all open', async (t, place) => {
  // Each has found nothing there before any of them writes.
  const count = 4
  let begun = 0
  let go = (): void => undefined
  const all = new Promise<void>((resolve) => (go = resolve))
  const beforeWrite = (write: number) => {
    if (write > 1) return
    if (++begun === count) go()
    return all
  }
  const stores = await Promise.all(
    Array.from({ length: count }, () => one(t, place, { beforeWrite })),
  )
  await Promise.all(
    stores.map(async ({ store }, n) => {
      await store.defineSchema(definition)
      await store.import(batch(n * 10, 10))
    }),
  )
  for (const { store } of stores) t.equal((await store.query({ schema_name: 's' })).total, 40)
  t.strictSame(await objectProblems(stores[0]!.backend), [])
})

over(
  'whoever waits for nobody overtakes others, and undoes nothing of theirs',
  async (t, place) => {
    const hasty = { turns: false }
    const stores = [
      await one(t, place, hasty),
      await one(t, place, hasty),
      await one(t, place, hasty),
    ]
    await stores[0]!.store.defineSchema(definition)
    const ids = Array.from({ length: 15 }, (_, id) => id)
    const made = await Promise.all(
      stores.map(async ({ store }) => {
        let count = 0
        for (const id of ids) {
          const own = store.import(batch(id, 1)).then(() => count++)
          await own.catch((error: unknown) => t.match(error, { code: 'LK_OBJECT_DUPLICATE' }))
        }
        return count
      }),
    )
    t.equal(
      made.reduce((sum, one) => sum + one),
      ids.length,
      String(made),
    )
    for (const { store } of stores) {
      const { objects } = await store.query({ schema_name: 's', sort: { id: 'asc' }, limit: 1000 })
      t.same(
        objects.map(({ _id }) => _id),
        ids,
      )
    }
    t.strictSame(await objectProblems(stores[0]!.backend), [])
  },
)

over('an index is built while others write all the time, and is right', async (t, place) => {
  const a = await one(t, place)
  const b = await one(t, place)
  await a.store.defineSchema(definition)
  // More than two steps.
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  let next = 20_000
  let written = 0
  const others: Promise<unknown>[] = []
  // Before each write of the builder others make one of theirs: without turns they would be first each time.
  a.seen.beforeWrite = async () => {
    if (written >= 12) return
    written++
    const writing = (async () => {
      await b.store.import(batch(next++, 1))
      await b.store.delete('c', written * 700)
      await b.store.patch('c', 17_000 + written, { group: 1 })
    })()
    others.push(writing)
    // They wait for their turn.
    await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  await a.store.defineSchema(more)
  await Promise.all(others)
  await b.store.import(batch(50_000, 1))
  t.ok(written > 3, `${written} times`)
  for (const { store } of [a, b]) {
    const { all } = await totals(store)
    t.same(await totals(store), even(all))
  }
  t.strictSame(await objectProblems(a.backend), [])
})

over('what a process was building that has ended others begin anew', async (t, place) => {
  const a = await one(t, place)
  const b = await one(t, place)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  // It ends in the middle: nothing of it arrives any more.
  const from = a.seen.writes
  a.seen.beforeWrite = async (write) => {
    if (write > from + 2) await a.backend.close()
  }
  await t.rejects(a.store.defineSchema(more))
  await b.store.import(batch(20_000, 10))
  await b.store.delete('c', 5)
  t.equal((await b.store.query({ schema_name: 's' })).total, 18_009)
  await b.store.defineSchema(more)
  t.same(await totals(b.store), even(18_009))
  const c = await one(t, place)
  t.same(await totals(c.store), even(18_009))
  t.strictSame(await objectProblems(b.backend), [])
})

over('a process that opens leaves alone what another one is building', async (t, place) => {
  const a = await one(t, place)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  const from = a.seen.writes
  let isLeft = false
  a.seen.beforeWrite = async (write) => {
    if (write !== from + 2) return
    const { store } = await one(t, place)
    t.equal((await store.schema('s'))?.indexes.length, 1)
    isLeft = (await a.real.get(buildingKey('s'))) !== undefined
  }
  await a.store.defineSchema(more)
  t.ok(isLeft)
  t.same(await totals(a.store), even(18_000))
  t.strictSame(await objectProblems(a.backend), [])
})

over('one schema that several change at once is what one of them said', async (t, place) => {
  const stores = await Promise.all(Array.from({ length: 6 }, () => one(t, place, { turns: false })))
  const [a] = stores
  await a!.store.defineSchema(definition)
  // More than two steps: whoever begins anew each time that another has cut him off would not end.
  for (let n = 0; n < 2; n++) await a!.store.import(batch(n * 9000, 9000))
  const fields = ['id', 'group', { text: ['text'] }]
  await Promise.all(
    stores.map(({ store }, n) => {
      const indexes = fields.filter((_, at) => (n + 1) & (1 << at))
      return store.defineSchema({ ...definition, indexes })
    }),
  )
  const found = await Promise.all(stores.map(({ store }) => store.schema('s')))
  for (const each of found) t.same(each, found[0])
  t.strictSame(await objectProblems(a!.backend), [])
})

over('of one collection that several delete each object is counted once', async (t, place) => {
  const stores = await Promise.all([one(t, place), one(t, place), one(t, place)])
  await stores[0]!.store.defineSchema(definition)
  await stores[0]!.store.import(batch(0, 9000))
  const deleted = await Promise.all(stores.map(({ store }) => store.deleteCollection('c')))
  t.same(
    deleted.filter((count) => count !== undefined),
    [9000],
  )
  for (const { store } of stores) t.same(await store.collections(), [])
})

over(
  'what a process was deleting that has ended another one deletes, and more',
  async (t, place) => {
    const a = await one(t, place)
    const b = await one(t, place)
    await a.store.defineSchema(definition)
    await a.store.import(batch(0, 9000))
    await a.store.import(batch(20_000, 10, 'other'))
    const from = a.seen.writes
    a.seen.beforeWrite = async (write) => {
      if (write > from + 1) await a.backend.close()
    }
    await t.rejects(a.store.deleteCollection('c'))
    await b.store.import(batch(30_000, 5))
    t.equal(await b.store.deleteCollection('c'), 9005)
    t.same(
      (await b.store.collections()).map(({ name, objects }) => [name, objects]),
      [['other', 10]],
    )
    t.strictSame(await objectProblems(b.backend), [])
  },
)

over('a deletion that is slow does not end a later one', async (t, place) => {
  const { b, c, first, goOn } = await slowDeletion(t, place)
  const rest = (await b.store.deleteCollection('c')) as number
  await b.store.import({ ...batch(0, 3), schema_name: 'a' })
  await b.store.import(batch(10, 3))
  // It has said what it deletes, and stands still in front of the first step.
  const later = held(b.seen, 2)
  const second = b.store.deleteCollection('c')
  await later.begun
  goOn()
  t.equal(await first, 9000 - rest)
  t.match(await c.store.collections(), [{ name: 'c', objects: 6 }])
  later.goOn()
  t.equal(await second, 6)
  t.same(await b.store.collections(), [])
  t.strictSame(await objectProblems(b.backend), [])
})

over('what comes behind all deletions of a collection stays', async (t, place) => {
  const { b, c, first, goOn } = await slowDeletion(t, place)
  await b.store.import(batch(20_000, 5))
  // Both have said what they delete.
  const later = held(b.seen, 2)
  const second = b.store.deleteCollection('c')
  await later.begun
  await c.store.import({ ...batch(30_000, 3), schema_name: 'a' })
  later.goOn()
  goOn()
  const counts = [await first, await second] as number[]
  t.equal(counts[0]! + counts[1]!, 9005, String(counts))
  t.match(await b.store.collections(), [{ name: 'c', schemas: { a: 3 } }])
  t.equal(await b.store.deleteCollection('c'), 3)
  t.strictSame(await objectProblems(b.backend), [])
})

over(
  'a collection that is made anew in another lane is not the one that went',
  async (t, place) => {
    const { b, c, first, goOn } = await slowDeletion(t, place, ['before'])
    const rest = (await b.store.deleteCollection('c')) as number
    // It goes to the lane with the fewest: one in front, whose rows have smaller numbers.
    await b.store.deleteCollection('before')
    await b.store.import(batch(0, 5))
    const later = held(b.seen, 2)
    const second = b.store.deleteCollection('c')
    await later.begun
    goOn()
    t.equal(await first, 9000 - rest)
    t.match(await c.store.collections(), [{ name: 'c', objects: 5 }])
    later.goOn()
    t.equal(await second, 5)
    t.strictSame(await objectProblems(b.backend), [])
  },
)

over('versions of another history are not followed', async (t, place) => {
  const a = await one(t, place)
  const b = await one(t, place)
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 1))
  const failOver = await loserOf(a.real)
  await a.store.import(batch(1, 1))
  t.equal((await b.store.query({ schema_name: 's' })).total, 2)
  // The last write is lost, and others go on from there.
  await failOver()
  const c = await one(t, place)
  await c.store.import(batch(100, 10))
  await c.store.import(batch(200, 10))
  t.equal((await b.store.query({ schema_name: 's' })).total, 21)
  t.same(await b.store.collections(), await c.store.collections())
  // Pages have the numbers of those that are lost.
  for (const filters of [{}, { group: 1 }, { group: { $gte: 0 } }]) {
    const query = { schema_name: 's', filters, limit: 100 }
    t.same(await b.store.query(query), await c.store.query(query))
  }
  for (const id of [0, 1, 100, 209]) t.same(await b.store.get('c', id), await c.store.get('c', id))
  await b.store.import(batch(300, 10))
  t.strictSame(await objectProblems(b.backend), [])
})

over('what a lost version has replaced stays', async (t, place) => {
  const [a, b] = [await one(t, place), await one(t, place)]
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 300))
  const failOver = await loserOf(a.real)
  const find = b.store.find({ schema_name: 's' })[Symbol.asyncIterator]()
  t.equal((await find.next()).done, false)
  // Its block stays for the find.
  await b.store.patch('c', 0, { group: 77 })
  await failOver()
  await find.return?.()
  await b.store.import(batch(1000, 1))
  t.match(await b.store.get('c', 0), { group: 0 })
  t.equal((await b.store.query({ schema_name: 's' })).total, 301)
  t.strictSame(await objectProblems(b.backend), [])
})

/** A fail-over: what was written since the call is lost. */
async function loserOf(real: Storage) {
  const kept: Operation[] = []
  for await (const page of real.scan({})) {
    for (const { key, value } of page) kept.push({ type: 'put', key, value })
  }
  return async () => {
    for await (const page of real.scan({ keysOnly: true })) {
      await real.write(page.map(({ key }) => ({ type: 'del', key })))
    }
    await real.write(kept)
  }
}

/** Two who wait for nobody; one stands still in front of the second step of a deletion of 9,000 objects. */
async function slowDeletion(t: Test, place: SharedPlace, before: readonly string[] = []) {
  const [a, b] = [await one(t, place, { turns: false }), await one(t, place, { turns: false })]
  // What is asked of one who stands still waits with him.
  const c = await one(t, place)
  for (const name of ['a', 's']) await b.store.defineSchema({ ...definition, name })
  for (const name of before) await b.store.createCollection(name)
  await b.store.import(batch(0, 9000))
  const slow = held(a.seen, 3)
  const first = a.store.deleteCollection('c')
  await slow.begun
  return { b, c, first, goOn: slow.goOn }
}

/** The n-th write from here on waits until it may go on. */
function held(seen: Seen, n: number) {
  let goOn = (): void => undefined
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const going = new Promise<void>((resolve) => (goOn = resolve))
  const at = seen.writes + n
  seen.beforeWrite = async (write) => {
    if (write !== at) return
    begin()
    await going
  }
  return { begun, goOn }
}
