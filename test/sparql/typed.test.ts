// Numbers, dates and languages of a stored core, asked as oxigraph asks the same text. It has languages
// in small letters, and numbers in their shortest form.

import type { Term as RdfTerm } from '@rdfjs/types'
import * as oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { Graph } from '../../src/graph/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { parseRdf, termOf } from '../../src/rdf/index.js'
import { createSparql } from '../../src/sparql/index.js'
import type { Triple } from '../../src/types.js'
import { messageOf } from '../graph/asked.js'
import { all, iri, ours, short, theirs, type Asked } from './oracle.js'

t.setTimeout(120_000)

const turtle = `
@prefix : <urn:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :age 9 ; :name "Anna"@en, "Anne"@fr, "Änne"@de-at ; :born "1990-05-01"^^xsd:date ; :height 1.7 ; :is true .
:b :age 10 ; :name "Bert", "Bert"@en ; :born "1890-12-31"^^xsd:date ; :height 1.85e0 ; :is false .
:c :age 100 ; :name "Carl"@de ; :born "2001-01-01"^^xsd:date ; :height "1.6"^^xsd:float ; :is "true" .
:d :age "unknown" ; :name "Dora"@en-gb ; :seen "2020-02-29T12:00:00Z"^^xsd:dateTime ; :height "tall"@en .
:e :age 12 ; :seen "2019-02-28T12:00:00+02:00"^^xsd:dateTime ; :code "9" .
`

const queries = [
  'SELECT (SUM(?v) AS ?sum) (MAX(?v) AS ?max) (MIN(?v) AS ?min) (AVG(?v) AS ?avg) { ?s :age ?v FILTER (isNumeric(?v)) }',
  'SELECT ?s { ?s :age ?v FILTER (?v > 9) }',
  'SELECT ?s { ?s :age ?v FILTER (?v = 9) }',
  'SELECT ?s { ?s :age 9 }',
  'SELECT ?s { ?s :code "9" }',
  'SELECT ?s { ?s :code 9 }',
  'SELECT ?s (?v * 2 + 1 AS ?w) { ?s :age ?v }',
  'SELECT ?s ?w { ?s :age ?v ; :height ?h BIND (?v / ?h AS ?w) FILTER (?h < 1.8) }',
  'SELECT ?s (DATATYPE(?h) AS ?d) (LANG(?h) AS ?l) { ?s :height ?h }',
  'SELECT ?s ?n { ?s :name ?n FILTER (LANG(?n) = "en") }',
  'SELECT ?s ?n { ?s :name ?n FILTER langMatches(LANG(?n), "de") }',
  'SELECT ?s ?n { ?s :name ?n FILTER langMatches(LANG(?n), "*") }',
  'SELECT ?s { ?s :name "Anna"@en }',
  'SELECT ?s { ?s :name "Bert" }',
  'SELECT ?s { ?s :name "Carl"@fr }',
  'SELECT ?s (STR(?n) AS ?x) { ?s :name ?n FILTER (STRLEN(?n) = 4 && STRSTARTS(?n, "A")) }',
  'SELECT ?s { ?s :born ?d FILTER (?d < "1990-06-01"^^xsd:date) }',
  'SELECT ?s { ?s :seen ?d FILTER (?d > "2019-12-31T00:00:00Z"^^xsd:dateTime) }',
  'SELECT ?s (YEAR(?d) AS ?y) { ?s :seen ?d }',
  'SELECT ?s { ?s :is true }',
  'SELECT ?s { ?s :is ?b FILTER (?b) }',
  'SELECT ?s ?t { ?s :age ?v . ?t :age ?w FILTER (?v < ?w) }',
  'SELECT (COUNT(*) AS ?n) ?l { ?s :name ?x BIND (LANG(?x) AS ?l) } GROUP BY ?l',
  'SELECT ?s (CONCAT(?n, "!") AS ?x) (UCASE(?n) AS ?u) { ?s :name ?n }',
  'SELECT ?s (xsd:decimal(?v) AS ?w) { ?s :age ?v }',
  'CONSTRUCT { ?s :older ?w } WHERE { ?s :age ?v BIND (?v + 1 AS ?w) }',
  'ASK { :a :age 9 ; :height 1.7 }',
]

