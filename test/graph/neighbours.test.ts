import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Graph, type Term, type Triple } from '../../src/index.js'

const triples = ['a knows b', 'a likes a', 'c knows a', 'b knows c', 'a knows c'].map((line) => {
  const [s = '', p = '', o = ''] = line.split(' ')
  return { s: uri(s), p: uri(p), o: uri(o) }
})

t.test('neighbours come from both sides, and each triple once', async (t) => {
  const graph = await graphOf(t, triples)
  const found = await all(graph.neighbours(uri('a')))
  t.strictSame(
    found.map(({ direction, term, triple }) => `${direction} ${triple.p.v} ${term.v}`).sort(),
    ['in knows c', 'out knows b', 'out knows c', 'out likes a'],
  )
  const [incoming] = found.filter(({ direction }) => direction === 'in')
  t.strictSame(incoming?.triple, triples[2])
})

t.test('a literal has neighbours, and is not the URI of the same text', async (t) => {
  const named = { s: uri('x'), p: uri('name'), o: { v: 'a', e: false } }
  const graph = await graphOf(t, [...triples, named])
  const found = await all(graph.neighbours({ v: 'a', e: false }))
  t.strictSame(found, [{ term: uri('x'), triple: named, direction: 'in' }])
  t.equal((await all(graph.neighbours(uri('a')))).length, 4)
})

t.test('describe has the triples about a term', async (t) => {
  const graph = await graphOf(t, triples)
  t.strictSame(
    sorted(await all(graph.describe(uri('a')))),
    sorted([0, 1, 4].map((n) => triples[n])),
  )
  t.strictSame(await all(graph.describe(uri('nobody'))), [])
})

t.test('there are no more than the limit', async (t) => {
  const graph = await graphOf(t, triples)
  for (const limit of [0, 1, 2, 3, 4, 5]) {
    const found = await all(graph.neighbours(uri('a'), { limit }))
    t.equal(found.length, Math.min(limit, 4))
    t.equal((await all(graph.describe(uri('a'), { limit }))).length, Math.min(limit, 3))
  }
})

t.test('an aborted signal ends both', async (t) => {
  const graph = await graphOf(t, triples)
  const signal = AbortSignal.abort(new Error('enough'))
  await t.rejects(all(graph.neighbours(uri('a'), { signal })), { message: 'enough' })
  await t.rejects(all(graph.describe(uri('a'), { signal })), { message: 'enough' })
})

t.test('what is no term or no limit is refused', async (t) => {
  const graph = await graphOf(t, triples)
  const refused = (path: string) => ({ code: 'LK_GRAPH_QUERY', details: { errors: [{ path }] } })
  const wrong = { v: 'a' } as Term
  t.throws(() => graph.neighbours(wrong), refused('term.e'))
  t.throws(() => graph.describe(wrong), refused('term.e'))
  const limit = { limit: -1 }
  t.throws(() => graph.describe(uri('a'), limit), {
    name: 'TypeError',
    message: /^describe\(\): limit/,
  })
  t.throws(() => graph.neighbours(uri('a'), { limit: -1 }), TypeError)
  t.throws(() => graph.match({}, { signal: 7 as unknown as AbortSignal }), TypeError)
})

function uri(v: string): Term {
  return { v, e: true }
}

async function graphOf(t: Test, about: readonly Triple[]): Promise<Graph> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const m = { i: '', m: [], u: '', c: 'default' }
  await keep.knowledge.write({ user: 'u', id: 'c' }, [['t', { m, t: about }]])
  return keep.knowledge.graph({ user: 'u' })
}

/** No order is promised. */
function sorted(found: readonly unknown[]): string[] {
  return found.map((one) => JSON.stringify(one)).sort()
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
