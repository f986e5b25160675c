// Opening the three stores: data of other formats is refused, of several that open an empty place
// at once all open, and what fails is told.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../adapters/memory.js'
import { LorekeepError } from '../src/errors.js'
import { encodeKey } from '../src/keys.js'
import { garbagePartKey, type LibraryRecord } from '../src/knowledge/records.js'
import { createLorekeep, type Lorekeep } from '../src/lorekeep.js'
import { decodeRecord, encodeRecord } from '../src/record.js'
import type { Backend, Entry, PartitionName, Storage } from '../src/storage.js'
import { verifyStores } from '../src/verify-stores.js'
import { altered } from './fixtures/altered-storage.js'
import { backends, slicedMessage, triplesMessage } from './fixtures/stores.js'
import { objectProblems } from './fixtures/problems.js'
import { KeptBackend } from './objects/kept-backend.js'

const formatKey = encodeKey('format')

const formats = { cores: { version: 1 }, objects: { format: 1 }, flows: { format: 1 } } as const

type Kind = keyof typeof formats

const kinds = Object.keys(formats) as Kind[]

for (const [engine, createBackend] of backends) {
  for (const kind of kinds) {
    t.test(`${engine}: ${kind} of another format are refused, and left as they are`, async (t) => {
      const backend = keptBackend(t, createBackend)
      await (await createLorekeep({ backend })).close()
      const storage = await backend.open(kind)
      const value = encodeRecord(formats[kind])
      await storage.write([{ type: 'put', key: formatKey, value }])
      const before = await contentOf(storage)
      await t.rejects(createLorekeep({ backend }), { code: 'LK_STORAGE_FORMAT' })
      t.same(await contentOf(storage), before)
    })
  }

  t.test(`${engine}: slices that are gone beside cores are told`, async (t) => {
    const backend = keptBackend(t, createBackend)
    const keep = await createLorekeep({ backend })
    const ref = { user: 'u', id: 'core' }
    await keep.knowledge.write(ref, [slicedMessage('a')])
    const slices = await backend.open('slices')
    const kept: Entry[] = []
    for await (const page of slices.scan({})) kept.push(...page)
    await keep.close()
    const before = await backend.open('slices')
    await before.write(kept.map(({ key }) => ({ type: 'del', key })))
    await t.rejects(createLorekeep({ backend }), {
      code: 'LK_STORAGE_CORRUPT',
      message: /'slices' is empty, and cores have content.*--salvage/,
    })
    const after = await backend.open('slices')
    await after.write([{ type: 'put', ...kept[0]! }])
    const open = await createLorekeep({ backend })
    await open.knowledge.delete(ref)
    await open.close()
    // Without cores there need not be any.
    await (await createLorekeep({ backend })).close()
  })

  t.test(`${engine}: small segments need no slices, the index does`, async (t) => {
    const backend = keptBackend(t, createBackend)
    const open = async () => {
      const keep = await createLorekeep({ backend })
      return { keep, ref: { user: 'u', id: 'core' } }
    }
    const { keep, ref } = await open()
    await keep.knowledge.write(ref, [triplesMessage('a')])
    await keep.close()
    const again = await open()
    await again.keep.knowledge.index(ref)
    await again.keep.close()
    const slices = await backend.open('slices')
    for await (const page of slices.scan({ keysOnly: true })) {
      await slices.write(page.map(({ key }) => ({ type: 'del', key: new Uint8Array(key) })))
    }
    await t.rejects(open(), { code: 'LK_STORAGE_CORRUPT', message: /'slices' is empty/ })
    // What is being deleted has lost them first.
    const cores = await backend.open('cores')
    const key = encodeKey('core', ref.user, ref.id)
    const { generation } = decodeRecord<{ generation: string }>((await cores.get(key))!)
    const library = encodeKey('library', ref.user)
    const { parts } = decodeRecord<LibraryRecord>((await cores.get(library))!)
    const garbage = [encodeKey('garbage', generation), ...parts.map(garbagePartKey)]
    await cores.write([
      { type: 'del', key },
      { type: 'put', key: library, value: encodeRecord({ parts: [] }) },
      ...garbage.map((key) => ({ type: 'put', key, value: new Uint8Array(0) }) as const),
    ])
    await (await open()).keep.close()
  })

  for (const kind of kinds) {
    t.test(`${engine}: ${kind} that are gone beside others are told, not begun`, async (t) => {
      const backend = keptBackend(t, createBackend)
      const keep = await createLorekeep({ backend })
      await filled(keep, 0)
      await keep.close()
      const storage = await backend.open(kind)
      await storage.write([{ type: 'del', key: formatKey }])
      await t.rejects(createLorekeep({ backend }), { code: 'LK_STORAGE_CORRUPT' })
      t.ok((await errorsIn(backend, kind)) > 0, 'no format')
      for await (const page of storage.scan({ keysOnly: true })) {
        await storage.write(page.map(({ key }) => ({ type: 'del', key: new Uint8Array(key) })))
      }
      await t.rejects(createLorekeep({ backend }), { code: 'LK_STORAGE_CORRUPT' })
      t.ok((await errorsIn(backend, kind)) > 0, 'nothing')
      t.same(await contentOf(storage), [])
    })
  }

  t.test(`${engine}: of several that open an empty place at once all open`, async (t) => {
    const backend = keptBackend(t, createBackend)
    const keeps = await Promise.all(Array.from({ length: 8 }, () => createLorekeep({ backend })))
    await Promise.all(keeps.map((keep, n) => filled(keep, n)))
    for (const keep of keeps) await keep.close()
    await isWhole(t, backend, keeps.length)
  })

  for (const kind of kinds) {
    t.test(`${engine}: who is late in an empty place undoes nothing of ${kind}`, async (t) => {
      const backend = keptBackend(t, createBackend)
      const late = new InterruptedBackend(backend, kind)
      late.afterFormat = async () => {
        const first = await createLorekeep({ backend })
        await filled(first, 0)
        await first.close()
      }
      const keep = await createLorekeep({ backend: late })
      t.equal(late.afterFormat, undefined, 'another store came between')
      await filled(keep, 1)
      await keep.close()
      await isWhole(t, backend, 2)
    })

    t.test(`${engine}: a first write of ${kind} that fails is told as that`, async (t) => {
      const backend = keptBackend(t, createBackend)
      const failing = new InterruptedBackend(backend, kind)
      failing.isFailing = true
      await t.rejects(createLorekeep({ backend: failing }), { code: 'LK_STORAGE_FAILED' })
      const keep = await createLorekeep({ backend })
      await filled(keep, 0)
      await keep.close()
      await isWhole(t, backend, 1)
    })
  }
}

