import assert from 'node:assert/strict'
import { decodeMulti, encode } from '@msgpack/msgpack'
import { Unpackr } from 'msgpackr'
import t from 'tap'
import { defaultLimits, noLimits } from '../../src/codec/limits.js'
import { CoreScanner } from '../../src/codec/scanner.js'
import { pickSeed, Random } from '../fixtures/random.js'
import {
  mutate,
  noRealCores,
  randomChunks,
  randomStream,
  RawWriter,
  realCores,
} from '../fixtures/streams.js'
import { cut, scan } from './scan.js'

const seed = pickSeed()
const target = { id: 'core', user: 'alice' }

t.test('real cores pass as they are, whole and in any chunks', async (t) => {
  const cores = realCores()
  if (cores.length === 0) return t.plan(0, noRealCores)
  for (const { file, id, user, bytes } of cores) {
    const whole = scan([bytes], { id, user })
    t.equal(whole.bytes, bytes.toString('latin1'), file)
    const sizes = bytes.length < 1_000_000 ? [1, 2, 3, 7, 64, 1000] : [61, 1000, 131_072]
    for (const size of sizes) {
      assert.deepEqual(scan(cut(bytes, size), { id, user }), whole, `${file} in ${size}`)
    }
    t.ok(whole.counts?.[0])
  }
})

t.test(
  `every way to cut a valid stream gives the same bytes and counts (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    for (let round = 0; round < 150; round++) {
      const { bytes, ends } = randomStream(random, {
        strangeness: random.next(),
        messages: 1 + random.below(3),
      })
      const whole = scan([bytes], target)
      assert.equal(whole.error, undefined, JSON.stringify(whole.error))
      assert.equal(whole.counts?.[0], ends.length)
      assert.deepEqual(scan(cut(bytes, 1), target), whole)
      for (const most of [3, 20, 200]) {
        assert.deepEqual(scan(randomChunks(random, bytes, most), target), whole)
      }
      // Without a target nothing is replaced.
      assert.equal(scan([bytes]).bytes, bytes.toString('latin1'))
    }
    t.pass('150 streams')
  },
)

t.test(
  `a stream cut short is refused, unless the cut lies between messages (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    for (let round = 0; round < 12; round++) {
      const { bytes, ends } = randomStream(random, { strangeness: 0.3, messages: 3 })
      for (let end = 0; end <= bytes.length; end++) {
        const { error } = scan([bytes.subarray(0, end)])
        const between = end === 0 || ends.includes(end)
        assert.equal(error === undefined, between, `cut at ${end} of ${bytes.length}`)
        if (error) {
          assert.equal(error.code, 'LK_CORE_FORMAT')
          assert.equal(error.byteOffset, end)
        }
      }
    }
    t.pass('every offset of 12 streams')
  },
)

t.test(`a damaged stream gives one result however it is cut (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let refused = 0
  for (let round = 0; round < 1500; round++) {
    const { bytes } = randomStream(random, { strangeness: random.next() / 2, messages: 2 })
    const damaged = mutate(random, bytes)
    const whole = scan([damaged], target)
    if (whole.error) refused++
    assert.deepEqual(scan(cut(damaged, 1), target), whole, damaged.toString('hex'))
    assert.deepEqual(
      scan(randomChunks(random, damaged, 30), target),
      whole,
      damaged.toString('hex'),
    )
  }
  t.ok(refused > 500, `${refused} of 1500 refused`)
})

t.test(`what is accepted, two other decoders read the same way (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: 'number' })
  let accepted = 0
  let refusedByUs = 0
  for (let round = 0; round < 1500; round++) {
    const { bytes } = randomStream(random, { strangeness: random.next() / 3, messages: 2 })
    const damaged = random.chance(0.2) ? bytes : mutate(random, bytes)
    const { error, counts } = scan([damaged])
    if (error) {
      // Ours is the strict one: where it says no to a stream that is in the one canonical form,
      // with the fields of the wire tables, it is wrong.
      assert.ok(
        !isCanonical(damaged),
        `refused: ${damaged.toString('hex')} ${JSON.stringify(error)}`,
      )
      refusedByUs++
      continue
    }
    accepted++
    // It refuses this one key, wherever it stands.
    if (damaged.includes('__proto__') || damaged.length === 0) continue
    const messages = [...decodeMulti(damaged)] as [string, Record<string, unknown[]>][]
    assert.equal(messages.length, counts?.[0])
    const ours = messages.map(([, data]) => data['t']?.length ?? data['e']?.length ?? 0)
    const theirs = (
      unpackr.unpackMultiple(damaged) as unknown as [string, Map<string, unknown[]>][]
    ).map(([, data]) => data.get('t')?.length ?? data.get('e')?.length ?? 0)
    assert.deepEqual(ours, theirs)
    assert.equal(
      ours.reduce((sum, n) => sum + n, 0),
      (counts?.[1] ?? 0) + (counts?.[2] ?? 0),
    )
  }
  t.ok(accepted > 200 && refusedByUs > 200, `${accepted} accepted, ${refusedByUs} refused`)
})