async function open(t: Test): Promise<Asked> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const messages = parseRdf(Buffer.from(turtle), { format: 'turtle' })
  await keep.knowledge.write({ user: 'u', id: 'c' }, messages)
  const store = new oxigraph.Store()
  store.load(turtle, { format: 'text/turtle' })
  return { graph: keep.knowledge.graph({ user: 'u' }), store }
}

t.test('typed terms are asked by their values', async (t) => {
  const asked = await open(t)
  for (const query of queries) {
    const expected = theirs(asked, query)
    t.strictSame(await ours(asked, query), expected, query)
  }
})

t.test('in threads terms have what they have', async (t) => {
  const { graph } = await open(t)
  const engine = createSparql({ threads: 1 })
  const read = async (query: string) => {
    const answer = await engine.execute(graph, query, { accept: 'text/tab-separated-values' })
    if (answer.type !== 'answer') throw new Error(answer.type)
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return Buffer.concat(chunks).toString().split('\n').slice(1, -1).sort()
  }
  t.match(await read('SELECT (SUM(?v) + 1 AS ?n) { ?s <urn:age> ?v FILTER (isNumeric(?v)) }'), [
    /^"132"/,
  ])
  const names = 'SELECT ?n { ?s <urn:name> ?n FILTER langMatches(LANG(?n), "de") }'
  t.strictSame(await read(names), ['"Carl"@de', '"Änne"@de-at'])
  t.strictSame(await read('SELECT ?n { <urn:b> <urn:name> ?n }'), ['"Bert"', '"Bert"@en'])
  t.strictSame(await read('SELECT ?s { ?s <urn:age> 10 }'), ['<urn:b>'])
})

const trig = `
@prefix : <urn:> .
:a :knows :b . :b :name "Bert" .
:g1 { :a :knows :b, :c . :c :name "Carl" }
:g2 { :a :knows :c . :c :name "Carla" . :g1 :from :b }
`

