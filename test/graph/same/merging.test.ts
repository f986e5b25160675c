// What is merged and split, as questions see it, and as it is kept.

import { encode } from '@msgpack/msgpack'
import t, { type Test } from 'tap'
import fc from 'fast-check'
import { MemoryBackend } from '../../../adapters/memory.js'
import {
  createLorekeep,
  type CoreMessage,
  type Duplicate,
  type Graph,
  type Lorekeep,
  type Term,
  type Triple,
} from '../../../src/index.js'
import { mostRead } from '../../../src/knowledge/same-things.js'
import { longest } from '../../../src/turns.js'
import { patience } from '../../../src/graph/miss.js'
import { sameThingsCore, vocabulary } from '../../../src/vocabulary.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { pickSeed } from '../../fixtures/random.js'
import { checkDuplicates, findDuplicates } from '../../../src/graph/same/duplicates.js'
import { planMerge } from '../../../src/graph/same/plan.js'
import { Sameness } from '../../../src/graph/same/sameness.js'
import { ArrayView } from '../retrieve/array-view.js'
import { countTurns } from '../../fixtures/turns.js'

const user = 'alice'
const uri = (name: string): Term => ({ v: `http://example.org/${name}`, e: true })
const text = (v: string): Term => ({ v, e: false })
const label = { v: vocabulary.label, e: true }
const from = { v: vocabulary.wasDerivedFrom, e: true }
const textOf = { v: vocabulary.text, e: true }
const knows = uri('knows')

async function opened(t: Test, backend = new MemoryBackend()): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend, indexThreads: 0 })
  t.teardown(() => keep.close())
  return keep
}

/** A core of things, each with a passage that names it. */
async function write(keep: Lorekeep, id: string, things: Readonly<Record<string, string>>) {
  const triples = Object.entries(things).flatMap(([name, called]) => [
    { s: uri(name), p: label, o: text(called) },
    { s: uri(name), p: knows, o: uri(`friend-of-${name}`) },
    { s: uri(`${id}-${name}`), p: textOf, o: text(`Here ${called} rowed the boat.`) },
    { s: uri(name), p: from, o: uri(`${id}-${name}`) },
  ])
  await keep.knowledge.write(
    { user, id },
    [['t', { m: { i: id, u: user, m: [], c: 'books' }, t: triples }]],
    { mode: 'replace' },
  )
}

async function all<T>(results: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const result of results) list.push(result)
  return list
}