t.test(
  'id and user become those of the core, and stay as they are where they are equal',
  async (t) => {
    const raw = new RawWriter(new Random(1))
    const term = raw.term()
    const metadata = (i: Uint8Array, u: Uint8Array) =>
      Buffer.concat([
        ...[Buffer.of(0x92), raw.string('t'), Buffer.of(0x82), raw.string('m')],
        ...[Buffer.of(0x84), raw.string('i'), i, raw.string('m'), Buffer.of(0x90)],
        ...[raw.string('u'), u, raw.string('c'), raw.string('i'), raw.string('t'), Buffer.of(0x91)],
        ...[Buffer.of(0x83), raw.string('s'), term, raw.string('p'), term, raw.string('o'), term],
      ])
    const plain = metadata(raw.string('core'), raw.string('alice'))
    const long = metadata(
      Buffer.from('db00000004636f7265', 'hex'),
      Buffer.from('d905616c696365', 'hex'),
    )
    const other = metadata(raw.string('rose'), raw.string('a much longer name than the core has'))
    for (const size of [1, 2, 5, 1000]) {
      t.equal(scan(cut(plain, size), target).bytes, plain.toString('latin1'))
      t.equal(
        scan(cut(long, size), target).bytes,
        long.toString('latin1'),
        'with its longer headers',
      )
      t.equal(scan(cut(other, size), target).bytes, plain.toString('latin1'))
    }
  },
)

