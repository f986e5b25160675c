// Snapshots, where the backend has them: it has where it is shared.

import assert from 'node:assert/strict'
import type { Backend, BackendSnapshot, PartitionName, Storage } from '../../src/storage.js'
import { assertBytes, collect, fill, hex, numbered, put, text } from './bytes.js'
import type { Context, Place } from './types.js'

const partitions: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']
const closed = { code: 'LK_CLOSED' }

export function snapshots({ withPlace }: Context): void {
  const withSnapshots = (
    name: string,
    run: (take: () => Promise<BackendSnapshot>, backend: Backend, place: Place) => Promise<void>,
  ): void => {
    withPlace(name, async (place) => {
      const backend = place.backend()
      assert(backend.snapshot !== undefined || !backend.shared)
      if (backend.snapshot === undefined) return
      await run(() => backend.snapshot!(), backend, place)
    })
  }

  withSnapshots('a snapshot has what all partitions held', async (take, backend) => {
    const before = new Map<PartitionName, Storage>()
    for (const name of partitions) {
      const storage = await backend.open(name)
      before.set(name, storage)
      await fill(storage, 30)
      await put(storage, text(name), text(name))
    }
    const snapshot = await take()
    for (const storage of before.values()) {
      await storage.write([
        { type: 'put', key: numbered(0), value: text('later') },
        { type: 'del', key: numbered(1) },
        { type: 'put', key: numbered(1000), value: text('later') },
      ])
    }
    for (const name of partitions) {
      const view = snapshot.partitions[name]
      assertBytes(await view.get(numbered(0)), numbered(0))
      assertBytes(await view.get(numbered(1000)), undefined)
      const found = await view.getMany([numbered(1), text('none'), text(name), numbered(1)])
      assert.deepEqual(
        found.map((value) => value && hex(value)),
        [hex(numbered(1)), undefined, hex(text(name)), hex(numbered(1))],
      )
      assert.deepEqual(await view.getMany([]), [])
      const entries = await collect(view.scan({}))
      assert.equal(entries.length, 31)
      assertBytes(entries[0]?.value, numbered(0))
      const some = { gt: numbered(3), lte: numbered(9), reverse: true, limit: 4, keysOnly: true }
      assert.deepEqual(
        (await collect(view.scan(some))).map(({ key, value }) => hex(key) + hex(value)),
        [9, 8, 7, 6].map((n) => hex(numbered(n))),
      )
    }
    await snapshot.close()
  })

  withSnapshots('a snapshot is read in pages, large values whole', async (take, backend) => {
    const storage = await backend.open('slices')
    await fill(storage, 2500)
    const large = Array.from({ length: 3 }, (_, n) => new Uint8Array(1024 * 1024).fill(n))
    for (const [n, value] of large.entries()) await put(storage, text(`large ${n}`), value)
    const snapshot = await take()
    await storage.write(large.map((_, n) => ({ type: 'del', key: text(`large ${n}`) })))
    const { slices } = snapshot.partitions
    const entries = await collect(slices.scan({}))
    assert.equal(entries.length, 2503)
    for (const [n, { key, value }] of entries.slice(0, 2500).entries()) {
      assertBytes(key, numbered(n))
      assertBytes(value, numbered(n))
    }
    for (const [n, value] of large.entries()) {
      assert.equal(Buffer.compare(entries[2500 + n]!.value, value), 0)
      assert.equal(Buffer.compare((await slices.get(text(`large ${n}`)))!, value), 0)
    }
    // Left at the first page.
    for await (const _page of slices.scan({})) break
    await snapshot.close()
  })

  withSnapshots('a snapshot is of one moment, whoever writes', async (take, backend, place) => {
    const other = backend.shared ? place.backend() : backend
    const one = await backend.open('objects')
    const two = await other.open('flows')
    const key = text('count')
    let isOver = false
    const writing = (async () => {
      for (let n = 1; !isOver; n++) {
        await put(one, key, numbered(n))
        await put(two, key, numbered(n))
      }
    })()
    const numberOf = async ({ partitions }: BackendSnapshot, name: PartitionName) => {
      const value = await partitions[name].get(key)
      return value === undefined ? 0 : Buffer.from(value).readUInt32BE()
    }
    for (let n = 0; n < 10; n++) {
      const before = await one.get(key)
      const snapshot = await take()
      // The one that is written first is read last.
      const second = await numberOf(snapshot, 'flows')
      const first = await numberOf(snapshot, 'objects')
      assert([second, second + 1].includes(first), `${first} and ${second}`)
      if (before !== undefined) assert(first >= Buffer.from(before).readUInt32BE())
      await snapshot.close()
    }
    isOver = true
    await writing
  })

  withSnapshots('snapshots are each of their own time', async (take, backend) => {
    const empty = await take()
    const storage = await backend.open('cores')
    const taken: BackendSnapshot[] = []
    for (let n = 0; n < 3; n++) {
      await put(storage, text('a'), numbered(n))
      taken.push(await take())
    }
    for (const [n, { partitions }] of taken.entries()) {
      assertBytes(await partitions.cores.get(text('a')), numbered(n))
    }
    await taken[0]!.close()
    assertBytes(await taken[1]!.partitions.cores.get(text('a')), numbered(1))
    for (const name of partitions) {
      assert.deepEqual(await collect(empty.partitions[name].scan({})), [])
    }
  })

  withSnapshots('nothing is read of a snapshot that is closed', async (take, backend, place) => {
    await fill(await backend.open('objects'), 3000)
    const snapshot = await take()
    const { objects } = snapshot.partitions
    const pages = objects.scan({})[Symbol.asyncIterator]()
    await pages.next()
    await snapshot.close()
    await snapshot.close()
    await assert.rejects(pages.next(), closed)
    await assert.rejects(objects.get(text('a')), closed)
    await assert.rejects(objects.getMany([text('a')]), closed)
    await assert.rejects(collect(objects.scan({})), closed)
    const left = await take()
    await backend.close()
    await assert.rejects(left.partitions.objects.get(text('a')), closed)
    await assert.rejects(take(), closed)
    await left.close()
    const again = await place.backend().snapshot!()
    await again.close()
  })
}
