// Everything that the verifier of cores can find, each from the smallest damage that shows it.

import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import { Cursors } from '../../src/paging.js'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { linksKey, mainKey, vectorKey } from '../../src/graph/index/keys.js'
import { layoutOf, type PartRecord } from '../../src/graph/index/layout.js'
import { PartsBuilder } from '../../src/graph/index/parts-builder.js'
import { encodeKey } from '../../src/keys.js'
import {
  contentKey,
  coreKey,
  formatKey,
  garbageKey,
  garbagePartKey,
  libraryKey,
  retiredKey,
  segmentKey,
  sliceKey,
  smallKey,
  stagedKey,
  waitingKey,
  type CoreRecord,
  type LibraryRecord,
  type SegmentRecord,
  type WaitingRecord,
} from '../../src/knowledge/records.js'
import { openKnowledgeStore } from '../../src/knowledge/store.js'
import { verifyKnowledge } from '../../src/knowledge/verify.js'
import type { Operation } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import type { Report } from '../../src/verify/report.js'
import { bigStream, slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { expectFound, flipped, linesOf, recordIn, type Damage } from './changes.js'

const user = 'u'
const noCounts = { bytes: 0, messages: 0, triples: 0, entities: 0, vectors: 0 }
const emptyDigest = createHash('sha256').digest('hex')

function vectorsMessage(collection = 'default', entities = 30): CoreMessage {
  const m = { i: 'i', m: [], u: user, c: collection }
  const e = Array.from({ length: entities }, (_, n) => ({
    e: { v: `http://example.org/ö/${n}`, e: true },
    v: [
      [Math.sin(n), Math.cos(n), 0.5],
      [n, 1],
    ],
  }))
  return ['ge', { m, e }]
}

async function opened() {
  const backend = new MemoryBackend()
  const [cores, slices] = [await backend.open('cores'), await backend.open('slices')]
  const knowledge = await openKnowledgeStore({
    cores,
    slices,
    isAlone: true,
    cursors: new Cursors(() => ''),
    onError: () => {},
    indexCacheBytes: 1024 * 1024,
    vectorCacheBytes: 1024 * 1024,
    minLinked: 20,
    embedder: () => [],
    isOffline: false,
  })
  const verify = (report: Report) => verifyKnowledge({ cores, slices }, report)
  return { cores, slices, knowledge, verify }
}

/**
 * All segments in slices, or those of `make` inline.
 * The core `a`: a segment of these messages, one of vectors, an index of both with links, and a segment
 * that waits. The core `b`: one segment, indexed. The core `empty`. A core that was indexed, and is gone.
 */
async function filled(messages: Iterable<Uint8Array>, make = slicedMessage) {
  const { cores, slices, knowledge, verify } = await opened()
  const vectors = [vectorsMessage(), vectorsMessage('other', 25), make('of vectors')]
  await knowledge.import({ user, id: 'a' }, messages)
  await knowledge.write({ user, id: 'a' }, vectors)
  await knowledge.index({ user, id: 'a' })
  await knowledge.write({ user, id: 'a' }, [make('of a')])
  await knowledge.write({ user, id: 'b' }, [make('of b')])
  await knowledge.index({ user, id: 'b' })
  await knowledge.write({ user, id: 'empty' }, [])
  await knowledge.write({ user, id: 'gone' }, [make('of gone')])
  await knowledge.index({ user, id: 'gone' })
  const gone = await recordIn<CoreRecord>(cores, coreKey({ user, id: 'gone' }))
  await knowledge.delete({ user, id: 'gone' })
  while ((await cores.get(garbageKey(gone.generation))) !== undefined) await turn()
  const a = await recordIn<CoreRecord>(cores, coreKey({ user, id: 'a' }))
  const b = await recordIn<CoreRecord>(cores, coreKey({ user, id: 'b' }))
  const segment = (core: CoreRecord, n: number) =>
    recordIn<SegmentRecord>(cores, segmentKey(core.generation, n))
  const segments = [await segment(a, 0), await segment(a, 1), await segment(a, 2)] as const
  const ofB = await segment(b, 0)
  const library = await recordIn<LibraryRecord>(cores, libraryKey(user))
  const { parts } = library
  const [index, indexOfB, indexOfGone] = [...new Set(parts.map(({ id }) => id))]
  const waiting = await recordIn<WaitingRecord>(cores, waitingKey(user, a.generation, 2))
  const labels = new Map([
    [a.generation, 'A'],
    [b.generation, 'B'],
    [gone.generation, 'GONE'],
    ...segments.map(({ id }, n) => [id, `a${n}`] as const),
    ...segments.map(({ digest }, n) => [digest, `digest${n}`] as const),
    [ofB.id, 'b0'],
    [index!, 'ai'],
    [indexOfB!, 'bi'],
    [indexOfGone!, 'gi'],
  ])
  const key = {
    a: coreKey({ user, id: 'a' }),
    b: coreKey({ user, id: 'b' }),
    segment: (n: number) => segmentKey(a.generation, n),
    library: libraryKey(user),
    waiting: waitingKey(user, a.generation, 2),
  }
  return { cores, slices, verify, labels, key, a, b, gone, segments, ofB, library, waiting }
}

type Filled = Awaited<ReturnType<typeof filled>>

function test(
  name: string,
  damagesOf: (store: Filled) => readonly Damage[] | Promise<Damage[]>,
  messages: Iterable<Uint8Array> = [encodeMessage(slicedMessage('first'))],
  make = slicedMessage,
) {
  t.test(name, async (t) => {
    const store = await filled(messages, make)
    await expectFound(t, store.verify, store.labels, await damagesOf(store))
  })
}

t.test('nothing is wrong with an empty place, and with cores that come and go', async (t) => {
  const { cores, slices, knowledge, verify } = await opened()
  const empty = new MemoryBackend()
  const nothing = { cores: await empty.open('cores'), slices: await empty.open('slices') }
  for (const deep of [false, true]) {
    t.strictSame(await linesOf((report) => verifyKnowledge(nothing, report), deep), [])
    t.strictSame(await linesOf(verify, deep), [], 'opened')
  }
  const ref = { user: 'ü "x"', id: 'näme\u0000 ☃' }
  await knowledge.write(ref, [triplesMessage('1')], { index: true })
  await knowledge.write(ref, [triplesMessage('2')], { index: true })
  await knowledge.write(ref, [vectorsMessage()])
  await knowledge.index(ref)
  await knowledge.write(ref, [triplesMessage('3'), vectorsMessage()], { mode: 'replace' })
  await knowledge.write(ref, [triplesMessage('4')], { index: true })
  await knowledge.write({ user, id: 'gone' }, [triplesMessage('5')], { index: true })
  await knowledge.delete({ user, id: 'gone' })
  for (const deep of [false, true]) {
    const found = await linesOf(verify, deep)
    t.strictSame(
      found.filter((line) => !line.startsWith('leftover ("garbage", ')),
      [],
    )
  }
  await knowledge.close(0)
  for await (const page of cores.scan({ keysOnly: true })) t.ok(page.length > 0)
  for await (const page of slices.scan({ keysOnly: true })) t.ok(page.length > 0)
})

test('keys of no kind, and the format', ({ cores, slices }) => {
  const unknown = 'a key of no kind'
  const one = new Uint8Array(0)
  return [
    ...[
      ['strange', 's'],
      ['core', 'u'],
      ['core', 'u', 'x', 'y'],
      ['segment', 'g', 'x'],
      ['small', 'g', 'x'],
      ['staged', 5],
      ['garbage'],
      ['library', 5],
      ['waiting', 'u', 'g'],
      ['waiting', 'u', 'g', 'x'],
      ['retired', 'u'],
      ['garbage-part', 'x'],
      ['content', 'g', 5],
      ['format', 'x'],
    ].map((elements) => {
      const key = encodeKey(...elements)
      const text = `(${elements.map((one) => JSON.stringify(one)).join(', ')})`
      const [kind] = elements as [string]
      return {
        of: text,
        changes: [[cores, key, kind === 'strange' ? one : { state: 'importing' }] as const],
        found: [`unknown ${text}: ${unknown}`],
      }
    }),
    {
      of: 'a key that is no tuple',
      changes: [[cores, Buffer.from('zzz'), one]],
      found: [`unknown 7a7a7a: ${unknown}`],
    },
    {
      of: 'slices of no kind',
      changes: [
        [slices, encodeKey('x'), one],
        [slices, encodeKey('x', 'y'), one],
        [slices, encodeKey(5, 6), one],
        [slices, Buffer.from('zzz'), one],
      ],
      found: ['("x")', '("x", "y")', '(5, 6)', '7a7a7a'].map((key) => `unknown ${key}: ${unknown}`),
    },
    {
      of: 'no format',
      changes: [[cores, formatKey(), undefined]],
      found: ['missing ("format"): says what format the data is of'],
    },
    {
      of: 'another format',
      changes: [[cores, formatKey(), { version: 1 }]],
      found: ['different ("format"): format 1; this version reads 3'],
    },
    {
      of: 'a format that is no record',
      changes: [[cores, formatKey(), Buffer.from('5')]],
      found: ['damaged ("format"): the record is no object'],
    },
    {
      of: 'a format that is not JSON',
      changes: [[cores, formatKey(), Buffer.from('{')]],
      found: ['damaged ("format"): stored data is damaged: a record is not JSON'],
    },
  ]
})

test('a record of a core that is none', ({ cores, key, a }) => {
  const wrong: Partial<Record<keyof CoreRecord, unknown>>[] = [
    { user: 'v' },
    { id: 'b' },
    { segments: -1 },
    { segments: 1.5 },
    { segments: '3' },
    { bytes: -1 },
    { messages: null },
    { triples: 1e300 },
    { entities: '5' },
    { vectors: undefined },
    { digest: 'x' },
    { digest: `${a.digest}0` },
    { digest: `0${a.digest}` },
    { digest: null },
    { createdAt: 'never' },
    { createdAt: 5 },
    { updatedAt: 'never' },
  ]
  return wrong.map((fields) => ({
    of: JSON.stringify(fields),
    changes: [[cores, key.a, { ...a, ...fields }]],
    found: ['damaged ("core", "u", "a"): it is not the record of this core'],
  }))
})

test('a core whose generation is not known has nothing', ({ cores, key, a, segments }) => {
  const digests = segments.map(({ digest }) => digest)
  const firstContent = digests.indexOf([...digests].sort()[0]!)
  const nobody = 'no core has that generation'
  return [{ ...a, generation: 5 }, undefined].map((record) => ({
    of: 'a core without a generation',
    changes: [[cores, key.a, record]],
    found: [
      ...(record ? ['damaged ("core", "u", "a"): it is not the record of this core'] : []),
      `unreferenced ("segment", "A", 0): ${nobody}`,
      `unreferenced ("waiting", "u", "A", 2): no core of 'u' has that generation`,
      `different ("library", "u"): it has something of core 'a' of 'u' in generation 'A', which that user neither has nor gave up`,
      // Of each kind the first.
      `unreferenced ("content", "A", "digest${firstContent}"): ${nobody}`,
    ],
  }))
})

test('segments that are gone, too many, or no records', ({ cores, key, segments, a }) => {
  const whose = "of core 'a' of 'u'"
  const count = `${whose}, which has 3 segments`
  const nobody = 'and what comes behind it under that name: no segment and no index has it'
  const wrong: Partial<Record<keyof SegmentRecord, unknown>>[] = [
    { slices: -1 },
    { slices: 3 },
    { slices: '2' },
    { bytes: -1 },
    { bytes: 1024 * 1024 + 1 },
    { messages: -1 },
    { triples: 0.5 },
    { entities: null },
    { vectors: undefined },
    { digest: 'x' },
    { createdAt: 'never' },
    { createdAt: 5 },
  ]
  return [
    ...segments.map((_, n) => ({
      of: `segment ${n} is gone`,
      changes: [[cores, key.segment(n), undefined] as const],
      found: [`missing ("segment", "A", ${n}): ${count}`, `unreferenced ("a${n}", 0): ${nobody}`],
    })),
    {
      of: 'one too many',
      changes: [[cores, key.segment(3), { ...segments[2], id: 'other' }]],
      found: [`unreferenced ("segment", "A", 3): ${count}`],
    },
    {
      of: 'one less in the record of the core',
      changes: [[cores, key.a, { ...a, segments: 2 }]],
      found: [
        `unreferenced ("segment", "A", 2): ${whose}, which has 2 segments`,
        `unreferenced ("content", "A"): ${whose}: 3 of them for 2 segments`,
        `unreferenced ("waiting", "u", "A", 2): ${whose}, which has 2 segments`,
        `different ("core", "u", "a"): its digest is not that of its segments`,
        ...(['bytes', 'messages', 'triples'] as const).map((name) => {
          const sum = segments[0][name] + segments[1][name]
          return `different ("core", "u", "a"): counts ${a[name]} ${name}; its segments have ${sum}`
        }),
      ],
    },
    ...wrong.map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[cores, key.segment(0), { ...segments[0], ...fields }] as const],
      found: ['damaged ("segment", "A", 0): it is not the record of a segment'],
    })),
    {
      of: 'one without a name',
      changes: [[cores, key.segment(2), { ...segments[2], id: 5 }]],
      found: [
        'damaged ("segment", "A", 2): it is not the record of a segment',
        `unreferenced ("a2", 0): ${nobody}`,
      ],
    },
    {
      of: 'one that is not JSON',
      changes: [[cores, key.segment(2), Buffer.from('x')]],
      found: [
        'damaged ("segment", "A", 2): stored data is damaged: a record is not JSON',
        `unreferenced ("a2", 0): ${nobody}`,
      ],
    },
  ]
})

