// Filters by value: against oxigraph, in cores of one index, of some and of many, and by the rules of
// XML Schema where it has others.

import assert from 'node:assert/strict'
import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { FilterValue, Graph, TriplePattern, ValueFilter } from '../../src/graph/types.js'
import { knownDatatypes, knownNumber } from '../../src/graph/index/encoded-term.js'
import { orderedDatatypes } from '../../src/graph/value/literal-value.js'
import { patience } from '../../src/graph/miss.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { Term, Triple } from '../../src/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { entity, literal, messageOf, nameOf, textOf } from './asked.js'

t.setTimeout(120_000)

const seed = pickSeed()
const user = 'u'

const usual = patience.rows
const xsd = 'http://www.w3.org/2001/XMLSchema#'
const typed = (v: string, type: string): Term => ({ v, e: false, dt: xsd + type })

/** With `isForgetful` each block is forgotten as soon as another is read, and each row of no use is a pause. */
async function opened(
  t: Test,
  cores: readonly (readonly Triple[])[],
  isForgetful = false,
): Promise<Graph> {
  patience.rows = isForgetful ? 1 : usual
  const keep = await createLorekeep({
    backend: new MemoryBackend(),
    ...(isForgetful && { graphCacheBytes: 1 }),
  })
  t.teardown(() => keep.close())
  for (const [n, triples] of cores.entries()) {
    await keep.knowledge.write({ user, id: `core ${n}` }, [messageOf(triples)])
  }
  return keep.knowledge.graph({ user })
}

async function objects(graph: Graph, pattern: TriplePattern): Promise<string[]> {
  const found: string[] = []
  for await (const triple of graph.match(pattern)) found.push(shownTriple(triple))
  assert.equal(await graph.count(pattern), found.length)
  return found.sort()
}

const shownTriple = ({ s, p, o }: Triple) => [s, p, o].map(shown).join(' ')
const shown = ({ v, e, dt, ln }: Term) =>
  e
    ? `<${v}>`
    : `"${v}"${ln === undefined ? '' : `@${ln}`}${dt === undefined ? '' : dt.slice(xsd.length)}`

/** Less than 19 digits, which is what oxigraph's decimals have. */
function randomNumber(random: Random): Term {
  const whole = random.chance(0.5) ? random.below(20) : random.below(2 ** 40)
  const sign = random.pick(['', '-', '+'])
  switch (random.below(5)) {
    case 0:
      return typed(`${sign}${whole}.${random.below(1000)}`, 'decimal')
    case 1:
      return typed(`${sign}${random.pick(['', '0', '00'])}${whole}`, 'integer')
    case 2:
      return typed(`${sign}${whole}e${random.below(4)}`, 'double')
    case 3:
      return typed(`${sign}${random.below(4096) / 8}`, 'float')
    default:
      return typed(`${random.below(200)}`, random.pick(['int', 'unsignedByte', 'long']))
  }
}

function randomMoment(random: Random): Term {
  const time = new Date(random.below(2 ** 41)).toISOString().slice(0, 19)
  const fraction = random.pick(['', '.5', '.125', '.000'])
  return typed(time + fraction + random.pick(['Z', '+05:30', '-11:00', '+14:00']), 'dateTime')
}

const randomText = (random: Random) =>
  literal(
    Array.from({ length: random.below(4) }, () =>
      random.pick([...'abAB\u{e9}\u{ffff}\u{1f600}']),
    ).join(''),
  )

const makers = [randomNumber, randomMoment, randomText]
const others = [
  entity('urn:x'),
  typed('x', 'integer'),
  typed('true', 'boolean'),
  typed('NaN', 'double'),
]