/** Something of each store, told apart by a number. */
async function filled({ objects, flows, knowledge }: Lorekeep, n: number): Promise<void> {
  await objects.defineSchema({ name: `things ${n}`, fields: { id: { type: 'integer' } } })
  await objects.import({
    metadata: { id: 'batch', user: 'alice', collection: 'c' },
    schema_name: `things ${n}`,
    values: [{ id: n }],
  })
  const text = Buffer.from('some text').toString('base64')
  await flows.load('default', { id: `d${n}`, metadata: [], user: 'alice', collection: 'c', text })
  await knowledge.write({ user: 'alice', id: `core ${n}` }, [])
}

async function isWhole(t: Test, backend: Backend, count: number): Promise<void> {
  const keep = await createLorekeep({ backend })
  for (let n = 0; n < count; n++) {
    t.equal((await keep.objects.get('c', n))?._id, n)
    t.ok(await keep.knowledge.stat({ user: 'alice', id: `core ${n}` }))
  }
  const documents = new Set<string>()
  for await (const { document } of keep.flows.jobs({ flow: 'default' })) documents.add(document)
  t.equal(documents.size, count)
  await keep.close()
  t.strictSame(await objectProblems(backend), [])
}

t.test('partitions are opened at once, behind that of cores', async (t) => {
  const { backend, events } = gathering(false)
  await (await createLorekeep({ backend })).close()
  t.strictSame(events.slice(0, 2), ['cores asked', 'cores open'])
  const others = ['slices asked', 'objects asked', 'flows asked']
  t.strictSame(events.slice(2, 5).sort(), others.sort())
})

t.test('partitions of a backend that opens them as one are opened at once', async (t) => {
  const { backend, events } = gathering(true)
  await (await createLorekeep({ backend })).close()
  t.equal(events[0], 'cores asked')
  const others = ['slices asked', 'objects asked', 'flows asked']
  t.strictSame(events.slice(1, 4).sort(), others.sort())
})

