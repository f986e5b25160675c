// Which segments lie inline, at the borders, and that what lies there is what was imported.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { encodeMessage } from '../../src/codec/encoder.js'
import {
  bytesOf,
  maxSmallBytes,
  piecesOf,
  segmentSlices,
  smallOf,
} from '../../src/knowledge/segment-bytes.js'
import { segmentKey, sliceKey, smallKey, type SegmentRecord } from '../../src/knowledge/records.js'
import { decodeRecord } from '../../src/record.js'
import type { Backend, Operation } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { pickSeed } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import {
  backends,
  bigStream,
  exported,
  keysOf,
  openStore,
  slicedMessage,
  triplesMessage,
} from '../fixtures/stores.js'

const MiB = 1024 * 1024
// As the messages say: with another name the stored bytes would be others.
const ref = { user: 'u', id: 'i' }
const seed = pickSeed() | 0
const noise = (bytes: number) =>
  createHash('shake256', { outputLength: bytes }).update('noise').digest()
const words = (bytes: number) => Buffer.alloc(bytes, 'a few words, again and again; ')

/** A stream of so many bytes that does not deflate. */
function noiseStream(bytes: number): Buffer {
  const of = (length: number) => {
    const [type, data] = triplesMessage('noise', 1) as Extract<CoreMessage, readonly ['t', unknown]>
    const o = { v: noise(length).toString('base64').slice(0, length), e: false }
    return encodeMessage([type, { ...data, t: data.t.map((triple) => ({ ...triple, o })) }])
  }
  const around = of(40_000).length - 40_000
  const stream = Buffer.from(of(bytes - around))
  assert.equal(stream.length, bytes)
  return stream
}

t.test('what is stored inline: half the bytes or all of them, 64 KiB at most', async (t) => {
  const half = (bytes: number) => Buffer.concat([noise(bytes / 4), words(bytes - bytes / 4)])
  const mostly = (bytes: number) => Buffer.concat([noise((bytes * 3) / 4), words(bytes / 4)])
  for (const [name, bytes, inline] of [
    ['one byte', words(1), 'plain'],
    ['few words', words(4095), 'plain'],
    ['more words', words(4096), 'deflated'],
    ['64 KiB of noise', noise(maxSmallBytes), 'plain'],
    ['a byte more', noise(maxSmallBytes + 1), undefined],
    ['a third deflates', mostly(40_000), 'plain'],
    ['a third of much deflates', mostly(80_000), undefined],
    ['most of it deflates', half(40_000), 'deflated'],
    ['a MiB of words', words(MiB), 'deflated'],
    ['a MiB of noise', noise(MiB), undefined],
    [
      'a MiB of which much is words',
      Buffer.concat([noise(MiB / 8), words(MiB - MiB / 8)]),
      undefined,
    ],
  ] as const) {
    const small = smallOf(bytes)
    t.equal(small?.inline, inline, name)
    if (small === undefined) continue
    t.ok(small.stored.length <= maxSmallBytes, `${name}: ${small.stored.length}`)
    if (inline === 'deflated') t.ok(small.stored.length <= bytes.length / 2, name)
    t.ok(Buffer.from(bytesOf({ ...small, bytes: bytes.length }, small.stored)).equals(bytes), name)
  }
})

t.test(`any bytes come back (seed ${seed})`, async () => {
  const piece = fc.record({ size: fc.integer({ min: 1, max: 90_000 }), isNoise: fc.boolean() })
  await fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), (pieces) => {
      const bytes = Buffer.concat(
        pieces.map(({ size, isNoise }) => (isNoise ? randomBytes(size) : words(size))),
      )
      const small = smallOf(bytes)
      if (small === undefined) return assert.ok(bytes.length > maxSmallBytes)
      assert.ok(small.stored.length <= maxSmallBytes)
      assert.ok(Buffer.from(bytesOf({ ...small, bytes: bytes.length }, small.stored)).equals(bytes))
    }),
    { seed, numRuns: 200 },
  )
})

t.test('inflating stops at what the record says, and at what a slice may have', async (t) => {
  const corrupt = { code: 'LK_STORAGE_CORRUPT' }
  const { stored } = smallOf(words(MiB)) as { stored: Uint8Array }
  t.equal(bytesOf({ inline: 'deflated', bytes: MiB }, stored).length, MiB)
  for (const bytes of [1, MiB - 1, MiB + 1, 2 ** 40]) {
    t.throws(() => bytesOf({ inline: 'deflated', bytes }, stored), corrupt, `${bytes}`)
  }
  t.throws(() => bytesOf({ inline: 'plain', bytes: 5 }, words(6)), corrupt)
  t.throws(() => bytesOf({ inline: 'plain', bytes: 7 }, words(6)), corrupt)
})

