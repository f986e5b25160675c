// Where many triples come, WebAssembly passes those of the known writers. The judge is the scanner when it gets a few
// bytes at a time: then it takes token by token.

import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Packr } from 'msgpackr'
import t from 'tap'
import { defaultLimits } from '../../src/codec/limits.js'
import { CoreScanner } from '../../src/codec/scanner.js'
import { TriplesKernel } from '../../src/codec/triples-kernel.js'
import type { Term, Triple } from '../../src/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { cut, scan } from './scan.js'

const seed = pickSeed()
const target = { id: 'core', user: 'alice' }
const metadata = { i: 'core', m: [], u: 'alice', c: 'default' }

/** Maps with the shortest header, and with one of three bytes, as msgpackr has them by itself. */
const writers = [true, false].map(
  (variableMapSize) => new Packr({ useRecords: false, variableMapSize }),
)

/** Of one byte to four, and at the edges of what each length of them can be. */
const letters = 'az~\u0080é\u07ff\u0800€\ud7ff\ue000\uffff\u{10000}😀\u{10ffff}'
const characters = [...letters]
const lengths = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 100, 255, 256, 300]
const datatypes = Array.from({ length: 300 }, (_, n) => `http://example.org/types#${n}`)
const languages = ['en', 'de-AT', 'zh-Hans-CN', 'x-y']

function someText(random: Random): string {
  const length = random.pick(lengths)
  if (random.below(3) > 0) return 'x'.repeat(length)
  return Array.from({ length }, () => random.pick(characters)).join('')
}

function someTerm(random: Random, names: number): Term {
  const v = someText(random)
  const kind = random.below(6)
  if (kind === 0) return { v, e: false, dt: datatypes[random.below(names)] as string }
  if (kind === 1) return { v, e: false, ln: random.pick(languages) }
  return { v, e: kind > 3 }
}

function someTriple(random: Random, names: number): Triple {
  const [s, p, o] = [someTerm(random, names), someTerm(random, names), someTerm(random, names)]
  return random.below(4) > 0 ? { s, p, o } : { s, p, o, g: `urn:graph:${random.below(names)}` }
}

function someMessage(random: Random, count: number): Buffer {
  const names = random.pick([1, 5, datatypes.length])
  const t = Array.from({ length: count }, () => someTriple(random, names))
  return random.pick(writers).pack(['t', { m: metadata, t }])
}

t.test(`triples pass as token by token (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 20; round++) {
    const counts = random.pick([[20, 40, 16], [700], [100, 100]])
    const bytes = Buffer.concat(counts.map((count) => someMessage(random, count)))
    const expected = scan(cut(bytes, 7), target)
    assert.ok(expected.counts, JSON.stringify(expected.error))
    assert.deepEqual(scan([bytes], target), expected)
    for (const size of [2500, 9001]) assert.deepEqual(scan(cut(bytes, size), target), expected)
  }
  t.pass('20 streams')
})

t.test(`what is wrong is refused as token by token (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let refused = 0
  for (let round = 0; round < 500; round++) {
    const bytes = someMessage(random, 24)
    for (let changes = 1 + random.below(2); changes > 0; changes--) {
      const at = random.below(bytes.length)
      const byte = bytes[at] as number
      bytes[at] = random.pick([byte ^ (1 << random.below(8)), random.below(256), 0x80, 0xff])
    }
    const expected = scan(cut(bytes, 7), target)
    if (expected.error !== undefined) refused++
    assert.deepEqual(scan([bytes], target), expected)
  }
  t.ok(refused > 150, `${refused} of 500 were refused`)
})

/** A triple as bytes; each part of it may be others. */
function rawTriple({
  head = '83',
  s = 'a161',
  e = 'c3',
  more = '',
  o = '82a176a16fa165c2',
  end = '',
}) {
  const terms = `a173${more === '' ? '82' : '83'}a176${s}a165${e}${more}a17082a176a170a165c3a16f${o}`
  return Buffer.from(`${head}${terms}${end}`, 'hex')
}

const wrong: Readonly<Record<string, Parameters<typeof rawTriple>[0]>> = {
  'a byte that begins no character': { s: 'a180' },
  'an overlong character of two bytes': { s: 'a2c1bf' },
  'an overlong character of three bytes': { s: 'a3e09fbf' },
  'an overlong character of four bytes': { s: 'a4f08fbfbf' },
  'half of a surrogate pair': { s: 'a3eda080' },
  'a character beyond U+10FFFF': { s: 'a4f4908080' },
  'a byte that is none of UTF-8': { s: 'a4f5808080' },
  'a character of two bytes, cut': { s: 'a1c3' },
  'a character of three bytes, cut': { s: 'a2e282' },
  'a character of four bytes, cut': { s: 'a3f09f98' },
  'the second byte of two': { s: 'a2c3c3' },
  'the third byte of three': { s: 'a3e28241' },
  'the fourth byte of four': { s: 'a4f09f9841' },
  'no boolean': { e: 'c0' },
  'an entity with a datatype': { more: 'a26474a575726e3a74' },
  'a language with a space': { e: 'c2', more: 'a26c6ea2656e20' },
  'a field more': { head: 'de0005', end: 'a16701a17801' },
  'a graph without a name': { head: '84', end: 'a167a0' },
  'a number for a graph': { head: '84', end: 'a16701' },
}