/** Opens those that come at once when all of them were asked for. Cores come by themselves where it does not open all as one. */
function gathering(opensAsOne: boolean) {
  const real = new MemoryBackend()
  const events: string[] = []
  let asked = 0
  let letGo = () => {}
  const areAsked = new Promise<void>((resolve) => (letGo = resolve))
  const backend: Backend = {
    shared: false,
    opensAsOne,
    open: async (name) => {
      events.push(`${name} asked`)
      if (++asked === 4) letGo()
      if (name !== 'cores' || opensAsOne) await areAsked
      const storage = await real.open(name)
      events.push(`${name} open`)
      return storage
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  return { backend, events }
}

t.test('of several that cannot be opened the first is told', async (t) => {
  const real = new MemoryBackend()
  const fails = (name: string) => new LorekeepError('LK_STORAGE_LOCKED', name)
  const backend: Backend = {
    shared: false,
    open: async (name) => {
      if (name === 'flows') throw fails(name)
      await new Promise((resolve) => setImmediate(resolve))
      if (name === 'objects') throw fails(name)
      return real.open(name)
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  await t.rejects(createLorekeep({ backend }), { code: 'LK_STORAGE_LOCKED', message: /objects/ })
  await t.rejects(real.open('cores'), { code: 'LK_CLOSED' })
})

t.test(
  'where one store cannot be opened, nothing is at work any more for the others',
  async (t) => {
    const kept = keptBackend(t, () => new MemoryBackend())
    await (await createLorekeep({ backend: kept })).close()
    const [cores, flows] = [await kept.open('cores'), await kept.open('flows')]
    const put = { type: 'put', key: formatKey, value: encodeRecord(formats.flows) } as const
    await flows.write([put])
    // It is tried again and again to delete it.
    await cores.write([{ ...put, key: encodeKey('garbage', 'x'), value: new Uint8Array(0) }])
    let tried = 0
    const failing = altered(cores, {
      write: async () => {
        tried++
        throw new LorekeepError('LK_STORAGE_UNAVAILABLE')
      },
    })
    const backend = Object.assign(new KeptBackend(kept.real), {
      open: async (name: PartitionName) => (name === 'cores' ? failing : kept.open(name)),
    })
    const { setTimeout } = globalThis
    t.teardown(() => void (globalThis.setTimeout = setTimeout))
    globalThis.setTimeout = ((act: () => void, _: number, ...given: []) =>
      setTimeout(act, 1, ...given)) as never
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    await t.rejects(createLorekeep({ backend, onError }), { code: 'LK_STORAGE_FORMAT' })
    const before = tried
    t.ok(before > 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.equal(tried, before)
  },
)

function keptBackend(t: Test, createBackend: (t: Test) => Backend): KeptBackend {
  const backend = new KeptBackend(createBackend(t))
  t.teardown(() => backend.real.close())
  return backend
}

async function errorsIn(backend: Backend, kind: Kind): Promise<number> {
  const partitions = {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
  const sources = () => ({ partitions, pass: () => {}, close: async () => {} })
  let errors = 0
  for await (const { partition, what } of verifyStores(sources)) {
    if (partition === kind && what === '("format")') errors++
  }
  return errors
}

async function contentOf(storage: Storage): Promise<unknown[]> {
  const content: unknown[] = []
  for await (const page of storage.scan({})) {
    for (const { key, value } of page) content.push([Buffer.from(key), Buffer.from(value)])
  }
  return content
}

/** Lets something happen after the format of a partition was read, or fails its writes. */
class InterruptedBackend extends KeptBackend {
  afterFormat: (() => Promise<void>) | undefined
  isFailing = false
  readonly #kind: Kind

  constructor(real: Backend, kind: Kind) {
    super(real)
    this.#kind = kind
  }

  override async open(partition: PartitionName): Promise<Storage> {
    const storage = await super.open(partition)
    if (partition !== this.#kind) return storage
    const get: Storage['get'] = async (key) => {
      const value = await storage.get(key)
      const { afterFormat } = this
      if (Buffer.compare(key, formatKey) !== 0 || afterFormat === undefined) return value
      this.afterFormat = undefined
      await afterFormat()
      return value
    }
    const write: Storage['write'] = async (operations, options) => {
      if (this.isFailing) throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
      await storage.write(operations, options)
    }
    return altered(storage, { get, write })
  }
}