const graphQueries = [
  'SELECT * { ?s ?p ?o }',
  'SELECT * { GRAPH ?g { ?s ?p ?o } }',
  'SELECT * { GRAPH :g1 { ?s ?p ?o } }',
  'SELECT * { GRAPH :none { ?s ?p ?o } }',
  'SELECT * { ?s :knows ?o GRAPH ?g { ?s :knows ?o } }',
  'SELECT * { ?s :knows ?o GRAPH ?g { ?o :name ?n } }',
  'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g',
  'SELECT * { GRAPH ?g { ?s :name ?n } GRAPH :g2 { ?g :from ?w } }',
  'SELECT DISTINCT ?g { GRAPH ?g { ?s :knows ?o FILTER NOT EXISTS { ?o :name "Carl" } } }',
  'ASK { GRAPH :g2 { :a :knows :b } }',
  'ASK { GRAPH :none {} }',
  'ASK { GRAPH <urn:lorekeep:entity:%3Fx> {} }',
  'ASK { GRAPH <urn:lorekeep:literal:urn%3Ag1> {} }',
  'SELECT * FROM <urn:lorekeep:literal:urn%3Ag1> { ?s ?p ?o }',
  'CONSTRUCT { ?s :said ?g } WHERE { GRAPH ?g { ?s :name ?n } }',
  'SELECT * { GRAPH ?g {} }',
  'SELECT * { GRAPH ?g { BIND (1 AS ?x) } }',
  'SELECT * { GRAPH ?g { VALUES ?g { :g1 } } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o MINUS { ?o :name "Carl" } } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o } MINUS { GRAPH ?g { ?o :name "Carl" } } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o OPTIONAL { ?o :name ?n } } }',
  'SELECT * { GRAPH ?g { OPTIONAL { :g1 :from ?n } } }',
  'SELECT * { GRAPH ?g { { ?s :from ?o } UNION { ?s :name ?o } } }',
  'SELECT * { GRAPH ?g { { ?s :from ?o } UNION {} } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o FILTER EXISTS { ?o :name ?n } } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o FILTER NOT EXISTS { ?o :name ?n OPTIONAL { ?o :from ?w } } } }',
  'SELECT * { GRAPH ?g { ?s :knows/:name ?n } }',
  'SELECT * { GRAPH ?g { ?s :knows|:name ?n } }',
  'SELECT * { GRAPH ?g { ?s ^:knows ?n } }',
  'SELECT * { GRAPH ?g { ?s !:knows ?n } }',
  'SELECT * { GRAPH ?g { ?s (:knows|:name)+ ?n } }',
  'SELECT * { GRAPH ?g { ?s (:knows|:name)* ?n } }',
  'SELECT * { GRAPH ?g { :a (:knows|:name)* ?n } }',
  'SELECT * { GRAPH ?g { :a :knows? ?n } }',
  'SELECT * { GRAPH :g1 { ?s :knows* ?n } }',
  'SELECT * { GRAPH ?g { :a :knows+ ?x } }',
  'SELECT * { GRAPH ?g { ?x :knows+ :c } }',
  'SELECT * { GRAPH ?g { :c :knows+ :c } }',
  'SELECT * { GRAPH ?g { ?x :knows+ ?y FILTER (?x = :a) } }',
  'SELECT * { GRAPH ?g { ?x (:knows|:name)+ ?y } FILTER (?y = "Carl") }',
  'SELECT * { GRAPH :g1 { ?x :knows+ ?y FILTER (?y = :c) } }',
  'SELECT * { GRAPH ?g { ?x !:knows ?y FILTER (?x = :c) } }',
  'SELECT * { GRAPH :g2 { ?x :knows/:name ?y FILTER (?x = :a) } }',
  'SELECT * { ?x :knows+ ?x }',
  'SELECT * { GRAPH ?g { ?x :knows+ ?x } }',
  'SELECT * { ?x :knows ?y MINUS { ?x :knows* ?x } }',
  'SELECT * { GRAPH ?g { ?s :knows ?o GRAPH ?h { ?o :name ?n } } }',
  'SELECT * { GRAPH ?g { ?g :from ?o } }',
  'SELECT * { VALUES ?g { :g2 :g3 } GRAPH ?g { ?s :name ?o } }',
  'SELECT * { OPTIONAL { GRAPH ?g { ?s :from ?o } } ?s2 :name ?n }',
  'SELECT * { ?s :knows ?o FILTER EXISTS { GRAPH ?g { ?s :knows ?o ; :knows ?x FILTER (?x != ?o) } } }',
  'SELECT * { GRAPH ?g { ?s :name ?n BIND (STRLEN(?n) AS ?l) } FILTER (?l > 4) }',
  'SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }',
  'SELECT * { { SELECT ?g { GRAPH ?g { ?s :name "Carl" } } } GRAPH ?g { ?s ?p ?o } }',
  'ASK { GRAPH ?g { :b :name "Bert" } }',
  'DESCRIBE :b',
]

/** By what a query is about: FROM and FROM NAMED. */
const datasets: Readonly<Record<string, readonly string[]>> = {
  'FROM :g1 FROM :g2': ['GRAPH ?g { ?s ?p ?o }', '?s :from ?o'],
  'FROM NAMED :g1 FROM NAMED :g2': ['?s ?p ?o', 'GRAPH ?g { ?s ?p ?o }', 'GRAPH :g2 { ?s ?p ?o }'],
  'FROM NAMED :g1': ['GRAPH :g2 { ?s ?p ?o }', 'GRAPH ?g { ?s :knows* ?o }'],
  'FROM :g2 FROM NAMED :g1': ['?s :name ?n', '?s :knows ?o GRAPH ?g { ?s :knows ?o }'],
  'FROM :none': ['?s ?p ?o', 'GRAPH ?g { ?s ?p ?o }'],
  'FROM :g1 FROM NAMED :g2': ['?s :knows* ?o', 'GRAPH ?g { ?s :knows* ?o }'],
}