async function saidOf(graph: Graph): Promise<string[]> {
  const names = [vocabulary.sameAs, vocabulary.differentFrom]
  const found = await Promise.all(names.map((v) => all(graph.match({ p: { v, e: true } }))))
  const short = (v: string) => v.slice(v.search(/[/#][^/#]*$/) + 1)
  return found
    .flat()
    .map(({ s, p, o }) => [s, p, o].map(({ v }) => short(v)).join(' '))
    .sort()
}

const asked = (graph: Graph, text: string) => graph.retrieve({ text, maxTriples: 50 })

t.test(
  'merged things are one to retrieve, with the name, the passages and the triples of both',
  async (t) => {
    const keep = await opened(t)
    await write(keep, 'a', { who: 'WHO' })
    await write(keep, 'b', { health: 'World Health Organization', dick: 'Dick' })
    const graph = keep.knowledge.graph({ user })
    const before = await asked(graph, 'Where did the World Health Organization go?')
    t.notMatch(
      before.sources.map(({ text }) => text),
      [/WHO/],
    )
    await graph.merge(uri('health'), uri('who'))
    t.strictSame(await saidOf(graph), ['who sameAs health'])
    for (const question of ['Where did WHO go?', 'Where did the World Health Organization go?']) {
      const found = await asked(graph, question)
      const texts = found.sources.slice(0, 2).map(({ text }) => text)
      t.strictSame(
        texts.sort(),
        ['Here WHO rowed the boat.', 'Here World Health Organization rowed the boat.'],
        question,
      )
      const entities = found.entities.map(({ entity }) => entity.v)
      t.ok(entities.includes(uri('health').v))
      t.notOk(entities.includes(uri('who').v))
      t.equal(found.labels[uri('health').v], 'World Health Organization')
      t.equal(
        found.labels[uri('who').v] ?? 'World Health Organization',
        'World Health Organization',
      )
      const friends = found.triples.filter(({ p }) => p.v === knows.v).map(({ o }) => o.v)
      t.ok(friends.includes(uri('friend-of-who').v))
      t.ok(friends.includes(uri('friend-of-health').v))
      t.notOk(found.triples.some(({ p }) => p.v === vocabulary.sameAs))
    }
    t.equal(await graph.count({ s: uri('who'), p: knows }), 1, 'patterns see triples as they are')
  },
)

t.test(
  'a merge and its split leave every answer as it was, and the pair is not proposed again',
  async (t) => {
    const keep = await opened(t)
    await write(keep, 'a', { x: 'U.S. Navy', y: 'US Navy', z: 'Clara' })
    const graph = keep.knowledge.graph({ user })
    const [proposed] = await graph.duplicates()
    t.match(proposed, { names: ['U.S. Navy', 'US Navy'], reasons: ['form'] })
    const before = await asked(graph, 'Where did the US Navy row?')
    await graph.merge(uri('x'), uri('y'))
    t.notSame(await asked(graph, 'Where did the US Navy row?'), before)
    t.strictSame(await graph.duplicates(), [], 'what is one already')
    await graph.split(uri('x'), uri('y'))
    t.strictSame(await asked(graph, 'Where did the US Navy row?'), before)
    t.strictSame(await graph.duplicates(), [], 'what was split')
    t.strictSame(await saidOf(graph), ['x differentFrom y'])
    await graph.merge(uri('x'), uri('y'))
    t.strictSame(await saidOf(graph), ['y sameAs x'])
  },
)

t.test('their core may have fields of other makers, which the next merge leaves out', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', { x: 'X', y: 'Y' })
  const ref = { user, id: sameThingsCore }
  const head = (...m: Triple[]) => ({ i: sameThingsCore, m, u: user, c: 'books' })
  const said = { s: uri('x'), p: label, o: { ...text('X'), ln: 'en' } }
  const about = { s: uri('core'), p: label, o: text('Mine') }
  const messages: CoreMessage[] = [
    ['t', { m: head(), t: [said] }],
    ['t', { m: head(about), t: [said] }],
    ['t', { m: head(about), t: [] }],
    ['ge', { m: head(about), e: [{ e: uri('x'), v: [[1, 2]] }] }],
  ]
  const strange = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(strange)
    const fields = Object.entries(value).map(([name, field]) => [name, strange(field)])
    return { ...Object.fromEntries(fields), strange: [1, { s: 2 }] }
  }
  await keep.knowledge.import(
    ref,
    messages.map((message) => encode(strange(message))),
  )
  const graph = keep.knowledge.graph({ user })
  await graph.merge(uri('x'), uri('y'))
  t.strictSame(await saidOf(graph), ['y sameAs x'])
  const now = (await all(keep.knowledge.messages(ref))).filter(
    ([type, data]) => type === 'ge' || data.t.every(({ p }) => p.v !== vocabulary.sameAs),
  )
  const sorted = (list: readonly CoreMessage[]) => list.map((each) => JSON.stringify(each)).sort()
  t.strictSame(sorted(now), sorted(messages))
})

t.test(
  'their core is read whole, up to so much of it, while others have their turns',
  async (t) => {
    const usual = [{ ...mostRead }, { ...longest }] as const
    t.teardown(() => {
      Object.assign(mostRead, usual[0])
      Object.assign(longest, usual[1])
    })
    const keep = await opened(t)
    const ref = { user, id: sameThingsCore }
    const count = 10_000
    const said = Array.from({ length: count }, (_, n) => ({
      s: uri(`x${n}`),
      p: label,
      o: text('X'),
    }))
    const m = { i: sameThingsCore, u: user, m: [], c: 'books' }
    await keep.knowledge.write(ref, [['t', { m, t: said }]])
    const graph = keep.knowledge.graph({ user })
    t.equal(await graph.count(), count)
    longest.ms = -1
    const turns = countTurns()
    await graph.merge(uri('x1'), uri('x2'))
    const passed = turns()
    // Where they are read, changed, sorted and written.
    t.ok(passed > 4 * count, `${passed} turns`)
    Object.assign(longest, usual[1])
    t.equal(await graph.count(), count + 1)
    mostRead.items = count
    await t.rejects(graph.merge(uri('x3'), uri('x4')), { code: 'LK_GRAPH_QUERY' })
  },
)

t.test('a merge while their core is deleted is one into a new core', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const keep = await createLorekeep({ backend, indexThreads: 0 })
  t.teardown(() => keep.close())
  const graph = keep.knowledge.graph({ user })
  await write(keep, 'a', { a: 'A', b: 'B', c: 'C', d: 'D' })
  await graph.merge(uri('a'), uri('b'))
  await graph.count()
  backend.afterGet = () => keep.knowledge.delete({ user, id: sameThingsCore })
  await graph.merge(uri('c'), uri('d'))
  t.strictSame(await saidOf(graph), ['d sameAs c'])
})