for (const cores of [1, 3, 25]) {
  t.test(
    `${cores} cores: filters are those of SPARQL, as oxigraph has them (seed ${seed})`,
    async (t) => {
      const random = new Random(seed)
      const lists = Array.from({ length: cores }, () =>
        Array.from({ length: Math.ceil(400 / cores) }, (_, n): Triple => ({
          s: entity(`urn:s${random.below(20)}`),
          p: entity(n % 4 === 0 ? 'urn:p0' : `urn:p${random.below(4)}`),
          o: random.chance(0.1) ? random.pick(others) : random.pick(makers)(random),
        })),
      )
      const graph = await opened(t, lists, random.chance(0.5))
      const triples = [...new Map(lists.flat().map((each) => [textOf(each), each])).values()]
      const oracle = new Oracle(triples.map(({ o }) => o))
      for (let round = 0; round < 60; round++) {
        const maker = random.pick(makers)
        const filter: Record<string, Term> = {}
        if (random.chance(0.7)) filter[random.pick(['gt', 'gte'])] = maker(random)
        if (random.chance(0.7) || Object.keys(filter).length === 0) {
          filter[random.pick(['lt', 'lte'])] = maker(random)
        }
        const found = triples.filter(oracle.holds(filter))
        const [p, q] = [predicate(random), predicate(random)]
        const s = subject(random)
        for (const pattern of [{}, { p }, { s }, { s, p }] as Partial<Triple>[]) {
          const expected = found.filter((each) => fits(pattern, each)).map(shownTriple)
          const asked = { ...pattern, filter }
          assert.deepEqual(await objects(graph, asked), expected.sort(), JSON.stringify(asked))
        }
        const second: Record<string, Term> = { lt: random.pick(makers)(random) }
        const others = triples.filter(oracle.holds(second)).filter((each) => fits({ p: q }, each))
        const first = { s: '?s', p, o: '?o', filter } as const
        // By the subject, and by the object, of which both hold then.
        for (const joined of [
          { s: '?s', p: q, o: '?q', filter: second },
          { s: '?q', p: q, o: '?o', filter: second },
        ] as const) {
          const isSubject = joined.s === '?s'
          const expected = found
            .filter((each) => fits({ p }, each))
            .flatMap((a) =>
              others
                .filter((b) => (isSubject ? a.s.v === b.s.v : nameOf(a.o) === nameOf(b.o)))
                .map((b) => [a.s, a.o, isSubject ? b.o : b.s].map(shown).join(' ')),
            )
          const solutions: string[] = []
          for await (const row of graph.solve([first, joined])) {
            solutions.push(
              [row['s'], row['o'], row['q']].map((term) => shown(term as Term)).join(' '),
            )
          }
          assert.deepEqual(solutions.sort(), expected.sort(), JSON.stringify([first, joined]))
        }
      }
      t.pass()
    },
  )
}

const subject = (random: Random) => entity(`urn:s${random.below(20)}`)
const predicate = (random: Random) => entity(`urn:p${random.below(4)}`)
const fits = ({ s, p }: Partial<Triple>, triple: Triple) =>
  (s === undefined || s.v === triple.s.v) && (p === undefined || p.v === triple.p.v)

/** It normalises literals, so they are told by names. */
class Oracle {
  readonly #store = new oxigraph.Store()
  readonly #held = new Map<string, number>()

  constructor(terms: readonly Term[]) {
    for (const term of terms.filter(({ e }) => !e)) {
      if (this.#held.has(nameOf(term))) continue
      const dt = term.dt === undefined ? undefined : oxigraph.namedNode(term.dt)
      const node = oxigraph.namedNode(`urn:t${this.#held.size}`)
      this.#held.set(nameOf(term), this.#held.size)
      this.#store.add(
        oxigraph.quad(node, oxigraph.namedNode('urn:is'), oxigraph.literal(term.v, dt)),
      )
    }
  }

  holds(filter: Readonly<Record<string, Term>>): (triple: Triple) => boolean {
    const conditions = Object.entries(filter).map(([name, { v, dt }]) => {
      const value = JSON.stringify(v) + (dt === undefined ? '' : `^^<${dt}>`)
      return `?o ${operators[name]} ${value}`
    })
    const query = `SELECT ?t { ?t <urn:is> ?o FILTER (${conditions.join(' && ')}) }`
    const rows = this.#store.query(query) as Map<string, oxigraph.Term>[]
    const found = new Set(rows.map((row) => row.get('t')?.value))
    return ({ o }) => found.has(`urn:t${this.#held.get(nameOf(o))}`)
  }
}

const operators: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' }

