import assert from 'node:assert/strict'
import { decodeMulti } from '@msgpack/msgpack'
import t from 'tap'
import { asTrustgraph } from '../../../src/codec/dialects/as-trustgraph.js'
import { Transcoder } from '../../../src/codec/dialects/transcoder.js'
import { defaultLimits } from '../../../src/codec/limits.js'
import { longest } from '../../../src/turns.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { randomStream } from '../../fixtures/streams.js'
import { countTurns } from '../../fixtures/turns.js'
import { cut } from '../scan.js'
import { longMessages, pack, parts, payloads } from './payloads.js'

const seed = pickSeed()

async function trustgraph(chunks: Iterable<Uint8Array>): Promise<Buffer> {
  const source = async function* () {
    yield* chunks
  }
  const made: Uint8Array[] = []
  for await (const chunk of asTrustgraph(source())) {
    assert.ok(chunk.length > 0 && chunk.length <= 1024 * 1024)
    made.push(chunk)
  }
  return Buffer.concat(made)
}

function specification(bytes: Uint8Array): Buffer {
  const refusal = new Error('refused')
  const limits = defaultLimits
  const transcoder = new Transcoder({ limits, messageIndex: 0, offset: 0, refusal })
  const pieces: Buffer[] = []
  for (const piece of transcoder.push(bytes)) pieces.push(Buffer.from(piece))
  transcoder.finish()
  return Buffer.concat(pieces)
}

t.test('what was read of any dialect is written so that the same is read again', async (t) => {
  for (const { name, bytes, messages } of payloads) {
    if (messages.length === 0) continue
    const core = specification(bytes)
    const written = await trustgraph([core])
    t.same(await trustgraph(cut(core, 1)), written, name)
    const again = specification(written)
    // A vector is an embedding of its own there.
    const flat = [...decodeMulti(core)].map(flattened)
    t.same([...decodeMulti(again)], flat, name)
    t.same(await trustgraph([again]), written, name)
  }
})

t.test(
  'terms have types, metadata is what the newest reader knows, vectors are flat',
  async (t) => {
    const { entity, text, cats, isA, animal, iri, full, statement, typed } = parts
    const dt = 'http://www.w3.org/2001/XMLSchema#integer'
    const qualified = [
      { ...statement, o: { ...text('9'), dt }, g: 'urn:g' },
      { ...statement, s: entity('_:b0'), o: { ...text('chat'), ln: 'fr' } },
      { ...statement, o: text('_:text') },
    ]
    const e = [
      { e: entity(cats), v: [[0.5, 1], [2.5]] },
      { e: entity(animal), v: [] },
      { e: entity(animal), v: [[3.5]] },
    ]
    const stream = pack(
      ['t', { m: full, t: [statement, ...qualified] }],
      ['t', { m: { ...full, m: [statement] }, t: [] }],
      ['ge', { m: { ...full, c: 'pets' }, e }],
    )
    t.same(
      [...decodeMulti(await trustgraph([stream]))],
      [
        [
          't',
          {
            m: { i: 'core', c: 'default' },
            t: [
              typed,
              { ...typed, o: { t: 'l', v: '9', dt }, g: 'urn:g' },
              { s: { t: 'b', d: 'b0' }, p: iri(isA), o: { t: 'l', v: 'chat', ln: 'fr' } },
              { ...typed, o: { t: 'l', v: '_:text' } },
            ],
          },
        ],
        ['t', { m: { i: 'core', m: [typed], c: 'default' }, t: [] }],
        [
          'ge',
          {
            m: { i: 'core', c: 'pets' },
            e: [
              { e: iri(cats), v: [0.5, 1] },
              { e: iri(cats), v: [2.5] },
              { e: iri(animal), v: [] },
              { e: iri(animal), v: [3.5] },
            ],
          },
        ],
      ],
    )
  },
)

t.test(`streams of any writer are written and read again (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 200; round++) {
    const { bytes } = randomStream(random, { strangeness: random.next(), messages: 3 })
    const written = await trustgraph([bytes])
    assert.deepEqual(await trustgraph(cut(bytes, 7)), written)
    const core = specification(written)
    assert.deepEqual(specification(await trustgraph([core])), core)
  }
  t.pass('200 streams')
})

t.test('one entity of many vectors does not become a message without end', async (t) => {
  const { entity, full } = parts
  const long = 'x'.repeat(500_000)
  const e = [{ e: entity(long), v: Array.from({ length: 300 }, (_, n) => [n]) }]
  let messages = 0
  let embeddings = 0
  for (const [, { e: items }] of decodeMulti(
    await trustgraph([pack(['ge', { m: full, e }])]),
  ) as Iterable<[string, { e: unknown[] }]>) {
    messages++
    embeddings += items.length
  }
  t.same([messages, embeddings], [3, 300])
})

t.test('others have turns while a long message is converted', async (t) => {
  const before = longest.ms
  longest.ms = -1
  t.teardown(() => (longest.ms = before))
  for (const { where, specified } of longMessages) {
    const turnsSince = countTurns()
    await trustgraph([specified])
    const turns = turnsSince()
    // Cut into messages in steps of 64 KiB, walked over, and converted.
    const least = Math.floor(specified.length / 65_536) + 2 * Math.floor(specified.length / 34_000)
    t.ok(turns >= least, `${where}: ${turns} turns for ${specified.length} bytes`)
  }
})

function flattened(message: unknown): unknown {
  const [type, data] = message as [string, { e: { e: unknown; v: unknown[] }[] }]
  if (type === 't') return message
  const e = data.e.flatMap(({ e, v }) => v.map((vector) => ({ e, v: [vector] })))
  return [type, { ...data, e }]
}