t.test('each rule refuses what breaks it, with message, byte and path', async (t) => {
  const cases: readonly (readonly [string, unknown[], Uint8Array | string, string, RegExp])[] = [
    ['an unknown type', [], pack(['x', {}]), 'LK_CORE_TYPE', /message 0, byte 1: found "x"/],
    ['text', [], '@prefix a: <b> .', 'LK_CORE_FORMAT', /looks like RDF in Turtle/],
    ['N-Triples', [], '<http://a> <http://b> <http://c> .', 'LK_CORE_FORMAT', /N-Triples/],
    ['gzip', [], Buffer.of(0x1f, 0x8b, 8), 'LK_CORE_FORMAT', /gzip/],
    ['a type that is no string', [], pack([1, {}]), 'LK_CORE_FORMAT', /byte 1: .*found an integer/],
    ['one element', [], pack(['t']), 'LK_CORE_FORMAT', /array of 1/],
    ['three elements', [], pack(['t', {}, 1]), 'LK_CORE_FORMAT', /array of 3/],
    ['a map without fields', [], pack(['t', {}]), 'LK_CORE_FORMAT', /lacks 'm' and 't'/],
    [
      'ext',
      ['zz', Buffer.from('d40100', 'hex')],
      '',
      'LK_CORE_FORMAT',
      /\(t\[1\]\.s\.zz\): extension/,
    ],
    ['0xc1', ['zz', Buffer.of(0xc1)], '', 'LK_CORE_FORMAT', /0xc1/],
    ['bad UTF-8', ['v', Buffer.of(0xa1, 0xff)], '', 'LK_CORE_FORMAT', /\(t\[1\]\.s\.v\).*UTF-8/],
    ['a surrogate', ['v', Buffer.from('a3eda080', 'hex')], '', 'LK_CORE_FORMAT', /UTF-8/],
    ['an overlong form', ['v', Buffer.from('a2c0af', 'hex')], '', 'LK_CORE_FORMAT', /UTF-8/],
    ['half a character', ['v', Buffer.from('a1c3', 'hex')], '', 'LK_CORE_FORMAT', /ends inside/],
    [
      'a number as value',
      ['v', Buffer.of(1)],
      '',
      'LK_CORE_FORMAT',
      /expected a string, found an integer/,
    ],
    ['binary as value', ['v', Buffer.from('c40161', 'hex')], '', 'LK_CORE_FORMAT', /found binary/],
    ['nil as flag', ['e', Buffer.of(0xc0)], '', 'LK_CORE_FORMAT', /expected a boolean, found nil/],
    ['a key twice', ['v', 'x', 'v', 'y'], '', 'LK_CORE_FORMAT', /"v" occurs twice/],
    ['an extra key twice', ['q', 1, 'q', 2], '', 'LK_CORE_FORMAT', /"q" occurs twice/],
    ['a key that is a number', [7, 1], '', 'LK_CORE_FORMAT', /expected a string as map key/],
    ['a missing field', ['v', 'x'], '', 'LK_CORE_FORMAT', /\(t\[1\]\.s\): a map lacks 'e'/],
    [
      'a claimed string',
      ['v', Buffer.from('dbffffffff', 'hex')],
      '',
      'LK_CORE_FORMAT',
      /maxStringBytes/,
    ],
    [
      'a claimed array',
      ['zz', Buffer.from('ddffffffff', 'hex')],
      '',
      'LK_CORE_FORMAT',
      /maxMessageBytes/,
    ],
    ['a claimed map', ['zz', Buffer.from('de0401', 'hex')], '', 'LK_CORE_FORMAT', /maxMapEntries/],
  ]
  for (const [name, fields, whole, code, message] of cases) {
    const bytes = whole === '' ? withTerm(fields) : Buffer.from(whole as string)
    for (const chunks of [[bytes], [...cut(bytes, 1)]]) {
      const push = () => {
        const scanner = new CoreScanner({ copy: () => undefined })
        for (const chunk of chunks) scanner.push(chunk)
        scanner.finish()
      }
      const expected = chunks.length === 1 ? { code, message } : { code }
      t.throws(push, expected, name)
    }
  }
})

t.test(
  'a text of any length is UTF-8 or refused, wherever a byte beyond ASCII stands',
  async (t) => {
    for (let length = 1; length <= 40; length++) {
      for (let at = 0; at < length; at++) {
        const text = Buffer.alloc(length, 'a')
        assert.equal(scan([streamOf(text)]).error, undefined)
        text[at] = 0xc3
        assert.equal(scan([streamOf(text)]).error?.path, 't[0].o.v', `${at} of ${length}`)
        if (at + 1 === length) continue
        text[at + 1] = 0xa9
        assert.equal(scan([streamOf(text)]).error, undefined, `${at} of ${length}`)
      }
    }
    t.pass()
  },
)

/** One triple, whose object has this text. */
function streamOf(text: Uint8Array): Buffer {
  const term = { v: 'x', e: true }
  const v = 'z'.repeat(text.length)
  const data = {
    m: { i: 'i', m: [], u: 'u', c: 'c' },
    t: [{ s: term, p: term, o: { v, e: false } }],
  }
  const bytes = Buffer.from(encode(['t', data]))
  bytes.set(text, bytes.indexOf(v))
  return bytes
}