/** What is above 10, of each line in its order; what has none is in no line. */
const lines: readonly (readonly Term[])[] = [
  [
    typed('-INF', 'double'),
    typed('-1e400', 'decimal'),
    typed('-9223372036854775808', 'long'),
    typed('-0.1', 'decimal'),
    typed('0', 'integer'),
    typed('0.1', 'decimal'),
    typed('1e0', 'double'),
    typed('9007199254740992', 'integer'),
    typed('9007199254740993', 'integer'),
    typed('9007199254740993.5', 'decimal'),
    typed('+0018446744073709551615', 'unsignedLong'),
    typed('1e300', 'double'),
    typed('INF', 'float'),
  ].filter(({ v }) => v !== '-1e400'),
  [
    typed('-0044-03-15', 'date'),
    typed('0000', 'gYear'),
    typed('1999-12-31T23:59:59.999Z', 'dateTime'),
    typed('2000', 'gYear'),
    typed('2000-01-01T00:00:00.0001', 'dateTime'),
    typed('2000-02', 'gYearMonth'),
    typed('2000-02-29', 'date'),
    typed('2000-03-01+14:00', 'date'),
    typed('2000-02-29T24:00:00-00:00', 'dateTimeStamp'),
    typed('2000-03-01-12:00', 'date'),
    typed('12000-01-01T00:00:00Z', 'dateTime'),
    typed('300000-01-01', 'date'),
  ],
  ['', 'A', 'a', 'aa', 'b', '\u{e9}', '\u{ffff}', '\u{1f600}'].map((v, n) =>
    n % 2 === 0 ? literal(v) : { v, e: false, ln: 'de' },
  ),
]

const none: readonly Term[] = [
  typed('NaN', 'double'),
  typed('x', 'integer'),
  typed('1.0', 'integer'),
  typed('1e0', 'decimal'),
  typed(' 1', 'integer'),
  typed('-1', 'nonNegativeInteger'),
  typed('0', 'positiveInteger'),
  typed('128', 'byte'),
  typed('9223372036854775808', 'long'),
  typed('2001-02-29', 'date'),
  typed('1900-02-29', 'date'),
  typed('2000-13-01', 'date'),
  typed('2000-01-01T25:00:00', 'dateTime'),
  typed('2000-01-01T24:00:01', 'dateTime'),
  typed('2000-01-01T12:00:00', 'dateTimeStamp'),
  typed('2000-01-01+15:00', 'date'),
  typed('99', 'gYear'),
  typed('012000', 'gYear'),
  typed('true', 'boolean'),
  typed('12:00:00', 'time'),
  { v: '1', e: false, dt: 'urn:mine' },
]

t.test('values are in the order of XML Schema', async (t) => {
  const terms = [...lines.flat(), ...none]
  const p = entity('urn:p')
  const graph = await opened(t, [terms.map((o) => ({ s: entity('urn:s'), p, o }))])
  const found = async (filter: ValueFilter) => {
    const all: string[] = []
    for await (const { o } of graph.match({ p, filter })) all.push(shown(o))
    return all.sort()
  }
  for (const line of lines) {
    for (const [n, term] of line.entries()) {
      const name = shown(term)
      t.strictSame(
        await found({ gt: term }),
        line
          .slice(n + 1)
          .map(shown)
          .sort(),
        `> ${name}`,
      )
      t.strictSame(
        await found({ lte: term }),
        line
          .slice(0, n + 1)
          .map(shown)
          .sort(),
        `<= ${name}`,
      )
      t.strictSame(await found({ gte: term, lte: term }), [name], `= ${name}`)
    }
  }
  t.strictSame(await found({ gt: 0, lt: 2 }), ['"0.1"decimal', '"1e0"double'])
  t.strictSame(await found({ gt: 9007199254740992n, lte: 9007199254740993n }), [
    '"9007199254740993"integer',
  ])
  const dates: readonly [FilterValue, FilterValue][] = [
    [new Date('2000-02-29T00:00:00Z'), new Date('2000-03-01T00:00:00Z')],
    [typed('2000-02-29', 'date'), typed('2000-03-01', 'date')],
  ]
  for (const [gte, lt] of dates) {
    t.strictSame(await found({ gte, lt }), ['"2000-02-29"date', '"2000-03-01+14:00"date'])
  }
  t.strictSame(await found({ lt: new Date(-100_000_000_000_000) }), [])
  t.strictSame(await found({ gt: new Date(300_000_000_000_000) }), [
    '"12000-01-01T00:00:00Z"dateTime',
    '"300000-01-01"date',
  ])
  t.strictSame(await found({ gt: 5, lt: 4 }), [])
})