/** Rows of section 18.6 of SPARQL 1.1 Query, where oxigraph has others. */
const bySpecification: Readonly<Record<string, readonly string[]>> = {
  'SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s :from ?o } } }': ['g1 0', 'g2 1'],
  'SELECT * { GRAPH ?g { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s } }': [
    'g1 1 c',
    'g1 2 a',
    'g2 1 a',
    'g2 1 c',
    'g2 1 g1',
  ],
  'SELECT * { GRAPH ?g { SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 1 } }': ['g1 b', 'g2 b'],
  'SELECT * { GRAPH ?g { SELECT DISTINCT ?s { ?s ?p ?o } } }': [
    'g1 a',
    'g1 c',
    'g2 a',
    'g2 c',
    'g2 g1',
  ],
  // Nothing in common: nothing is taken away.
  'SELECT * { GRAPH ?g { ?s :knows ?o MINUS { ?x :from ?y } } }': ['g1 b a', 'g1 c a', 'g2 c a'],
  'SELECT * { GRAPH ?g { GRAPH ?h { ?o :from ?n } } }': ['g1 g2 b g1', 'g2 g2 b g1'],
  // A value for ?g that is found within is compared with the graph afterwards.
  'SELECT * { GRAPH ?g { ?s :knows ?o OPTIONAL { ?g :from ?x } } }': ['g1 b a', 'g1 c a'],
  'SELECT * { GRAPH ?g { ?s :knows ?o MINUS { VALUES (?g ?o) { (:g2 :b) } } } }': [
    'g1 c a',
    'g2 c a',
  ],
  // A merge of graphs is a graph: section 13.2.
  'SELECT ?o FROM :g1 FROM :g2 { :a :knows ?o }': ['b', 'c'],
  'SELECT ?n FROM :g1 FROM :g2 { :a :knows/:name ?n }': ['Carl', 'Carla'],
  'SELECT * FROM NAMED :g1 FROM NAMED :g1 { GRAPH ?g { ?s :name ?n } }': ['g1 Carl c'],
  'SELECT * FROM :g1 FROM NAMED :g2 { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }': [
    'g2 3',
  ],
}

t.test('named graphs are asked with GRAPH', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const messages = parseRdf(Buffer.from(trig), { format: 'trig' })
  await keep.knowledge.write({ user: 'u', id: 'c' }, messages)
  const store = new oxigraph.Store()
  store.load(trig, { format: 'application/trig' })
  const asked = { graph: keep.knowledge.graph({ user: 'u' }), store }
  for (const query of graphQueries) {
    t.strictSame(await ours(asked, query), theirs(asked, query), query)
  }
  for (const [from, patterns] of Object.entries(datasets)) {
    for (const pattern of patterns) {
      const query = `SELECT * ${from} { ${pattern} }`
      t.strictSame(await ours(asked, query), theirs(asked, query), query)
    }
  }
  const sparql = createSparql()
  for (const [query, rows] of Object.entries(bySpecification)) {
    const result = await sparql.query(asked.graph, `PREFIX : <urn:> ${query}`)
    if (result.type !== 'bindings') throw new Error(result.type)
    const found = (await all(result.bindings)).map((row) =>
      Object.keys(row)
        .sort()
        .map((name) => row[name]?.value.replace('urn:', ''))
        .join(' '),
    )
    t.strictSame(found.sort(), rows, query)
  }
  const engine = createSparql({ threads: 1 })
  for (const query of graphQueries.filter((text) => text.startsWith('SELECT'))) {
    const answer = await engine.execute(asked.graph, `PREFIX : <urn:> ${query}`, {
      accept: 'text/csv',
    })
    if (answer.type !== 'answer') throw new Error(answer.type)
    let lines = -2
    for await (const chunk of answer.body)
      lines += Buffer.from(chunk).toString().split('\r\n').length
    t.equal(lines, theirs(asked, query).length, `in a thread: ${query}`)
  }
})

