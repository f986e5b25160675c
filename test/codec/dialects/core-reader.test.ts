import assert from 'node:assert/strict'
import { decodeMulti } from '@msgpack/msgpack'
import t from 'tap'
import { CoreReader } from '../../../src/codec/dialects/core-reader.js'
import type { ImportDialect } from '../../../src/codec/dialects/names.js'
import { defaultLimits } from '../../../src/codec/limits.js'
import { LorekeepError, type Problem } from '../../../src/errors.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { mutate, randomChunks, randomStream } from '../../fixtures/streams.js'
import { cut, scan } from '../scan.js'
import { pack, parts, payloads, target } from './payloads.js'

const seed = pickSeed()

interface Read {
  readonly bytes?: string
  readonly counts?: readonly number[]
  readonly dialect?: string
  readonly skipped?: unknown
  readonly error?: { readonly code: string } & Record<string, unknown>
  readonly message?: string
}

function read(chunks: Iterable<Uint8Array>, dialect?: ImportDialect): Read {
  const copied: Buffer[] = []
  const sink = {
    copy: (chunk: Uint8Array, from: number, to: number) => {
      copied.push(Buffer.from(chunk.subarray(from, to)))
    },
  }
  const reader = new CoreReader({
    sink,
    target,
    limits: defaultLimits,
    ...(dialect && { dialect }),
  })
  try {
    for (const chunk of chunks) for (const _ of reader.push(chunk));
    reader.finish()
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error
    const { messageIndex, byteOffset, errors } = error.details
    const [{ path }] = errors as [Problem]
    // What the bytes look like is said of those that are there.
    const [message = ''] = error.message.split('; the data looks like')
    return { error: { code: error.code, messageIndex, byteOffset, path }, message }
  }
  const { messages, triples, entities, vectors, skipped } = reader
  const bytes = Buffer.concat(copied).toString('latin1')
  const counts = [messages, triples, entities, vectors]
  return { bytes, counts, dialect: reader.dialect, skipped }
}

const { statement, full, entity, cats } = parts
const own = pack(
  ['t', { m: full, t: [statement, statement] }],
  ['ge', { m: full, e: [{ e: entity(cats), v: [[0.5], [1.5]] }] }],
)

t.test('each dialect is read, however its bytes are cut', async (t) => {
  for (const { name, dialect, bytes, messages, skipped = {} } of payloads) {
    const whole = read([bytes])
    t.equal(whole.error, undefined, `${name} ${whole.message}`)
    t.same([...decodeMulti(Buffer.from(whole.bytes ?? '', 'latin1'))], messages, name)
    t.equal(whole.dialect, dialect, name)
    t.same(whole.skipped, skipped, name)
    t.equal(whole.counts?.[0], messages.length, name)
    t.same(read(cut(bytes, 1)), whole, name)
    for (let at = 1; at < bytes.length; at++) {
      assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), whole)
    }
    const strict = read([bytes], 'specification')
    t.match(strict.error?.code, /^LK_CORE_(FORMAT|TYPE)$/, name)
    t.same(strict.error, scan([bytes], target).error, name)
  }
})

t.test('what comes after messages of the specification is read too', async (t) => {
  for (const { name, bytes, messages, skipped = {} } of payloads) {
    const whole = read([own, bytes])
    t.same(
      [...decodeMulti(Buffer.from(whole.bytes ?? '', 'latin1'))],
      [...decodeMulti(own), ...messages],
      name,
    )
    t.equal(whole.counts?.[0], 2 + messages.length)
    t.same(whole.skipped, skipped)
    const all = Buffer.concat([own, bytes])
    for (const size of [1, 7, 64, all.length]) {
      assert.deepEqual(read(cut(all, size)), whole, `${name} ${size}`)
    }
    const isNamed = ['document-embeddings', 'loose'].includes(whole.dialect ?? '')
    if (messages.length > 0 && !isNamed) t.equal(whole.dialect, 'mixed', name)
  }
  t.equal(read([own, pack(['lm', {}])]).dialect, 'specification')
})