test('contents that are gone, or of no segment', ({ cores, a, segments }) => {
  const nothing = new Uint8Array(0)
  const gone = `missing ("content", "A", "digest1"): for a segment of core 'a' of 'u'`
  const more = `unreferenced ("content", "A"): of core 'a' of 'u': 4 of them for 3 segments`
  return [
    {
      of: 'gone',
      changes: [[cores, contentKey(a.generation, segments[1].digest), undefined]],
      found: [gone],
    },
    {
      of: 'too many',
      changes: [[cores, contentKey(a.generation, 'x'), nothing]],
      found: [more],
    },
  ]
})

test('what a core says of its segments', ({ cores, key, a, b }) => [
  ...(['bytes', 'messages', 'triples', 'entities', 'vectors'] as const).map((name) => ({
    of: name,
    changes: [[cores, key.a, { ...a, [name]: a[name] + 1 }] as const],
    found: [
      `different ("core", "u", "a"): counts ${a[name] + 1} ${name}; its segments have ${a[name]}`,
    ],
  })),
  ...([a, b] as const).map((core) => ({
    of: 'the digest',
    changes: [[cores, coreKey(core), { ...core, digest: emptyDigest }] as const],
    found: [`different ("core", "u", "${core.id}"): its digest is not that of its segments`],
  })),
  {
    of: 'the digest of none',
    changes: [
      [
        cores,
        coreKey({ user, id: 'none' }),
        { ...b, id: 'none', segments: 0, ...noCounts, generation: 'g' },
      ],
    ],
    found: ['different ("core", "u", "none"): its digest is not that of its segments'],
  },
])

