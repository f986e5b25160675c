// Backends and partitions: opening, isolation, closing, reopening.

import assert from 'node:assert/strict'
import type { PartitionName, Storage } from '../../src/storage.js'
import { assertBytes, collect, fill, keysOf, numbered, put, text } from './bytes.js'
import type { Context } from './types.js'

const partitions: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']

const closed = { code: 'LK_CLOSED' }

async function assertClosed(storage: Storage): Promise<void> {
  await assert.rejects(storage.get(text('a')), closed)
  await assert.rejects(storage.getBytes(text('a'), 0, 1), closed)
  await assert.rejects(storage.getMany([text('a')]), closed)
  await assert.rejects(storage.getMany([]), closed)
  await assert.rejects(storage.write([]), closed)
  await assert.rejects(put(storage, text('a'), text('1')), closed)
  await assert.rejects(collect(storage.scan({})), closed)
  // Refused, and never asked about: must not end the process.
  storage.scan({})
  await new Promise((resolve) => setImmediate(resolve))
}

export function lifecycle({ persistent, withStorage, withPlace }: Context): void {
  withPlace('two places of the factory share nothing', async (place) => {
    const storage = await place.backend().open('objects')
    assert.deepEqual(await collect(storage.scan({})), [])
    await put(storage, text('a'), text('1'))
  })

  withPlace('a fresh place is empty again', async (place) => {
    const storage = await place.backend().open('objects')
    assert.deepEqual(await collect(storage.scan({})), [])
  })

  withPlace(
    'a backend says whether others may have its data, and does not change',
    async (place) => {
      const backend = place.backend()
      const { shared } = backend
      assert.equal(typeof shared, 'boolean')
      await backend.open('flows')
      assert.equal(backend.shared, shared)
      await backend.close()
      assert.equal(backend.shared, shared)
    },
  )

  withPlace('partitions do not see each other’s keys', async (place) => {
    const backend = place.backend()
    const key = text('shared key')
    for (const name of partitions) await put(await backend.open(name), key, text(name))
    for (const name of partitions) {
      const storage = await backend.open(name)
      assertBytes(await storage.get(key), text(name))
      assert.equal((await keysOf(storage)).length, 1)
    }
    await (await backend.open('cores')).write([{ type: 'del', key }])
    assertBytes(await (await backend.open('slices')).get(key), text('slices'))
  })

  withPlace('a partition opened twice gives the same contents', async (place) => {
    const backend = place.backend()
    const [one, two] = await Promise.all([backend.open('flows'), backend.open('flows')])
    await put(one, text('a'), text('1'))
    assertBytes(await two.get(text('a')), text('1'))
    assertBytes(await (await backend.open('flows')).get(text('a')), text('1'))
  })

  withStorage('a closed partition rejects every method', async (storage) => {
    await put(storage, text('a'), text('1'))
    await storage.close()
    await assertClosed(storage)
  })

  withStorage('methods reject from the call of close() on', async (storage) => {
    const closing = storage.close()
    await assertClosed(storage)
    await closing
  })

  withStorage('close() is idempotent', async (storage) => {
    await Promise.all([storage.close(), storage.close()])
    await storage.close()
    await storage[Symbol.asyncDispose]()
  })

  withStorage('operations under way when close() is called are completed', async (storage) => {
    await fill(storage, 5000)
    const reading = storage.get(numbered(1))
    const readingMany = storage.getMany([numbered(1), numbered(2)])
    const scan = storage.scan({ limit: 10 })[Symbol.asyncIterator]().next()
    const wide = storage.scan({})[Symbol.asyncIterator]().next()
    const writing = Array.from({ length: 50 }, (_, index) =>
      storage.write([{ type: 'put', key: numbered(index), value: text('late') }]),
    )
    await storage.close()
    assert((await reading) !== undefined)
    assert.equal((await readingMany).length, 2)
    assert.equal((await scan).value?.length, 10)
    assert(((await wide).value?.length ?? 0) > 0)
    await Promise.all(writing)
  })

  withStorage('a page being read when close() is called is completed', async (storage) => {
    await fill(storage, 5000)
    const page = storage.scan({})[Symbol.asyncIterator]().next()
    await storage.close()
    assert(((await page).value?.length ?? 0) > 0)
  })

  withStorage('a scan left open over close() rejects at its next page', async (storage) => {
    await fill(storage, 10_000)
    const pages = storage.scan({})[Symbol.asyncIterator]()
    await pages.next()
    await storage.close()
    await assert.rejects(async () => pages.next(), closed)
  })

  withPlace('closing the backend closes its partitions', async (place) => {
    const backend = place.backend()
    const opened = await Promise.all(partitions.map((name) => backend.open(name)))
    await Promise.all([backend.close(), backend.close()])
    for (const storage of opened) await assertClosed(storage)
    await assert.rejects(backend.open('cores'), closed)
    await backend.close()
    await backend[Symbol.asyncDispose]()
  })

  withPlace('a backend may be closed while it opens a partition', async (place) => {
    const backend = place.backend()
    const opening = Promise.allSettled(partitions.map((name) => backend.open(name)))
    await backend.close()
    for (const outcome of await opening) {
      if (outcome.status === 'fulfilled') await assertClosed(outcome.value)
      else assert.equal((outcome.reason as { code?: string }).code, 'LK_CLOSED')
    }
  })

  withPlace('an unused backend closes', async (place) => {
    await place.backend().close()
  })

  withPlace('a closed partition can be opened again', async (place) => {
    const backend = place.backend()
    const first = await backend.open('objects')
    await put(first, text('a'), text('1'))
    const closing = first.close()
    const second = await backend.open('objects')
    await closing
    await put(second, text('b'), text('2'))
    assertBytes(await second.get(text('b')), text('2'))
    if (persistent) assertBytes(await second.get(text('a')), text('1'))
  })

  if (!persistent) return

  withPlace('what was written is there after reopening', async (place) => {
    const before = place.backend()
    const storage = await before.open('objects')
    await fill(storage, 3000)
    await storage.write([{ type: 'del', key: numbered(7) }], { durable: true })
    await before.close()

    const after = await place.backend().open('objects')
    const keys = await keysOf(after)
    assert.equal(keys.length, 2999)
    assertBytes(await after.get(numbered(8)), numbered(8))
    assert.equal(await after.get(numbered(7)), undefined)
  })

  withPlace('a write accepted before close() is there after reopening', async (place) => {
    const before = place.backend()
    const storage = await before.open('slices')
    // More than an adapter will put into one step.
    const value = new Uint8Array(64 * 1024)
    const writing = Promise.all(
      Array.from({ length: 200 }, (_, index) => put(storage, numbered(index), value)),
    )
    await before.close()
    await writing
    assert.equal((await keysOf(await place.backend().open('slices'))).length, 200)
  })

  withPlace(
    'a second backend over open data is refused until the first closes, or shares it',
    async (place) => {
      const first = place.backend()
      const owned = await first.open('objects')
      const second = place.backend()
      if (first.shared) {
        // Conditions hold across all that have it.
        await put(owned, text('b'), text('1'))
        const other = await second.open('objects')
        const require = [{ type: 'equals', key: text('b'), value: text('2') }] as const
        const write = other.write([{ type: 'del', key: text('b') }], { require })
        await assert.rejects(write, { code: 'LK_STORAGE_CONFLICT' })
        await put(other, text('b'), text('2'))
        assertBytes(await owned.get(text('b')), text('2'))
      } else await assert.rejects(second.open('objects'), { code: 'LK_STORAGE_LOCKED' })
      await first.close()
      await put(await second.open('objects'), text('a'), text('1'))
    },
  )

  withPlace(
    'of two that open everything at once one has all of it, where the backend says so',
    async (place) => {
      const backends = [place.backend(), place.backend()]
      if (!backends.every(({ opensAsOne }) => opensAsOne === true)) return
      const outcomes = await Promise.all(
        backends.map((backend) => Promise.allSettled(partitions.map((name) => backend.open(name)))),
      )
      const opened = outcomes.map(
        (each) => each.filter(({ status }) => status === 'fulfilled').length,
      )
      assert.deepEqual(opened.sort(), [0, partitions.length])
    },
  )
}