t.test('each limit holds at its value and one past it', async (t) => {
  const raw = new RawWriter(new Random(1))
  const vector = (length: number) => {
    const term = Buffer.concat([
      Buffer.of(0x82),
      raw.string('v'),
      raw.string('x'),
      raw.string('e'),
      Buffer.of(0xc3),
    ])
    const numbers = Buffer.alloc(length, 1)
    return Buffer.concat([
      ...[Buffer.of(0x92), raw.string('ge'), Buffer.of(0x82), raw.string('m'), Buffer.of(0x84)],
      ...[raw.string('i'), raw.string('c'), raw.string('m'), Buffer.of(0x90)],
      ...[raw.string('u'), raw.string('u'), raw.string('c'), raw.string('c')],
      ...[
        raw.string('e'),
        Buffer.of(0x91, 0x82),
        raw.string('e'),
        term,
        raw.string('v'),
        Buffer.of(0x91),
      ],
      ...[Buffer.of(0xdc, length >> 8, length & 255), numbers],
    ])
  }
  const nested = (depth: number) => {
    const inner = Buffer.concat([Buffer.alloc(depth, 0x91), Buffer.of(0xc0)])
    return withTerm(['v', 'x', 'e', true, 'zz', inner])
  }
  const entries = (count: number) =>
    withTerm([
      'v',
      'x',
      'e',
      true,
      'zz',
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0])),
    ])
  const check = (name: keyof typeof defaultLimits, value: number, at: Buffer, past: Buffer) => {
    const limits = { ...defaultLimits, [name]: value }
    for (const size of [1, 17, 100_000]) {
      t.equal(scan(cut(at, size), undefined, limits).error, undefined, `${name} at its value`)
      t.match(
        scan(cut(past, size), undefined, limits).error,
        { code: 'LK_CORE_FORMAT' },
        `${name} past it`,
      )
    }
  }
  check('maxVectorLength', 300, vector(300), vector(301))
  check(
    'maxStringBytes',
    40,
    withTerm(['v', 'x'.repeat(40), 'e', true]),
    withTerm(['v', 'x'.repeat(41), 'e', true]),
  )
  check('maxDepth', 10, nested(5), nested(6))
  check('maxMapEntries', 20, entries(20), entries(21))
  const extra = (count: number) =>
    withTerm(['v', 'x', 'e', true, 'zz', Array.from({ length: count - 1 }, () => null)])
  check('maxExtraValues', 30, Buffer.concat([extra(30), extra(30)]), extra(31))
  const message = withTerm(['v', 'x', 'e', true])
  check(
    'maxMessageBytes',
    message.length,
    Buffer.concat([message, message]),
    withTerm(['v', 'xy', 'e', true]),
  )
  // Nothing follows the header of the last value.
  for (const last of [{}, [], '', 0]) {
    const data = { t: [], m: { i: 'i', m: [], u: 'u', c: 'c', zz: last } }
    const bytes = Buffer.from(encode(['t', data]))
    const limits = { ...defaultLimits, maxMessageBytes: bytes.length }
    for (const size of [1, 17, 100_000]) {
      const shown = `maxMessageBytes, at the end ${JSON.stringify(last)}`
      t.equal(scan(cut(bytes, size), undefined, limits).error, undefined, shown)
      const less = { ...limits, maxMessageBytes: bytes.length - 1 }
      t.match(scan(cut(bytes, size), undefined, less).error, { code: 'LK_CORE_FORMAT' }, shown)
    }
  }
})