t.test('numbers are in the order of their values', async (t) => {
  const { graph } = await open(t)

  const query = 'SELECT ?v { ?s <urn:age> ?v FILTER (isNumeric(?v)) } ORDER BY ?v ?s'
  const result = await createSparql().query(graph, query)
  if (result.type !== 'bindings') throw new Error(result.type)
  const values: string[] = []
  for await (const { v } of result.bindings) values.push(v?.value ?? '')
  t.strictSame(values, ['9', '10', '12', '100'])
})

t.test('REDUCED leaves out no row of another type or language', async (t) => {
  const asked = await open(t)
  const rows = await ours(asked, 'SELECT REDUCED ?n { ?s :name|:age ?n }')
  const all = theirs(asked, 'SELECT DISTINCT ?n { ?s :name|:age ?n }')
  t.strictSame([...new Set(rows)], all)
  // "Bert" is there with and without a language.
  t.equal(all.filter((row) => row.includes('Bert')).length, 2)
})

t.test('graphs have names of any kind', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const named = ['urn:g', '_:blank', 'no iri', '?g']
  const triples = named.map((g, n) => ({
    s: { v: `urn:s${n}`, e: true },
    p: { v: 'urn:p', e: true },
    o: { v: String(n), e: false },
    g,
  }))
  const m = { i: 'c', m: [], u: 'u', c: 'c' }
  await keep.knowledge.write({ user: 'u', id: 'c' }, [['t', { m, t: triples }]])
  const graph = keep.knowledge.graph({ user: 'u' })
  t.equal(await graph.count({ g: '?g' }), 4)
  t.equal(await graph.count({ g: ['?g'] }), 1)
  const sparql = createSparql()
  const rows = async (query: string) => {
    const result = await sparql.query(graph, query)
    if (result.type !== 'bindings') throw new Error(result.type)
    return (await all(result.bindings)).map(({ s, n }) => (s ?? n)?.value).sort()
  }
  const subjects = triples.map(({ s }) => s.v)
  t.strictSame(await rows('SELECT * { GRAPH ?g { ?s ?p ?o } }'), subjects)
  // Written out, graph by graph.
  t.strictSame(await rows('SELECT * { GRAPH ?g { ?s ?p ?o MINUS { ?s ?p "x" } } }'), subjects)
  t.strictSame(await rows('SELECT (COUNT(*) AS ?n) { GRAPH ?g { { SELECT * { ?s ?p ?o } } } }'), [
    '4',
  ])
  t.strictSame(await rows('SELECT * { GRAPH <urn:lorekeep:entity:no%20iri> { ?s ?p ?o } }'), [
    'urn:s2',
  ])
  // Blank nodes among them: what is written out has the same names as what is found.
  t.strictSame(await rows('SELECT * { GRAPH ?g {} GRAPH ?g { ?s ?p ?o } }'), subjects)
  // In a dataset, too.
  const urn = '<urn:lorekeep:entity:no%20iri>'
  t.strictSame(await rows(`SELECT * FROM ${urn} { ?s ?p ?o }`), ['urn:s2'])
  t.strictSame(await rows(`SELECT * FROM NAMED ${urn} { GRAPH ?g { ?s ?p ?o } }`), ['urn:s2'])
  const urnOfG = '<urn:lorekeep:entity:%3Fg>'
  const found = await rows(`SELECT * { GRAPH ${urnOfG} { ?s ?p ?o } }`)
  t.equal(found.length, 1)
  for (const where of ['GRAPH ?g { ?s ?p ?o }', `GRAPH ${urnOfG} { ?s ?p ?o }`]) {
    t.strictSame(await rows(`SELECT * FROM NAMED ${urnOfG} { ${where} }`), found)
  }
  const names = `SELECT (STR(?g) AS ?s) FROM NAMED ${urnOfG} { GRAPH ?g { ?t ?p ?o } }`
  t.strictSame(await rows(names), ['urn:lorekeep:entity:%3Fg'])
  const path = 'SELECT * { GRAPH <urn:lorekeep:entity:%3Fg> { ?s <urn:p>* ?o } }'
  t.strictSame(await rows(path), ['3', 'urn:s3', 'urn:s3'])
})