t.test('what cannot be compared is told with its place', async (t) => {
  const graph = await opened(t, [[{ s: entity('urn:s'), p: entity('urn:p'), o: literal('x') }]])
  const wrong: readonly (readonly [unknown, string, RegExp])[] = [
    [7, 'filter', /must be an object such as \{ gt: 9 \}, not 7/],
    [{}, 'filter', /has no condition/],
    [{ ge: 9 }, 'filter.ge', /there are gt, gte, lt, lte/],
    [{ gt: true }, 'filter.gt', /must be a number, a date or a text, not true/],
    [{ gt: null }, 'filter.gt', /not null/],
    [{ lt: NaN }, 'filter.lt', /NaN/],
    [{ lt: new Date(NaN) }, 'filter.lt', /invalid Date/],
    [{ gt: entity('urn:a') }, 'filter.gt', /literal/],
    [{ gt: typed('x', 'integer') }, 'filter.gt', /is "x", which is no value of its datatype/],
    [{ gt: typed('true', 'boolean') }, 'filter.gt', /which has no order; numbers, dates and texts/],
    [{ gt: 1, lt: 'a' }, 'filter.lt', /is one of the texts, and the others are numbers/],
    [{ gt: { v: 'a', e: false, dt: 'no iri' } }, 'filter.gt', /has a wrong dt, which/],
    [{ gt: { ...typed('5', 'integer'), ln: 'en' } }, 'filter.gt', /^has both 'dt' and 'ln'/],
  ]
  for (const [filter, path, message] of wrong) {
    const errors = [{ path, message }]
    await t.rejects(graph.count({ filter } as never), {
      code: 'LK_GRAPH_QUERY',
      details: { errors },
    })
    t.throws(() => graph.match({ filter } as never), {
      code: 'LK_GRAPH_QUERY',
      details: { errors },
    })
    const inSolve = [{ path: `patterns[0].${path}`, message }]
    const pattern = { s: '?s', p: '?p', o: '?o', filter } as never
    t.throws(() => graph.solve([pattern]), {
      code: 'LK_GRAPH_QUERY',
      details: { errors: inSolve },
    })
  }
  const closed = { o: literal('x'), filter: { gt: 1 } }
  const code = 'LK_GRAPH_QUERY'
  const errors = [{ path: 'filter', message: /open/ }]
  t.throws(() => graph.match(closed), { code, details: { errors } })
  const byText = [{ path: 'filter', message: /byText/ }]
  t.throws(() => graph.match({ filter: { gt: 1 } }, { byText: true }), {
    code,
    details: { errors: byText },
  })
  const solved = { s: '?s', p: '?p', o: literal('x'), filter: { gt: 1 } } as const
  const inSolve = [{ path: 'patterns[0].filter', message: /open/ }]
  t.throws(() => graph.solve([solved]), { code, details: { errors: inSolve } })
})

t.test('a filter is for entities that are near, too', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const [age, a, b] = ['age', 'a', 'b'].map((name) => entity(`urn:${name}`)) as [Term, Term, Term]
  const m = { i: 'i', m: [], u: user, c: 'c' }
  await keep.knowledge.write({ user, id: 'core' }, [
    [
      't',
      {
        m,
        t: [
          { s: a, p: age, o: typed('9', 'integer') },
          { s: b, p: age, o: typed('10', 'integer') },
        ],
      },
    ],
    [
      'ge',
      {
        m,
        e: [
          { e: a, v: [[1, 0]] },
          { e: b, v: [[0, 1]] },
        ],
      },
    ],
  ])
  const graph = keep.knowledge.graph({ user })
  const near = await graph.nearest([1, 0], { where: { p: age, filter: { gt: 9 } } })
  t.strictSame(
    near.map(({ entity }) => entity),
    [b],
  )
  const where = { p: age, o: typed('9', 'integer'), filter: { gt: 9 } }
  await t.rejects(graph.nearest([1, 0], { where }), {
    code: 'LK_GRAPH_QUERY',
    details: { errors: [{ path: 'where.filter', message: /open/ }] },
  })
})

