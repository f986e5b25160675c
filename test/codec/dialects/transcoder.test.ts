import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { decodeMulti, encode } from '@msgpack/msgpack'
import t from 'tap'
import { Transcoder } from '../../../src/codec/dialects/transcoder.js'
import { defaultLimits, type CodecLimits } from '../../../src/codec/limits.js'
import { LorekeepError } from '../../../src/errors.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { mutate, randomChunks, randomStream } from '../../fixtures/streams.js'
import { cut, scan } from '../scan.js'
import { lb, lm, longMessages, pack, parts, payloads, target } from './payloads.js'

const seed = pickSeed()
const refusal = new Error('the first message is none of the specification')

interface Transcoded {
  readonly bytes?: string
  readonly dialect?: string
  readonly skipped?: unknown
  readonly error?: unknown
}

function transcode(chunks: Iterable<Uint8Array>, limits: CodecLimits = defaultLimits): Transcoded {
  const transcoder = new Transcoder({ limits, messageIndex: 0, offset: 0, refusal })
  const pieces: Buffer[] = []
  try {
    for (const chunk of chunks) {
      for (const piece of transcoder.push(chunk)) pieces.push(Buffer.from(piece))
    }
    transcoder.finish()
  } catch (error) {
    if (error === refusal) return { error: 'refused' }
    if (!(error instanceof LorekeepError)) throw error
    return { error: { code: error.code, message: error.message, details: error.details } }
  }
  const bytes = Buffer.concat(pieces).toString('latin1')
  return { bytes, dialect: transcoder.dialect(false), skipped: transcoder.skipped }
}

function messagesOf({ bytes, error }: Transcoded): unknown[] {
  assert.equal(error, undefined, JSON.stringify(error))
  const messages = [...decodeMulti(Buffer.from(bytes as string, 'latin1'))]
  // As the scanner names them.
  return (messages as [string, { m: object }][]).map(([type, data]) => [
    type,
    { ...data, m: { ...data.m, i: target.id, u: target.user } },
  ])
}

t.test('each dialect becomes the specification, however its bytes are cut', async (t) => {
  for (const { name, dialect, bytes, messages, skipped = {} } of payloads) {
    const whole = transcode([bytes])
    t.same(messagesOf(whole), messages, name)
    t.equal(whole.dialect, dialect, name)
    t.same(whole.skipped, skipped, name)
    t.same(transcode(cut(bytes, 1)), whole, name)
    for (let at = 1; at < bytes.length; at++) {
      assert.deepEqual(transcode([bytes.subarray(0, at), bytes.subarray(at)]), whole)
    }
  }
})

t.test(`damaged bytes end in one typed error however they are cut (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let refused = 0
  for (let round = 0; round < 1500; round++) {
    const { bytes } = payloads[random.below(payloads.length)] as (typeof payloads)[number]
    const before = random.chance(0.5) ? pack(lm) : Buffer.alloc(0)
    const damaged = Buffer.concat([before, mutate(random, bytes)])
    const whole = transcode([damaged])
    if (whole.error !== undefined) refused++
    else assert.equal(scan([Buffer.from(whole.bytes ?? '', 'latin1')], target).error, undefined)
    assert.deepEqual(transcode(cut(damaged, 1)), whole, damaged.toString('hex'))
    assert.deepEqual(transcode(randomChunks(random, damaged, 30)), whole, damaged.toString('hex'))
  }
  t.ok(refused > 500, `${refused} of 1500 refused`)
})

t.test(
  `what is made of strange and damaged messages, a scanner takes (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    let taken = 0
    for (let round = 0; round < 1000; round++) {
      const { bytes } = randomStream(random, { strangeness: random.next(), messages: 2 })
      const damaged = random.chance(0.5) ? bytes : mutate(random, bytes)
      const made = transcode([Buffer.concat([pack(lm), damaged])])
      if (made.error !== undefined) continue
      taken++
      assert.equal(scan([Buffer.from(made.bytes ?? '', 'latin1')], target).error, undefined)
    }
    t.ok(taken > 300, `${taken} of 1000`)
  },
)

