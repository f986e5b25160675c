import assert from 'node:assert/strict'
import { Packr } from 'msgpackr'
import t from 'tap'
import { MessageDecoder } from '../../src/codec/decoder.js'
import {
  CoreWalker,
  DATATYPE,
  NOTHING,
  readNumbers,
  type TriplePlaces,
} from '../../src/codec/walker.js'
import type { CoreMessage, Term } from '../../src/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { noRealCores, randomChunks, randomStream, realCores } from '../fixtures/streams.js'
import { cut } from './scan.js'

const seed = pickSeed()

/** What a visitor was told, in its order. Texts, as many are compared. */
type Told = string[]
const told = (kind: string, ...what: readonly unknown[]) => JSON.stringify([kind, ...what])

t.test(`real cores: what the decoder finds, in any chunks (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const cores = realCores()
  if (cores.length === 0) return t.plan(0, noRealCores)
  for (const { file, bytes } of cores) {
    const expected = decoded(bytes)
    t.ok(expected.length > 100, file)
    const most = bytes.length < 1_000_000 ? [7, 5000] : [100_000]
    assertSame(walked([bytes]), expected, file)
    for (const size of most) {
      assertSame(walked(randomChunks(random, bytes, size)), expected, `${file} in ${size}`)
    }
  }
})

t.test(`streams of any shape: what the decoder finds, cut anywhere (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 60; round++) {
    const { bytes } = randomStream(random, {
      strangeness: random.chance(0.3) ? 0 : random.next(),
      messages: 1 + random.below(3),
    })
    const expected = decoded(bytes)
    const place = `round ${round}`
    assertSame(walked([bytes]), expected, place)
    assertSame(walked(cut(bytes, 1)), expected, `${place}, byte by byte`)
    for (const most of [5, 50, 500]) {
      assertSame(walked(randomChunks(random, bytes, most)), expected, place)
    }
    // Each place once over all rounds, more or less: a whole stream at each is too slow.
    const step = 1 + Math.floor(bytes.length / 60)
    for (let at = random.below(step); at < bytes.length; at += step) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)]
      assertSame(walked(parts), expected, `${place}, cut at ${at}`)
    }
  }
  t.pass('60 streams')
})