test(
  'slices',
  ({ cores, slices, key, a, b, segments, ofB }) => {
    const whose = `("segment", "A", 0) of core 'a' of 'u'`
    const [first] = segments
    const last = first.bytes - 1024 * 1024
    const full = new Uint8Array(1024 * 1024)
    const digest = createHash('sha256').update(new Uint8Array(ofB.bytes)).digest('hex')
    const keyOfB = segmentKey(b.generation, 0)
    return [
      ...[0, 1].map((n) => ({
        of: `slice ${n} is gone`,
        changes: [[slices, sliceKey(first.id, n), undefined] as const],
        found: [`missing ("a0", ${n}): ${whose}`],
      })),
      {
        of: 'one too many',
        changes: [[slices, sliceKey(first.id, 2), full]],
        found: [`unreferenced ("a0", 2): ${whose}, which does not have it`],
      },
      {
        of: 'a first one that is too short',
        changes: [[slices, sliceKey(first.id, 0), full.subarray(1)]],
        found: [],
        deep: [`different ("a0", 0): ${whose}: has 1048575 bytes, not 1048576`],
      },
      {
        of: 'a last one that is too short',
        changes: [[slices, sliceKey(first.id, 1), new Uint8Array(last - 1)]],
        found: [],
        deep: [`different ("a0", 1): ${whose}: has ${last - 1} bytes, not ${last}`],
      },
      {
        of: 'other bytes',
        changes: [[slices, sliceKey(first.id, 1), new Uint8Array(last)]],
        found: [],
        deep: [
          `different ("segment", "A", 0): of core 'a' of 'u': its bytes are not those of its digest`,
        ],
      },
      {
        of: 'no messages, of the right digest',
        changes: [
          [slices, sliceKey(ofB.id, 0), new Uint8Array(ofB.bytes)],
          [cores, keyOfB, { ...ofB, digest }],
          [cores, key.b, { ...b, digest }],
          [cores, contentKey(b.generation, ofB.digest), undefined],
          [cores, contentKey(b.generation, digest), new Uint8Array(0)],
        ],
        found: [],
        deep: [
          `different ("segment", "B", 0): of core 'b' of 'u': not a valid core stream: message 0, byte 0: expected a message (an array of a type string and a map), found an integer`,
        ],
      },
      ...(['messages', 'triples', 'entities', 'vectors'] as const).map((name) => ({
        of: `another count of ${name}`,
        changes: [
          [cores, key.segment(1), { ...segments[1], [name]: segments[1][name] + 1 }],
          [cores, key.a, { ...a, [name]: a[name] + 1 }],
        ] as const,
        found: [],
        deep: [
          `different ("segment", "A", 1): of core 'a' of 'u': counts ${segments[1][name] + 1} ${name}; there are ${segments[1][name]}`,
        ],
      })),
    ]
  },
  bigStream('a', 1, encodeMessage),
)