t.test('a message has no more vectors than its bytes are worth', async (t) => {
  /** Of vectors that are empty. */
  const embedding = (count: number) => {
    const header = Buffer.from('dd00000000', 'hex')
    header.writeUInt32BE(count, 1)
    const entity = [pack('e'), pack({ v: 'x', e: true })]
    return [Buffer.of(0x82), ...entity, pack('v'), header, Buffer.alloc(count, 0x90)]
  }
  const embeddings = (...counts: number[]) =>
    Buffer.concat([
      ...[Buffer.of(0x92), pack('ge'), Buffer.of(0x82), pack('m')],
      ...[pack({ i: 'i', m: [], u: 'u', c: 'c' }), pack('e'), Buffer.of(0x90 + counts.length)],
      ...counts.flatMap(embedding),
    ])
  const few = { ...defaultLimits, maxMessageBytes: 1024 * 1024 }
  const full = embeddings(30_000, 35_536)
  t.notOk(scan([full, full], undefined, few).error, 'each for itself')
  for (const past of [embeddings(30_000, 35_537), embeddings(65_537)]) {
    const { error } = scan([full, past], undefined, few)
    t.match(error, { code: 'LK_CORE_FORMAT', messageIndex: 1, path: /^e\[[01]\]\.v$/ })
    t.same(scan(cut(Buffer.concat([full, past]), 17), undefined, few).error, error)
  }
  const many = embeddings(2 ** 20)
  t.notOk(scan([many]).error)
  t.match(scan([embeddings(2 ** 20, 1)]).error, { code: 'LK_CORE_FORMAT', path: 'e[1].v' })
  t.notOk(scan([embeddings(2 ** 20, 1)], undefined, noLimits).error, 'what is stored is read')
})

t.test('datatypes, languages and graphs are checked where they stand', async (t) => {
  const literal = ['v', 'x', 'e', false]
  const path = 't[1].s'
  const cases: readonly (readonly [fields: readonly unknown[], refused: string | undefined])[] = [
    [[...literal, 'dt', 'http://www.w3.org/2001/XMLSchema#integer'], undefined],
    [[...literal, 'dt', 'a:'], undefined],
    [['dt', 'urn:ü', ...literal], undefined],
    [[...literal, 'ln', 'en'], undefined],
    [['ln', 'zh-Hant-1', ...literal], undefined],
    // Fields of other makers that look like ours.
    [[...literal, 't', 'no IRI', 'd', 1, 'n', 2, 'l', 3, '\x80', 4, 'ld', 5, 'td', 6], undefined],
    [[...literal, 'dt', 'integer'], `${path}.dt`],
    [[...literal, 'dt', ''], `${path}.dt`],
    [[...literal, 'dt', '1a:b'], `${path}.dt`],
    [[...literal, 'dt', 'a:b c'], `${path}.dt`],
    [[...literal, 'dt', 'a:<b>'], `${path}.dt`],
    [[...literal, 'dt', 'ä:b'], `${path}.dt`],
    [[...literal, 'dt', null], `${path}.dt`],
    [[...literal, 'dt', 7], `${path}.dt`],
    [[...literal, 'ln', ''], `${path}.ln`],
    [[...literal, 'ln', 'en-'], `${path}.ln`],
    [[...literal, 'ln', 'en_GB'], `${path}.ln`],
    [[...literal, 'ln', '1en'], `${path}.ln`],
    [[...literal, 'ln', ['en']], `${path}.ln`],
    [[...literal, 'ln', 'en', 'dt', 'a:b'], path],
    [['v', 'x', 'e', true, 'ln', 'en'], path],
    [['dt', 'a:b', 'v', 'x', 'e', true], path],
    [[...literal, 'ln', 'en', 'ln', 'en'], path],
  ]
  for (const [fields, refused] of cases) {
    const bytes = withTerm(fields)
    for (const size of [1, 7, 1000]) {
      const { error } = scan(cut(bytes, size))
      t.equal(error?.path, refused, JSON.stringify(fields))
      if (refused !== undefined) t.equal(error?.code, 'LK_CORE_FORMAT')
    }
  }
  const term = { v: 'x', e: true }
  const inGraph = (g: unknown) =>
    pack(['t', { m: { i: '', m: [], u: '', c: '' }, t: [{ s: term, p: term, o: term, g }] }])
  for (const g of ['urn:g', '_:b', 'g']) t.notOk(scan([inGraph(g)]).error, g)
  for (const g of ['', 7, null, ['urn:g']]) {
    for (const size of [1, 7, 1000]) t.equal(scan(cut(inGraph(g), size)).error?.path, 't[0].g')
  }
  // An empty name, with headers that are longer than it needs.
  for (const header of ['d900', 'da0000', 'db00000000']) {
    const bytes = Buffer.from(inGraph('').toString('hex').replace(/a0$/, header), 'hex')
    for (const size of [1, 7, 1000]) t.equal(scan(cut(bytes, size)).error?.path, 't[0].g', header)
  }
})