t.test('what else is in their core stays as it was', async (t) => {
  const keep = await opened(t)
  const ref = { user, id: sameThingsCore }
  const head = { i: sameThingsCore, u: user, c: 'books' }
  const own = { ...head, m: [{ s: uri('core'), p: label, o: text('Mine') }] }
  const [english, french] = ['en', 'fr'].map((ln) => ({ ...text('Chat'), ln })) as [Term, Term]
  const messages: CoreMessage[] = [
    [
      't',
      {
        m: { ...head, m: [] },
        t: [
          { s: uri('x'), p: label, o: english },
          { s: uri('x'), p: label, o: french },
          { s: uri('x'), p: label, o: french, g: 'urn:g' },
          { s: uri('y'), p: label, o: text('Y') },
        ],
      },
    ],
    ['t', { m: own, t: [{ s: uri('z'), p: label, o: text('Z') }] }],
    ['t', { m: { ...own, c: 'empty' }, t: [] }],
    ['ge', { m: own, e: [{ e: uri('x'), v: [[1, 0]] }] }],
  ]
  await keep.knowledge.write(ref, messages)
  const graph = keep.knowledge.graph({ user })
  await graph.merge(uri('x'), uri('y'))
  await graph.split(uri('x'), uri('y'))
  const said = { s: uri('x'), p: { v: vocabulary.differentFrom, e: true }, o: uri('y') }
  const after = await all(keep.knowledge.messages(ref))
  const inOrder = (list: readonly CoreMessage[]) =>
    list
      .map(([type, data]) => {
        const items = 't' in data ? data.t : data.e
        const { i, u, c, m } = data.m
        return JSON.stringify([type, i, u, c, m, items.map((item) => JSON.stringify(item)).sort()])
      })
      .sort()
  t.strictSame(
    inOrder(after),
    inOrder([...messages, ['t', { m: { ...head, m: [], c: 'default' }, t: [said] }]]),
  )
})

t.test('a pair with several names is on one page', async (t) => {
  const keep = await opened(t)
  const names = ['River Thames', 'Thames River', 'The River Thames', 'Thames']
  const triples = ['a', 'b', 'c'].flatMap((thing) =>
    names.map((called) => ({ s: uri(thing), p: label, o: text(called) })),
  )
  await keep.knowledge.write({ user, id: 'x' }, [
    ['t', { m: { i: 'x', u: user, m: [], c: 'books' }, t: triples }],
  ])
  const graph = keep.knowledge.graph({ user })
  const whole = await graph.duplicates({ least: 0.1 })
  t.equal(whole.length, 3)
  const paged = []
  for (let n = 0, after: Duplicate | undefined; n < 10; n++) {
    const page = await graph.duplicates({ least: 0.1, limit: 1, ...(after && { after }) })
    paged.push(...page)
    if ((after = page.at(-1)) === undefined) break
  }
  t.strictSame(paged, whole)
})

t.test('it is kept when a core is loaded again or deleted, and in an export', async (t) => {
  const backend = new MemoryBackend()
  const keep = await opened(t, backend)
  await write(keep, 'a', { x: 'Ellen', y: 'Nell', z: 'Clara' })
  const graph = keep.knowledge.graph({ user })
  await graph.merge(uri('x'), uri('y'))
  await graph.split(uri('x'), uri('z'))
  const said = ['x differentFrom z', 'y sameAs x']
  await write(keep, 'a', { x: 'Ellen', y: 'Nell' })
  t.strictSame(await saidOf(graph), said)
  await keep.knowledge.delete({ user, id: 'a' })
  t.strictSame(await saidOf(graph), said)
  await keep.knowledge.import(
    { user: 'bob', id: sameThingsCore },
    await keep.knowledge.export({ user, id: sameThingsCore }),
  )
  t.strictSame(await saidOf(keep.knowledge.graph({ user: 'bob' })), said)
})