test(
  'bytes that lie inline',
  ({ cores, key, a, b, segments, ofB }) => {
    const whose = "of core 'a' of 'u'"
    const [first, second] = segments
    const small = (n: number) => smallKey(a.generation, n)
    const nobody = `${whose}: no segment has its bytes there`
    const noRecord = (n: number) => [
      `damaged ("segment", "A", ${n}): it is not the record of a segment`,
      `unreferenced ("small", "A", ${n}): ${nobody}`,
    ]
    const wrong: Partial<Record<keyof SegmentRecord, unknown>>[] = [
      { inline: 'packed' },
      { inline: true },
      { slices: 1 },
      { bytes: 0 },
      { bytes: 1024 * 1024 + 1 },
      { inline: 'plain', bytes: 64 * 1024 + 1 },
    ]
    const other = new Uint8Array(ofB.bytes)
    const digest = createHash('sha256').update(other).digest('hex')
    const noInflating = (n: number) =>
      `damaged ("small", "A", ${n}): ${whose}: stored data is damaged: what is stored inline does not inflate to the ${segments[n]?.bytes} bytes of a segment`
    return [
      ...[0, 1, 2].map((n) => ({
        of: `those of segment ${n} are gone`,
        changes: [[cores, small(n), undefined] as const],
        found: [`missing ("small", "A", ${n}): the bytes of a segment ${whose}`],
      })),
      {
        of: 'more than there are segments',
        changes: [[cores, small(3), other]],
        found: [`unreferenced ("small", "A", 3): ${nobody}`],
      },
      {
        of: 'those of a segment that is gone',
        changes: [[cores, key.segment(1), undefined]],
        found: [
          `missing ("segment", "A", 1): ${whose}, which has 3 segments`,
          `unreferenced ("small", "A", 1): ${nobody}`,
        ],
      },
      ...wrong.map((fields) => ({
        of: JSON.stringify(fields),
        changes: [[cores, key.segment(0), { ...first, ...fields }] as const],
        found: noRecord(0),
      })),
      {
        of: 'no deflated bytes',
        changes: [[cores, small(1), Buffer.alloc(50, 0xff)]],
        found: [],
        deep: [noInflating(1)],
      },
      {
        of: '64 MiB of zeros',
        changes: [[cores, small(1), deflateRawSync(new Uint8Array(64 * 1024 * 1024))]],
        found: [],
        deep: [noInflating(1)],
      },
      {
        of: 'fewer bytes',
        changes: [[cores, small(1), deflateRawSync(new Uint8Array(second.bytes - 1))]],
        found: [],
        deep: [
          `damaged ("small", "A", 1): ${whose}: stored data is damaged: ${second.bytes - 1} bytes of a segment of ${second.bytes} are stored inline`,
        ],
      },
      {
        of: 'other bytes',
        changes: [[cores, small(1), deflateRawSync(new Uint8Array(second.bytes))]],
        found: [],
        deep: [`different ("segment", "A", 1): ${whose}: its bytes are not those of its digest`],
      },
      {
        of: 'no messages, of the right digest',
        changes: [
          [cores, smallKey(b.generation, 0), other],
          [cores, segmentKey(b.generation, 0), { ...ofB, digest }],
          [cores, key.b, { ...b, digest }],
          [cores, contentKey(b.generation, ofB.digest), undefined],
          [cores, contentKey(b.generation, digest), new Uint8Array(0)],
        ],
        found: [],
        deep: [
          `different ("segment", "B", 0): of core 'b' of 'u': not a valid core stream: message 0, byte 0: expected a message (an array of a type string and a map), found an integer`,
        ],
      },
      ...(['messages', 'triples', 'entities', 'vectors'] as const).map((name) => ({
        of: `another count of ${name}`,
        changes: [
          [cores, key.segment(1), { ...second, [name]: second[name] + 1 }],
          [cores, key.a, { ...a, [name]: a[name] + 1 }],
        ] as const,
        found: [],
        deep: [
          `different ("segment", "A", 1): ${whose}: counts ${second[name] + 1} ${name}; there are ${second[name]}`,
        ],
      })),
    ]
  },
  [encodeMessage(triplesMessage('first', 40))],
  triplesMessage,
)

