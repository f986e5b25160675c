import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { encode } from '@msgpack/msgpack'
import t from 'tap'
import { MessageDecoder } from '../../src/codec/decoder.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import type { CoreMessage } from '../../src/types.js'
import { noRealCores, realCores } from '../fixtures/streams.js'

const term = { v: 'urn:x', e: true }
const text = { v: '1', e: false }
const m = {
  i: 'core',
  m: [{ s: term, p: term, o: { v: 'ü\u{1f600}', e: false } }],
  u: 'alice',
  c: 'c',
}

t.test('real cores decode and encode to the same bytes', async (t) => {
  const cores = realCores()
  if (cores.length === 0) return t.plan(0, noRealCores)
  for (const { file, bytes } of cores) {
    const decoder = new MessageDecoder()
    const encoded: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += 50_000) {
      for (const message of decoder.push(bytes.subarray(at, at + 50_000)))
        encoded.push(encodeMessage(message))
    }
    decoder.finish()
    t.ok(Buffer.concat(encoded).equals(bytes), file)
  }
})

t.test('a message is what another encoder makes of it, with doubles forced', async (t) => {
  const triples: CoreMessage = ['t', { m, t: m.m }]
  t.same(Buffer.from(encodeMessage(triples)), Buffer.from(encode(triples)))
  for (const length of [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536]) {
    const long: CoreMessage = ['t', { m: { ...m, c: 'x'.repeat(length) }, t: [] }]
    t.ok(
      Buffer.from(encodeMessage(long)).equals(Buffer.from(encode(long))),
      `a string of ${length}`,
    )
    const many: CoreMessage = ['t', { m, t: Array.from({ length }, () => m.m[0]!) }]
    t.ok(Buffer.from(encodeMessage(many)).equals(Buffer.from(encode(many))), `${length} triples`)
  }
  const typed: CoreMessage = [
    't',
    {
      m,
      t: [
        { s: term, p: term, o: { ...text, dt: 'urn:maß' }, g: 'urn:ü' },
        { s: term, p: term, o: { ...text, ln: 'de-AT' } },
      ],
    },
  ]
  t.same(Buffer.from(encodeMessage(typed)), Buffer.from(encode(typed)))
  const whole: CoreMessage = [
    'ge',
    { m, e: [{ e: term, v: [[1, 0.5], new Float32Array([1, 0.5]), new Float64Array([1, 0.5])] }] },
  ]
  const vector = Buffer.from('92cb3ff0000000000000cb3fe0000000000000', 'hex')
  const bytes = Buffer.from(encodeMessage(whole))
  t.ok(bytes.subarray(-3 * vector.length).equals(Buffer.concat([vector, vector, vector])))
})

t.test('an object that is no message is refused with its place', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, ''],
    [['t'], ''],
    [['x', {}], ''],
    [['t', null], ''],
    [['t', {}], 'm'],
    [['t', { m: { ...m, i: 7 }, t: [] }], 'm.i'],
    [['t', { m, t: {} }], 't'],
    [['t', { m, t: [m.m[0], { s: term, p: term, o: { v: 1, e: true } }] }], 't[1].o.v'],
    [['t', { m, t: [{ s: { v: 'x', e: 'yes' }, p: term, o: term }] }], 't[0].s.e'],
    [['t', { m, t: [{ s: { v: '\ud800', e: true }, p: term, o: term }] }], 't[0].s.v'],
    [['ge', { m, e: [{ e: term, v: [[1, 'two']] }] }], 'e[0].v[0][1]'],
    [['ge', { m, e: [{ e: term, v: [1] }] }], 'e[0].v[0]'],
    // What would be lost.
    [['t', { m, t: [{ s: term, p: term, o: { ...term, lang: 'en' } }] }], 't[0].o.lang'],
    [['t', { m, t: [{ s: term, p: term, o: term, g: 7 }] }], 't[0].g'],
    [['t', { m, t: [{ s: term, p: term, o: term, g: '' }] }], 't[0].g'],
    [['t', { m, t: [{ s: term, p: term, o: term, zz: 'urn:g' }] }], 't[0].zz'],
    [['t', { m, t: [{ s: term, p: term, o: { ...text, dt: 'integer' } }] }], 't[0].o.dt'],
    [['t', { m, t: [{ s: term, p: term, o: { ...text, dt: 'a:<b>' } }] }], 't[0].o.dt'],
    [['t', { m, t: [{ s: term, p: term, o: { ...text, dt: 5 } }] }], 't[0].o.dt'],
    [['t', { m, t: [{ s: term, p: term, o: { ...text, ln: 'en_GB' } }] }], 't[0].o.ln'],
    [['t', { m, t: [{ s: term, p: term, o: { ...text, ln: 'en', dt: 'a:' } }] }], 't[0].o'],
    [['t', { m, t: [{ s: term, p: term, o: { ...term, ln: 'en' } }] }], 't[0].o.ln'],
    [['t', { m: { ...m, zz: 1 }, t: [] }], 'm.zz'],
    [['t', { m, t: [], q: 1 }], 'q'],
    [['ge', { m, e: [{ e: term, v: [], x: 1 }] }], 'e[0].x'],
  ]
  for (const [message, path] of cases) {
    t.throws(() => encodeMessage(message as CoreMessage, 4), {
      code: 'LK_CORE_MESSAGE',
      details: { messageIndex: 4, errors: [{ path }] },
    })
  }
  const left = { ...term, lang: undefined }
  t.ok(encodeMessage(['t', { m, t: [{ s: left, p: term, o: term }] }] as CoreMessage))
})

t.test('a long message that is refused leaves no room behind', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const held = () => process.memoryUsage().arrayBuffers
  const settled = async (isEnough: () => boolean) => {
    for (let n = 0; n < 50 && !isEnough(); n++) {
      collectGarbage()
      await turn()
    }
  }
  await settled(() => false)
  const before = held()
  const m = { i: '', m: [], u: '', c: '' }
  const v = [new Float64Array(2_000_000), ['no number']]
  const message = ['ge', { m, e: [{ e: { v: 'x', e: true }, v }] }] as unknown as CoreMessage
  t.throws(() => encodeMessage(message), { code: 'LK_CORE_MESSAGE' })
  v.length = 0
  const isSmall = () => held() - before < 4_000_000
  await settled(isSmall)
  t.ok(isSmall(), `${held() - before} bytes`)
})
