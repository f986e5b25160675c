import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Parser } from 'n3'
import * as oxigraph from 'oxigraph'
import type { Term as RdfTerm } from '@rdfjs/types'
import t from 'tap'
import type { Test as Tap } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createSparql } from '../../src/sparql/index.js'
import type { SparqlResult } from '../../src/sparql/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { mediatorOf } from '../../src/sparql/mediator.js'
import { isPeerInstalled, loadPeer, peerLoader } from '../../src/sparql/peer.js'
import { SparqlQuestion } from '../../src/sparql/question.js'
import type { Triple } from '../../src/types.js'
import { arrayGraph, versioned } from '../graph/array-graph.js'
import { all, quadIn, statement, written, writtenByOracle } from './oracle.js'
import { people, prefixes, queries } from './people.js'

const sparql = createSparql()

const keep = await createLorekeep({ backend: new MemoryBackend() })
t.teardown(() => keep.close())
for (const [i, triples] of [people.slice(0, 18), people.slice(15)].entries()) {
  const m = { i: `core-${i}`, m: [], u: 'alice', c: 'default' }
  await keep.knowledge.write({ user: 'alice', id: m.i }, [['t', { m, t: triples }]])
}
const graph = keep.knowledge.graph({ user: 'alice' })

type Row = Readonly<Record<string, RdfTerm>>

t.test('every form of query answers as oxigraph does over the same triples', async (t) => {
  const store = new oxigraph.Store(people.map(quadIn) as never)
  for (const [name, text] of Object.entries(queries)) {
    const ours = await written(await sparql.query(graph, prefixes + text))
    const theirs = writtenByOracle(store.query(prefixes + text))
    const isOrdered = text.includes('ORDER BY')
    t.equal(ours.length === 0, empty.has(name), `${name}: ${ours.length}`)
    t.strictSame(isOrdered ? ours : ours.sort(), isOrdered ? theirs : theirs.sort(), name)
  }
})

t.test('rows have the variables of the SELECT in its order, and no unbound ones', async (t) => {
  const text = `${prefixes} SELECT ?nick ?name (1 AS ?one) { :carol foaf:name ?name OPTIONAL { :carol foaf:nick ?nick } } LIMIT 5`
  const result = await sparql.query(graph, text)
  if (result.type !== 'bindings') throw new Error(result.type)
  t.strictSame(result.variables, ['nick', 'name', 'one'])
  const [row] = await all(result.bindings)
  t.strictSame(Object.keys(row as Row).sort(), ['name', 'one'])
})

t.test(
  'a variable that the engine would take for a property of an object is refused',
  async (t) => {
    const forms = [
      'SELECT ?V { ?s ?p ?V OPTIONAL { ?s ?q ?V } }',
      'SELECT * { VALUES ?V { 1 } }',
      'SELECT ($V AS ?x) {}',
      'SELECT (COUNT(*) AS ?V) { ?s ?p ?o MINUS { ?a ?b ?V } } GROUP BY ?V',
      'CONSTRUCT { ?V ?V ?V } { ?V <urn:p>* ?o }',
      'DESCRIBE ?V { ?s ?p ?V }',
      'ASK { <<( ?s ?p ?V )>> ?q ?o }',
      'SELECT * { ?s ?p ?\\u0056 }',
    ]
    for (const [name, escaped] of [
      ['__proto__', '\\u005f_proto__'],
      ['constructor', '\\u0063onstructor'],
    ]) {
      for (const form of forms) {
        const text = form.replaceAll('\\u0056', String(escaped)).replaceAll('V', String(name))
        await t.rejects(sparql.query(graph, text), { code: 'LK_GRAPH_QUERY' }, text)
      }
    }
    const inherited: string[] = []
    for (const key in {}) inherited.push(key)
    t.strictSame(inherited, [])
  },
)