t.test(`the specification goes through as it does without (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 150; round++) {
    const { bytes } = randomStream(random, { strangeness: random.next(), messages: 3 })
    const { bytes: scanned, counts } = scan([bytes], target)
    const expected = { bytes: scanned, counts, dialect: 'specification', skipped: {} }
    assert.deepEqual(read([bytes]), expected)
    assert.deepEqual(read(randomChunks(random, bytes, 20)), expected)
  }
  t.pass('150 streams')
})

t.test(`damaged bytes give one result however they are cut (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let refused = 0
  let asBefore = 0
  for (let round = 0; round < 1500; round++) {
    const { bytes } = payloads[random.below(payloads.length)] as (typeof payloads)[number]
    const stream = randomStream(random, { strangeness: random.next() / 2, messages: 2 }).bytes
    const isOwn = random.chance(0.5)
    const damaged = mutate(random, isOwn ? stream : bytes)
    const whole = read([damaged])
    if (whole.error !== undefined) refused++
    assert.deepEqual(read(cut(damaged, 1)), whole, damaged.toString('hex'))
    assert.deepEqual(read(randomChunks(random, damaged, 30)), whole, damaged.toString('hex'))
    if (!isOwn || whole.error === undefined) continue
    const { error } = scan([damaged], target)
    assert.deepEqual(read([damaged], 'specification').error, error)
    asBefore += Number(JSON.stringify(whole.error) === JSON.stringify(error))
  }
  t.ok(refused > 500, `${refused} of 1500 refused`)
  t.ok(asBefore > 150, `${asBefore} with the error of the scanner`)
})

t.test('what is of no dialect is refused as if nobody else had looked', async (t) => {
  const cases = [
    Buffer.from('@prefix a: <b> .'),
    Buffer.of(0x1f, 0x8b, 8),
    pack(['x', {}]),
    pack(['t']),
    pack(['t', {}]),
    pack(['t', { m: full, t: [{ ...statement, s: { v: 'x' } }] }]),
    pack(['t', { m: full, t: [statement, { ...statement, s: cats }] }]),
    pack(['t', { m: full, zz: 'x'.repeat(2 ** 20 + 1), t: [] }]),
    pack(['t', { m: full, zz: Array.from({ length: 70_000 }, () => null), t: [statement] }]),
    own.subarray(0, own.length - 1),
    Buffer.concat([own, Buffer.of(0x0a)]),
    Buffer.concat([own, pack(['x', {}])]),
  ]
  for (const bytes of cases) {
    const any = read([bytes])
    t.same(any.error, scan([bytes], target).error)
    t.same(any, read([bytes], 'specification'))
  }
})

t.test('what is wrong in the first message of a dialect is told where it is', async (t) => {
  const { typed } = parts
  const data = (triple: object) => pack(['t', { m: { i: 'doc', c: 'c' }, t: [triple] }])
  const told = (bytes: Uint8Array) => read([bytes]).message
  t.match(told(data({ ...typed, o: { t: 'q', v: 'x' } })), /\(t\[0\]\.o\.t\): found "q"/)
  t.match(told(data({ ...typed, o: { t: 'l', v: 9 } })), /\(t\[0\]\.o\.v\): expected a string/)
  t.match(told(data({ ...typed, g: { t: 'i', i: 'urn:g' } })), /\(t\[0\]\.g\): expected a string/)
  t.match(told(data({ s: typed.s })), /\(t\[0\]\): a map lacks 'p' and 'o'/)
  const whole = data(typed)
  for (const end of [5, 20, whole.length - 1]) {
    t.match(told(whole.subarray(0, end)), new RegExp(`byte ${end}.*the stream ends inside`))
  }
})

t.test('a fault of the sink is none of the stream', async (t) => {
  const fault = new Error('the disk is full')
  for (const bytes of [own, (payloads[3] as (typeof payloads)[number]).bytes]) {
    let isFull = true
    const copy = () => {
      if (!isFull) return
      isFull = false
      throw fault
    }
    const reader = new CoreReader({ sink: { copy }, target })
    t.throws(() => [...reader.push(bytes)], fault)
  }
})

t.test('the name of the core has no part in the limits of the stream', async (t) => {
  const long = { id: 'x'.repeat(1000), user: 'y'.repeat(1000) }
  const limits = { ...defaultLimits, maxStringBytes: 100 }
  const { bytes } = payloads[3] as (typeof payloads)[number]
  const reader = new CoreReader({ sink: { copy: () => undefined }, target: long, limits })
  t.same([...reader.push(bytes)].length, 2)
  reader.finish()
})