t.test('indexes have a number for each datatype with an order, and keep it', (t) => {
  for (const datatype of orderedDatatypes.keys()) t.ok(knownNumber(datatype) >= 0, datatype)
  // Stored ones have these places.
  t.equal(knownNumber(`${xsd}boolean`), 0)
  t.equal(knownNumber(`${xsd}unsignedByte`), 37)
  t.equal(knownNumber('http://www.opengis.net/ont/geosparql#wktLiteral'), 41)
  t.equal(new Set(knownDatatypes).size, knownDatatypes.length)
  t.end()
})

t.test('others get their turn while graphs have nothing of what a filter finds', async (t) => {
  const numbers = Array.from({ length: 50 }, (_, n) => ({
    ...{ s: entity(`urn:s${n}`), p: entity('urn:q'), o: typed(`${n}`, 'integer') },
    g: 'urn:g0',
  }))
  const texts = Array.from({ length: 400 }, (_, n) => ({
    ...{ s: entity(`urn:s${n}`), p: entity('urn:p'), o: literal(`text ${n}`) },
    g: `urn:g${n % 20}`,
  }))
  const graph = await opened(t, [[...numbers, ...texts]], true)
  const g = Array.from({ length: 20 }, (_, n) => `urn:g${n}`)
  const pattern = { p: entity('urn:p'), filter: { gte: 0 } }
  for (const [graphs, least] of [
    ['urn:g0', 50],
    [g, 50 * 20],
  ] as const) {
    let turns = 0
    let isOver = false
    const counting = (async () => {
      for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
    })()
    t.equal(await graph.count({ ...pattern, g: graphs }), 0)
    isOver = true
    await counting
    t.ok(turns >= least, `${turns} turns`)
  }
  patience.rows = usual
})

t.test('others get their turn while nothing is found, and the signal is heard', async (t) => {
  const p = entity('urn:p')
  const many = (text: (n: number) => Term, g?: (n: number) => string) =>
    Array.from({ length: 60_000 }, (_, n) => ({
      s: entity(`urn:s${n}`),
      p,
      o: text(n),
      ...(g && { g: g(n) }),
    }))
  const plain = await opened(t, [many((n) => literal(`text ${n}`))])
  const exact = await opened(t, [many((n) => typed(`1.${'0'.repeat(18)}${n + 1}`, 'decimal'))])
  const others = many((n) => literal(`other ${n}`)).map((each) => ({ ...each, p: entity('urn:q') }))
  const graphs = await opened(t, [
    [
      ...many(
        (n) => literal(`${n}`),
        () => 'urn:g',
      ),
      ...others,
    ],
  ])
  const twice = await opened(t, [many((n) => literal(`${n}`)), many((n) => literal(`${n}`))])
  const questions: Readonly<Record<string, readonly [Graph, TriplePattern, number]>> = {
    'a text': [plain, { p, filter: { gt: 'text 99999' } }, 0],
    'digits at the bound': [exact, { filter: { gt: 0.5, lt: 1n } }, 0],
    'the default graph': [graphs, { p, g: null }, 0],
    'what another core has said': [twice, {}, 60_000],
  }
  for (const [name, [graph, pattern, expected]] of Object.entries(questions)) {
    t.equal(await graph.count(pattern), expected, name)
    let turns = 0
    let isOver = false
    const counted = async () => {
      for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
    }
    const counting = counted()
    let found = 0
    for await (const _ of graph.match(pattern)) found++
    isOver = true
    await counting
    t.equal(found, expected, name)
    t.ok(turns >= 4, `${name}: ${turns} turns`)
  }
  const controller = new AbortController()
  const asked = plain.count({ p, filter: { gt: 'text 99999' } }, { signal: controller.signal })
  setImmediate(() => controller.abort(new Error('enough')))
  await t.rejects(asked, { message: 'enough' })
})