t.test('a query that cannot be run is refused, with its line where that is known', async (t) => {
  const refused: Readonly<Record<string, number | undefined>> = {
    'SELECT * {?s ?p ?o\n FOO': 2,
    'SELECT * {\n ?s ?p ?o\n } LIMIT -1': 3,
    'SELECT * { ?s nowhere:p ?o }': undefined,
    'SELECT * { ?s <relative> ?o }': undefined,
    'SELECT ?x ?x { ?x ?y ?z }': undefined,
    '': undefined,
    'INSERT DATA { <urn:a> <urn:b> <urn:c> }': undefined,
    'DELETE WHERE { ?s ?p ?o }': undefined,
    'CLEAR ALL': undefined,
    'LOAD <http://127.0.0.1:1/>': undefined,
    'SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }': undefined,
    'SELECT * { { SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE SILENT ?s { ?s ?p ?o } } } } }':
      undefined,
    'SELECT * { ?s ?p ?o FILTER regex(?o, "(a)\\\\1") }': undefined,
    'SELECT * { ?s ?p ?o FILTER regex(?o, "a(?=b)", "i") }': undefined,
    'SELECT (REPLACE(?o, "[a-z-[aeiou]]", "") AS ?x) { ?s ?p ?o }': undefined,
    'SELECT * { ?s ?p ?o FILTER regex(?o, "a{1001}") }': undefined,
    'SELECT * { ?s ?p ?o FILTER regex(?o, "[\\\\w-[\\\\d]]") }': undefined,
    'SELECT * { ?s ?p ?o FILTER regex(?o, "[a-\\\\s]") }': undefined,
    'SELECT (<http://www.w3.org/2001/XMLSchema#integer>(?o, 1) AS ?x) { ?s ?p ?o }': undefined,
    'SELECT * { ?s ?p ?o FILTER <urn:no-such-function>(?o) }': undefined,
    [`SELECT * ${'{'.repeat(5000)} ?s ?p ?o ${'}'.repeat(5000)}`]: undefined,
  }
  for (const [text, line] of Object.entries(refused)) {
    const name = JSON.stringify(text).slice(0, 60)
    const error = await sparql.query(graph, text).then(drained, (reason: unknown) => reason)
    const errors = [{ path: '', message: /./ }]
    const details = { errors, ...(line && { line }) }
    t.match(error, { code: 'LK_GRAPH_QUERY', details }, name)
  }
})

t.test('what the engine cannot hold is the fault of the query', async (t) => {
  const question = new SparqlQuestion(undefined, () => undefined)
  const tooLong = question.answer(() => Promise.reject(new RangeError('Invalid string length')))
  await t.rejects(tooLong, { code: 'LK_GRAPH_QUERY' })
})

async function drained(result: SparqlResult): Promise<unknown> {
  return written(result).catch((reason: unknown) => reason)
}

t.test('without named graphs GRAPH finds nothing', async (t) => {
  const none: Readonly<Record<string, readonly string[]>> = {
    'SELECT * { GRAPH ?g {} }': [],
    'SELECT * { GRAPH <urn:unknown> {} }': [],
    'ASK { GRAPH ?g {} }': ['false'],
    'SELECT * { GRAPH ?g { BIND (1 AS ?x) } }': [],
    'SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }': [],
    'SELECT * { ?s ?p ?o . GRAPH ?g {} }': [],
    'SELECT ?g { VALUES ?g { 1 } OPTIONAL { GRAPH ?g {} } }': ['g=[1,"integer",""]'],
    'SELECT ?g { VALUES ?g { 1 } MINUS { GRAPH ?g {} } }': ['g=[1,"integer",""]'],
    'SELECT ?x { VALUES ?x { 1 } FILTER NOT EXISTS { GRAPH ?g {} } }': ['x=[1,"integer",""]'],
    'SELECT ?x { { GRAPH ?g {} } UNION { VALUES ?x { 1 } } }': ['x=[1,"integer",""]'],
  }
  for (const [text, rows] of Object.entries(none)) {
    t.strictSame(await written(await sparql.query(graph, text)), rows, text)
  }
  await t.rejects(sparql.query(graph, 'ASK { GRAPH ?g { SERVICE <urn:x> {} } }'), {
    code: 'LK_GRAPH_QUERY',
  })
})

t.test('relative IRIs are relative to the base given, and to BASE before it', async (t) => {
  const text = 'SELECT (IRI("x") AS ?x) { <alice> ?p ?o } LIMIT 1'
  const options = { baseIRI: 'http://example.org/' }
  t.strictSame(await written(await sparql.query(graph, text, options)), [
    'x=<http://example.org/x>',
  ])
  const other = `BASE <http://example.org/> ${text}`
  t.strictSame(await written(await sparql.query(graph, other, { baseIRI: 'http://a.org' })), [
    'x=<http://example.org/x>',
  ])
})

