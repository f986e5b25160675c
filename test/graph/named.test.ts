// Named graphs: quads against oxigraph, in cores of one index, of some and of many, with and without
// collections.

import assert from 'node:assert/strict'
import oxigraph from 'oxigraph'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { Graph, TriplePattern } from '../../src/graph/types.js'
import { PartView } from '../../src/graph/index/part-view.js'
import { patience } from '../../src/graph/miss.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { Term, Triple } from '../../src/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { messageOf, nameOf, randomTriples, textOf } from './asked.js'

t.setTimeout(120_000)

const seed = pickSeed()
const usual = patience.rows
const user = 'u'
const names = ['urn:g1', 'urn:g2', '_:g', 'a']
/** So many that a list of them is long. */
const many = Array.from({ length: 20 }, (_, n) => `urn:many:${n}`)

const quadOf = (triple: Triple) => `${textOf(triple)}\n${triple.g ?? ''}`

/** Terms and graphs as IRIs, one for each. */
class QuadOracle {
  readonly #store = new oxigraph.Store()

  constructor(triples: readonly Triple[]) {
    for (const { s, p, o, g } of triples) {
      const graph = g === undefined ? oxigraph.defaultGraph() : node(`e\t${g}`)
      this.#store.add(oxigraph.quad(term(s), term(p), term(o), graph))
    }
  }

  match({ s, p, o, g }: TriplePattern): string[] {
    const graph = g === undefined ? null : g === null ? oxigraph.defaultGraph() : node(`e\t${g}`)
    const found = this.#store.match(s && term(s), p && term(p), o && term(o), graph)
    return found
      .map(({ subject, predicate, object, graph }) => {
        const [name = ''] = graph.termType === 'DefaultGraph' ? [] : [shown(graph).slice(2)]
        return `${[subject, predicate, object].map(shown).join('\n')}\n${name}`
      })
      .sort()
  }
}

const node = (name: string) => oxigraph.namedNode(`n:${encodeURIComponent(name)}`)
const term = (of: Term) => node(nameOf(of))
const shown = ({ value }: { value: string }) => decodeURIComponent(value.slice(2))

/** Each pattern of the places of a quad. */
function patternsOf(triple: Triple): TriplePattern[] {
  const { s, p, o } = triple
  const g = triple.g ?? null
  return Array.from({ length: 16 }, (_, bits) => ({
    ...((bits & 1) !== 0 && { s }),
    ...((bits & 2) !== 0 && { p }),
    ...((bits & 4) !== 0 && { o }),
    ...((bits & 8) !== 0 && { g }),
  }))
}

async function matched(graph: Graph, pattern: TriplePattern): Promise<string[]> {
  const found: string[] = []
  for await (const triple of graph.match(pattern)) found.push(quadOf(triple))
  return found.sort()
}

