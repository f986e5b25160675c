// What the kernel takes, and what it leaves to who calls it, comes to the same parts as where all is told one by one.

import assert from 'node:assert/strict'
import { Packr } from 'msgpackr'
import t from 'tap'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { encodeTerm, knownDatatypes } from '../../../src/graph/index/encoded-term.js'
import { OrdersThread } from '../../../src/graph/index/orders-thread.js'
import type { Many } from '../../../src/graph/index/part-builder.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import type { SourceName } from '../../../src/graph/index/places.js'
import { TermTable } from '../../../src/graph/index/term-table.js'
import { TermsKernel } from '../../../src/graph/index/terms-kernel.js'
import type { Term, Triple } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { collidingTerms } from './colliding.js'
import { Blocks } from './part-file.js'
import { sourceNames } from './sayings.js'

const seed = pickSeed()
/** Headers as msgpackr and others write them: maps with two bytes for their length. */
const wide = new Packr({ useRecords: false, variableMapSize: false })

/** One after the other. */
const kernel = new TermsKernel()
const orders = new OrdersThread()

interface Kind {
  readonly name: string
  /** How many triples, and of how many different terms. */
  readonly triples: number
  readonly terms: number
  /** Of a hundred triples: with a graph, with more than the text, in another order. */
  readonly graphs: number
  readonly annotated: number
  readonly turned: number
  /** The longest slice, in bytes. */
  readonly cut: number
}

const kinds: readonly Kind[] = [
  { name: 'plain', triples: 3000, terms: 900, graphs: 0, annotated: 0, turned: 0, cut: 5000 },
  { name: 'cut small', triples: 150, terms: 90, graphs: 0, annotated: 30, turned: 0, cut: 40 },
  { name: 'annotated', triples: 3000, terms: 900, graphs: 0, annotated: 70, turned: 0, cut: 9000 },
  { name: 'now and then', triples: 4000, terms: 90, graphs: 2, annotated: 9, turned: 2, cut: 9000 },
  { name: 'graphs', triples: 2000, terms: 300, graphs: 60, annotated: 20, turned: 5, cut: 70_000 },
]

for (const kind of kinds) {
  t.test(`${kind.name}: the parts are the same bytes (seed ${seed})`, async (t) => {
    for (let round = 0; round < 3; round++) {
      const random = new Random(seed + round)
      await assertSame(slicesOf(random, messagesOf(random, kind), kind.cut))
    }
    t.pass()
  })
}

t.test(
  `more terms than there is room for at first, in slices of 3 MiB (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    const triples = Array.from({ length: 180_000 }, (_, n) => ({
      s: { v: `urn:subject/${n}`, e: true },
      p: { v: `urn:predicate/${n % 9}`, e: true },
      o: { v: `${n}`.padEnd(random.below(60)), e: false },
    }))
    await assertSame(
      slicesOf(random, [encodeMessage(['t', { m: metadata('c'), t: triples }])], 3 << 20),
    )
    t.pass()
  },
)

t.test(
  `more terms than are gathered at once, some of them longer than all (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    const integer = 'http://www.w3.org/2001/XMLSchema#integer'
    const triples: Triple[] = Array.from({ length: 6000 }, (_, n) => ({
      s: { v: `urn:${n}`, e: true },
      p: { v: 'urn:p', e: true },
      o: random.chance(0.5)
        ? { v: `${n * 37}`, e: false, dt: integer }
        : { v: `word ${n}`, e: false },
    }))
    for (const bytes of [700_000, 1_048_560, 1_048_576, 2_500_000]) {
      const o = { v: 'x'.repeat(bytes), e: false }
      triples.splice(random.below(triples.length), 0, {
        s: { v: `urn:${bytes}`, e: true },
        p: o,
        o,
      })
    }
    await assertSame(
      slicesOf(random, [encodeMessage(['t', { m: metadata('c'), t: triples }])], 90_000),
    )
    t.pass()
  },
)