const ofIndex = `of the index of 'u'`
const noIndex = 'it is not the record of an index'
/** The first key of each part. */
const partKeys = [
  '("ai", 0, 0, 0)',
  '("ai", 1, 0, 0)',
  '("ai", 2, 0, 0)',
  '("bi", 0, 0, 0)',
  '("gi", 0, 0, 0)',
]
const unnamed = (key: string) =>
  `unreferenced ${key}: and what comes behind it under that name: no segment and no index has it`

/** The part of triples, and those of vectors of 2 and 3 numbers. */
function partsOf({ library: { parts } }: Filled) {
  const ofLength = (length: number) => parts.find(({ vectors }) => vectors?.dimensions === length)!
  return { triples: parts[0]!, short: ofLength(2), long: ofLength(3), ofB: parts[3]! }
}

/** The record with some members of a part changed. */
function withPart({ library: { parts } }: Filled, part: PartRecord, fields: object): object {
  return { parts: parts.map((one) => (one === part ? { ...one, ...fields } : one)) }
}

test('the record of an index', (store) => {
  const { cores, key, library } = store
  const { triples, long } = partsOf(store)
  const part = (fields: object) => withPart(store, triples, fields)
  const vectors = (fields: object) =>
    withPart(store, long, { vectors: { ...long.vectors, ...fields } })
  const wrong: object[] = [
    ...['terms', 'termWords', 'sources', 'places', 'triples', 'lists', 'placeRows'].flatMap(
      (name) => [-1, null, 0.5, '5', 2 ** 32].map((value) => part({ [name]: value })),
    ),
    part({ hasGraphs: 1 }),
    part({ triples: 0 }),
    part({ values: null }),
    part({ values: {} }),
    part({ vectors: null }),
    part({ vectors: long.vectors }),
    vectors({ dimensions: 0 }),
    vectors({ count: null }),
    vectors({ links: 0.5 }),
  ]
  const nothing = (id: string, count: number) =>
    `different ("library", "u"): of core '${id}' of 'u': it has nothing of ${count} segments that do not wait`
  return [
    ...wrong.map((record) => ({
      of: JSON.stringify(record),
      changes: [[cores, key.library, record] as const],
      found: [`damaged ("library", "u"): ${noIndex}`],
    })),
    ...[{ id: 5 }, { number: -1 }, { number: null }].map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[cores, key.library, part(fields)] as const],
      found: [`damaged ("library", "u"): ${noIndex}`, unnamed('("ai", 0, 0, 0)')],
    })),
    ...[{}, { parts: {} }, { parts: [null] }].map((record) => ({
      of: JSON.stringify(record),
      changes: [[cores, key.library, record] as const],
      found: [`damaged ("library", "u"): ${noIndex}`, ...partKeys.map(unnamed)],
    })),
    {
      of: 'not JSON',
      changes: [[cores, key.library, Buffer.from('x')]],
      found: [
        'damaged ("library", "u"): stored data is damaged: a record is not JSON',
        ...partKeys.map(unnamed),
      ],
    },
    {
      of: 'gone',
      changes: [[cores, key.library, undefined]],
      found: [nothing('a', 2), nothing('b', 1), ...partKeys.map(unnamed)],
    },
    {
      of: 'a part less',
      changes: [[cores, key.library, { parts: library.parts.filter((_, n) => n !== 3) }]],
      found: [nothing('b', 1), unnamed('("bi", 0, 0, 0)')],
    },
    {
      of: 'a part twice',
      changes: [[cores, key.library, { parts: [...library.parts, library.parts[3]] }]],
      found: [`duplicate ("library", "u"): a part is named twice, 'bi/0'`],
    },
    {
      of: 'a part of two users',
      changes: [[cores, libraryKey('v'), { parts: [library.parts[3]] }]],
      found: [
        ...['u', 'v'].map(
          (name) => `duplicate ("library", "${name}"): a part is named twice, 'bi/0'`,
        ),
        `different ("library", "v"): it has something of core 'b' of 'v' in generation 'B', which that user neither has nor gave up`,
      ],
    },
    {
      of: 'of nobody, and empty',
      changes: [[cores, libraryKey('v'), { parts: [] }]],
      found: [],
    },
  ]
})

