// Numbers, dates and languages of a stored core, asked as oxigraph asks the same text. It has languages
// in small letters, and numbers in their shortest form.

import * as oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { parseRdf } from '../../src/rdf/index.js'
import { createSparql } from '../../src/sparql/index.js'
import { ours, theirs, type Asked } from './oracle.js'

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

t.test('numbers are in the order of their values', async (t) => {
  const { graph } = await open(t)

  const query = 'SELECT ?v { ?s <urn:age> ?v FILTER (isNumeric(?v)) } ORDER BY ?v ?s'
  const result = await createSparql().query(graph, query)
  if (result.type !== 'bindings') throw new Error(result.type)
  const values: string[] = []
  for await (const { v } of result.bindings) values.push(v?.value ?? '')
  t.strictSame(values, ['9', '10', '12', '100'])
})
