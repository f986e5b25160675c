import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { decodeKey, encodeKey, keyPrefix, type KeyElement } from '../src/keys.js'

const element = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array({ maxLength: 6 }),
  fc.maxSafeNat(),
  fc.constantFrom(0, 1, 255, 256, 65_535, 65_536, Number.MAX_SAFE_INTEGER),
  fc.constantFrom('', '\u0000', '\u0000\u00ff', '\uffff', '\u{1f600}', '\ufffd'),
)
const tuple = fc.array(element, { minLength: 1, maxLength: 4 })

t.test('a key decodes to the tuple that it was made from', async () => {
  fc.assert(
    fc.property(tuple, (elements) => {
      assert.deepEqual(decodeKey(encodeKey(...elements)).map(comparable), elements.map(comparable))
    }),
    { verbose: true },
  )
})

t.test('the order of the bytes is the order of the tuples', async () => {
  fc.assert(
    fc.property(tuple, tuple, (a, b) => {
      const order = Math.sign(Buffer.compare(encodeKey(...a), encodeKey(...b)))
      assert.equal(order, compareTuples(a, b))
    }),
    { verbose: true },
  )
})

t.test('a prefix covers the longer tuples and nothing else', async (t) => {
  const { gt, lt } = keyPrefix('core', 'alice')
  const inside = (key: Uint8Array) => Buffer.compare(key, gt) > 0 && Buffer.compare(key, lt) < 0
  t.ok(inside(encodeKey('core', 'alice', '')))
  t.ok(inside(encodeKey('core', 'alice', Number.MAX_SAFE_INTEGER)))
  t.ok(inside(encodeKey('core', 'alice', '\u{10ffff}', 'x')))
  t.notOk(inside(encodeKey('core', 'alice')))
  t.notOk(inside(encodeKey('core', 'alice2')))
  t.notOk(inside(encodeKey('core', 'alice\u0000')))
  t.notOk(inside(encodeKey('core', 'alic')))
})

t.test('values that have no key are refused', async (t) => {
  t.throws(() => encodeKey('\ud800'), TypeError)
  t.throws(() => encodeKey(-1), TypeError)
  t.throws(() => encodeKey(1.5), TypeError)
  t.throws(() => encodeKey(2 ** 53), TypeError)
  t.throws(() => decodeKey(Uint8Array.of(0x02, 0x61)), TypeError)
  t.throws(() => decodeKey(Uint8Array.of(0x03)), TypeError)
  t.throws(() => decodeKey(Uint8Array.of(0x16, 0x01)), TypeError)
})

function comparable(element: KeyElement): string {
  return typeof element === 'object'
    ? `bytes ${Buffer.from(element).toString('hex')}`
    : `${typeof element} ${element}`
}

/** Bytes before strings before numbers, as in FoundationDB's tuple layer. */
function compareTuples(a: readonly KeyElement[], b: readonly KeyElement[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as KeyElement, b[i] as KeyElement]
    const byType = rank(x) - rank(y)
    if (byType !== 0) return Math.sign(byType)
    const byValue =
      typeof x === 'number'
        ? x - (y as number)
        : Buffer.compare(Buffer.from(x as string), Buffer.from(y as string))
    if (byValue !== 0) return Math.sign(byValue)
  }
  return Math.sign(a.length - b.length)
}

function rank(element: KeyElement): number {
  return typeof element === 'object' ? 0 : typeof element === 'string' ? 1 : 2
}