t.test('what cannot be one, or two, is refused with what to do', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', { x: 'Ellen', y: 'Nell' })
  const graph = keep.knowledge.graph({ user })
  const at = (path: string) => ({ code: 'LK_GRAPH_QUERY', details: { errors: [{ path }] } })
  for (const change of ['merge', 'split'] as const) {
    await t.rejects(graph[change](uri('x'), uri('x')), at('b'))
    await t.rejects(graph[change](uri('x'), text('Ellen')), at('b'))
    await t.rejects(graph[change](uri('nobody'), uri('x')), at('a'))
    await t.rejects(graph[change](undefined as never, uri('x')), at('a'))
    await t.rejects(graph[change](uri('x'), uri('y'), { least: 1 } as never), TypeError)
    const named = keep.knowledge.graph({ user, cores: ['a'] })
    await t.rejects(named[change](uri('x'), uri('y')), at('cores'))
    const held = await graph.snapshot()
    await t.rejects(held[change](uri('x'), uri('y')), { code: 'LK_GRAPH_QUERY' })
    held.close()
    const signal = AbortSignal.abort(new Error('enough'))
    await t.rejects(graph[change](uri('x'), uri('y'), { signal }), { message: 'enough' })
  }
  t.equal(await keep.knowledge.stat({ user, id: sameThingsCore }), undefined, 'nothing was written')
  await t.rejects(graph.duplicates({ least: 2 }), TypeError)
  await t.rejects(graph.duplicates({ limit: -1 }), TypeError)
  await t.rejects(graph.duplicates({ after: { a: uri('x'), b: uri('y'), score: 7 } }), {
    code: 'LK_GRAPH_QUERY',
  })
  await t.rejects(graph.duplicates({ signal: AbortSignal.abort(new Error('enough')) }), {
    message: 'enough',
  })
  const other = { v: vocabulary.differentFrom, e: true }
  await keep.knowledge.write({ user, id: 'imported' }, [
    ['t', { m: { i: '', u: '', m: [], c: 'c' }, t: [{ s: uri('x'), p: other, o: uri('y') }] }],
  ])
  await t.rejects(graph.merge(uri('x'), uri('y')), at('b'))
})

t.test('merges of a collection are seen in it, and leave those of others alone', async (t) => {
  const keep = await opened(t)
  await write(keep, 'a', { x: 'Ellen', y: 'Nell', z: 'Clara' })
  const books = keep.knowledge.graph({ user, collection: 'books' })
  const graph = keep.knowledge.graph({ user })
  await graph.merge(uri('x'), uri('z'))
  t.strictSame(await saidOf(books), [])
  await books.merge(uri('x'), uri('y'))
  t.strictSame(await saidOf(books), ['y sameAs x'])
  await graph.split(uri('x'), uri('y'))
  t.strictSame(await saidOf(graph), ['x differentFrom y', 'z sameAs x'])
})

