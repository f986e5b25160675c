import t from 'tap'
import { describe, neighbours, type Match } from '../../src/graph/neighbours.js'
import type { MatchOptions } from '../../src/graph/types.js'
import type { Term, Triple } from '../../src/types.js'

const triples = ['a knows b', 'a likes a', 'c knows a', 'b knows c', 'a knows c'].map((line) => {
  const [s = '', p = '', o = ''] = line.split(' ')
  return { s: uri(s), p: uri(p), o: uri(o) }
})

t.test('neighbours come from both sides, and each triple once', async (t) => {
  const found = await all(neighbours(matchOf(triples), uri('a')))
  t.strictSame(
    found.map(({ direction, term, triple }) => `${direction} ${triple.p.v} ${term.v}`),
    ['out knows b', 'out likes a', 'out knows c', 'in knows c'],
  )
  t.strictSame(found[3]?.triple, triples[2])
})

t.test('a literal has neighbours, and is not the URI of the same text', async (t) => {
  const named = { s: uri('x'), p: uri('name'), o: { v: 'a', e: false } }
  const match = matchOf([...triples, named])
  const found = await all(neighbours(match, { v: 'a', e: false }))
  t.strictSame(found, [{ term: uri('x'), triple: named, direction: 'in' }])
  t.equal((await all(neighbours(match, uri('a')))).length, 4)
})

t.test('describe has the triples about a term', async (t) => {
  t.strictSame(await all(describe(matchOf(triples), uri('a'))), [
    triples[0],
    triples[1],
    triples[4],
  ])
  t.strictSame(await all(describe(matchOf(triples), uri('nobody'))), [])
})

t.test('there are no more than the limit', async (t) => {
  const match = matchOf(triples)
  for (const limit of [0, 1, 2, 3, 4, 5]) {
    const found = await all(neighbours(match, uri('a'), { limit }))
    t.equal(found.length, Math.min(limit, 4))
    t.equal((await all(describe(match, uri('a'), { limit }))).length, Math.min(limit, 3))
  }
})

t.test('the signal reaches every match', async (t) => {
  const { signal } = new AbortController()
  const signals: unknown[] = []
  const match: Match = (pattern, options) => {
    signals.push(options.signal)
    return matchOf(triples)(pattern, options)
  }
  await all(neighbours(match, uri('a'), { signal }))
  await all(describe(match, uri('a'), { signal }))
  t.strictSame(signals, [signal, signal, signal])
})

t.test('what is no term or no limit is refused', async (t) => {
  const match = matchOf(triples)
  const refused = (path: string) => ({ code: 'LK_GRAPH_QUERY', details: { path } })
  const wrong = { v: 'a' } as Term
  await t.rejects(all(neighbours(match, wrong)), refused('term.e'))
  await t.rejects(all(describe(match, wrong)), refused('term.e'))
  await t.rejects(all(neighbours(match, uri('a'), { limit: -1 })), refused('limit'))
})

function uri(v: string): Term {
  return { v, e: true }
}

function matchOf(graph: readonly Triple[]): Match {
  const isOpen = (place: Term | undefined, { v, e }: Term) =>
    place === undefined || (place.v === v && place.e === e)
  return async function* ({ s, o }, { limit = Infinity }: MatchOptions) {
    yield* graph.filter((triple) => isOpen(s, triple.s) && isOpen(o, triple.o)).slice(0, limit)
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