t.test('a quoted triple becomes a reified statement, once in a message', async (t) => {
  const { iri, entity, cats, isA, animal, full, rdf } = parts
  const inner = { s: iri(cats), p: iri(isA), o: { t: 'l', v: 'x', ln: 'en' } }
  const about = { s: { t: 't', tr: inner }, p: iri(isA), o: iri(animal), g: 'urn:g' }
  const said = [entity(cats), entity(isA), { v: 'x', e: false, ln: 'en' }]
  const digest = createHash('sha256')
    .update(pack(...said))
    .digest('hex')
  const node = entity(`_:triple-${digest.slice(0, 32)}`)
  const reified = [
    [entity(`${rdf}type`), entity(`${rdf}Statement`)],
    [entity(`${rdf}subject`), said[0]],
    [entity(`${rdf}predicate`), said[1]],
    [entity(`${rdf}object`), said[2]],
  ].map(([p, o]) => ({ s: node, p, o, g: 'urn:g' }))
  const stated = { s: node, p: entity(isA), o: entity(animal), g: 'urn:g' }

  const data = { m: { i: 'doc', c: 'default' }, t: [about, about] }
  const whole = transcode([pack(['t', data])])
  t.same(messagesOf(whole), [['t', { m: full, t: [stated, ...reified, stated] }]])
  const published = { ...about, s: { t: 'r', r: inner } }
  t.equal(transcode([pack(['t', { ...data, t: [published, about] }])]).bytes, whole.bytes)

  // Embeddings are no place for triples.
  const embedded = ['ge', { m: data.m, e: [{ e: { t: 't', tr: inner }, v: [0.5] }] }]
  const ungraphed = reified.map(({ s, p, o }) => ({ s, p, o }))
  t.same(messagesOf(transcode([pack(embedded)])), [
    ['ge', { m: full, e: [{ e: node, v: [[0.5]] }] }],
    ['t', { m: full, t: ungraphed }],
  ])

  const twice = { s: { t: 't', tr: about }, p: iri(isA), o: iri(animal) }
  const [[, nested]] = messagesOf(transcode([pack(['t', { ...data, t: [twice] }])])) as [
    [string, { t: unknown[] }],
  ]
  t.equal(nested.t.length, 9)
  t.same(nested.t.slice(1, 5), reified)

  // Metadata are read by themselves.
  const [[, both]] = messagesOf(
    transcode([pack(['t', { m: { ...data.m, m: [about] }, t: [about] }])]),
  ) as [[string, { m: { m: unknown[] }; t: unknown[] }]]
  t.same(both.m.m, [stated, ...reified])
  t.same(both.t, [stated, ...reified])
})

