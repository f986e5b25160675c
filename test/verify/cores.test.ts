// Everything that the verifier of cores can find, each from the smallest damage that shows it.

import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { linksKey, mainKey, vectorKey } from '../../src/graph/index/keys.js'
import { encodeKey } from '../../src/keys.js'
import {
  contentKey,
  coreKey,
  formatKey,
  garbageKey,
  indexKey,
  segmentKey,
  sliceKey,
  smallKey,
  stagedKey,
  type CoreRecord,
  type IndexRecord,
  type SegmentRecord,
} from '../../src/knowledge/records.js'
import { openKnowledgeStore } from '../../src/knowledge/store.js'
import { verifyKnowledge } from '../../src/knowledge/verify.js'
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
    onError: () => {},
    indexCacheBytes: 1024 * 1024,
    vectorCacheBytes: 1024 * 1024,
    minLinked: 20,
    embedder: () => [],
  })
  const verify = (report: Report) => verifyKnowledge({ cores, slices }, report)
  return { cores, slices, knowledge, verify }
}

/**
 * All segments in slices, or those of `make` inline.
 * The core `a`: a segment of these messages, one of vectors, an index of both with links, and a segment
 * without an index. The core `b`: one segment and its index. The core `empty`.
 */
async function filled(messages: Iterable<Uint8Array>, make = slicedMessage) {
  const { cores, slices, knowledge, verify } = await opened()
  const vectors = [vectorsMessage(), vectorsMessage('other', 25), make('of vectors')]
  await knowledge.import({ user, id: 'a' }, messages)
  await knowledge.write({ user, id: 'a' }, vectors)
  await knowledge.index({ user, id: 'a' })
  await knowledge.write({ user, id: 'a' }, [make('of a')])
  await knowledge.write({ user, id: 'b' }, [make('of b')], { index: true })
  await knowledge.write({ user, id: 'empty' }, [])
  const a = await recordIn<CoreRecord>(cores, coreKey({ user, id: 'a' }))
  const b = await recordIn<CoreRecord>(cores, coreKey({ user, id: 'b' }))
  const segment = (core: CoreRecord, n: number) =>
    recordIn<SegmentRecord>(cores, segmentKey(core.generation, n))
  const segments = [await segment(a, 0), await segment(a, 1), await segment(a, 2)] as const
  const ofB = await segment(b, 0)
  const index = await recordIn<IndexRecord>(cores, indexKey(a.generation, 0))
  const indexOfB = await recordIn<IndexRecord>(cores, indexKey(b.generation, 0))
  const labels = new Map([
    [a.generation, 'A'],
    [b.generation, 'B'],
    ...segments.map(({ id }, n) => [id, `a${n}`] as const),
    ...segments.map(({ digest }, n) => [digest, `digest${n}`] as const),
    [ofB.id, 'b0'],
    [index.id, 'ai'],
    [indexOfB.id, 'bi'],
  ])
  const key = {
    a: coreKey({ user, id: 'a' }),
    b: coreKey({ user, id: 'b' }),
    segment: (n: number) => segmentKey(a.generation, n),
    index: indexKey(a.generation, 0),
  }
  return { cores, slices, verify, labels, key, a, b, segments, ofB, index, indexOfB }
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
      ['index', 'g'],
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
      found: ['different ("format"): format 1; this version reads 2'],
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
      `unreferenced ("index", "A", 0): ${nobody}`,
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

test('records of indexes', ({ cores, slices, key, a, index, segments }) => {
  const whose = `of core 'a' of 'u'`
  const [part] = index.parts as [IndexRecord['parts'][0]]
  const parts = (fields: object) => ({ parts: [{ ...part, ...fields }] })
  const file = (fields: object) =>
    parts({ vectors: [{ ...part.vectors[0], ...fields }, part.vectors[1]] })
  const wrong: object[] = [
    { to: -1 },
    { to: null },
    { sourceBytes: -1 },
    { parts: {} },
    parts({ terms: -1 }),
    parts({ termWords: null }),
    parts({ triples: 0.5 }),
    parts({ memberships: '5' }),
    parts({ collection: null }),
    parts({ vectors: {} }),
    file({ dimensions: -1 }),
    file({ count: null }),
    file({ links: 0.5 }),
  ]
  const bytes = segments[0].bytes + segments[1].bytes
  const copy = { ...index, id: 'none', parts: [] }
  const places = (from: number, to: number) =>
    `different ("index", "A", ${from}): ${whose}: of segments ${from} to ${to}; there are 3, and those up to`
  return [
    ...wrong.map((fields) => ({
      of: JSON.stringify(fields).slice(0, 300),
      changes: [[cores, key.index, { ...index, ...fields }] as const],
      found: ['damaged ("index", "A", 0): it is not the record of an index'],
    })),
    {
      of: 'not JSON',
      changes: [[cores, key.index, Buffer.from('x')]],
      found: [
        'damaged ("index", "A", 0): stored data is damaged: a record is not JSON',
        'unreferenced ("ai", 0, 0, 0): and what comes behind it under that name: no segment and no index has it',
      ],
    },
    {
      of: 'one past the last segment',
      changes: [
        [cores, indexKey(a.generation, 2), { ...copy, to: 4, sourceBytes: segments[2].bytes }],
      ],
      found: [`${places(2, 4)} 2 are indexed`],
      deep: [
        `different ("index", "A", 2): ${whose}: its parts are not those that its segments give`,
      ],
    },
    {
      of: 'one of segments that have one',
      changes: [
        [
          cores,
          indexKey(a.generation, 1),
          { ...copy, to: 3, sourceBytes: segments[1].bytes + segments[2].bytes },
        ],
      ],
      found: [`${places(1, 3)} 2 are indexed`],
      deep: [
        `different ("index", "A", 1): ${whose}: its parts are not those that its segments give`,
      ],
    },
    {
      of: 'one of no segments',
      changes: [[cores, indexKey(a.generation, 2), { ...copy, to: 2, sourceBytes: 0 }]],
      found: [`${places(2, 2)} 2 are indexed`],
    },
    {
      of: 'other bytes of segments',
      changes: [[cores, key.index, { ...index, sourceBytes: bytes + 1 }]],
      found: [
        `different ("index", "A", 0): ${whose}: says ${bytes + 1} bytes of segments, not ${bytes}`,
      ],
    },
    {
      of: 'bytes of segments of which one is gone',
      changes: [
        [cores, key.segment(1), undefined],
        [slices, sliceKey(segments[1].id, 0), undefined],
      ],
      found: [`missing ("segment", "A", 1): of core 'a' of 'u', which has 3 segments`],
    },
  ]
})

test('blocks of indexes', async ({ cores, slices, key, index, indexOfB, b }) => {
  const whose = `("index", "A", 0) of core 'a' of 'u'`
  const [part] = index.parts as [IndexRecord['parts'][0]]
  const blocks = [
    ['0, 0, 0', mainKey(index.id, 0, 0)],
    ['0, 1, 2, 0', vectorKey(index.id, 0, 2, 0)],
    ['0, 1, 3, 0', vectorKey(index.id, 0, 3, 0)],
    ['0, 2, 2, 0', linksKey(index.id, 0, 2, 0)],
    ['0, 2, 3, 0', linksKey(index.id, 0, 3, 0)],
  ] as const
  const more = [
    ['0, 0, 9', mainKey(index.id, 0, 9)],
    ['0, 1, 2, 1', vectorKey(index.id, 0, 2, 1)],
    ['0, 2, 3, 1', linksKey(index.id, 0, 3, 1)],
    ['0, 1, 9, 0', vectorKey(index.id, 0, 9, 0)],
    ['1, 0, 0', mainKey(index.id, 1, 0)],
  ] as const
  const changed: Damage[] = []
  for (const [text, block] of blocks) {
    const value = (await slices.get(block))!
    const found = [`different ("ai", ${text}): ${whose}: is not what its segments give`]
    changed.push({
      of: text,
      changes: [[slices, block, flipped(value, 0)]],
      found: [],
      deep: found,
    })
  }
  const vectors = (fields: object) => [
    { ...part, vectors: [part.vectors[0], { ...part.vectors[1], ...fields }] },
  ]
  const partOfB = indexOfB.parts[0]!
  return [
    ...blocks.map(([text, block]) => ({
      of: `${text} is gone`,
      changes: [[slices, block, undefined] as const],
      found: [`missing ("ai", ${text}): ${whose}`],
    })),
    ...more.map(([text, block]) => ({
      of: `${text} is too many`,
      changes: [[slices, block, new Uint8Array(5)] as const],
      found: [`unreferenced ("ai", ${text}): ${whose}, which does not have it`],
    })),
    ...changed,
    {
      of: 'other parts',
      changes: [
        [cores, indexKey(b.generation, 0), { ...indexOfB, parts: [{ ...partOfB, collection: 1 }] }],
      ],
      found: [],
      deep: [
        `different ("index", "B", 0): of core 'b' of 'u': its parts are not those that its segments give`,
      ],
    },
    {
      of: 'fewer bytes of links',
      changes: [
        [cores, key.index, { ...index, parts: vectors({ links: part.vectors[1]!.links - 1 }) }],
      ],
      found: [],
      deep: [
        `different ("index", "A", 0): of core 'a' of 'u': its approximate indexes are not those that its vectors give`,
      ],
    },
    {
      of: 'no links where some are stored',
      changes: [[cores, key.index, { ...index, parts: vectors({ links: 0 }) }]],
      found: [`unreferenced ("ai", 0, 2, 3, 0): ${whose}, which does not have it`],
    },
    {
      of: 'no links of either',
      changes: [
        [
          cores,
          key.index,
          {
            ...index,
            parts: [{ ...part, vectors: part.vectors.map((file) => ({ ...file, links: 0 })) }],
          },
        ],
        [slices, linksKey(index.id, 0, 2, 0), undefined],
        [slices, linksKey(index.id, 0, 3, 0), undefined],
      ],
      found: [],
    },
  ]
})

test('what nobody names, or two do', ({ cores, slices, key, a, b, segments, ofB }) => {
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
      of: 'segments, contents and indexes of no core',
      changes: [
        [cores, segmentKey('x', 0), { ...ofB, id: 'y' }],
        [cores, segmentKey('x', 1), { ...ofB, id: 'z' }],
        [cores, smallKey('x', 1), nothing],
        [cores, smallKey('x', 2), nothing],
        [cores, contentKey('x', 'd'), nothing],
        [cores, indexKey('x', 0), { id: 'w' }],
      ],
      found: [
        '("segment", "x", 0)',
        '("small", "x", 1)',
        '("content", "x", "d")',
        '("index", "x", 0)',
      ].map((key) => `unreferenced ${key}: ${nobody}`),
    },
    {
      of: 'those of a core that was deleted',
      changes: [
        [cores, segmentKey('x', 0), { ...ofB, id: 'y' }],
        [cores, smallKey('x', 0), nothing],
        [cores, contentKey('x', 'd'), nothing],
        [cores, indexKey('x', 0), { id: 'w' }],
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
        `different ("bi", 0, 0, 0): ("index", "B", 0) of core 'b' of 'u': is not what its segments give`,
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