t.test('a pattern that would keep a backtracking engine busy is answered at once', async (t) => {
  const text = `SELECT * { VALUES ?v { "${'a'.repeat(60)}!" "aa" } FILTER regex(?v, "^(a+)+$") }`
  t.strictSame(await written(await sparql.query(graph, text)), ['v=["aa","string",""]'])
  const computed = text.replace('"^(a+)+$"', 'REPLACE("^(a+)x$", "x", "+")')
  t.strictSame(await written(await sparql.query(graph, computed)), ['v=["aa","string",""]'])
})

t.test('a pattern of the query has 1,000 characters at most', async (t) => {
  const ask = (pattern: string, flags = '') =>
    sparql.query(graph, `ASK { FILTER (REGEX("a", "${pattern}", "${flags}")) }`)
  t.strictSame(await written(await ask('a|'.repeat(500))), ['true'])
  await t.rejects(ask('a'.repeat(1001)), { code: 'LK_GRAPH_QUERY' })
  await t.rejects(ask('a'.repeat(1001), 'q'), { code: 'LK_GRAPH_QUERY' })
  await t.rejects(ask('['.repeat(300_000)), { code: 'LK_GRAPH_QUERY' })
  await t.rejects(ask('.{1000}'.repeat(4)), { code: 'LK_GRAPH_QUERY', message: /3000/ })
})

// A hundred million rows of no source: what keeps the engine busy is all its own.
const numbers = Array.from({ length: 100 }, (_, i) => i).join(' ')
const tables = ['a', 'b', 'c', 'd'].map((name) => `VALUES ?${name} { ${numbers} }`).join(' ')
const product = `SELECT (COUNT(*) AS ?n) { ${tables} }`

t.test(
  'an aborted question rejects with the reason, and the engine does nothing more',
  async (t) => {
    const endless = [
      product,
      `SELECT DISTINCT ?a { ${tables} }`,
      `SELECT * { ${tables} } ORDER BY ?d`,
      `ASK { ${tables} FILTER (?a + ?d < 0) }`,
    ]
    const tasks = countTasks(t)
    for (const text of endless) {
      const controller = new AbortController()
      const reason = new Error('enough')
      const answer = sparql.query(graph, text, { signal: controller.signal }).then(written)
      const ended = t.rejects(answer, reason)
      const before = tasks.count
      while (tasks.count < before + 1000) await turn()
      controller.abort(reason)
      await ended
      await t.resolves(quiet(tasks), text.slice(0, 20))
    }
    const aborted = AbortSignal.abort(new Error('before'))
    await t.rejects(sparql.query(graph, 'ASK {}', { signal: aborted }), { message: 'before' })
  },
)

t.test('leaving the rows ends the question, whether they were begun or not', async (t) => {
  const tasks = countTasks(t)
  for (const begun of [true, false]) {
    const source = arrayGraph([...people])
    const asked = versioned(source)
    const result = await sparql.query(asked, `SELECT * { ?s ?p ?o ${tables} }`)
    if (result.type !== 'bindings') throw new Error(result.type)
    const rows = result.bindings[Symbol.asyncIterator]()
    if (begun) await rows.next()
    await rows.return?.()
    await t.resolves(quiet(tasks, source))
    t.equal(asked.held, 0)
    t.strictSame(await rows.next(), { done: true, value: undefined })
  }
})

t.test('an error of the graph is the error of the question, whatever its form', async (t) => {
  const failing = [
    'a join',
    'optional',
    'two optionals',
    'union',
    'minus',
    'exists',
    'not exists',
    'count',
    'groups and having',
    'a slice of an order',
    'a sub-query',
    'a path of any length',
    'a path between variables',
    'distinct',
    'construct',
    'describe',
    'ask, false',
  ]
  for (const name of failing) {
    const text = prefixes + queries[name]
    const cursor = arrayGraph([...people])
    cursor.failure = { error: new Error('a block is damaged'), afterTriples: 0 }
    const asked = versioned(cursor)
    await t.rejects(sparql.query(asked, text).then(written), cursor.failure.error, name)
    await t.resolves(quiet({ count: 0 }, cursor))
    t.equal(asked.held, 0, name)
    const error = new Error('no such core')
    const counting = { ...arrayGraph([...people]), count: () => Promise.reject(error) }
    await t.rejects(
      sparql.query(versioned(counting), text).then(written),
      error,
      `${name}, counting`,
    )
  }
})