test('blocks of parts', async (store) => {
  const { slices, key, cores } = store
  const { triples, short, long } = partsOf(store)
  const name = (part: PartRecord) => `"ai", ${part.number}`
  const blocks = [
    [`${name(triples)}, 0, 0`, mainKey(triples, 0)],
    [`${name(short)}, 0, 0`, mainKey(short, 0)],
    [`${name(short)}, 1, 0`, vectorKey(short, 0)],
    [`${name(short)}, 2, 0`, linksKey(short, 0)],
    [`${name(long)}, 1, 0`, vectorKey(long, 0)],
  ] as const
  const more = [
    [`${name(triples)}, 0, 9`, mainKey(triples, 9)],
    [`${name(triples)}, 1, 0`, vectorKey(triples, 0)],
    [`${name(short)}, 1, 1`, vectorKey(short, 1)],
    [`${name(long)}, 2, 9`, linksKey(long, 9)],
  ] as const
  const links = (value: number) =>
    withPart(store, long, { vectors: { ...long.vectors, links: value } })
  const damages: Damage[] = [
    ...blocks.map(([text, block]) => ({
      of: `${text} is gone`,
      changes: [[slices, block, undefined] as const],
      found: [`missing (${text}): ${ofIndex}`],
    })),
    ...more.map(([text, block]) => ({
      of: `${text} is too many`,
      changes: [[slices, block, new Uint8Array(5)] as const],
      found: [`unreferenced (${text}): ${ofIndex}, which does not have it`],
    })),
    {
      of: 'one of a part that nobody has',
      changes: [[slices, mainKey({ id: triples.id, number: 9 }, 0), new Uint8Array(5)]],
      found: [unnamed('("ai", 9, 0, 0)')],
    },
    {
      of: 'no links where some are stored',
      changes: [[cores, key.library, links(0)]],
      found: [`unreferenced (${name(long)}, 2, 0): ${ofIndex}, which does not have it`],
    },
    {
      of: 'fewer bytes of links',
      changes: [[cores, key.library, links(long.vectors!.links - 1)]],
      found: [],
      deep: [
        `damaged ("library", "u"): part 'ai/${long.number}': stored data is damaged: these are not the links of 55 vectors of 3`,
      ],
    },
  ]
  return damages
})

test('what parts say', async (store) => {
  const { cores, slices, key, a, b } = store
  const { triples, short, long, ofB } = partsOf(store)
  const different = (id: string, message: string) =>
    `different ("library", "u"): of core '${id}' of 'u': ${message}`
  const wrongTriples = (id: string) =>
    different(id, `its triples in the collection 'default' are not those of its segments`)
  const block = async (part: PartRecord, at: number) =>
    flipped((await slices.get(mainKey(part, 0)))!, at)
  const layout = layoutOf(triples)
  const damages: Damage[] = []
  for (const section of ['posStarts', 'pos', 'ospStarts', 'osp', 'placeRows'] as const) {
    damages.push({
      of: section,
      changes: [[slices, mainKey(triples, 0), await block(triples, layout[section])]],
      found: [],
      deep: [
        `different ("ai", ${triples.number}, 0, 0): ${ofIndex}: is not what the rest of its part gives`,
      ],
    })
  }
  // Of other messages, as a part that is whole.
  const other = async (
    messages: readonly CoreMessage[],
    source = { generation: b.generation, core: 'b' },
  ) => {
    const values: [Uint8Array, Uint8Array][] = []
    const storage = {
      get: async () => undefined,
      write: async (operations: readonly Operation[]) => {
        for (const operation of operations) {
          if (operation.type === 'put')
            values.push([operation.key, new Uint8Array(operation.value)])
        }
      },
    }
    const builder = new PartsBuilder(storage, ofB.id, source)
    for (const message of messages) builder.push(encodeMessage(message))
    const [record] = await builder.finish()
    return [
      [cores, key.library, withPart(store, ofB, record!)] as const,
      ...values.map(([key, value]) => [slices, key, value] as const),
    ]
  }
  const [type, data] = slicedMessage('of b') as Extract<CoreMessage, readonly ['t', unknown]>
  const changed = (fields: object, of: object = {}) =>
    [type, { ...data, ...of, m: { ...data.m, ...fields } }] as CoreMessage
  damages.push(
    {
      of: 'a triple more',
      changes: await other([slicedMessage('of b'), triplesMessage('more', 1)]),
      found: [],
      deep: [wrongTriples('b')],
    },
    {
      of: 'another triple',
      changes: await other([slicedMessage('of c')]),
      found: [],
      deep: [wrongTriples('b')],
    },
    {
      of: 'another collection',
      changes: await other([changed({ c: 'x' })]),
      found: [],
      deep: [wrongTriples('b')],
    },
    {
      of: 'a graph',
      changes: await other([
        changed({}, { t: data.t.map((triple) => ({ ...triple, g: 'http://example.org/g' })) }),
      ]),
      found: [],
      deep: [wrongTriples('b')],
    },
    {
      of: 'another core',
      changes: await other([slicedMessage('of b')], { generation: b.generation, core: 'x' }),
      found: [different('b', `it calls it 'x'`)],
    },
    {
      of: 'a generation of nobody',
      changes: await other([slicedMessage('of b')], { generation: 'f'.repeat(32), core: 'b' }),
      found: [
        `different ("library", "u"): it has something of core 'b' of 'u' in generation '${'f'.repeat(32)}', which that user neither has nor gave up`,
      ],
    },
  )
  for (const part of [short, long]) {
    const vectors = (await slices.get(vectorKey(part, 0)))!
    damages.push({
      of: `another vector of ${part.vectors!.dimensions}`,
      changes: [[slices, vectorKey(part, 0), flipped(vectors, vectors.length - 4)]],
      found: [],
      deep: [different('a', `its vectors in the collection 'other' are not those of its segments`)],
    })
  }
  damages.push({
    of: 'a segment that waits, and is indexed',
    changes: [
      [
        cores,
        waitingKey(user, a.generation, 1),
        { core: 'a', bytes: store.segments[1].bytes, isSoon: false },
      ],
    ],
    found: [],
    deep: [wrongTriples('a')],
  })
  return damages
})