for (const [name, parts] of Object.entries(wrong)) {
  t.test(`${name} among many is refused where it stands`, async (t) => {
    const good = rawTriple({ s: 'a3e282ac', o: '83a176a131a165c2a26474a575726e3a74' })
    // The names that are good elsewhere are known by then.
    const before = Array<Buffer>(100).fill(good)
    const message = Buffer.concat([
      Buffer.from('92a17482a16d', 'hex'),
      (writers[0] as Packr).pack(metadata),
      Buffer.from('a174dd00000069', 'hex'),
      ...before,
      rawTriple(parts),
      ...before.slice(0, 4),
    ])
    const expected = scan(cut(message, 7), target)
    t.match(expected.error?.path, /^t\[100\]/)
    t.strictSame(scan([message], target), expected)
  })
}

t.test('strings have an end, and messages', async (t) => {
  const random = new Random(seed)
  const bytes = someMessage(random, 200)
  for (const limits of [
    { maxStringBytes: 299 },
    { maxStringBytes: 16 },
    { maxMessageBytes: bytes.length - 1 },
    { maxMessageBytes: bytes.length >> 1 },
  ]) {
    const expected = scan(cut(bytes, 7), target, { ...defaultLimits, ...limits })
    assert.ok(expected.error)
    assert.deepEqual(scan([bytes], target, { ...defaultLimits, ...limits }), expected)
  }
  t.pass('four limits')
})

t.test(
  'the kernel passes what the known writers make, and stops in front of all else',
  async (t) => {
    const kernel = new TriplesKernel()
    const triple = (o: Term) => ({ s: { v: 'urn:s', e: true }, p: { v: 'urn:p', e: true }, o })
    const plain = triple({ v: 'é', e: false })
    const pass = (values: readonly unknown[], writer = writers[0] as Packr, most = 1000) => {
      const pieces = values.map((value) => writer.pack(value))
      const bytes = Buffer.concat(pieces)
      const ends = pieces.map((_, n) => Buffer.concat(pieces.slice(0, n)).length)
      const at = kernel.pass(bytes, 0, bytes.length, most, 1000)
      t.equal(at, ends[kernel.count] ?? bytes.length, 'it stops where a triple begins')
      return kernel.count
    }
    const many = Array.from({ length: 9000 }, () => plain)
    for (const writer of writers)
      t.equal(pass(many, writer, 9000), 9000, 'more than lie there at once')
    t.equal(pass(many, writers[0], 7), 7)
    t.equal(pass([plain, { p: plain.p, s: plain.s, o: plain.o }, plain]), 1, 'another order')
    t.equal(pass([plain, { ...plain, x: 1 }]), 1, 'something more')
    t.equal(pass([plain, triple({ v: 'x'.repeat(1001), e: false })]), 1, 'a long string')

    const typed = triple({ v: '1', e: false, dt: 'urn:type' })
    const tagged = triple({ v: '1', e: false, ln: 'urn:type' })
    t.equal(pass([plain, typed]), 1, 'a name that was not learnt')
    kernel.learn(1, Buffer.from('urn:type'), 0, 8)
    t.equal(pass([plain, typed, tagged]), 2, 'it is learnt as a datatype')
    t.equal(pass([plain, { ...plain, g: 'urn:type' }]), 1, 'and not as a graph')
    kernel.learn(3, Buffer.from('urn:graph'), 0, 9)
    const more = { ...plain, g: 'urn:graph', x: 1 }
    for (const writer of writers) t.equal(pass([plain, more], writer), 1, 'a field more')

    // What lay there before is behind what is there now.
    for (const last of [plain, typed, { ...plain, g: 'urn:graph' }]) {
      const one = (writers[0] as Packr).pack(plain).length
      const two = Buffer.concat([plain, last].map((value) => (writers[0] as Packr).pack(value)))
      for (let end = one; end < two.length; end++) {
        kernel.leave()
        t.equal(kernel.pass(two, 0, two.length, 2, 1000), two.length)
        t.equal(kernel.pass(two, 0, end, 2, 1000), one, `cut at ${end}`)
      }
    }
  },
)

t.test('nothing of a chunk stays with the kernel', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const scanner = new CoreScanner({ copy: () => undefined }, target)
  const memory = scanned(scanner)
  // What a WeakRef was made for stays to the end of the turn.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  t.equal(memory.deref(), undefined)
  t.equal(scanner.triples, 700)
})

function scanned(scanner: CoreScanner): WeakRef<ArrayBufferLike> {
  const bytes = Uint8Array.from(someMessage(new Random(seed), 700))
  scanner.push(bytes)
  // Of the scanner: it has the last chunk for what its errors say.
  scanner.push(new Uint8Array(0))
  return new WeakRef(bytes.buffer)
}