for (const cores of [1, 3, 25]) {
  t.test(
    `${cores} cores: any pattern of quads, as oxigraph answers it (seed ${seed})`,
    async (t) => {
      const random = new Random(seed)
      for (let round = 0; round < (cores === 25 ? 2 : 8); round++) {
        patience.rows = random.chance(0.5) ? 1 : usual
        const keep = await createLorekeep({
          backend: new MemoryBackend(),
          // Each block is forgotten as soon as another is read.
          ...(random.chance(0.5) && { graphCacheBytes: 1 }),
        })
        const collections = round % 2 === 0 ? ['one'] : ['one', 'two']
        const said: (readonly [collection: string, triple: Triple])[] = []
        const few = randomTriples(random, 20)
        for (let core = 0; core < cores; core++) {
          // Some cores have no named graphs.
          const some = core % 3 === 2 ? [] : round % 3 === 0 ? [...names, ...many] : names
          const messages = Array.from({ length: 2 }, () => {
            const collection = random.pick(collections)
            const triples = [...randomTriples(random, 12), random.pick(few), random.pick(few)].map(
              (triple): Triple =>
                some.length === 0 || random.chance(0.4)
                  ? triple
                  : { ...triple, g: random.pick(some) },
            )
            for (const triple of triples) said.push([collection, triple])
            return messageOf(triples, collection)
          })
          await keep.knowledge.write({ user, id: `core ${core}` }, messages)
        }
        for (const collection of [undefined, ...collections]) {
          const all = said
            .filter(([of]) => collection === undefined || of === collection)
            .map(([, triple]) => triple)
          if (all.length === 0) continue
          const graph = keep.knowledge.graph({ user, ...(collection && { collection }) })
          const oracle = new QuadOracle(all)
          for (let n = 0; n < 6; n++) {
            const [a, b] = [random.pick(all), random.pick(all)]
            const mixed = { ...a, g: random.chance(0.5) ? b.g : random.pick([...names, 'nowhere']) }
            for (const asked of [a, mixed]) {
              for (const pattern of patternsOf(asked)) {
                const expected = oracle.match(pattern)
                const place = `${collection ?? 'all'}: ${JSON.stringify(pattern)}`
                assert.deepEqual(await matched(graph, pattern), expected, place)
                assert.equal(await graph.count(pattern), expected.length, `${place}, counted`)
              }
            }
          }
          await assertGraphs(graph, all, oracle, random)
          await assertJoins(graph, all, random)
        }
        await keep.close()
      }
      t.pass()
    },
  )
}

/** The names; each of the named graphs; and some graphs as one. */
async function assertGraphs(
  graph: Graph,
  all: readonly Triple[],
  oracle: QuadOracle,
  random: Random,
): Promise<void> {
  const told: string[] = []
  for await (const name of graph.graphs()) told.push(name)
  assert.deepEqual(told.sort(), [...new Set(all.flatMap(({ g }) => g ?? []))].sort())
  for (let n = 0; n < 4; n++) {
    const { s, p, o } = random.pick(all)
    for (const pattern of [{}, { s }, { p, o }, { s, p, o }] as const) {
      const isNamed = (quad: string) => !quad.endsWith('\n')
      const inAll = oracle.match(pattern)
      const named = { ...pattern, g: '?g' }
      assert.deepEqual(await matched(graph, named), inAll.filter(isNamed), JSON.stringify(named))
      const g = [...names, ...many, null, 'nowhere'].filter(() => random.chance(0.5))
      const isIn = (quad: string) => g.includes(quad.split('\n').at(-1) || null)
      const triples = inAll.filter(isIn).map((quad) => quad.replace(/[^\n]*$/, ''))
      const union = { ...pattern, g }
      const expected = [...new Set(triples)].sort()
      assert.deepEqual(await matched(graph, union), expected, JSON.stringify(union))
      assert.equal(await graph.count(union), expected.length, JSON.stringify(union))
    }
  }
}

/** Two patterns with a variable in common, one of them perhaps the graph. */
async function assertJoins(graph: Graph, all: readonly Triple[], random: Random): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const [a, b] = [random.pick(all), random.pick(all)]
    const g = random.pick(['?g', null, undefined, a.g ?? 'urn:g1'])
    const h = random.pick(['?g', '?h', null, undefined, b.g ?? 'urn:g2', '?x'])
    const patterns = [
      { s: '?x', p: a.p, o: '?y', g },
      {
        s: random.pick([b.s, '?x'] as const),
        p: '?p',
        o: random.pick(['?y', '?z'] as const),
        g: h,
      },
    ] as const
    const found: string[] = []
    for await (const solution of graph.solve(patterns)) found.push(written(solution))
    const expected = joined(all, patterns)
    assert.deepEqual(found.sort(), expected.sort(), JSON.stringify(patterns))
  }
}

type Solution = Readonly<Record<string, Term>>

function written(solution: Solution): string {
  return Object.keys(solution)
    .sort()
    .map((name) => `${name}=${nameOf(solution[name] as Term)}`)
    .join(' ')
}

