// What a query may take: time, memory, threads. Each is a query of a stranger.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as workerThreads from 'node:worker_threads'
import t from 'tap'
import type { Graph } from '../../src/graph/types.js'
import { createSparql } from '../../src/sparql/index.js'
import type { SparqlGraph, SparqlRequest } from '../../src/sparql/index.js'
import { arrayGraph, versioned } from '../graph/array-graph.js'

const triples = Array.from({ length: 2000 }, (_, i) => ({
  s: { v: `urn:${i}`, e: true },
  p: { v: 'urn:p', e: true },
  o: { v: `object ${i}`, e: false },
}))
const numbers = Array.from({ length: 200 }, (_, i) => i).join(' ')
const tables = ['a', 'b', 'c', 'd'].map((name) => `VALUES ?${name} { ${numbers} }`).join(' ')

/** Joins that read nothing of the graph, and come to no row. */
const endless = `SELECT (COUNT(*) AS ?n) { ${tables} FILTER (?a + ?d < 0) }`
const short = 'SELECT ?s { ?s ?p "object 7" }'

function quickGraph(): SparqlGraph {
  const graph = {
    match: async function* (pattern = {}) {
      for (const triple of triples) {
        const { s, p, o } = pattern as Partial<typeof triple>
        const isMeant = [s?.v ?? triple.s.v, p?.v ?? triple.p.v, o?.v ?? triple.o.v]
        if (isMeant.join() === `${triple.s.v},${triple.p.v},${triple.o.v}`) yield triple
      }
    } as Graph['match'],
    count: async () => triples.length,
  }
  return versioned(graph)
}
const graph = quickGraph()

/** Rows of 100 kB each, all of which have to be there before the first can come. */
const tens = (from: string, to: string) => `BIND (CONCAT(${`${from},`.repeat(9)}${from}) AS ${to})`
const large = `SELECT ?x { ?s ?p ?o ${tens('?o', '?i')} ${tens('?i', '?j')} ${tens('?j', '?k')} ${tens('?k', '?l')} BIND (UCASE(?l) AS ?x) } ORDER BY ?x`

// Making a thread takes longer than most of what is tried here.
const one = createSparql({ threads: 1, threadMb: 64 })
const two = createSparql({ threads: 2 })
t.setTimeout(120_000)

async function read(engine: ReturnType<typeof createSparql>, query: string, more?: SparqlRequest) {
  const answer = await engine.execute(graph, query, { accept: 'text/csv', ...more })
  if (answer.type !== 'answer') throw new Error(answer.type)
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

t.test('a query that runs longer than maxMs ends, and the thread takes the next one', async (t) => {
  const engine = one
  await t.rejects(read(engine, endless, { maxMs: 300 }), {
    code: 'LK_QUERY_BUDGET',
    details: { maxQueryMs: 300 },
  })
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
})

t.test('work that never pauses is ended, too', async (t) => {
  const engine = one
  await read(engine, short)
  // One expression over ten megabytes, again and again: no turn of the thread between.
  const steps = Array.from({ length: 60 }, (_, i) => `BIND (MD5(?l) AS ?h${i})`).join(' ')
  const long = `${tens('"0123456789"', '?i')} ${tens('?i', '?j')} ${tens('?j', '?k')} ${tens('?k', '?l')}`
  const query = `SELECT (COUNT(*) AS ?n) { VALUES ?v { ${numbers} } ${long} ${steps} }`
  await t.rejects(read(engine, query, { maxMs: 100 }), { code: 'LK_QUERY_BUDGET' })
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
})

t.test('a query that holds too much ends, and the next one has a new thread', async (t) => {
  const engine = one
  await t.rejects(read(engine, large), {
    code: 'LK_QUERY_BUDGET',
    details: { maxQueryMb: 64 },
  })
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
})

t.test('who waits for a thread that cannot be started is told so', async (t) => {
  const engine = one
  await read(engine, short)
  const held = read(engine, large)
  const waits = read(engine, short)
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: unknown }
  const { Worker } = threads
  const replace = (by: unknown) => {
    threads.Worker = by
    syncBuiltinESMExports()
  }
  t.teardown(() => {
    replace(Worker)
  })
  replace(
    class {
      constructor() {
        throw new Error('there are enough')
      }
    },
  )
  await t.rejects(held, { code: 'LK_QUERY_BUDGET' })
  await t.rejects(waits, { message: /there are enough/ })
  replace(Worker)
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
})