test('what waits, and what was given up', ({ cores, key, a, b, gone, waiting, segments, ofB }) => {
  const whose = "of core 'a' of 'u'"
  const nothing = new Uint8Array(0)
  const ofSegment = (n: number) => ({ ...waiting, bytes: segments[n]!.bytes })
  const wrong: object[] = [
    { core: 5 },
    { core: null },
    { bytes: -1 },
    { bytes: '5' },
    { isSoon: 1 },
  ]
  const nobody = (name: string) => `no core of '${name}' has that generation`
  return [
    ...wrong.map((fields) => ({
      of: JSON.stringify(fields),
      changes: [[cores, key.waiting, { ...waiting, ...fields }] as const],
      found: ['damaged ("waiting", "u", "A", 2): it does not say what waits'],
    })),
    {
      of: 'not JSON',
      changes: [[cores, key.waiting, Buffer.from('x')]],
      found: ['damaged ("waiting", "u", "A", 2): stored data is damaged: a record is not JSON'],
    },
    {
      of: 'another core',
      changes: [[cores, key.waiting, { ...waiting, core: 'b' }]],
      found: [`different ("waiting", "u", "A", 2): ${whose}: says 'b'`],
    },
    {
      of: 'another length',
      changes: [[cores, key.waiting, { ...waiting, bytes: waiting.bytes + 1 }]],
      found: [
        `different ("waiting", "u", "A", 2): ${whose}: says ${waiting.bytes + 1} bytes; there are ${waiting.bytes}`,
      ],
    },
    {
      of: 'a segment that nothing has, of several',
      changes: [[cores, key.waiting, undefined]],
      found: [],
      deep: [
        `different ("library", "u"): ${whose}: its triples in the collection 'default' are not those of its segments`,
      ],
    },
    {
      of: 'all segments of a core, of which there is something',
      changes: [0, 1].map((n) => [cores, waitingKey(user, a.generation, n), ofSegment(n)] as const),
      found: [`different ("library", "u"): ${whose}: it has something of segments that wait`],
    },
    {
      of: 'no segment',
      changes: [[cores, waitingKey(user, a.generation, 3), waiting]],
      found: [`unreferenced ("waiting", "u", "A", 3): ${whose}, which has 3 segments`],
    },
    {
      of: 'no core',
      changes: [
        [cores, waitingKey(user, 'x', 0), waiting],
        [cores, waitingKey(user, 'x', 1), waiting],
      ],
      found: [`unreferenced ("waiting", "u", "x", 0): ${nobody('u')}`],
    },
    {
      of: 'the core of another user',
      changes: [
        [cores, waitingKey('v', b.generation, 0), { ...waiting, core: 'b', bytes: ofB.bytes }],
      ],
      found: [`unreferenced ("waiting", "v", "B", 0): ${nobody('v')}`],
    },
    {
      of: 'a generation that a core has, given up',
      changes: [[cores, retiredKey(user, b.generation), nothing]],
      found: ['different ("retired", "u", "B"): a core has that generation'],
    },
    {
      of: 'one that was given up, and it is not known',
      changes: [[cores, retiredKey(user, gone.generation), undefined]],
      found: [
        `different ("library", "u"): it has something of core 'gone' of 'u' in generation 'GONE', which that user neither has nor gave up`,
      ],
    },
    {
      of: 'one that no part has anything of',
      changes: [[cores, retiredKey(user, 'x'), nothing]],
      found: [],
    },
  ]
})

