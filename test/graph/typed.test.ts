// Literals with datatypes and languages, in cores of one index, of some and of many.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { TriplePattern } from '../../src/graph/types.js'
import type { Term, Triple } from '../../src/types.js'
import { entity, literal, messageOf, textOf } from './asked.js'

const user = 'u'
const integer = 'http://www.w3.org/2001/XMLSchema#integer'
const string = 'http://www.w3.org/2001/XMLSchema#string'
const s = entity('s')
const p = entity('p')
const about = (o: Term): Triple => ({ s, p, o })
const one = literal('1')

/** Cores with these triples beside others, which make each of them a part of its own. */
async function openGraph(t: Test, contents: readonly (readonly Triple[])[]) {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  for (const [n, triples] of contents.entries()) {
    await keep.knowledge.write({ user, id: `core ${n}` }, [messageOf(triples)])
  }
  return keep.knowledge.graph({ user })
}

for (const cores of [1, 3, 30]) {
  t.test(`${cores} cores: what is the same, and what is not`, async (t) => {
    const said: Term[] = [
      one,
      { ...one, dt: integer },
      { ...one, dt: string },
      { ...one, ln: 'en' },
      { ...one, ln: 'EN' },
      { ...one, ln: 'en-GB' },
      entity('1'),
    ]
    const graph = await openGraph(
      t,
      Array.from({ length: cores }, () => said.map(about)),
    )
    const all = await collect(graph.match({ s }))
    const same = [one, { ...one, dt: integer }, { ...one, ln: 'en' }, { ...one, ln: 'en-GB' }]
    t.strictSame(all.map(textOf).sort(), [...same, entity('1')].map(about).map(textOf).sort())
    for (const o of said) {
      const found = await collect(graph.match({ o }))
      t.strictSame(found.map(textOf), [textOf(about(o))], JSON.stringify(o))
      t.equal(await graph.count({ o }), 1)
      t.strictSame(await collect(graph.solve([{ s: '?x', p, o }])), [{ x: s }])
    }
    for (const o of [
      { ...one, dt: 'urn:other' },
      { ...one, ln: 'de' },
    ]) {
      t.strictSame(await collect(graph.match({ o })), [])
    }
    const asked = { ...one, ln: 'EN-gb' }
    t.strictSame(await collect(graph.match({ p, o: asked })), [about({ ...one, ln: 'en-GB' })])
    // One variable for the same term, in another spelling.
    const both = [
      { s: '?a', p, o: { ...one, ln: 'en' } },
      { s: '?a', p: '?p', o: { ...one, ln: 'eN' } },
    ] as const
    t.strictSame(await collect(graph.solve(both)), [{ a: s, p }])
    const near = await collect(graph.neighbours({ ...one, ln: 'EN' }))
    t.strictSame(
      near.map(({ direction, term }) => [direction, term]),
      [['in', s]],
    )
  })

  t.test(`${cores} cores: a language comes back as it was said first`, async (t) => {
    const tags = ['EN', 'zh-Hant-TW', 'de-AT', 'x', 'Sr-LATN-rs']
    const said = tags.map((ln, n) => about({ v: `ü${n}`.repeat(20 * n), e: false, ln }))
    const later = said.map(({ o, ...others }) => ({
      ...others,
      o: { ...o, ln: o.ln?.toLowerCase() },
    }))
    const graph = await openGraph(
      t,
      Array.from({ length: cores }, () => [...said, ...later]),
    )
    const found = await collect(graph.match({ s, p }))
    t.strictSame(found.map(({ o }) => o.ln).sort(), [...tags].sort())
  })
}

for (const cores of [1, 3, 30]) {
  t.test(`${cores} cores: literals by their text`, async (t) => {
    const text = literal('Müller')
    const said: Triple[] = [
      about(text),
      about({ ...text, dt: integer }),
      about({ ...text, ln: 'EN' }),
      about({ ...text, ln: 'de' }),
      about(entity('Müller')),
      about(literal('Müller ')),
      { s: { ...text, ln: 'de' }, p: text, o: { ...text, ln: 'fr' } },
      { s, p: { ...text, dt: string }, o: literal('') },
    ]
    const graph = await openGraph(
      t,
      Array.from({ length: cores }, (_, n) => said.filter((_, i) => cores < 30 || i % 7 === n % 7)),
    )
    const asked = { ...text, ln: 'it' }
    const names = async (pattern: TriplePattern) =>
      (await collect(graph.match(pattern, { byText: true }))).map(textOf).sort()
    const is = (term: Term) => !term.e && term.v === text.v
    const filtered = (fits: (triple: Triple) => boolean) => said.filter(fits).map(textOf).sort()
    t.strictSame(
      await names({ o: asked }),
      filtered(({ o }) => is(o)),
    )
    t.strictSame(
      await names({ s, o: asked }),
      filtered(({ s, o }) => s.e && is(o)),
    )
    t.strictSame(
      await names({ s: asked, p: asked, o: asked }),
      filtered(({ s, p, o }) => [s, p, o].every(is)),
    )
    t.strictSame(
      await names({ p: asked }),
      filtered(({ p }) => is(p)),
    )
    t.strictSame(await names({ o: literal('Mülle') }), [])
    t.strictSame(
      await names({}),
      filtered(() => true),
    )
    t.strictSame(await names({ s: entity('Müller') }), [])
    const [first] = await collect(graph.match({ o: asked }, { byText: true, limit: 1 }))
    t.ok(first && is(first.o))
    t.strictSame(await collect(graph.match({ o: asked }, { byText: false })), [])
  })
}

t.test('terms that cannot be are refused where they stand', async (t) => {
  const graph = await openGraph(t, [[about(one)]])
  const cases: readonly (readonly [unknown, path: string])[] = [
    [{ ...one, dt: 'integer' }, 'o.dt'],
    [{ ...one, dt: '' }, 'o.dt'],
    [{ ...one, dt: 7 }, 'o.dt'],
    [{ ...one, ln: 'en_GB' }, 'o.ln'],
    [{ ...one, ln: null }, 'o.ln'],
    [{ ...one, ln: 'en', dt: integer }, 'o'],
    [{ ...entity('1'), ln: 'en' }, 'o'],
    [{ ...entity('1'), dt: integer }, 'o'],
    [{ v: 7, e: false, ln: 'en' }, 'o.v'],
  ]
  for (const [o, path] of cases) {
    t.throws(() => graph.match({ o: o as Term }), {
      code: 'LK_GRAPH_QUERY',
      details: { errors: [{ path }] },
    })
  }
})

t.test('vectors of a typed literal are its own', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const e = { ...one, ln: 'De' }
  const m = { i: 'c', m: [], u: user, c: 'default' }
  await keep.knowledge.write({ user, id: 'c' }, [
    [
      'ge',
      {
        m,
        e: [
          { e: one, v: [[0, 1]] },
          { e, v: [[1, 0]] },
        ],
      },
    ],
  ])
  const [near] = await keep.knowledge.graph({ user }).nearest([1, 0], { k: 1 })
  t.strictSame(near?.entity, e)
})

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}
