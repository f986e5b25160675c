// A store with something of everything: cores of several segments with and without indexes, objects
// that were changed and deleted, jobs in every state.

import { serialize } from 'node:v8'
import { createLorekeep } from '../../src/lorekeep.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import type { Backend } from '../../src/storage.js'
import type { CoreMessage } from '../../src/types.js'
import { documentOf, failureOf, flowOf, openQueue, steps } from '../flow/queue/queues.js'
import { VirtualClock } from '../flow/virtual-clock.js'
import { bigStream, triplesMessage } from '../fixtures/stores.js'

export async function fill(backend: Backend): Promise<void> {
  // Nothing is merged meanwhile.
  const keep = await createLorekeep({ backend, indexThreads: 0 })
  await fillCores(keep)
  await fillObjects(keep)
  await fillFlows(backend)
  // Not closed: a MemoryBackend would lose all of it.
}

type Keep = Awaited<ReturnType<typeof createLorekeep>>

async function fillCores({ knowledge }: Keep): Promise<void> {
  const big = { user: 'alice', id: 'big' }
  await knowledge.import(big, bigStream('big', 2, encodeMessage))
  await knowledge.write(big, [vectorsMessage(40), triplesMessage('more')], { index: true })
  await knowledge.index(big)
  await knowledge.write(big, [triplesMessage('not indexed')])
  await knowledge.write({ user: 'bob', id: 'small' }, [triplesMessage('small')])
  await knowledge.write({ user: 'bob', id: 'indexed' }, [
    triplesMessage('x'),
    collectionMessage('other'),
  ])
  await knowledge.index({ user: 'bob', id: 'indexed' })
  await knowledge.write({ user: 'bob', id: 'empty' }, [])
  // Parts have something of a generation that was given up.
  await knowledge.write({ user: 'bob', id: 'indexed' }, [triplesMessage('y')], { mode: 'replace' })
  await knowledge.index({ user: 'bob', id: 'indexed' })
}

function vectorsMessage(entities: number): CoreMessage {
  const m = { i: 'i', m: [], u: 'u', c: 'default' }
  const e = Array.from({ length: entities }, (_, n) => ({
    e: { v: `http://example.org/entity/${n}`, e: true },
    v: [[Math.sin(n), Math.cos(n), 0.5]],
  }))
  return ['ge', { m, e }]
}

function collectionMessage(collection: string): CoreMessage {
  const [type, data] = triplesMessage('of another collection')
  return [type, { ...data, m: { ...data.m, c: collection } }] as CoreMessage
}

async function fillObjects({ objects }: Keep): Promise<void> {
  await objects.defineSchema({
    name: 'product',
    fields: {
      id: { type: 'string', required: true },
      name: { type: 'string' },
      price: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    indexes: ['price', 'name', 'tags'],
  })
  await objects.defineSchema({ name: 'note', fields: { id: { type: 'integer', required: true } } })
  const product = (n: number) => ({
    id: `p${n}`,
    name: `product ${n % 17} ${'x'.repeat(n % 40)}`,
    price: n / 8,
    tags: n % 3 === 0 ? ['a', `t${n % 5}`] : [],
  })
  for (const [collection, from] of [
    ['shop', 0],
    ['store', 400],
    ['shop', 800],
  ] as const) {
    await objects.import({
      schema_name: 'product',
      metadata: { id: `batch ${from}`, user: 'alice', collection },
      values: Array.from({ length: 300 }, (_, n) => product(from + n)),
    })
  }
  await objects.import({
    schema_name: 'note',
    metadata: { id: 'batch', user: 'bob', collection: 'notes', metadata: { source: 'a test' } },
    values: Array.from({ length: 20 }, (_, id) => ({ id })),
  })
  await objects.defineSchema({ name: 'single', fields: { id: { type: 'string', required: true } } })
  await objects.import({
    schema_name: 'single',
    metadata: { id: 'batch', user: 'alice', collection: 'shop' },
    values: [{ id: 'one' }],
  })
  for (let n = 0; n < 20; n++) {
    await objects.patch('shop', `p${n * 7}`, { price: n })
    await objects.delete('store', `p${400 + n}`)
  }
}

async function fillFlows(backend: Backend): Promise<void> {
  const storage = await backend.open('flows')
  const clock = new VirtualClock()
  const firstFlow = flowOf('f', { maxAttempts: 2 })
  const queue = await openQueue(storage, { clock, firstFlow })
  await queue.define(firstFlow)
  await queue.define(flowOf('g'))
  const load = (flow: string, name: string, user: string) =>
    queue.load(flow, documentOf(name, user, `the text of ${name}. ${'word '.repeat(50)}`))
  await Promise.all(Array.from({ length: 30 }, (_, n) => load('f', `d${n}`, `u${n % 3}`)))
  for (let n = 0; n < 4; n++) await load('g', `g${n}`, 'u0')
  const { jobs } = await queue.claim('f', 12)
  for (const [n, job] of jobs.entries()) {
    await queue.record(job, ['a'], serialize({ n }))
    if (n < 3) await queue.complete(job, steps)
    else if (n < 6) await queue.fail(job, failureOf(job), {})
    else if (n < 8) await queue.release(job, failureOf(job))
    else if (n < 10) await queue.fail(job, failureOf(job), { mayRetry: false })
  }
}