t.test('languages are joined without case, and told as the core spells them', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const said = [
    ['a', 'Presente', 'pt-BR'],
    ['b', 'Present', 'en-GB'],
    ['c', 'Gift', 'en-gb'],
    ['d', 'Geschenk', 'de'],
  ] as const
  const triples = said.map(([name, v, ln]) => ({
    s: iri(name),
    p: iri('l'),
    o: { v, e: false, ln },
  }))
  await keep.knowledge.write({ user: 'u', id: 'c' }, [messageOf(triples)])
  const graph = keep.knowledge.graph({ user: 'u' })
  const sparql = createSparql()
  const rows = async (query: string) => {
    const result = await sparql.query(graph, `${short} ${query}`)
    if (result.type !== 'bindings') throw new Error(result.type)
    const shown = (term?: RdfTerm) =>
      term && `${term.value}@${'language' in term ? term.language : ''}`
    return (await all(result.bindings)).map(({ l, x }) =>
      [shown(l), shown(x)].filter(Boolean).join(' '),
    )
  }
  const gift = ['Presente@pt-BR']
  const term = '"Presente"@pt-BR'
  for (const query of [
    `SELECT * { VALUES ?l { ${term} } ?s :l ?l }`,
    `SELECT * { BIND (${term} AS ?l) ?s :l ?l }`,
    `SELECT * { BIND (STRLANG("Presente", "PT-br") AS ?l) { SELECT ?l { ?s :l ?l } } }`,
    `SELECT * { ?s :l ?l FILTER (?l = ${term}) }`,
    `SELECT * { ?s :l ?l FILTER (LANG(?l) = "pt-BR") }`,
    `SELECT * { ?s :l ?l FILTER langMatches(LANG(?l), "PT") }`,
    `SELECT * { ?s :l ?l FILTER EXISTS { VALUES ?l { ${term} } } }`,
    `SELECT ?l { { ?s :l ?l } { ?t :l ?l FILTER (?t = :a) } }`,
  ]) {
    const found = await rows(query)
    // What is spelled in two ways may come in either.
    t.strictSame(
      found.map((row) => row.replace(/pt-br$/i, 'pt-BR')),
      gift,
      query,
    )
  }
  const others = await rows(`SELECT * { ?s :l ?l MINUS { VALUES ?l { ${term} } } }`)
  t.strictSame(others.sort(), ['Geschenk@de', 'Gift@en-gb', 'Present@en-GB'])
  t.strictSame(await rows('SELECT (UCASE(?l) AS ?x) { :a :l ?l }'), ['PRESENTE@pt-br'])
  t.strictSame(await rows('SELECT (STRLANG("x", "en-US") AS ?x) {}'), ['x@en-US'])
  const tags = await rows('SELECT DISTINCT (LANG(?l) AS ?x) { ?s :l ?l }')
  t.strictSame(tags.sort(), ['de@', 'en-GB@', 'en-gb@', 'pt-BR@'])
  const answer = await sparql.query(graph, `${short} CONSTRUCT { ?s :m ?l } { ?s :l ?l }`)
  if (answer.type !== 'quads') throw new Error(answer.type)
  const made = (await all(answer.quads)).map(
    ({ object }) => 'language' in object && object.language,
  )
  t.strictSame(made.sort(), ['de', 'en-GB', 'en-gb', 'pt-BR'])
})