t.test('questions at once do not disturb each other, also where others end early', async (t) => {
  const names = ['a join of three', 'optional', 'a path between variables', 'count', 'construct']
  const expected = new Map<string, string[]>()
  for (const name of names) {
    expected.set(name, (await written(await sparql.query(graph, prefixes + queries[name]))).sort())
  }
  const controller = new AbortController()
  const { signal } = controller
  const others = Array.from({ length: 5 }, () =>
    t.rejects(sparql.query(graph, product, { signal }).then(written), { message: 'enough' }),
  )
  const answers = Array.from({ length: 30 }, async (_, i) => {
    const name = names[i % names.length] as string
    if (i === 12) controller.abort(new Error('enough'))
    const result = await sparql.query(graph, prefixes + queries[name])
    t.strictSame((await written(result)).sort(), expected.get(name), name)
  })
  await Promise.all([...others, ...answers])
})

t.test('SPARQL results are written as JSON', async (t) => {
  const text = `SELECT * { VALUES (?a ?b ?c) { (<http://e.org/é> "a \\"b\\"\\n" "hej"@sv) (UNDEF 1.5 true) } }`
  const { contentType, body } = await answered(text, 'application/sparql-results+json')
  t.equal(contentType, 'application/sparql-results+json')
  const { head, results } = JSON.parse(body) as { head: { vars: string[] }; results: object }
  t.strictSame(head.vars.sort(), ['a', 'b', 'c'])
  const xsd = 'http://www.w3.org/2001/XMLSchema#'
  t.strictSame(results, {
    bindings: [
      {
        a: { type: 'uri', value: 'http://e.org/é' },
        b: { type: 'literal', value: 'a "b"\n' },
        c: { type: 'literal', value: 'hej', 'xml:lang': 'sv' },
      },
      {
        b: { type: 'literal', value: '1.5', datatype: `${xsd}decimal` },
        c: { type: 'literal', value: 'true', datatype: `${xsd}boolean` },
      },
    ],
  })
  t.strictSame(JSON.parse((await answered('ASK {}', 'application/json')).body), {
    head: {},
    boolean: true,
  })
  t.strictSame(JSON.parse((await answered('SELECT ?x { ?x <urn:none> ?y }', '*/*')).body), {
    head: { vars: ['x'] },
    results: { bindings: [] },
  })
  const nodes = JSON.parse(
    (await answered(`${prefixes} SELECT ?n (TRIPLE(?n, :p, "o") AS ?t) { ?n :note ?x }`)).body,
  ) as { results: { bindings: Record<string, { type: string; value: unknown }>[] } }
  t.match(nodes.results.bindings[0], {
    n: { type: 'bnode', value: String },
    t: { type: 'triple', value: { object: { type: 'literal', value: 'o' } } },
  })
})

t.test('SPARQL results are written as CSV and TSV', async (t) => {
  const text = `SELECT ?x ?y { VALUES (?x ?y) { (<http://e.org/a> "a, \\"b\\"\\tc\\n") (UNDEF "hej"@sv) (1 UNDEF) ("\\\\" "") } }`
  const csv = await answered(text, 'text/csv')
  t.equal(csv.contentType, 'text/csv; charset=utf-8')
  t.equal(csv.body, 'x,y\r\nhttp://e.org/a,"a, ""b""\tc\n"\r\n,hej\r\n1,\r\n\\,\r\n')
  const tsv = await answered(text, 'text/tab-separated-values')
  t.equal(tsv.contentType, 'text/tab-separated-values; charset=utf-8')
  t.equal(
    tsv.body,
    '?x\t?y\n<http://e.org/a>\t"a, \\"b\\"\\tc\\n"\n\t"hej"@sv\n"1"^^<http://www.w3.org/2001/XMLSchema#integer>\t\n"\\\\"\t""\n',
  )
})

t.test('graphs are written as N-Triples, which a Turtle parser reads back', async (t) => {
  const expected = people.map(quadIn).map(statement).sort()
  for (const mediaType of ['application/n-triples', 'text/turtle']) {
    const { contentType, body } = await answered('CONSTRUCT WHERE { ?s ?p ?o }', mediaType)
    t.ok(contentType.startsWith(mediaType))
    t.strictSame(new Parser({ format: mediaType }).parse(body).map(statement).sort(), expected)
  }
  const text = 'CONSTRUCT { <urn:a> <urn:b> ?iri } { BIND (IRI("urn:a> <urn:b") AS ?iri) }'
  t.equal((await answered(text)).body, '')
})