t.test('a thread that has ended while it was idle gets no query', async (t) => {
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof workerThreads
  const { Worker } = threads
  const started: workerThreads.Worker[] = []
  const replace = (by: typeof Worker) => {
    threads.Worker = by
    syncBuiltinESMExports()
  }
  t.teardown(() => replace(Worker))
  replace(
    class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args)
        started.push(this)
      }
    },
  )
  const engine = createSparql({ threads: 1 })
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
  await started[0]?.terminate()
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
  t.equal(started.length, 2)
})

t.test('names of graphs may be so long and no longer', async (t) => {
  const named = (length: number): SparqlGraph => ({
    snapshot: async () => ({
      ...(await graph.snapshot()),
      async *graphs() {
        for (let n = 0; n < 20; n++) yield `urn:${n}`.padEnd(length, 'x')
      },
    }),
  })
  const query = 'SELECT (COUNT(?g) AS ?n) { GRAPH ?g { } }'
  const ask = async (length: number) => {
    const answer = await two.execute(named(length), query, { accept: 'text/csv' })
    return answer.type === 'answer' && text(answer.body)
  }
  t.equal(await ask(1000), 'n\r\n20\r\n')
  await t.rejects(ask(1024 * 1024), { code: 'LK_QUERY_BUDGET' })
})

t.test('threads are shared between lanes, not between queries', async (t) => {
  const engine = one
  const order: string[] = []
  const ask = async (lane: string) => {
    await read(engine, short, { lane })
    order.push(lane)
  }
  // The thread is alice's while all the others come.
  const left = new AbortController()
  const held = read(engine, endless, { lane: 'alice', signal: left.signal })
  const all = [ask('alice'), ask('alice'), ask('bob')]
  left.abort(new Error('enough'))
  await t.rejects(held, { message: 'enough' })
  await Promise.all(all)
  t.strictSame(order.sort(), ['alice', 'alice', 'bob'])
})

t.test('with two threads, one that has none goes before one that has one', async (t) => {
  const engine = two
  const order: string[] = []
  const leave = [new AbortController(), new AbortController()]
  const [first, second] = leave.map(({ signal }) =>
    read(engine, endless, { lane: 'alice', signal }).catch(() => undefined),
  )
  const ask = (lane: string) => read(engine, short, { lane }).then(() => void order.push(lane))
  const all = [ask('alice'), ask('alice'), ask('bob')]
  leave[0]?.abort()
  await Promise.all([first, ...all])
  t.strictSame(order, ['bob', 'alice', 'alice'])
  leave[1]?.abort()
  await second
})

t.test('who waits for a thread may leave', async (t) => {
  const engine = one
  const first = new AbortController()
  const held = read(engine, endless, { signal: first.signal })
  const second = new AbortController()
  const waits = read(engine, short, { signal: second.signal })
  second.abort(new Error('left'))
  await t.rejects(waits, { message: 'left' })
  first.abort(new Error('left'))
  await t.rejects(held, { message: 'left' })
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
})

t.test('time of the reader does not count, unless somebody waits for the thread', async (t) => {
  const engine = one
  await read(engine, short)
  const open = async (maxMs: number) => {
    const rows = 'SELECT * { ?a ?b ?c . VALUES ?x { 1 2 3 4 5 6 7 8 9 } }'
    const answer = await engine.execute(graph, rows, { accept: 'text/csv', maxMs })
    if (answer.type !== 'answer') throw new Error(answer.type)
    return answer.body[Symbol.asyncIterator]()
  }
  const maxMs = 10_000
  const alone = await open(maxMs)
  await sleep(50)
  let bytes = 0
  for (let chunk; !(chunk = await alone.next()).done;) bytes += chunk.value.length
  t.ok(bytes > 500_000, `${bytes}`)
  const slow = await open(1_000)
  await slow.next()
  // The slow reader never comes back: its time counts now, and it ends.
  t.equal(await read(engine, short), 's\r\nurn:7\r\n')
  await t.rejects(slow.next(), { code: 'LK_QUERY_BUDGET' })
})

