// What is told on node:diagnostics_channel, when, and that nothing private is.

import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { LevelBackend } from '../adapters/level/index.js'
import { MemoryBackend } from '../adapters/memory.js'
import { createLorekeep, type CoreMessage, type Lorekeep } from '../src/index.js'
import { createFetchHandler } from '../src/http/index.js'
import { operations, Trace, type Operation, type OperationName } from '../src/tracing.js'

const phases = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

interface Told {
  readonly phase: (typeof phases)[number]
  readonly operation: OperationName
  readonly message: Operation
}

/** Everything that is told, until the test ends. */
function listen(t: Test, names: readonly OperationName[] = operations): Told[] {
  const told: Told[] = []
  const ends: (() => void)[] = []
  for (const operation of names) {
    for (const phase of phases) {
      const channel = `tracing:lorekeep:${operation}:${phase}`
      const note = (message: unknown) =>
        void told.push({ phase, operation, message: message as Operation })
      subscribe(channel, note)
      ends.push(() => void unsubscribe(channel, note))
    }
  }
  t.teardown(() => {
    for (const end of ends) end()
  })
  return told
}

const phasesOf = (told: readonly Told[], name: OperationName) =>
  told.filter(({ operation }) => operation === name).map(({ phase }) => phase)

async function openKeep(t: Test): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  return keep
}

const schema = { name: 'note', fields: { id: { type: 'string' }, text: { type: 'string' } } }
const triple = {
  s: { v: 'urn:s', e: true },
  p: { v: 'urn:p', e: true },
  o: { v: 'said', e: false },
}
const message = (i: string, said = triple): CoreMessage => [
  't',
  { m: { i, m: [], u: 'u', c: 'c' }, t: [said] },
]

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

t.test('every public method tells of itself, but those that only make something', async (t) => {
  const keep = await openKeep(t)
  const { knowledge, objects, flows } = keep
  const silent = {
    knowledge: ['constructor', 'graph', 'sweep', 'resume', 'holdDeletions', 'fill', 'close'],
    // What answer() finds retrieve() tells.
    graph: ['constructor', 'answer', 'source'],
    objects: ['constructor', 'resume', 'fill', 'secret', 'close'],
    flows: ['constructor', 'run', 'isRunning', 'close', 'load'],
  }
  const rooms = { knowledge, objects, flows, graph: knowledge.graph({ user: 'u' }) }
  for (const [room, instance] of Object.entries(rooms)) {
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(instance))
    const expected = names.filter((name) => !silent[room as keyof typeof silent].includes(name))
    const listed = operations.flatMap((name) =>
      name.startsWith(`${room}.`) ? [name.slice(room.length + 1)] : [],
    )
    const others = room === 'flows' ? ['load', 'process', 'step'] : []
    t.same(listed.sort(), [...expected, ...others].sort(), room)
  }
})