t.test('a CONSTRUCT has no triples that RDF does not have', async (t) => {
  const text = `${prefixes} CONSTRUCT { ?x :p ?x . :s ?x :o . :s :p ?x } {
    VALUES ?x { :a "b" 1 } }`
  t.strictSame(
    (await written(await sparql.query(graph, text))).sort(),
    [
      '<http://example.org/a> <http://example.org/p> <http://example.org/a>',
      '<http://example.org/s> <http://example.org/a> <http://example.org/o>',
      '<http://example.org/s> <http://example.org/p> <http://example.org/a>',
      '<http://example.org/s> <http://example.org/p> ["b","string",""]',
      '<http://example.org/s> <http://example.org/p> [1,"integer",""]',
    ].sort(),
  )
  const { body } = await answered(`CONSTRUCT { ?x ?x ?x } { VALUES ?x { "b" } }`)
  t.equal(body, '')
})

t.test('the format is the one that the client likes best', async (t) => {
  const json = 'application/sparql-results+json'
  const table: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, json],
    ['', json],
    ['*/*', json],
    ['text/html, */*;q=0.1', json],
    ['text/*', 'text/csv; charset=utf-8'],
    ['text/csv;q=0.5, text/tab-separated-values', 'text/tab-separated-values; charset=utf-8'],
    ['application/json', 'application/json'],
    [
      'application/*;q=0.3, APPLICATION/SPARQL-RESULTS+JSON;q=0, text/csv;q=0.2',
      'application/json',
    ],
    ['application/sparql-results+json;charset=utf-8;q=0.9, text/csv;q=0.8', json],
    ['text/html', undefined],
    ['text/csv;q=0', undefined],
  ]
  for (const [accept, expected] of table) {
    const answer = await sparql.execute(graph, 'SELECT * {}', { accept })
    if (answer.type === 'answer') await all(answer.body)
    t.equal(answer.type === 'answer' ? answer.contentType : undefined, expected, String(accept))
  }
  t.strictSame(await sparql.execute(graph, 'ASK {}', { accept: 'text/csv' }), {
    type: 'not-acceptable',
    offered: [json, 'application/json'],
  })
})

t.test('a long answer comes in chunks, and leaving it early closes every cursor', async (t) => {
  const source = arrayGraph([...people])
  const text = 'SELECT * { ?a ?b ?c . ?d ?e ?f }'
  const answer = await sparql.execute(versioned(source), text, { accept: 'text/csv' })
  if (answer.type !== 'answer') throw new Error(answer.type)
  const chunks = await all(answer.body)
  t.ok(chunks.length > 5 && chunks.every(({ length }) => length < 20_000))
  t.equal(Buffer.concat(chunks).toString().split('\r\n').length, people.length ** 2 + 2)
  const tasks = countTasks(t)
  const left = await sparql.execute(versioned(source), `${text} ORDER BY ?z`, {})
  if (left.type !== 'answer') throw new Error(left.type)
  await left.body[Symbol.asyncIterator]().return?.()
  await t.resolves(quiet(tasks, source))
})

t.test(
  'an error before much was answered refuses the answer, a later one breaks it off',
  async (t) => {
    const source = arrayGraph([...people])
    source.failure = { error: new Error('a block is damaged'), afterTriples: 5 }
    await t.rejects(
      sparql.execute(versioned(source), 'SELECT * { ?s ?p ?o }'),
      source.failure.error,
    )
    const long = Array.from({ length: 2000 }, (_, i) => ({
      ...(people[0] as Triple),
      o: { v: `${i}${'x'.repeat(2000)}`, e: false },
    }))
    const later = arrayGraph(long)
    later.failure = { error: new Error('a block is damaged'), afterTriples: 1500 }
    const answer = await sparql.execute(versioned(later), 'SELECT * { ?s ?p ?o }')
    if (answer.type !== 'answer') throw new Error(answer.type)
    await t.rejects(all(answer.body), later.failure.error)
  },
)