t.test('the values of a segment come in their order, and none is left out', async (t) => {
  const backend = new MemoryBackend()
  const places = { cores: await backend.open('cores'), slices: await backend.open('slices') }
  const record = { id: 'id', slices: 3, bytes: 6 } as SegmentRecord
  const put = (key: Uint8Array, text: string): Operation => ({
    type: 'put',
    key,
    value: Buffer.from(text),
  })
  const read = async (segment: SegmentRecord, n: number) => {
    let text = ''
    const placed = { generation: 'g', n, segment }
    for await (const slice of segmentSlices(places, placed)) text += Buffer.from(slice).toString()
    return text
  }
  await places.slices.write(['ab', 'cd', 'ef'].map((text, n) => put(sliceKey('id', n), text)))
  t.equal(piecesOf(record), 3)
  t.equal(await read(record, 0), 'abcdef')
  await places.slices.write([{ type: 'del', key: sliceKey('id', 1) }])
  await t.rejects(read(record, 0), { code: 'LK_STORAGE_CORRUPT' })
  const inline: SegmentRecord = { ...record, slices: 0, inline: 'plain' }
  await t.rejects(read(inline, 1), { code: 'LK_STORAGE_CORRUPT' })
  await places.cores.write([put(smallKey('g', 0), 'others'), put(smallKey('g', 1), 'inline')])
  t.equal(piecesOf(inline), 1)
  t.equal(await read(inline, 1), 'inline')
})

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: imports at the border of what lies inline`, async (t) => {
    const message = encodeMessage(triplesMessage('again', 100))
    // Whole messages up to less than a slice.
    const text = Buffer.concat(Array(Math.floor((MiB - 1) / message.length)).fill(message))
    const backend = counting(createBackend(t))
    const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
    for (const [name, bytes, inline, writes] of [
      ['a small one', encodeMessage(triplesMessage('small', 3)), 'plain', 1],
      ['20 KB of text', encodeMessage(triplesMessage('text', 150)), 'deflated', 1],
      ['64 KiB of noise', noiseStream(maxSmallBytes), 'plain', 1],
      ['a byte more', noiseStream(maxSmallBytes + 1), undefined, 3],
      ['all but a MiB of text', text, 'deflated', 1],
      ['a MiB and more of text', Buffer.concat([text, message]), undefined, undefined],
    ] as const) {
      backend.writes = 0
      const { digest } = await knowledge.import(ref, bytes)
      if (writes !== undefined) t.equal(backend.writes, writes, `${name}: ${backend.writes} writes`)
      const { cores, slices } = await keysOf(backend)
      const { generation, segment } = await segmentIn(backend, cores)
      t.equal(segment.inline, inline, name)
      t.strictSame(
        cores.filter(([kind]) => kind === 'small'),
        inline === undefined ? [] : [['small', generation, 0]],
      )
      t.equal(slices.length > 0, inline === undefined, name)
      t.equal(segment.slices, slices.length)
      t.ok((await exported(knowledge, ref)).equals(bytes), name)
      t.equal((await knowledge.stat(ref))?.digest, digest)
      t.match(await knowledge.import(ref, bytes), { duplicate: true }, name)
      t.match(await knowledge.index(ref), { state: 'complete' })
      t.strictSame(await coreProblems(backend), [])
      await knowledge.delete(ref)
      await knowledge.index({ user: ref.user })
      while ((await keysOf(backend)).cores.length > 1) await new Promise(setImmediate)
      t.strictSame(await keysOf(backend), { cores: [['format']], slices: [] }, name)
    }
  })

  t.test(`${engine}: a core of both, its index from the import or from later`, async (t) => {
    const backend = createBackend(t)
    const { knowledge } = await openStore(t, backend)
    const streams = [
      encodeMessage(triplesMessage('first', 200)),
      Buffer.concat([...bigStream('big', 1.5, encodeMessage)]),
      encodeMessage(triplesMessage('second')),
      encodeMessage(slicedMessage('sliced')),
    ]
    for (const [n, stream] of streams.entries()) {
      await knowledge.import(ref, stream, { index: n % 2 === 0 })
    }
    t.ok((await exported(knowledge, ref)).equals(Buffer.concat(streams)))
    const before = await knowledge.graph({ user: ref.user }).count()
    await knowledge.index(ref)
    t.equal(await knowledge.graph({ user: ref.user }).count(), before)
    t.ok(before >= 2204, `${before} triples`)
    // The indexes that were replaced are deleted in the background.
    while ((await coreProblems(backend)).length > 0) await new Promise(setImmediate)
  })
}

async function segmentIn(backend: Backend, keys: readonly unknown[][]) {
  const [, generation] = keys.find(([kind]) => kind === 'segment') as [string, string]
  const stored = await (await backend.open('cores')).get(segmentKey(generation, 0))
  return { generation, segment: decodeRecord<SegmentRecord>(stored!) }
}

/** Counts durable writes. */
function counting(backend: Backend) {
  const counted = {
    writes: 0,
    shared: backend.shared,
    open: async (...name: Parameters<Backend['open']>) => {
      const storage = await backend.open(...name)
      return Object.assign(Object.create(storage) as typeof storage, {
        get: storage.get.bind(storage),
        getBytes: storage.getBytes.bind(storage),
        getMany: storage.getMany.bind(storage),
        scan: storage.scan.bind(storage),
        close: storage.close.bind(storage),
        write: (...write: Parameters<typeof storage.write>) => {
          if (write[1]?.durable === true) counted.writes++
          return storage.write(...write)
        },
      })
    },
    close: () => backend.close(),
    [Symbol.asyncDispose]: () => backend.close(),
  }
  return counted
}
