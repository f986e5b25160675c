// Several stores over one backend change the same things at the same time: with turns nobody's work is in vain.

import t, { type Test } from 'tap'
import { hasCode } from '../src/errors.js'
import { createLorekeep, type Lorekeep } from '../src/lorekeep.js'
import type { Backend, Sharing, Storage } from '../src/storage.js'
import { SharedMemory } from './fixtures/shared-memory.js'

/** Counts writes that were refused because somebody was first, and may give no turns. */
class Watched implements Backend {
  readonly shared = true
  refused = 0
  readonly #real: Backend
  readonly #alter: (sharing: Sharing) => Sharing

  constructor(real: Backend, alter: (sharing: Sharing) => Sharing = (sharing) => sharing) {
    this.#real = real
    this.#alter = alter
  }

  async open(partition: Parameters<Backend['open']>[0]): Promise<Storage> {
    const storage = await this.#real.open(partition)
    return {
      get: (key) => storage.get(key),
      getBytes: (key, from, to) => storage.getBytes(key, from, to),
      getMany: (keys) => storage.getMany(keys),
      scan: (range) => storage.scan(range),
      write: async (operations, options) => {
        // An engine takes its time, in which others come.
        await new Promise((resolve) => setImmediate(resolve))
        try {
          await storage.write(operations, options)
        } catch (error) {
          if (hasCode(error, 'LK_STORAGE_CONFLICT')) this.refused++
          throw error
        }
      },
      sharing: this.#alter(storage.sharing!),
      close: () => storage.close(),
      [Symbol.asyncDispose]: () => storage.close(),
    }
  }

  close(): Promise<void> {
    return this.#real.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

async function four(t: Test, alter?: (sharing: Sharing) => Sharing) {
  const memory = new SharedMemory()
  const backends = Array.from({ length: 4 }, () => new Watched(memory.backend(), alter))
  const keeps: Lorekeep[] = []
  for (const backend of backends) {
    const keep = await createLorekeep({ backend })
    t.teardown(() => keep.close())
    keeps.push(keep)
  }
  await keeps[0]!.objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  for (const backend of backends) backend.refused = 0
  return { keeps, refused: () => backends.reduce((sum, { refused }) => sum + refused, 0) }
}

async function work({ objects, flows }: Lorekeep, process: number): Promise<void> {
  for (let n = 0; n < 20; n++) {
    const values = Array.from({ length: 5 }, (_, at) => ({ id: `${process} ${n} ${at}` }))
    const metadata = { id: 'batch', user: 'alice', collection: 'c' }
    const load = flows.load('default', { id: `${process} ${n}`, content: 'text' })
    await Promise.all([objects.import({ metadata, schema_name: 's', values }), load])
  }
}

t.test('four that write at once are not in each other’s way', async (t) => {
  const { keeps, refused } = await four(t)
  await Promise.all(keeps.map(work))
  for (const { objects, flows } of keeps) {
    t.equal((await objects.query({ schema_name: 's' })).total, 400)
    t.equal((await flows.stats('default')).queued, 80)
  }
  t.equal(refused(), 0)
})

t.test('where no turn comes the work is done all the same', async (t) => {
  const refuse = async () => Promise.reject(new Error('no turns today'))
  const { keeps, refused } = await four(t, (sharing) => ({ ...sharing, turn: refuse }))
  await Promise.all(keeps.map(work))
  t.equal((await keeps[3]!.objects.query({ schema_name: 's' })).total, 400)
  t.equal((await keeps[3]!.flows.stats('default')).queued, 80)
  t.ok(refused() > 100, `${refused()} writes in vain`)
})