t.test('an engine that is installed later is seen', async (t) => {
  // Not in this repository, where it is.
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-engine-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const require = createRequire(join(folder, 'program.js'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  t.equal(isPeerInstalled(require), false)
  const place = join(modules, '@comunica/query-sparql-rdfjs-lite')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{"main":"engine.js"}')
  writeFileSync(join(place, 'engine.js'), '')
  t.equal(isPeerInstalled(require), true)
})

t.test('where the engine is not installed, the error names the package', async (t) => {
  const missing = Object.assign(new Error('no package'), { code: 'ERR_MODULE_NOT_FOUND' })
  const load = peerLoader(() => Promise.reject(missing))
  await t.rejects(load(), {
    code: 'LK_PEER_MISSING',
    details: { package: '@comunica/query-sparql-rdfjs-lite' },
  })
  // One that is there and does not load, bundled for one, is another fault.
  const broken = new Error('Dynamic require of "x" is not supported')
  await t.rejects(peerLoader(() => Promise.reject(broken))(), broken)
})

async function answered(
  text: string,
  accept?: string,
): Promise<{ contentType: string; body: string }> {
  const answer = await sparql.execute(graph, text, { accept })
  if (answer.type !== 'answer') throw new Error(answer.type)
  const chunks = await all(answer.body)
  return { contentType: answer.contentType, body: Buffer.concat(chunks).toString() }
}

interface Iterators {
  getTaskScheduler(): (task: () => void) => void
  setTaskScheduler(schedule: (task: () => void) => void): void
}

/** What the engine's iterators want to do, counted. */
function countTasks(t: Tap): { count: number } {
  const iterators = createRequire(import.meta.url)('asynciterator') as Iterators
  const tasks = { count: 0 }
  const schedule = iterators.getTaskScheduler()
  iterators.setTaskScheduler((task) => {
    tasks.count++
    schedule(task)
  })
  t.teardown(() => iterators.setTaskScheduler(schedule))
  return tasks
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Once the engine has done nothing for a while, and no cursor is open. */
async function quiet(
  tasks: { readonly count: number },
  source?: ReturnType<typeof arrayGraph>,
): Promise<void> {
  let [seen, since] = [tasks.count, 0]
  for (let i = 0; i < 1000; i++) {
    await turn()
    const isQuiet = tasks.count === seen && (source?.reads.open ?? 0) === 0
    since = isQuiet ? since + 1 : 0
    if (since === 50) return
    seen = tasks.count
  }
  throw new Error('it goes on')
}

const empty = new Set(['a literal of another kind', 'a named graph'])

t.test('there may be so many graphs that are asked one by one', async (t) => {
  const version = (count: number) => ({
    snapshot: async () => ({
      async *match() {},
      count: async () => 0,
      async *graphs() {
        for (let n = 0; n < count; n++) yield `urn:g${n}`
      },
      close() {},
    }),
  })
  const alone = 'SELECT (COUNT(*) AS ?n) { GRAPH ?g {} }'
  t.strictSame(await written(await sparql.query(version(5000), alone)), ['n=[5000,"integer",""]'])
  const minus = 'SELECT * { GRAPH ?g { ?s ?p ?o MINUS { ?s ?p 1 } } }'
  t.strictSame(await written(await sparql.query(version(20), minus)), [])
  const threads = createSparql({ threads: 1 })
  for (const [count, query] of [
    [100_001, alone],
    [1001, minus],
  ] as const) {
    const code = 'LK_QUERY_BUDGET'
    await t.rejects(sparql.query(version(count), query), { code })
    await t.rejects(threads.execute(version(count), query), { code })
  }
})

t.test('what the engine throws outside of its promises is an error of the query', async (t) => {
  const { engine } = await loadPeer()
  const comparators = mediatorOf<unknown, { orderTypes(): number }>(
    engine,
    'mediatorTermComparatorFactory',
  )
  const mediate = comparators.mediate.bind(comparators)
  t.teardown(() => (comparators.mediate = mediate))
  comparators.mediate = async (action) => {
    const made = await mediate(action)
    made.orderTypes = () => {
      throw new Error('no order')
    }
    return made
  }
  const many = Array.from({ length: 100 }, (_, i) => i).join(' ')
  const groups = ['VALUES ?x { 1 2 }', `VALUES ?y { ${many} } BIND (?y AS ?x)`, '?s ?p ?x']
  for (const group of groups) {
    const sorted = `SELECT ?x { ${group} } ORDER BY`
    for (const query of [
      `${sorted} ?x`,
      `SELECT * { { ${sorted} DESC(?x) LIMIT 2 } FILTER (isLITERAL(?x)) }`,
      `SELECT (COUNT(*) AS ?n) { { ${sorted} ?x LIMIT 2 } ?s ?p ?x }`,
    ]) {
      const rows = async () => written(await sparql.query(graph, query))
      await t.rejects(rows, { code: 'LK_GRAPH_QUERY' }, query)
    }
  }
})
