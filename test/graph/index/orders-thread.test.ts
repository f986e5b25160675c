// A part whose triples another thread puts in order is the same as one that is made here.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { OrdersThread } from '../../../src/graph/index/orders-thread.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import type { SourceName } from '../../../src/graph/index/places.js'
import { TermsKernel } from '../../../src/graph/index/terms-kernel.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { Blocks } from './part-file.js'
import { sourceNames } from './sayings.js'

const seed = pickSeed()
const count = 140_000
const kernel = new TermsKernel()
const orders = new OrdersThread()

for (const graphs of [1, 3]) {
  t.test(`${graphs} graphs: the parts are the same bytes (seed ${seed})`, async (t) => {
    const messages = messagesOf(new Random(seed), graphs)
    const here = new Blocks()
    const expected = await build(here, messages)
    orders.start()
    // It keeps no process alive.
    for (const waited = AbortSignal.timeout(30_000); !orders.isReady;) {
      waited.throwIfAborted()
      await sleep(5)
    }
    const alive = setInterval(() => undefined, 1000)
    // The second part finds the memory of the first.
    for (let round = 0; round < 2; round++) {
      const beside = new Blocks()
      assert.deepEqual(await build(beside, messages, { kernel, orders }), expected)
      assert.deepEqual([...beside.values.keys()], [...here.values.keys()])
      for (const [key, value] of beside.values) {
        assert.ok(Buffer.compare(value, here.values.get(key) as Uint8Array) === 0, key)
      }
    }
    clearInterval(alive)
    t.pass('two parts')
  })
}

t.test('where the thread has ended the parts are made here', async (t) => {
  const messages = messagesOf(new Random(seed), 1)
  const ending = new OrdersThread()
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  ending.start()
  const worker = await started
  while (!ending.isReady) await sleep(5)
  await worker.terminate()
  t.equal(ending.isReady, false)
  const [here, there] = [new Blocks(), new Blocks()]
  t.strictSame(
    await build(there, messages, { kernel, orders: ending }),
    await build(here, messages),
  )
})

function messagesOf(random: Random, graphs: number): Uint8Array[] {
  const iri = (kind: string, most: number) => ({ v: `urn:${kind}:${random.below(most)}`, e: true })
  const messages: Uint8Array[] = []
  for (let made = 0; made < count; made += 5000) {
    const triples = Array.from({ length: 5000 }, () => ({
      s: iri('s', 30_000),
      p: iri('p', 20),
      o: iri('o', 9000),
      ...(graphs > 1 && random.below(2) === 0 && { g: `urn:g:${random.below(graphs)}` }),
    }))
    messages.push(encodeMessage(['t', { m: { i: 'core', m: [], u: 'u', c: 'c' }, t: triples }]))
  }
  return messages
}

async function build(
  storage: Blocks,
  messages: readonly Uint8Array[],
  many?: { readonly kernel: TermsKernel; readonly orders: OrdersThread },
) {
  const how = many === undefined ? {} : { many }
  const builder = new PartsBuilder(storage, 'id', sourceNames[0] as SourceName, how)
  for (const message of messages) {
    builder.push(message)
    await builder.writeFull()
  }
  return builder.finish()
}