t.test('what other collections say of the same things holds nothing up', async (t) => {
  const usual = patience.rows
  t.teardown(() => (patience.rows = usual))
  // Each row of another collection is a pause.
  patience.rows = 1
  const keep = await opened(t)
  const sameAs = { v: vocabulary.sameAs, e: true }
  const others = Array.from({ length: 40 }, (_, n) => [
    ...['x', 'y', 'z', 'hub'].flatMap((name) => [
      { s: uri(name), p: knows, o: uri(`other-${n}`) },
      { s: uri(`other-${n}`), p: knows, o: uri(name) },
      { s: uri(name), p: sameAs, o: uri(`other-${n}`) },
      { s: uri(name), p: label, o: text(`Other ${n}`) },
      { s: uri(name), p: from, o: uri(`other-passage-${n}`) },
      { s: uri(`other-${n}`), p: from, o: uri(`passage-${name}`) },
      { s: uri(`passage-${name}`), p: textOf, o: text(`Nothing of ${n}`) },
    ]),
  ]).flat()
  const called = { x: 'U.S. Navy', y: 'US Navy', z: 'Clara' }
  const own = Object.entries(called).flatMap(([name, called]) => [
    { s: uri(name), p: label, o: text(called) },
    { s: uri(name), p: knows, o: uri('friend') },
    { s: uri(name), p: from, o: uri(`passage-${name}`) },
    { s: uri(`passage-${name}`), p: textOf, o: text(`Here ${called} rowed the boat.`) },
  ])
  const filling = others.map((_, n) => ({ s: uri(`own-${n}`), p: knows, o: uri(`own-${n + 1}`) }))
  const head = { i: 'both', u: user, m: [] }
  // Of one core: it is one part of an index.
  await keep.knowledge.write({ user, id: 'both' }, [
    ['t', { m: { ...head, c: 'others' }, t: others }],
    ['t', { m: { ...head, c: 'books' }, t: [...own, ...filling] }],
  ])
  const graph = keep.knowledge.graph({ user, collection: 'books' })
  // A question that never ends is a failure, and not a hanging test.
  const signal = AbortSignal.timeout(20_000)
  t.match(await graph.duplicates({ signal }), [{ names: ['U.S. Navy', 'US Navy'] }])
  await t.rejects(graph.merge(uri('x'), uri('hub'), { signal }), {
    code: 'LK_GRAPH_QUERY',
    details: { errors: [{ path: 'b' }] },
  })
  await graph.merge(uri('x'), uri('y'), { signal })
  const { sources } = await graph.retrieve({ text: 'Where did the US Navy row?', signal })
  t.match(
    sources
      .slice(0, 2)
      .map(({ text }) => text)
      .sort(),
    [/U\.S\. Navy/, /US Navy/],
  )
  await graph.split(uri('x'), uri('y'), { signal })
  t.strictSame(await saidOf(graph), ['x differentFrom y'])
})

t.test('changes at the same time are all kept', async (t) => {
  const keep = await opened(t)
  const things = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`t${n}`, `Thing ${n}`]))
  await write(keep, 'a', things)
  const graphs = [keep.knowledge.graph({ user }), keep.knowledge.graph({ user })]
  await Promise.all(
    Array.from({ length: 11 }, (_, n) => graphs[n % 2]!.merge(uri('t0'), uri(`t${n + 1}`))),
  )
  t.equal((await saidOf(graphs[0]!)).length, 11)
})

const isOne = { v: vocabulary.sameAs, e: true }
const isOther = { v: vocabulary.differentFrom, e: true }

/** How often it is asked whether something is said. */
class CountingView extends ArrayView {
  asks = 0

  override has(...ids: [number, number, number]): boolean {
    this.asks++
    return super.has(...ids)
  }
}

t.test('of a chain of too many for one thing a split goes along the beginning', async (t) => {
  const chain = Array.from({ length: 3000 }, (_, n) => ({
    s: uri(`x${n}`),
    p: isOne,
    o: uri(`x${n + 1}`),
  }))
  const view = new ArrayView(chain)
  const sameness = await Sameness.of(view)
  const [first, second] = [view.find(uri('x0')), view.find(uri('x1'))]
  t.strictSame(sameness.nextTo(first, second), [second])
  // Twice for each of a thousand: as what is one with them, and from there.
  t.ok(view.asked.length < 4100, `${view.asked.length} patterns`)
})