t.test('an answer that nobody reads is made no further than some chunks', async (t) => {
  const engine = one
  const source = arrayGraph(triples.slice(0, 200))
  const asked = versioned(source)
  const answer = await engine.execute(asked, 'SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }', {})
  if (answer.type !== 'answer') throw new Error(answer.type)
  const chunks = answer.body[Symbol.asyncIterator]()
  await chunks.next()
  const settled = async () => {
    for (let given = -1; given !== source.reads.given; await sleep(300)) given = source.reads.given
    return source.reads.given
  }
  const given = await settled()
  t.ok(given < 20_000, `${given} triples were read of 8,000,000 rows`)
  await chunks.return?.()
  t.equal(source.reads.open, 0)
  t.equal(asked.held, 0)
})

t.test('long datatypes and languages count for what is read ahead', async (t) => {
  const long = 'x'.repeat(128 * 1024)
  for (const more of [{ dt: `urn:${long}` }, { ln: `en-${long}` }]) {
    const source = arrayGraph(
      triples.slice(0, 200).map((each) => ({ ...each, o: { ...each.o, ...more } })),
    )
    const answer = await one.execute(versioned(source), 'SELECT ?s { ?s ?p ?o } LIMIT 1', {})
    if (answer.type !== 'answer') throw new Error(answer.type)
    for await (const _ of answer.body);
    t.ok(source.reads.given < 20, `${source.reads.given} triples of 128 KiB`)
  }
})

t.test('neither ends a process of 128 MB', async (t) => {
  const program = `
    import { createSparql } from ${JSON.stringify(new URL('../../src/sparql/index.js', import.meta.url))}
    const triples = ${JSON.stringify(triples.slice(0, 1000))}
    const match = async function* () { yield* triples }
    const version = { match, count: async () => triples.length, close() {} }
    const graph = { snapshot: async () => version }
    const engine = createSparql({ threads: 1 })
    for (const query of [
      ${JSON.stringify(large)},
      ${JSON.stringify(endless)},
    ]) {
      const request = { accept: 'text/csv', maxMs: 2000 }
      await engine.execute(graph, query, request).then(() => console.log('answered'), (error) => console.log(error.code))
    }`
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=128', '--input-type=module', '-e', program],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [[code], told] = await Promise.all([once(child, 'close'), text(child.stdout)])
  t.equal(code, 0)
  t.strictSame(told.trim().split('\n'), ['LK_QUERY_BUDGET', 'LK_QUERY_BUDGET'])
})

t.test('threads and their memory are whole numbers', async (t) => {
  for (const threads of [0, -1, 1.5, NaN, '2']) {
    t.throws(() => createSparql({ threads: threads as number }), TypeError)
  }
  for (const threadMb of [63, Infinity, NaN]) t.throws(() => createSparql({ threadMb }), TypeError)
})

t.test('an answer that is complete is there for who reads it later', async (t) => {
  for (let round = 0; round < 5; round++) {
    const answer = await one.execute(graph, 'ASK { GRAPH ?g { ?x ?z ?o } }', {
      accept: 'application/json',
    })
    if (answer.type !== 'answer') throw new Error(answer.type)
    await sleep(20)
    let body = ''
    for await (const chunk of answer.body) body += Buffer.from(chunk).toString()
    t.match(body, 'boolean')
  }
})

t.test('opening a graph is a part of the time that a query may take', async (t) => {
  const never: SparqlGraph = { snapshot: () => new Promise(() => undefined) }
  await t.rejects(one.execute(never, 'ASK {}', { maxMs: 100 }), { code: 'LK_QUERY_BUDGET' })
  const signal = AbortSignal.timeout(50)
  await t.rejects(one.execute(never, 'ASK {}', { signal }), { name: 'TimeoutError' })
  const none = {} as SparqlGraph
  await t.rejects(one.execute(none, 'ASK {}'), { name: 'TypeError' })
  // The one thread is free again.
  t.equal(await read(one, short), 's\r\nurn:7\r\n')
})