t.test('blank nodes of an answer have the labels of the core', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const node = { v: '_:x', e: true }
  const said = [{ s: node, p: iri('p'), o: node, g: '_:x' }]
  await keep.knowledge.write({ user: 'u', id: 'c' }, [messageOf(said)])
  const graph = keep.knowledge.graph({ user: 'u' })
  const sparql = createSparql()
  const query = 'SELECT * { GRAPH ?g { ?s ?p ?o } }'
  const result = await sparql.query(graph, query)
  if (result.type !== 'bindings') throw new Error(result.type)
  const [row] = await all(result.bindings)
  t.strictSame(
    [row?.s, row?.o, row?.g].map((term) => term && termOf(term)),
    [node, node, node],
  )
  const made = await sparql.query(graph, 'CONSTRUCT { _:x <urn:m> ?s } { GRAPH ?g { ?s ?p ?o } }')
  if (made.type !== 'quads') throw new Error(made.type)
  const [quad] = await all(made.quads)
  t.strictSame(quad && termOf(quad.object), node)
  t.match(quad?.subject.value, /^q[0-9a-f]{16}-/)
  const answer = await sparql.execute(graph, query, { accept: 'text/csv' })
  if (answer.type !== 'answer') throw new Error(answer.type)
  const text = Buffer.concat(await all(answer.body)).toString()
  t.equal(text.split('\r\n')[1], '_:x,_:x,urn:p,_:x')
})

t.test('a query that reads nothing is about cores that are there, too', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const graph = keep.knowledge.graph({ user: 'u', cores: ['none'] })
  const sparql = createSparql()
  const missing = { code: 'LK_CORE_NOT_FOUND' }
  for (const query of ['ASK {}', 'SELECT (1 AS ?x) {}']) {
    await t.rejects(sparql.query(graph, query), missing)
    await t.rejects(async () => {
      const answer = await sparql.execute(graph, query)
      if (answer.type === 'answer') await all(answer.body)
    }, missing)
  }
})

/** Making a thread takes a second. */
const shared = createSparql()

/** What query() and execute() say, which have the same rows. */
async function bothWays(t: Test, graph: Graph, query: string): Promise<string[]> {
  const sparql = shared
  const result = await sparql.query(graph, `${short} ${query}`)
  if (result.type !== 'bindings') throw new Error(result.type)
  const { variables } = result
  const shown = (term?: RdfTerm) =>
    term === undefined
      ? ''
      : term.termType === 'BlankNode'
        ? `_:${term.value}`
        : 'language' in term && term.language !== ''
          ? `${term.value}@${term.language}`
          : term.value
  const rows = (await all(result.bindings)).map((row) => variables.map((name) => shown(row[name])))
  const answer = await sparql.execute(graph, `${short} ${query}`, { accept: 'application/json' })
  if (answer.type !== 'answer') throw new Error(answer.type)
  const { results } = JSON.parse(Buffer.concat(await all(answer.body)).toString()) as {
    results: { bindings: Record<string, { type: string; value: string; 'xml:lang'?: string }>[] }
  }
  const inThread = results.bindings.map((row) =>
    variables.map((name) => {
      const { type, value = '', 'xml:lang': tag } = row[name] ?? { type: '', value: '' }
      return (type === 'bnode' ? `_:${value}` : value) + (tag === undefined ? '' : `@${tag}`)
    }),
  )
  const texts = (all: string[][]) => all.map((row) => row.join(' ')).sort()
  t.strictSame(texts(inThread), texts(rows), query)
  return texts(rows)
}

async function graphOf(t: Test, triples: readonly Triple[]): Promise<Graph> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  await keep.knowledge.write({ user: 'u', id: 'c' }, [messageOf(triples)])
  return keep.knowledge.graph({ user: 'u' })
}