t.test('a promise is told from its call to its end', async (t) => {
  const { objects } = await openKeep(t)
  const told = listen(t, ['objects.defineSchema', 'objects.dropSchema'])
  await objects.defineSchema(schema)
  t.same(phasesOf(told, 'objects.defineSchema'), ['start', 'end', 'asyncStart', 'asyncEnd'])
  t.equal(new Set(told.map(({ message }) => message)).size, 1, 'by one object')
  t.match(told[0]?.message, { operation: 'objects.defineSchema', schema: 'note' })
  told.length = 0
  await t.rejects(objects.dropSchema(1 as never), TypeError)
  t.same(phasesOf(told, 'objects.dropSchema'), ['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
  t.type(told.at(-1)?.message.error, TypeError)
})

t.test('a stream is told until its reader has it, leaves it or loses it', async (t) => {
  const { knowledge } = await openKeep(t)
  for (const id of ['a', 'b', 'c']) await knowledge.write({ user: 'u', id }, [message(id)])
  const told = listen(t, ['knowledge.list', 'graph.match'])
  const ids: string[] = []
  for await (const { id } of knowledge.list({ user: 'u' })) {
    ids.push(id)
    t.same(phasesOf(told, 'knowledge.list'), ['start', 'end'])
  }
  t.same(ids, ['a', 'b', 'c'])
  t.same(phasesOf(told, 'knowledge.list').slice(2), ['asyncStart', 'asyncEnd'])
  told.length = 0
  for await (const _ of knowledge.list({ user: 'u' })) break
  t.same(phasesOf(told, 'knowledge.list').slice(2), ['asyncStart', 'asyncEnd'])
  told.length = 0
  // What may be read twice still may.
  const matches = knowledge.graph({ user: 'u' }).match()
  for (let round = 0; round < 2; round++) t.equal((await all(matches)).length, 1)
  t.same(phasesOf(told, 'graph.match'), ['start', 'end', 'asyncStart', 'asyncEnd'])
  told.length = 0
  await t.rejects(all(knowledge.list({ user: '' })))
  t.equal(phasesOf(told, 'knowledge.list').at(-1), 'asyncEnd')
})

t.test('what throws at once is told', (t) => {
  const told = listen(t, ['graph.match'])
  const trace = new Trace('graph.match')
  const thrown = new Error('no')
  t.throws(() => {
    trace.run(trace.operation({}), () => {
      throw thrown
    })
  }, thrown)
  t.same(phasesOf(told, 'graph.match'), ['start', 'error', 'end'])
  t.equal(told[0]?.message.error, thrown)
  t.end()
})

t.test('a subscriber may have an operation run inside of something', async (t) => {
  const { objects } = await openKeep(t)
  const channel = tracingChannel('lorekeep:objects.schemas')
  const order: string[] = []
  const around: Operation['around'] = (run) => {
    order.push('before')
    const result = run()
    order.push('after')
    return result
  }
  const start = (message: unknown) => void ((message as Operation).around = around)
  channel.start.subscribe(start)
  t.teardown(() => channel.start.unsubscribe(start))
  t.same(await objects.schemas(), [])
  t.same(order, ['before', 'after'])
})

t.test('nothing is told of texts, triples, objects and tokens', async (t) => {
  const { knowledge, objects, flows } = await openKeep(t)
  const told = listen(t)
  const secret = 'wombat'
  const handler = createFetchHandler({
    knowledge,
    objects,
    flows,
    authenticate: (token) => (token === secret ? { user: 'u' } : null),
  })
  await objects.defineSchema(schema)
  const metadata = { id: 'i', user: 'u', collection: 'c' }
  await objects.import({ metadata, schema_name: 'note', values: [{ id: '1', text: secret }] })
  await objects.query({ schema_name: 'note', filters: { text: secret } })
  await knowledge.write({ user: 'u', id: 'core' }, [
    message('core', { ...triple, o: { v: secret, e: false } }),
  ])
  await all(knowledge.graph({ user: 'u' }).match({ o: { v: secret, e: false } }))
  await flows.load('default', { id: 'd', user: 'u', content: `A ${secret} lives in Berlin.` })
  const runner = flows.run()
  for await (const { type } of flows.watch({ document: 'd', user: 'u' })) if (type === 'done') break
  await runner.stop()
  await knowledge.graph({ user: 'u' }).retrieve({ text: `Where does the ${secret} live?` })
  const url = `http://lorekeep.example/api/v1/schemas?x=${secret}`
  await handler(new Request(url, { headers: { authorization: `Bearer ${secret}` } }))
  // The response is there before its handler is through.
  await turn()
  for (const name of ['flows.process', 'flows.step', 'storage.write', 'http.request'] as const) {
    t.ok(phasesOf(told, name).includes('asyncEnd'), name)
  }
  const http = told.find(({ operation }) => operation === 'http.request')
  t.match(http?.message, { method: 'GET', route: '/api/v1/schemas', status: 400 })
  for (const { operation, message } of told) {
    if (inspect({ ...message, error: undefined }, { depth: 10 }).includes(secret)) t.fail(operation)
  }
  // Not whole: an error may show a name.
  t.ok(told.length > 100, `${told.length} events`)
})

t.test(
  'what a trace needs is stored with a document, and comes back after a restart',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'lorekeep-tracing-'))
    t.teardown(() => rm(directory, { recursive: true, force: true }))
    const carriers: unknown[] = [
      { traceparent: '00-1-2-01', tracestate: 'a=b' },
      // What cannot be kept is no reason to refuse a document.
      { traceparent: 1 },
      { traceparent: 'x'.repeat(5000) },
      {},
      'none',
    ]
    const channel = tracingChannel('lorekeep:flows.load')
    let next = 0
    const start = (message: unknown) => {
      Object.assign(message as Operation, { carrier: carriers[next++] })
    }
    channel.start.subscribe(start)
    const first = await createLorekeep({ backend: new LevelBackend(directory) })
    try {
      for (const n of carriers.keys()) {
        await first.flows.load('default', { id: `d${n}`, content: 'Anna lives in Berlin.' })
      }
    } finally {
      channel.start.unsubscribe(start)
      await first.close()
    }
    const keep = await createLorekeep({ backend: new LevelBackend(directory) })
    t.teardown(() => keep.close())
    t.same(await all(keep.verify({ deep: true })), [], 'it verifies')
    const told = listen(t, ['flows.process'])
    const runner = keep.flows.run()
    for await (const { type } of keep.flows.watch({ flow: 'default' })) {
      if (type === 'done' && (await keep.flows.stats('default')).done === carriers.length) break
    }
    await runner.stop()
    const found = told.flatMap(({ phase, message }) =>
      phase === 'start' ? [[message['document'], message.carrier]] : [],
    )
    const expected = carriers.map((carrier, n) => [`d${n}`, n === 0 ? carrier : undefined])
    t.same(found.sort(), expected)
  },
)