t.test(
  'what is different in clusters of hundreds is found without asking of each pair',
  async (t) => {
    const names = ['a', 'b'] as const
    const triples = [
      ...names.flatMap((name) =>
        Array.from({ length: 400 }, (_, n) => ({
          s: uri(`${name}${n + 1}`),
          p: isOne,
          o: uri(`${name}0`),
        })),
      ),
      { s: uri('a7'), p: isOther, o: uri('b8') },
      { s: uri('b300'), p: isOther, o: uri('a200') },
      { s: uri('b301'), p: isOther, o: uri('c') },
      ...names.map((name) => ({ s: uri(`${name}0`), p: label, o: text('Thames Conservancy') })),
    ]
    const view = new CountingView(triples)
    const plan = await planMerge(view, [uri('a0'), uri('b0')], () => undefined)
    const pairs = plan?.remove.pairs.map(([a, b]) => `${a} ${b}`)
    t.strictSame(pairs?.sort(), [
      `${uri('a200').v} ${uri('b300').v}`,
      `${uri('a7').v} ${uri('b8').v}`,
    ])
    const closing = new AbortController().signal
    t.strictSame(await findDuplicates(view, checkDuplicates(undefined, closing)), [])
    const free = triples.filter(({ p, o }) => p !== isOther || o.v === uri('c').v)
    const found = await findDuplicates(new ArrayView(free), checkDuplicates(undefined, closing))
    t.equal(found.length, 1)
    t.ok(view.asks < 10 * triples.length, `asked ${view.asks} times`)
  },
)

t.test('what is different is found behind more than any question reads', async (t) => {
  const others = Array.from({ length: 100_001 }, (_, n) => uri(`x${n}`))
  const view = new ArrayView([
    ...['a', 'b'].flatMap((name) =>
      ['1', '2'].map((n) => ({ s: uri(`${name}${n}`), p: isOne, o: uri(name) })),
    ),
    ...others.map((o) => ({ s: uri('a1'), p: isOther, o })),
    ...others.slice(0, 10).map((s) => ({ s, p: isOther, o: uri('a2') })),
    { s: uri('a1'), p: isOther, o: uri('b1') },
    { s: uri('b2'), p: isOther, o: uri('a2') },
  ])
  const plan = await planMerge(view, [uri('a'), uri('b')], () => undefined)
  t.strictSame(plan?.remove.pairs.map(([a, b]) => `${a} ${b}`).sort(), [
    `${uri('a1').v} ${uri('b1').v}`,
    `${uri('a2').v} ${uri('b2').v}`,
  ])
})

t.test('any merges and splits leave what a plain model says', async (t) => {
  const names = ['Anna', 'Boris', 'Clara', 'Dick', 'Ellen']
  const change = fc.record({
    isMerge: fc.boolean(),
    pair: fc.shuffledSubarray(names, { minLength: 2, maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
      const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
      try {
        await write(keep, 'x', Object.fromEntries(names.map((name) => [name, name])))
        const graph = keep.knowledge.graph({ user })
        for (const {
          isMerge,
          pair: [a = '', b = ''],
        } of changes) {
          const before = await groupsOf(graph, names)
          await graph[isMerge ? 'merge' : 'split'](uri(a), uri(b))
          const after = await groupsOf(graph, names)
          const areOne = (groups: readonly string[][], x: string, y: string) =>
            groups.some((group) => group.includes(x) && group.includes(y))
          t.equal(areOne(after, a, b), isMerge)
          if (isMerge) {
            const joined = new Set(before.filter((g) => g.includes(a) || g.includes(b)).flat())
            t.strictSame(
              after.find((g) => g.includes(a)),
              [...joined].sort(),
            )
          } else if (!areOne(before, a, b)) {
            t.strictSame(after, before)
          } else {
            const whole = before.find((g) => g.includes(a)) ?? []
            const parts = after.filter((g) => g.some((name) => whole.includes(name)))
            t.strictSame(parts.flat().sort(), whole, 'nothing else was joined or lost')
            t.equal(parts.length, 2)
          }
          const others = (groups: readonly string[][]) =>
            groups.filter(
              (g) =>
                !g.some((name) =>
                  before.some((old) => (old.includes(a) || old.includes(b)) && old.includes(name)),
                ),
            )
          t.strictSame(others(after), others(before))
        }
      } finally {
        await keep.close()
      }
    }),
    { seed: pickSeed(), numRuns: 25 },
  )
})

/** What is one, as retrieve() tells it: by what it calls things. */
async function groupsOf(graph: Graph, names: readonly string[]): Promise<string[][]> {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    // Of a question for a thing alone: what speaks for it.
    const { entities } = await graph.retrieve({ text: name, entities: 5, depth: 0 })
    const first = entities[0]?.entity.v ?? ''
    groups.set(first, [...(groups.get(first) ?? []), name])
  }
  return [...groups.values()].map((group) => group.sort()).sort()
}