t.test('nothing of a message is handed on before its first triple or embedding', async (t) => {
  const term = { v: 'a', e: true }
  const triple = { s: term, p: term, o: term }
  const m = { i: 'rose', m: [triple], u: 'bob', c: 'default' }
  const own = { ...m, i: 'core', u: 'alice' }
  const first = pack(['t', { m: own, t: [triple] }])
  const heads: [Buffer, Buffer][] = [
    [pack(['t', { m, t: [triple] }]), pack(['t', { m: own, t: [triple] }])],
    [
      pack(['ge', { m, e: [{ e: term, v: [[0.5]] }] }]),
      pack(['ge', { m: own, e: [{ e: term, v: [[0.5]] }] }]),
    ],
  ]
  for (const [head, expected] of heads) {
    const items = head.lastIndexOf(pack(head[1] === 0xa1 ? triple : { e: term, v: [[0.5]] }))
    for (const size of [1, 3, head.length]) {
      const copied: Buffer[] = []
      const copy = (bytes: Uint8Array, from: number, to: number) =>
        void copied.push(Buffer.from(bytes.subarray(from, to)))
      const scanner = new CoreScanner({ copy }, target)
      scanner.push(first)
      for (const chunk of cut(head.subarray(0, items), size)) {
        scanner.push(chunk)
        t.equal(scanner.headStart, first.length)
      }
      t.same(Buffer.concat(copied), first)
      scanner.push(head.subarray(items))
      t.same(Buffer.concat(copied), Buffer.concat([first, expected]))

      // What was refused there gives its place to another.
      scanner.push(head.subarray(0, items))
      t.throws(() => scanner.push(Buffer.of(0xa1)))
      t.equal(scanner.headStart, first.length + head.length)
      scanner.rewind()
      for (const chunk of cut(head, size)) scanner.push(chunk)
      scanner.finish()
      t.same(Buffer.concat(copied), Buffer.concat([first, expected, expected]))
      const isTriples = head[1] === 0xa1
      t.same(
        [scanner.messages, scanner.triples, scanner.entities, scanner.vectors],
        isTriples ? [3, 3, 0, 0] : [3, 1, 2, 2],
      )
    }
  }
  // What came before in the same chunk goes on all the same.
  const copied: Buffer[] = []
  const copy = (bytes: Uint8Array, from: number, to: number) =>
    void copied.push(Buffer.from(bytes.subarray(from, to)))
  const scanner = new CoreScanner({ copy }, target)
  t.throws(() => scanner.push(Buffer.concat([first, pack(['x', {}])])))
  scanner.rewind()
  t.same(Buffer.concat(copied), first)
})

t.test('lengths that are only claimed cost nothing', async (t) => {
  const hostile = [
    Buffer.from('dd01ffffff'.repeat(50_000), 'hex'),
    Buffer.alloc(50_000, 0x91),
    Buffer.concat([Buffer.from('92a17482a16d', 'hex'), Buffer.alloc(50_000, 0x81)]),
    withTerm(['zz', Buffer.alloc(50_000, 0x91)]),
    withTerm(['zz', Buffer.from('dd01ffffff'.repeat(50_000), 'hex')]),
  ]
  for (const bytes of hostile) {
    const before = process.memoryUsage()
    const { error } = scan([bytes])
    const after = process.memoryUsage()
    t.equal(error?.code, 'LK_CORE_FORMAT')
    const grown = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers
    t.ok(grown < 2_000_000, `${grown} bytes more`)
  }
})