t.test(`the shapes of known writers, cut at each place (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  // msgpackr writes maps with a header of 16 bits, Python's and JavaScript's writers the shortest.
  const writers = [new Packr({ useRecords: false, variableMapSize: false }), packer()]
  for (const [n, writer] of writers.entries()) {
    const bytes = Buffer.concat(messages(random).map((message) => writer.pack(message)))
    const expected = decoded(bytes)
    t.equal(expected.filter((line) => line.startsWith('["triple')).length, 24)
    for (let at = n; at <= bytes.length; at += 2) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)]
      assertSame(walked(parts), expected, `writer ${n}, cut at ${at}`)
    }
    for (let size = 1; size < 60; size += 3) {
      assertSame(walked(cut(bytes, size)), expected, `writer ${n}, in ${size}`)
    }
  }
})

t.test('what is longer than a chunk, and longer than what is kept at first', async (t) => {
  const long = 'é'.repeat(150_000)
  const m = { i: 'i', m: [], u: 'u', c: 'c' }
  const vector = Array.from({ length: 3000 }, (_, n) => n / 7)
  const stream: CoreMessage[] = [
    ['t', { m, t: [{ s: term('a'), p: term('b'), o: term(long, false) }] }],
    ['ge', { m, e: [{ e: term(long), v: [vector, [1], vector] }] }],
    ['t', { m, t: [{ s: term('a'), p: term('b'), o: term('c') }] }],
  ]
  for (const order of ['first', 'last'] as const) {
    const bytes = Buffer.concat(
      stream.map(([type, data]) => {
        const { m, ...others } = data
        return packer().pack([type, order === 'first' ? { m, ...others } : { ...others, m }])
      }),
    )
    const expected = decoded(bytes)
    for (const size of [997, 4096, 70_000, 262_144]) {
      assertSame(walked(cut(bytes, size)), expected, `metadata ${order}, in ${size}`)
    }
  }
  t.pass()
})

t.test('integers beyond 2^53 are rounded as the decoder rounds them', async (t) => {
  const values = [0x7fff_ffff_ffff_ffffn, 0x20_0000_0000_0001n, -0x20_0000_0000_0003n, -1n]
  const bytes = Buffer.alloc(9 * values.length)
  for (const [n, value] of values.entries()) {
    bytes[9 * n] = 0xd3
    bytes.writeBigInt64BE(value, 9 * n + 1)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = new Float64Array(values.length)
  readNumbers(view, 0, values.length, numbers)
  t.same([...numbers], values.map(Number))
})

function packer(): { pack(value: unknown): Buffer } {
  return new Packr({ useRecords: false, variableMapSize: true })
}

function messages(random: Random): CoreMessage[] {
  const m = { i: 'i', m: [{ s: term('s'), p: term('p'), o: term('o') }], u: 'u', c: 'käse' }
  const texts = ['', 'a', 'x'.repeat(31), 'x'.repeat(32), 'ü'.repeat(140), 'n/1', '\u{1f600}']
  const some = () => term(random.pick(texts), random.chance(0.5))
  const triple = () => ({ s: some(), p: some(), o: some() })
  const vector = (length: number) => Array.from({ length }, () => random.next() - 0.5)
  return [
    ['t', { m, t: Array.from({ length: 20 }, triple) }],
    [
      'ge',
      {
        m,
        e: [
          { e: some(), v: [vector(3), vector(17)] },
          { e: some(), v: [] },
        ],
      },
    ],
    ['t', { m, t: [] }],
    ['ge', { m, e: [] }],
    ['t', { m: { ...m, c: '' }, t: Array.from({ length: 4 }, triple) }],
  ]
}

function term(v: string, e = true): Term {
  return { v, e }
}

function decoded(bytes: Uint8Array): Told {
  const decoder = new MessageDecoder()
  const all: Told = []
  for (const [type, data] of decoder.push(bytes)) {
    all.push(told('collection', data.m.c))
    if (type === 't') {
      for (const { s, p, o, g = '' } of data.t) {
        all.push(told('triple', ...[s, p, o].map(known), g))
      }
    } else {
      for (const { e, v } of data.e) {
        all.push(told('entity', known(e)))
        for (const vector of v) all.push(told('vector', Array.from(vector, exact)))
      }
    }
  }
  decoder.finish()
  return all
}

/** Without fields of other makers. */
function known({ v, e, dt, ln }: Term): Term {
  if (dt !== undefined) return { v, e, dt }
  return ln === undefined ? { v, e } : { v, e, ln }
}

/** JSON has neither of these. */
function exact(number: number): number | string {
  return Number.isFinite(number) && !Object.is(number, -0) ? number : `${1 / number} ${number}`
}

/** Each chunk is overwritten once it was walked: what the walker keeps of it has to be a copy. */
function walked(chunks: Iterable<Uint8Array>): Told {
  const all: Told = []
  const text = (bytes: Uint8Array, from: number, to: number) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', from, to)
  const termAt = (bytes: Uint8Array, places: TriplePlaces, place: 's' | 'p' | 'o') => {
    const more = places.isPlain ? NOTHING : places[`${place}More`]
    const name = more === DATATYPE ? 'dt' : 'ln'
    const v = text(bytes, places[`${place}From`], places[`${place}To`])
    const e = places[`${place}E`] === 1
    if (more === NOTHING) return { v, e }
    return { v, e, [name]: text(bytes, places[`${place}MoreFrom`], places[`${place}MoreTo`]) }
  }
  // Triples may be read until the end of their chunk is told.
  let unread: Uint8Array | undefined
  const walker = new CoreWalker({
    chunkEnd: (bytes) => {
      assert.ok(unread === undefined || unread === bytes)
      unread = undefined
    },
    collection: (bytes, _view, from, to) => all.push(told('collection', text(bytes, from, to))),
    triple: (bytes, view, places: TriplePlaces) => {
      assert.ok(unread === undefined || unread === bytes)
      unread = bytes
      assert.equal(view.getUint8(places.sFrom - 1), bytes[places.sFrom - 1])
      const [s, p, o] = (['s', 'p', 'o'] as const).map((place) => termAt(bytes, places, place))
      const { isPlain, gFrom, gTo } = places
      all.push(told('triple', s, p, o, isPlain ? '' : text(bytes, gFrom, gTo)))
    },
    entity: (bytes, _view, places) => {
      all.push(told('entity', termAt(bytes, places, 's')))
    },
    vector: (view, at, count) => {
      const numbers = new Float64Array(count)
      readNumbers(view, at, count, numbers)
      all.push(told('vector', Array.from(numbers, exact)))
    },
  })
  for (const chunk of chunks) {
    const copy = Uint8Array.from(chunk)
    walker.push(copy)
    copy.fill(0xee)
    assert.equal(unread, undefined)
  }
  return all
}

function assertSame(found: Told, expected: Told, place: string): void {
  const at = expected.findIndex((line, n) => line !== found[n])
  assert.equal(found[at], expected[at], `${place}, at ${at}`)
  assert.equal(found.length, expected.length, place)
}
