import t from 'tap'
import { sampleId, sampleMessages } from '../../src/cli/commands/cores/sample.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { fail, inTerminal, succeed } from './command.js'

t.test('sample writes the same small core every time', async (t) => {
  const bytes = await succeed(t, ['sample'])
  t.ok(bytes.equals(await succeed(t, ['sample'])))
  const messages = [...sampleMessages()]
  t.ok(bytes.equals(Buffer.concat(messages.map((message) => encodeMessage(message)))))
  const { triples, embeddings } = count(messages)
  t.equal(triples, 44)
  t.equal(embeddings, 8)
  for (const [, { m }] of messages) t.match(m, { i: sampleId, u: 'trustgraph' })
})

t.test('the sample is imported under its own name and exported as the same bytes', async (t) => {
  const data = t.testdir()
  const input = await succeed(t, ['sample'])
  await succeed(t, ['import', '-', '--id', sampleId, '--data', data], { input })
  const exported = await succeed(t, ['export', '--id', sampleId, '--data', data])
  t.ok(exported.equals(input))
})

t.test('sample --triples gives exactly as many, and the same ones every time', async (t) => {
  for (const triples of [1, 49, 50, 51, 275]) {
    const messages = [...sampleMessages({ triples })]
    t.equal(count(messages).triples, triples)
    t.same(messages, [...sampleMessages({ triples })])
  }
  const bytes = await succeed(t, ['sample', '--triples', '275'])
  const messages = sampleMessages({ triples: 275 })
  t.ok(bytes.equals(Buffer.concat(Array.from(messages, (message) => encodeMessage(message)))))
  t.throws(() => sampleMessages({ triples: 0 }), TypeError)
  t.throws(() => sampleMessages({ triples: 1.5 }), TypeError)
})

t.test('a bigger sample begins as a smaller one does, and is made as it is read', async (t) => {
  const [small] = sampleMessages({ triples: 50 })
  const [big] = sampleMessages({ triples: 1e12 })
  t.same(big, small)
})

t.test('vectors hold numbers that 32 bits would not', async (t) => {
  for (const message of sampleMessages({ triples: 100 })) {
    if (message[0] !== 'ge') continue
    for (const { v } of message[1].e) {
      for (const vector of v) {
        t.equal(vector.length, 384)
        t.ok(vector.some((component) => Math.fround(component) !== component))
        t.ok(vector.every((component) => component >= -1 && component < 1))
      }
    }
  }
})

t.test('a count that is none is wrong usage', async (t) => {
  for (const count of ['0', '1.5']) {
    await fail(t, 2, ['sample', `--triples=${count}`])
  }
})

t.test('a core does not go to a terminal', async (t) => {
  const outcome = inTerminal(['sample'])
  if (outcome === undefined)
    return t.pass('skipped', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 2)
  t.match(outcome.text, /^lorekeep: .*terminal/)
})

function count(messages: ReturnType<typeof sampleMessages>) {
  let [triples, embeddings] = [0, 0]
  for (const [type, data] of messages) {
    if (type === 't') triples += data.t.length
    else embeddings += data.e.length
  }
  return { triples, embeddings }
}