/** A message with two triples; the subject of the second has these keys and values. */
function withTerm(fields: readonly unknown[]): Buffer {
  const term = Buffer.from([0x82, 0xa1, 0x76, 0xa1, 0x78, 0xa1, 0x65, 0xc3])
  const subject = [Buffer.of(0x80 | (fields.length / 2)), ...fields.map((field) => asBytes(field))]
  const parts = [
    Buffer.of(0x92, 0xa1, 0x74, 0x82, 0xa1, 0x6d),
    pack({ i: 'c', m: [], u: 'u', c: 'c' }),
    Buffer.of(0xa1, 0x74, 0x92),
    ...[
      Buffer.of(0x83, 0xa1, 0x73),
      term,
      Buffer.of(0xa1, 0x70),
      term,
      Buffer.of(0xa1, 0x6f),
      term,
    ],
    ...[
      Buffer.of(0x83, 0xa1, 0x73),
      ...subject,
      Buffer.of(0xa1, 0x70),
      term,
      Buffer.of(0xa1, 0x6f),
      term,
    ],
  ]
  return Buffer.concat(parts)
}

function asBytes(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : pack(value)
}

function pack(value: unknown): Buffer {
  return Buffer.from(encode(value))
}

/** True for a stream of whole messages in the shapes of the wire tables and in canonical bytes. */
function isCanonical(bytes: Buffer): boolean {
  try {
    const messages = [...decodeMulti(bytes, { useBigInt64: true })]
    if (!messages.every(isMessage)) return false
    return Buffer.concat(messages.map((message) => encode(message, { useBigInt64: true }))).equals(
      bytes,
    )
  } catch {
    // Not MessagePack to the other decoder either.
    return false
  }
}

function isMessage(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [type, data] = value as [unknown, Record<string, unknown>]
  if (!hasFields(data, type === 't' ? ['m', 't'] : ['m', 'e'])) return false
  const { m } = data as { m: Record<string, unknown> }
  if (!hasFields(m, ['i', 'm', 'u', 'c']) || !isTriples(m['m'])) return false
  if (![m['i'], m['u'], m['c']].every((name) => typeof name === 'string')) return false
  if (type === 't') return isTriples(data['t'])
  return (
    type === 'ge' &&
    Array.isArray(data['e']) &&
    data['e'].every((entity: Record<string, unknown>) => {
      const vectors = entity?.['v']
      if (!hasFields(entity, ['e', 'v']) || !isTerm(entity['e']) || !Array.isArray(vectors))
        return false
      return vectors.every(
        (vector) =>
          Array.isArray(vector) &&
          vector.every((n) => typeof n === 'number' || typeof n === 'bigint'),
      )
    })
  )
}

function isTriples(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (triple: Record<string, unknown>) =>
        hasFields(triple, ['s', 'p', 'o', ...(triple?.['g'] === undefined ? [] : ['g'])]) &&
        [triple['s'], triple['p'], triple['o']].every(isTerm) &&
        isText(triple['g'], /./su),
    )
  )
}

function isTerm(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { v, e, dt, ln } = value as Record<string, unknown>
  if (dt !== undefined && ln !== undefined) return false
  const more = dt !== undefined ? ['dt'] : ln !== undefined ? ['ln'] : []
  if (!hasFields(value, ['v', 'e', ...more])) return false
  if (typeof v !== 'string' || typeof e !== 'boolean' || (e && more.length > 0)) return false
  return (
    isText(dt, /^[a-z][a-z0-9+.-]*:[^\x00-\x20<>"{}|\\^`]*$/i) &&
    isText(ln, /^[a-z]+(?:-[a-z0-9]+)*$/i)
  )
}

function isText(value: unknown, pattern: RegExp): boolean {
  return value === undefined || (typeof value === 'string' && pattern.test(value))
}

function hasFields(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === names.length &&
    names.every((name) => Object.hasOwn(value, name))
  )
}