t.test('a graph with a long name has room for as many quoted triples as a message', async (t) => {
  const { iri, cats, isA } = parts
  const g = `urn:${'g'.repeat(100_000)}`
  let quoted = 0
  const tree = (levels: number): object => {
    if (levels === 0) return { t: 'l', v: String(quoted) }
    const tr = { s: tree(levels - 1), p: iri(isA), o: { t: 'l', v: String(quoted++) } }
    return { t: 't', tr: { ...tr, o: tree(levels - 1) } }
  }
  const plain = { s: iri(cats), p: iri(isA), o: iri(cats) }
  const triples = [plain, { ...plain, s: tree(6), g }]
  const bytes = pack(['t', { m: { i: 'x', c: 'c' }, t: triples }])
  t.equal(quoted, 63)
  const limits = { ...defaultLimits, maxMessageBytes: 1_000_000 }
  const { error } = transcode([bytes], limits) as { error: { message: string } }
  // Of 252 names the first nine have room.
  t.match(error.message, /\(t\[1\](?:\.\w+){10,}\): in the specification's dialect longer than/)
})

t.test('an error in what was recognised is told with its place', async (t) => {
  const { typed, full } = parts
  const place = (messages: readonly unknown[]) => {
    const { error } = transcode([pack(...messages)]) as { error: { message: string } | string }
    return typeof error === 'string' ? error : error.message
  }
  const data = (...triples: unknown[]) => ['t', { m: { i: 'doc', c: 'c' }, t: triples }]
  t.match(place([data(typed, { ...typed, o: { t: 'x', v: 1 } })]), /\(t\[1\]\.o\.t\): found "x"/)
  t.match(place([data(typed, { s: typed.s })]), /\(t\[1\]\): a map lacks 'p' and 'o'/)
  t.match(place([data(typed, { ...typed, s: { t: 'i' } })]), /\(t\[1\]\.s\): a map lacks 'i'/)
  t.match(place([data(typed), ['x', {}]]), /message 1, byte \d+: found "x", expected "t" or "ge"/)
  t.match(place([data(typed), ['t', {}, 1]]), /message 1, byte \d+: expected a message/)
  t.match(place([lm, data(typed, 5)]), /message 1, byte \d+ \(t\[1\]\): expected a triple/)
  t.match(place([lm, ['ge', { m: full, e: [{ e: typed.s, v: [1, 'x'] }] }]]), /\(e\[0\]\.v\[1\]\)/)
  t.match(
    place([lm, ['ge', { m: full, e: [{ e: typed.s, v: [[1], 'x'] }] }]]),
    /\(e\[0\]\.v\[1\]\): expected a vector/,
  )
  // Of no dialect: as if nobody had looked.
  t.equal(place([data({ ...typed, s: { t: 'x' } })]), 'refused')
  t.equal(place([['x', {}]]), 'refused')
  t.equal(place([['t', { m: full, t: [{ s: 1, p: 1, o: 1 }] }]]), 'refused')
  t.equal(place([['t', { m: full, t: [] }]]), 'refused', 'nothing of another dialect in it')
  t.equal(place([data(typed)].map((message) => message.slice(0, 1))), 'refused')

  const bytes = pack(lm, data(typed, typed))
  for (let end = 1; end < bytes.length; end++) {
    if (end === pack(lm).length) continue
    const { error } = transcode([bytes.subarray(0, end)]) as { error: LorekeepError }
    assert.equal(error.code, 'LK_CORE_FORMAT')
    assert.equal(error.details.byteOffset, end)
  }
})

t.test('datatypes and languages that are none are left out and counted', async (t) => {
  const { typed, statement, full, text } = parts
  const objects = [
    { t: 'l', v: 'x', dt: 'string' },
    { t: 'l', v: 'x', ln: 'en_GB' },
    { t: 'l', v: 'x', dt: null, ln: '' },
    { t: 'l', v: 'x', dt: `http://www.w3.org/1999/02/22-rdf-syntax-ns#langString`, ln: 'en' },
    { t: 'l', v: 'x', dt: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString' },
    { t: 'l', v: 'x', dt: 'urn:dt', ln: 'en' },
  ]
  const triples = objects.map((o) => ({ ...typed, o }))
  const whole = transcode([pack(['t', { m: { i: 'doc', c: 'default' }, t: triples }])])
  const plain = { ...statement, o: text('x') }
  const languages = { ...statement, o: { ...text('x'), ln: 'en' } }
  t.same(messagesOf(whole), [
    ['t', { m: full, t: [plain, plain, plain, languages, plain, languages] }],
  ])
  t.same(whole.skipped, { members: 4 })
})

t.test('limits hold for what is converted, and not for what is skipped', async (t) => {
  const { typed, iri, cats } = parts
  const data = (...triples: unknown[]) => ['t', { m: { i: 'doc', c: 'c' }, t: triples }]
  const within = (limits: Partial<CodecLimits>, ...messages: unknown[]) =>
    transcode([pack(...messages)], { ...defaultLimits, ...limits })
  const refused = (limits: Partial<CodecLimits>, ...messages: unknown[]) => {
    const { error } = within(limits, data(typed), ...messages) as { error: { message: string } }
    return error.message
  }
  const long = 'x'.repeat(60)
  t.match(refused({ maxStringBytes: 59 }, data({ ...typed, o: iri(long) })), /maxStringBytes/)
  t.match(
    refused({ maxStringBytes: 60 }, data({ ...typed, o: { t: 'b', d: long } })),
    /62 bytes.*maxStringBytes/,
  )
  t.match(refused({ maxMapEntries: 4 }, data({ ...typed, g: '', h: 1 })), /maxMapEntries/)
  t.match(refused({ maxDepth: 6 }, data({ ...typed, o: { t: 't', tr: typed } })), /maxDepth/)
  t.match(refused({ maxMessageBytes: 150 }, data(typed, typed)), /maxMessageBytes/)
  const vectors = ['ge', { m: { i: 'doc', c: 'c' }, e: [{ e: iri(cats), v: [1, 2, 3] }] }]
  t.match(refused({ maxVectorLength: 2 }, vectors), /a vector of 3/)
  const nested = { ['k'.repeat(1000)]: { ['l'.repeat(1000)]: 'x'.repeat(1001) } }
  const told = refused({ maxStringBytes: 1000 }, data({ ...typed, ...nested }))
  t.match(told, /t\[0\]\.k{256}…\.l{256}….*a string of 1001 bytes/)
  t.ok(told.length < 1000)
  const empty = (count: number) => ({ e: iri(cats), v: Array.from({ length: count }, () => []) })
  const many = ['ge', { m: { i: 'doc', c: 'c' }, e: [empty(65_536), empty(1)] }]
  t.match(refused({ maxMessageBytes: 1_000_000 }, many), /e\[1\].v.*more than 65536 vectors/)
  t.same(
    within({ maxStringBytes: 59, maxMessageBytes: 150 }, lb, ['lb', { i: 'x', d: long.repeat(9) }]),
    { bytes: '', dialect: 'trustgraph-2', skipped: { lb: 2 } },
  )
})

t.test('what becomes longer than a message may be becomes several', async (t) => {
  const plain = Array.from({ length: 100 }, (_, n) => ({ s: `s${n}`, p: 'p', o: 'o' }))
  const m = { i: 'doc', m: [], u: 'u', c: 'c' }
  const bytes = pack(['t', { m, t: plain }])
  const limits = { ...defaultLimits, maxMessageBytes: bytes.length }
  const whole = transcode([bytes], limits)
  const messages = messagesOf(whole) as [string, { t: { s: { v: string } }[] }][]
  t.ok(messages.length > 1)
  const subjects = messages.flatMap(([, { t }]) => t.map(({ s }) => s.v))
  t.same(
    subjects,
    plain.map(({ s }) => s),
  )
  for (const message of messages) t.ok(encode(message).length <= limits.maxMessageBytes)
  t.same(transcode(cut(bytes, 1), limits), whole)
  const metadata = { ...m, m: plain }
  for (const message of [
    ['t', { m: metadata, t: plain.slice(0, 1) }],
    ['t', { m: metadata, t: [] }],
    ['ge', { m, e: 'http://x.org', v: [[1, 2, 3]] }],
  ]) {
    const tight = pack(message)
    const { error } = transcode([pack(lm), tight], {
      ...limits,
      maxMessageBytes: tight.length,
    }) as {
      error: { message: string }
    }
    t.match(error.message, /in the specification's dialect longer than .*maxMessageBytes/)
  }
})

t.test('nothing is made of what a message nests', async (t) => {
  const count = 4_000_000
  const header = Buffer.from([
    0xdd,
    count >>> 24,
    (count >> 16) & 255,
    (count >> 8) & 255,
    count & 255,
  ])
  const empty = Buffer.concat([header, Buffer.alloc(count, 0x90)])
  const head = pack(lm)
  const message = Buffer.concat([Buffer.from('92a17482a16d', 'hex'), encode({ i: 'x', c: 'c' })])
  const before = process.memoryUsage().heapUsed
  const bytes = Buffer.concat([head, message, Buffer.from('a174', 'hex'), empty])
  t.match(transcode([bytes]).error, { message: /\(t\[0\]\): expected a triple/ })
  t.ok(process.memoryUsage().heapUsed - before < 50e6)
})

t.test('a long message pauses at every 32 KiB of each walk over it', async (t) => {
  for (const { where, typed } of longMessages) {
    const transcoder = new Transcoder({
      limits: defaultLimits,
      messageIndex: 0,
      offset: 0,
      refusal,
    })
    let pauses = 0
    for (const piece of transcoder.push(typed)) if (piece.length === 0) pauses++
    // One walk finds the members of the message, and one converts what is in them.
    const least = 2 * Math.floor(typed.length / 34_000)
    t.ok(pauses >= least, `${where}: ${pauses} pauses in ${typed.length} bytes`)
  }
})