t.test('LANG() says how a literal is spelled, whatever was read before it', async (t) => {
  const triples = Array.from({ length: 600 }, (_, n) => ({
    s: iri(`s${n}`),
    p: iri('l'),
    o: { v: `T${n}`, e: false, ln: n === 400 ? 'en-gb' : 'en-GB' },
  }))
  const graph = await graphOf(t, triples)
  const count = (filter: string) =>
    bothWays(t, graph, `SELECT (COUNT(*) AS ?n) { ?s :l ?l ${filter} }`)
  t.strictSame(await count('FILTER (LANG(?l) = "en-GB")'), ['599'])
  t.strictSame(await count('FILTER (LANG(?l) = "en-gb")'), ['1'])
  t.strictSame(await count('BIND (STRLANG("q", "EN-gb") AS ?q) FILTER (LANG(?l) = "en-GB")'), [
    '599',
  ])
  t.strictSame(await count('FILTER langMatches(LANG(?l), "EN-gb")'), ['600'])
  const grouped = 'SELECT ?t (COUNT(*) AS ?n) { ?s :l ?l } GROUP BY (LANG(?l) AS ?t)'
  t.strictSame(await bothWays(t, graph, grouped), ['en-GB 599', 'en-gb 1'])
  const constant = 'SELECT ?l (LANG(?l) AS ?t) { ?s :l "T7"@EN-GB . ?s :l ?l }'
  t.strictSame(await bothWays(t, graph, constant), ['T7@en-GB en-GB'])
  t.strictSame(await bothWays(t, graph, 'SELECT (IF(true, ?l, 1) AS ?t) { :s3 :l ?l }'), [
    'T3@en-GB',
  ])
})

t.test('a language or a datatype that no core can have finds nothing', async (t) => {
  const graph = await graphOf(t, [{ s: iri('a'), p: iri('l'), o: { v: 'x', e: false } }])
  for (const literal of [
    '"x"@abcdefghij',
    '"x"@en-abcdefghij',
    '"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>',
  ]) {
    t.strictSame(await bothWays(t, graph, `SELECT * { ?s :l ${literal} }`), [], literal)
    t.strictSame(
      await bothWays(t, graph, `SELECT * { ?s :l ?l FILTER (?l = ${literal}) }`),
      [],
      literal,
    )
  }
})

t.test('each node of an answer has one label, and each label is of one node', async (t) => {
  const labels = ['x', 'bc_0_x', 'e_b0', 'b1']
  const triples = labels.map((label) => ({
    s: { v: `_:${label}`, e: true },
    p: iri('p'),
    o: { v: label, e: false },
  }))
  const graph = await graphOf(t, triples)
  const same = 'SELECT ?o ?s (COALESCE(?s) AS ?t) (IF(true, ?s, 1) AS ?u) { ?s :p ?o }'
  t.strictSame(
    await bothWays(t, graph, same),
    labels.map((label) => `${label} _:${label} _:${label} _:${label}`).sort(),
  )
  const least = 'SELECT ?o (MIN(?s) AS ?t) (SAMPLE(?s) AS ?u) { ?s :p ?o } GROUP BY ?o'
  t.strictSame(
    await bothWays(t, graph, least),
    labels.map((label) => `${label} _:${label} _:${label}`).sort(),
  )
  const back = 'SELECT ?o ?v { ?s :p ?o BIND (IF(true, ?s, 1) AS ?t) OPTIONAL { ?t :p ?v } }'
  t.strictSame(await bothWays(t, graph, back), labels.map((label) => `${label} ${label}`).sort())
  const result = await createSparql().query(
    graph,
    `${short} CONSTRUCT { ?s :is ?o . _:b :new ?o . ?c :was ?o } { ?s :p ?o BIND (BNODE("b") AS ?c) }`,
  )
  if (result.type !== 'quads') throw new Error(result.type)
  const made = (await all(result.quads)).filter(({ predicate }) => predicate.value !== 'urn:is')
  const own = made.map(({ subject }) => subject.value).filter((label) => labels.includes(label))
  t.strictSame(own, [])
})