test('what nobody names, or two do', ({ cores, slices, key, a, b, segments, ofB, library }) => {
  const nothing = new Uint8Array(0)
  const nobody = 'no core has that generation'
  const twice = (field: string, name: string) => `another record has its ${field}, '${name}', too`
  const shared = [
    `duplicate ("segment", "A", 2): ${twice('id', 'a2')}`,
    `duplicate ("segment", "B", 0): ${twice('id', 'a2')}`,
    `unreferenced ("b0", 0): and what comes behind it under that name: no segment and no index has it`,
  ]
  const staged = (id: string, state: unknown) => [[cores, stagedKey(id), { state }] as const]
  return [
    {
      of: 'segments and contents of no core',
      changes: [
        [cores, segmentKey('x', 0), { ...ofB, id: 'y' }],
        [cores, segmentKey('x', 1), { ...ofB, id: 'z' }],
        [cores, smallKey('x', 1), nothing],
        [cores, smallKey('x', 2), nothing],
        [cores, contentKey('x', 'd'), nothing],
      ],
      found: ['("segment", "x", 0)', '("small", "x", 1)', '("content", "x", "d")'].map(
        (key) => `unreferenced ${key}: ${nobody}`,
      ),
    },
    {
      of: 'those of a core that was deleted',
      changes: [
        [cores, segmentKey('x', 0), { ...ofB, id: 'y' }],
        [cores, smallKey('x', 0), nothing],
        [cores, contentKey('x', 'd'), nothing],
        [cores, garbageKey('x'), nothing],
      ],
      found: ['leftover ("garbage", "x"): a core that was replaced or deleted'],
    },
    {
      of: 'a generation that a core has, among the deleted ones',
      changes: [[cores, garbageKey(a.generation), nothing]],
      found: ['different ("garbage", "A"): a core has that generation'],
    },
    {
      of: 'slices on their way',
      changes: [
        ...staged('x', 'importing'),
        ...staged('y', 'discarded'),
        [slices, sliceKey('x', 0), nothing],
      ],
      found: ['x', 'y'].map(
        (id) => `leftover ("staged", "${id}"): a segment or an index on its way`,
      ),
    },
    {
      of: 'slices on their way, nobody knows where to',
      changes: [
        ...staged('x', 'y'),
        ...staged('y', undefined),
        [slices, sliceKey('x', 0), nothing],
      ],
      found: ['x', 'y'].map(
        (id) => `damaged ("staged", "${id}"): it does not say what becomes of it`,
      ),
    },
    {
      of: 'a segment that is on its way and in a core',
      changes: staged(ofB.id, 'importing'),
      found: ['different ("staged", "b0"): a core has it, and opening would delete it'],
    },
    {
      of: 'parts that are on their way and in an index',
      changes: staged(library.parts[3]!.id, 'importing'),
      found: ['different ("staged", "bi"): an index has it, and opening would delete it'],
    },
    {
      of: 'a part that is to be deleted, and in an index',
      changes: [[cores, garbagePartKey(library.parts[0]!), nothing]],
      found: ['different ("garbage-part", "ai", 0): an index has it, and opening would delete it'],
    },
    {
      of: 'parts that are to be deleted',
      changes: [
        [cores, garbagePartKey({ id: 'x', number: 1 }), nothing],
        [slices, mainKey({ id: 'x', number: 1 }, 0), nothing],
        [slices, mainKey({ id: 'x', number: 2 }, 0), nothing],
      ],
      found: [
        'leftover ("garbage-part", "x", 1): a part that was merged',
        unnamed('("x", 2, 0, 0)'),
      ],
    },
    {
      of: 'parts on their way',
      changes: [...staged('x', 'importing'), [slices, mainKey({ id: 'x', number: 1 }, 0), nothing]],
      found: ['leftover ("staged", "x"): a segment or an index on its way'],
    },
    {
      of: 'slices of nobody',
      changes: [
        [slices, sliceKey('x', 0), nothing],
        [slices, sliceKey('x', 1), nothing],
        [slices, sliceKey('y', 1), nothing],
      ],
      found: ['("x", 0)', '("y", 1)'].map(
        (key) =>
          `unreferenced ${key}: and what comes behind it under that name: no segment and no index has it`,
      ),
    },
    {
      of: 'a segment of two cores',
      changes: [
        [cores, segmentKey(b.generation, 0), segments[2]],
        [cores, key.b, { ...b, ...counts(segments[2]), digest: segments[2].digest }],
        [cores, contentKey(b.generation, ofB.digest), undefined],
        [cores, contentKey(b.generation, segments[2].digest), nothing],
      ],
      found: shared,
      deep: [
        `different ("library", "u"): of core 'b' of 'u': its triples in the collection 'default' are not those of its segments`,
      ],
    },
    {
      of: 'a generation of two cores',
      changes: [[cores, coreKey({ user, id: 'c' }), { ...a, id: 'c' }]],
      found: ['a', 'c'].map(
        (id) => `duplicate ("core", "u", "${id}"): ${twice('generation', 'A')}`,
      ),
    },
  ]
})

function counts({ bytes, messages, triples, entities, vectors }: SegmentRecord) {
  return { bytes, messages, triples, entities, vectors }
}
