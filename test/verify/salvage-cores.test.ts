import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeKey, keyPrefix } from '../../src/keys.js'
import { createLorekeep } from '../../src/lorekeep.js'
import {
  coreKey,
  segmentKey,
  smallKey,
  type CoreRecord,
  type SegmentRecord,
} from '../../src/knowledge/records.js'
import { decodeRecord, encodeRecord } from '../../src/record.js'
import { salvageStores } from '../../src/salvage-stores.js'
import type { Backend, Storage } from '../../src/storage.js'
import { verifyStores } from '../../src/verify-stores.js'
import { slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { salvage } from './salvaged.js'

const user = 'u'

/** The cores `a` and `b`, of one segment each, in slices or inline. */
async function opened(make = slicedMessage) {
  const backend = new MemoryBackend()
  const { knowledge } = await createLorekeep({ backend, indexThreads: 0 })
  for (const id of ['a', 'b']) await knowledge.write({ user, id }, [make(`of ${id}`)])
  const partitions = {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
  const errors = async () => {
    const found: string[] = []
    const open = () => ({ partitions, pass: () => {}, close: async () => {} })
    for await (const { severity, code, what } of verifyStores(open)) {
      if (severity === 'error') found.push(`${code} ${what}`)
    }
    return found
  }
  const { cores } = partitions
  const [a, b] = [await coreIn(cores, 'a'), await coreIn(cores, 'b')]
  return { partitions, cores, a, b, errors, knowledge }
}

async function coreIn(cores: Storage, id: string): Promise<CoreRecord> {
  return decodeRecord((await cores.get(coreKey({ user, id })))!)
}

async function put(storage: Storage, key: Uint8Array, record: object): Promise<void> {
  await storage.write([{ type: 'put', key, value: encodeRecord(record) }])
}

async function textsIn(backend: Backend, id: string): Promise<string> {
  const keep = await createLorekeep({ backend })
  const messages = []
  for await (const message of keep.knowledge.messages({ user, id })) messages.push(message)
  return JSON.stringify(messages)
}

for (const [place, make] of [
  ['slices', slicedMessage],
  ['inline', (name) => triplesMessage(name, 40)],
  ['inline and plain', (name) => triplesMessage(name, 2)],
] as readonly (readonly [string, typeof slicedMessage])[]) {
  t.test(`${place}: a segment that counts wrongly is corrected, and that is told`, async (t) => {
    const { partitions, cores, a } = await opened(make)
    const key = segmentKey(a.generation, 0)
    const segment = decodeRecord<SegmentRecord>((await cores.get(key))!)
    await put(cores, key, { ...segment, triples: 7, bytes: segment.bytes + 1 })
    const target = new MemoryBackend()
    const { findings, segments } = await salvage(partitions, target)
    t.equal(segments, 2)
    t.ok(findings.every(({ code }) => code === 'different'))
    t.match(findings.map(({ message }) => message).join('\n'), /counted 7 triples/)
    const salvaged = await coreIn(await target.open('cores'), 'a')
    t.strictSame(salvaged, a)
  })
}

t.test('a core that names the segments of another does not get them', async (t) => {
  for (const [from, to] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    const { partitions, cores, errors } = await opened()
    const { generation } = await coreIn(cores, to)
    await put(cores, coreKey({ user, id: from }), { ...(await coreIn(cores, from)), generation })
    const found = await errors()
    t.ok(found.includes(`duplicate ("core", "u", "${from}")`), found.join('\n'))
    const target = new MemoryBackend()
    const { findings, cores: kept } = await salvage(partitions, target)
    t.equal(kept, 2)
    t.match(findings[0], { code: 'lost', what: `("core", "u", "${from}")` })
    for (const id of ['a', 'b']) t.match(await textsIn(target, id), `of ${id}`)
  }
})

t.test('segments that have one name are found, and one of them is kept', async (t) => {
  const { partitions, cores, a, b, errors } = await opened()
  const key = segmentKey(b.generation, 0)
  const value = (await cores.get(segmentKey(a.generation, 0)))!
  await cores.write([{ type: 'put', key, value }])
  const found = await errors()
  t.equal(found.filter((error) => error.startsWith('duplicate')).length, 2, found.join('\n'))
  const { findings, segments } = await salvage(partitions, new MemoryBackend())
  t.equal(segments, 1)
  t.ok(findings.some(({ message }) => message.includes('those of another segment')))
})

t.test('slices whose record is lost are told', async (t) => {
  const { partitions, cores, a } = await opened()
  const key = segmentKey(a.generation, 0)
  const { id } = decodeRecord<SegmentRecord>((await cores.get(key))!)
  await cores.write([{ type: 'del', key }])
  const { findings } = await salvage(partitions, new MemoryBackend())
  t.ok(findings.some(({ partition, what }) => partition === 'slices' && what.includes(id)))
})

t.test('bytes inline whose record is lost are told', async (t) => {
  const { partitions, cores, a } = await opened(triplesMessage)
  await cores.write([{ type: 'del', key: segmentKey(a.generation, 0) }])
  const { findings, cores: kept } = await salvage(partitions, new MemoryBackend())
  t.equal(kept, 1)
  const what = `("small", "${a.generation}", 0)`
  t.ok(findings.some((one) => one.partition === 'cores' && one.what === what))
})

t.test('bytes inline come back, at the place of their segment', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await createLorekeep({ backend, indexThreads: 0 })
  const names = ['first', 'second', 'third']
  for (const name of names) await knowledge.write({ user, id: 'a' }, [triplesMessage(name, 40)])
  const partitions = {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
  const { generation } = await coreIn(partitions.cores, 'a')
  const [first, second] = [smallKey(generation, 0), smallKey(generation, 1)]
  const value = (await partitions.cores.get(first))!
  for (const [damage, put] of [
    ['another segment’s', { type: 'put', key: second, value }],
    ['none', { type: 'del', key: second }],
    ['no deflated bytes', { type: 'put', key: second, value: new Uint8Array(9).fill(0xff) }],
  ] as const) {
    await partitions.cores.write([put])
    const target = new MemoryBackend()
    const { findings, segments } = await salvage(partitions, target)
    t.equal(segments, 2, damage)
    t.match(findings[0], { code: 'lost', what: `("segment", "${generation}", 1)` }, damage)
    const texts = await textsIn(new KeptBackend(target), 'a')
    t.match(texts, /of first.*of third/, damage)
    t.notMatch(texts, 'of second')
    const errors = []
    const keep = await createLorekeep({ backend: new KeptBackend(target) })
    for await (const finding of keep.verify({ deep: true })) errors.push(finding)
    t.strictSame(errors, [], damage)
  }
  // A core whose own record is lost: its messages name it.
  await partitions.cores.write([{ type: 'del', key: coreKey({ user, id: 'a' }) }])
  const { segments } = await salvage(partitions, new MemoryBackend())
  t.equal(segments, 2)
})

t.test('what is found is given out before the rest is written', async (t) => {
  const { partitions, cores, a } = await opened()
  await cores.write([{ type: 'del', key: segmentKey(a.generation, 0) }])
  const target = new MemoryBackend()
  const first = await salvageStores(partitions, target, {}).next()
  t.equal(first.done, false)
  const copied = (await target.open('cores')).scan(keyPrefix('core'))
  for await (const _ of copied) t.fail('the other core was copied by then')
  t.equal(await (await target.open('flows')).get(encodeKey('format')), undefined)
})

t.test('what cannot be a part of a key is no record, and stops nobody', async (t) => {
  const { partitions, cores, a, errors } = await opened()
  const key = segmentKey(a.generation, 0)
  const segment = decodeRecord<SegmentRecord>((await cores.get(key))!)
  await put(cores, key, { ...segment, id: '\ud800' })
  t.ok((await errors()).length > 0)
  const { cores: kept, findings } = await salvage(partitions, new MemoryBackend())
  t.equal(kept, 1)
  t.ok(findings.length > 0)
})

t.test('content that a core has twice is kept twice', async (t) => {
  const backend = new MemoryBackend()
  const { knowledge } = await createLorekeep({ backend, indexThreads: 0 })
  const message = triplesMessage('twice')
  await knowledge.write({ user, id: 'a' }, [message])
  await knowledge.write({ user, id: 'a' }, [message], { copies: 2 })
  const [cores, slices] = [await backend.open('cores'), await backend.open('slices')]
  const [objects, flows] = [await backend.open('objects'), await backend.open('flows')]
  const target = new MemoryBackend()
  const { findings, segments } = await salvage({ cores, slices, objects, flows }, target)
  t.strictSame(findings, [])
  t.equal(segments, 2)
  t.equal(await textsIn(target, 'a'), await textsIn(backend, 'a'))
})

t.test('what is salvaged answers questions', async (t) => {
  const { partitions, cores, a, knowledge } = await opened(triplesMessage)
  const target = new MemoryBackend()
  const ask = async () => {
    const { knowledge } = await createLorekeep({ backend: target, indexThreads: 0 })
    return [
      await knowledge.graph({ user }).count(),
      await knowledge.graph({ user, cores: ['b'] }).count(),
      (await knowledge.indexState({ user })).state,
    ]
  }
  // The index is left behind: what it had waits.
  await knowledge.index({ user })
  await cores.write([{ type: 'del', key: smallKey(a.generation, 0) }])
  await salvage(partitions, target)
  t.strictSame(await ask(), [3, 3, 'none'])
  const again = await createLorekeep({ backend: target, indexThreads: 0 })
  t.equal((await again.knowledge.index({ user })).state, 'complete')
  t.strictSame(await ask(), [3, 3, 'complete'])
})