t.test(`terms of one hash, more than the table has steps for (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const colliding = collidingTerms(random, 300)
  const triples = Array.from({ length: 4000 }, (_, n) => ({
    s: random.chance(0.2) ? random.pick(colliding) : { v: `urn:${n % 500}`, e: true },
    p: random.chance(0.1) ? random.pick(colliding) : { v: 'urn:p', e: true },
    o: random.chance(0.3) ? random.pick(colliding) : { v: `word ${n}`, e: false },
  }))
  await assertSame(
    slicesOf(random, [encodeMessage(['t', { m: metadata('c'), t: triples }])], 20_000),
  )
  t.pass()
})

t.test('where there is room for some of the terms that come, it grows', (t) => {
  const packed = new Packr({ useRecords: false })
  const term = (n: number) => ({ v: `new ${n}`.padEnd(12), e: true })
  const count = 300
  const bytes = Buffer.concat(
    Array.from({ length: count }, (_, n) => {
      return packed.pack({ s: term(3 * n), p: term(3 * n + 1), o: term(3 * n + 2) })
    }),
  )
  const room = 1 << 16
  for (const left of [2, 3, 381, 382, 383, 384, 385, 386, 387, 388]) {
    const kernel = new TermsKernel()
    const table = new TermTable(room, kernel)
    while (table.count < room - left) {
      const words = encodeTerm({ v: `there ${table.count}`, e: true })
      const padded = Int32Array.from([...words, 0])
      table.add(padded, 0, words.length)
    }
    let taken = 0
    for (let at = 0; taken < count; taken += kernel.count) {
      at = kernel.take(table, bytes, at, bytes.length, count - taken)
      assert.ok(kernel.count > 0)
    }
    t.equal(table.count, room - left + 3 * count)
  }
  t.end()
})

t.test('the kernel takes what it is there for', (t) => {
  const datatype = Buffer.from(knownDatatypes[0] as string)
  const triples: Triple[] = Array.from({ length: 500 }, (_, n) => ({
    s: { v: `urn:${n >> 2}`, e: true },
    p: { v: `urn:p${n % 3}`, e: true },
    o: [
      { v: `urn:${n}`, e: true },
      { v: `${n}`, e: false, dt: datatype.toString() },
      { v: `${n}`, e: false, dt: 'urn:datatype' },
      { v: `word ${n}`, e: false, ln: 'en' },
    ][n % 4] as Term,
  }))
  for (const encode of [encodeMessage, (message: object) => wide.encode(message)]) {
    const bytes = Buffer.from(encode(['t', { m: metadata('c'), t: triples }]))
    const kernel = new TermsKernel()
    const terms = new TermTable(1 << 14, kernel)
    kernel.learn(datatype, 0)
    kernel.learn(Buffer.from('urn:datatype'), -2)
    const start = bytes.indexOf(Buffer.from([0xa1, 0x74, 0xdc])) + 5
    const end = kernel.take(terms, bytes, start, bytes.length, 500)
    t.equal(kernel.count, 500)
    t.equal(end, bytes.length)
    t.equal(terms.textOf(kernel.s[499] as number), 'urn:124')
    t.equal(terms.textOf(kernel.o[499] as number), 'word 499')
  }
  t.end()
})

function metadata(c: string) {
  return { i: 'i', m: [], u: 'u', c }
}

async function assertSame(slices: readonly Uint8Array[]): Promise<void> {
  const [taken, told] = [new Blocks(), new Blocks()]
  const records = await build(taken, slices, { many: { kernel, orders } })
  assert.deepEqual(records, await build(told, slices, {}))
  assert.ok(records.length > 0)
  assert.deepEqual([...taken.values.keys()], [...told.values.keys()])
  for (const [key, value] of taken.values) {
    assert.ok(Buffer.compare(value, told.values.get(key) as Uint8Array) === 0, key)
  }
}

async function build(storage: Blocks, slices: readonly Uint8Array[], how: { many?: Many }) {
  const builder = new PartsBuilder(storage, 'id', sourceNames[0] as SourceName, how)
  // Slices lie in memory that is used again.
  const memory = new Uint8Array(slices.reduce((most, { length }) => Math.max(most, length), 0))
  for (const slice of slices) {
    memory.set(slice)
    builder.push(memory.subarray(0, slice.length))
    await builder.writeFull()
  }
  return builder.finish()
}

function slicesOf(random: Random, messages: readonly Uint8Array[], longest: number): Uint8Array[] {
  const all = Buffer.concat(messages)
  const slices: Uint8Array[] = []
  for (let at = 0; at < all.length;) {
    const end = at + 1 + random.below(longest)
    slices.push(all.subarray(at, end))
    at = end
  }
  return slices
}

function messagesOf(random: Random, kind: Kind): Uint8Array[] {
  const terms = Array.from({ length: kind.terms }, () => textOf(random))
  const messages: Uint8Array[] = []
  for (let left = kind.triples; left > 0;) {
    const count = Math.min(left, 1 + random.below(400))
    left -= count
    const encode = random.chance(0.5) ? encodeMessage : (message: object) => wide.encode(message)
    const t = Array.from({ length: count }, () => tripleOf(random, kind, terms))
    messages.push(encode(['t', { m: metadata(`c${random.below(2)}`), t }]))
  }
  return messages
}

function tripleOf(random: Random, kind: Kind, terms: readonly string[]): Triple {
  const s = { v: random.pick(terms.slice(0, 30)), e: true }
  const p = { v: random.pick(terms.slice(0, 9)), e: random.chance(0.9) }
  const v = random.pick(terms)
  const isAnnotated = random.below(100) < kind.annotated
  const o: Term = isAnnotated ? annotated(random, v) : { v, e: random.chance(0.5) }
  const g = random.below(100) < kind.graphs ? { g: `urn:g${random.below(3)}` } : {}
  return random.below(100) < kind.turned ? { ...g, o, p, s } : { s, p, o, ...g }
}

const datatypes = [
  ...knownDatatypes,
  'http://www.w3.org/2001/XMLSchema#string',
  ...Array.from({ length: 30 }, (_, n) => `urn:datatype:${n}`),
  `urn:${'long'.repeat(30)}`,
]

function annotated(random: Random, v: string): Term {
  if (random.chance(0.6)) return { v, e: false, dt: random.pick(datatypes) }
  return { v, e: false, ln: random.pick(['en', 'de-at', 'de-AT', 'zh-Hant']) }
}

function textOf(random: Random): string {
  const length = random.pick([0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 100, 255, 256, 700])
  const text = random.chance(0.2)
    ? 'é知'.repeat(1 + length / 4)
    : random
        .bytes(length)
        .toString('latin1')
        .replace(/[^ -~]/g, 'x')
  return random.chance(0.01) ? text.padEnd(70_000, '.') : text
}
