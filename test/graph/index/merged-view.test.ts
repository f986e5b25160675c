// Many parts seen as one graph, beside lists of what each of them says.

import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { MergedView } from '../../../src/graph/index/merged-view.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { ANY, NONE } from '../../../src/graph/view.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Term, Triple } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { entity, messageOf, nameOf, patternsOf, randomTriples, textOf } from '../asked.js'
import { partViews } from './part-views.js'

const seed = pickSeed()

t.test(`has() and estimate() are those of the parts (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const contents = Array.from({ length: 40 }, () => randomTriples(random, 12))
  const storage = await new MemoryBackend().open('slices')
  const view = new MergedView(await partViews(storage, contents, 1))
  const all = new Set(contents.flat().map(textOf))
  const termsOf = (triples: readonly Triple[]) =>
    new Set(triples.flatMap(({ s, p, o }) => [s, p, o]).map(nameOf))
  const terms = contents.map(termsOf)
  const find = (term: Term | undefined) =>
    term === undefined ? ANY : withBlocks(() => view.find(term))
  const [there, absent] = [[...contents.flat()], [] as Triple[]]
  for (let n = 0; n < 100; n++) {
    const [a, b, c] = [random.pick(there), random.pick(there), random.pick(there)]
    const mixed = { s: a.s, p: b.p, o: c.o }
    if (!all.has(textOf(mixed))) absent.push(mixed)
  }
  t.ok(absent.length > 10)
  for (const [triples, expected] of [
    [there, true],
    [absent, false],
  ] as const) {
    for (const triple of triples) {
      const ids = [await find(triple.s), await find(triple.p), await find(triple.o)] as const
      assert.equal(await withBlocks(() => view.has(...ids)), expected, textOf(triple))
    }
  }
  for (const triple of [...there.slice(0, 60), ...absent]) {
    for (const pattern of patternsOf(triple)) {
      const bound = [pattern.s, pattern.p, pattern.o].filter((term) => term !== undefined)
      const having = contents.filter((_, n) => bound.every((term) => terms[n]?.has(nameOf(term))))
      const fits = ({ s, p, o }: Triple) =>
        [
          [pattern.s, s],
          [pattern.p, p],
          [pattern.o, o],
        ].every(
          ([wanted, found]) => wanted === undefined || nameOf(wanted) === nameOf(found as Term),
        )
      const distinct = (part: readonly Triple[]) => new Set(part.filter(fits).map(textOf)).size
      const expected = having.reduce((total, part) => total + distinct(part), 0)
      const ids = [await find(pattern.s), await find(pattern.p), await find(pattern.o)] as const
      const found = await withBlocks(() => view.estimate(...ids))
      assert.equal(found, expected, JSON.stringify(pattern))
    }
  }
  t.equal(view.has(NONE, ANY, ANY), false)
  t.equal(view.estimate(NONE, ANY, ANY), 0)
})

t.test('long terms that were looked for do not stay', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const storage = await new MemoryBackend().open('slices')
  const triple = { s: entity('s'), p: entity('p'), o: entity('o') }
  const view = new MergedView(await partViews(storage, [[triple], [triple]], 1))
  const heapBytes = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = heapBytes()
  const mib = 2 ** 20
  for (let n = 0; n < 64; n++) {
    const o = { v: `${n}`.padEnd(mib, 'x'), e: false }
    t.equal(await withBlocks(() => view.find(o)), NONE)
  }
  const more = heapBytes() - before
  t.ok(more < 16 * mib, `${more} bytes`)
  t.not(await withBlocks(() => view.find(triple.s)), NONE)
})

t.test('many parts are vast where their terms together are', async (t) => {
  const storage = await new MemoryBackend().open('slices')
  const contents = Array.from({ length: 10 }, (_, n) => [
    { s: entity(`s${n}`), p: entity('p'), o: entity(`o${n}`) },
  ])
  const [first] = await partViews(storage, contents, 1)
  const bytes = first?.part.terms.bytes ?? 0
  for (const [cacheBytes, isVast] of [
    [19 * bytes, true],
    [20 * bytes, false],
  ] as const) {
    const views = await partViews(storage, contents, cacheBytes)
    t.equal(new MergedView(views).isVast, isVast)
    for (const view of views) t.notOk(view.isVast)
  }
})

t.test('a join over forty cores checks triples in all of them', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), graphCacheBytes: 1 })
  t.teardown(() => keep.close())
  const knows = entity('knows')
  // A ring, each step in a core of its own, and every other step in both directions.
  for (let n = 0; n < 40; n++) {
    const [a, b] = [entity(`${n}`), entity(`${(n + 1) % 40}`)]
    const triples = [{ s: a, p: knows, o: b }]
    if (n % 2 === 0) triples.push({ s: b, p: knows, o: a })
    await keep.knowledge.write({ user: 'u', id: `core ${n}` }, [messageOf(triples)])
  }
  const graph = keep.knowledge.graph({ user: 'u' })
  const pairs: string[] = []
  for await (const { x, y } of graph.solve([
    { s: '?x', p: knows, o: '?y' },
    { s: '?y', p: knows, o: '?x' },
  ]) as AsyncIterable<Record<string, Term>>) {
    pairs.push(`${x?.v} ${y?.v}`)
  }
  const expected = Array.from({ length: 20 }, (_, n) => [
    `${2 * n} ${2 * n + 1}`,
    `${2 * n + 1} ${2 * n}`,
  ])
  t.strictSame(pairs.sort(), expected.flat().sort())
})