/** By trying all. */
function joined(all: readonly Triple[], patterns: Parameters<Graph['solve']>[0]): string[] {
  let solutions: Solution[] = [{}]
  for (const pattern of patterns) {
    const next: Solution[] = []
    const { g } = pattern
    const seen = new Map<string, Triple>()
    for (const triple of all) {
      // Whatever graphs it is in, it is one.
      if (g === undefined) seen.set(textOf(triple), triple)
      else if (
        g === null ? triple.g === undefined : g.startsWith('?') ? triple.g : triple.g === g
      ) {
        seen.set(quadOf(triple), triple)
      }
    }
    for (const solution of solutions) {
      for (const triple of seen.values()) {
        const places: [unknown, Term][] = [
          [pattern.s, triple.s],
          [pattern.p, triple.p],
          [pattern.o, triple.o],
        ]
        if (g?.startsWith('?')) places.push([g, { v: triple.g ?? '', e: true }])
        const extended: Record<string, Term> = { ...solution }
        const fits = places.every(([asked, term]) => {
          if (typeof asked !== 'string') return nameOf(asked as Term) === nameOf(term)
          const name = asked.slice(1)
          const known = extended[name]
          if (known !== undefined) return nameOf(known) === nameOf(term)
          extended[name] = term
          return true
        })
        if (fits) next.push(extended)
      }
    }
    solutions = next
  }
  return solutions.map(written)
}

t.test('a list of graphs ends where two cores say a triple in thousands of them', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const triple = { s: { v: 'urn:s', e: true }, p: { v: 'urn:p', e: true }, o: { v: 'o', e: false } }
  const inAll = Array.from({ length: 20_001 }, (_, n): Triple => ({ ...triple, g: `urn:g${n}` }))
  for (const id of ['a', 'b']) await keep.knowledge.write({ user, id }, [messageOf(inAll)])
  const g = [...Array.from({ length: 20 }, (_, n) => `urn:none:${n}`), 'urn:g1', 'urn:g20000']
  t.equal(
    await keep.knowledge.graph({ user }).count({ g }, { signal: AbortSignal.timeout(60_000) }),
    1,
  )
})

t.test('names of graphs are looked for one by one, whatever the memory has room for', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), graphCacheBytes: 1 })
  t.teardown(() => keep.close())
  const triple = { s: { v: 'urn:s', e: true }, p: { v: 'urn:p', e: true }, o: { v: 'o', e: false } }
  const g = Array.from({ length: 200 }, (_, n) => `urn:${'g'.repeat(2000)}${n}`)
  const triples = g.map((g): Triple => ({ ...triple, g }))
  await keep.knowledge.write({ user, id: 'a' }, [messageOf(triples)])
  await keep.knowledge.index({ user })
  let looks = 0
  const { find } = PartView.prototype
  PartView.prototype.find = function (term) {
    looks++
    return find.call(this, term)
  }
  t.teardown(() => (PartView.prototype.find = find))
  const graph = keep.knowledge.graph({ user })
  t.equal((await matched(graph, { g })).length, 1)
  t.ok(looks < 2 * g.length, `${looks} looks`)
})

t.test('others get their turn while names of graphs are passed over', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const triple = { s: { v: 'urn:s', e: true }, p: { v: 'urn:p', e: true }, o: { v: 'o', e: false } }
  const triples = Array.from({ length: 100 }, (_, n): Triple => ({ ...triple, g: `urn:g${n}` }))
  for (const id of ['a', 'b']) {
    await keep.knowledge.write({ user, id }, [
      messageOf(triples, 'one'),
      messageOf([triple], 'two'),
    ])
    await keep.knowledge.index({ user, id })
  }
  for (const [collection, expected] of [
    ['one', 100],
    ['two', 0],
  ] as const) {
    const graph = keep.knowledge.graph({ user, collection })
    patience.rows = 1
    let turns = 0
    let isOver = false
    const counting = (async () => {
      for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
    })()
    let told = 0
    for await (const _ of graph.graphs()) told++
    isOver = true
    await counting
    patience.rows = usual
    t.equal(told, expected)
    t.ok(turns >= 100, `${turns} turns`)
  }
})
