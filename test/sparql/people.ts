// A small graph, and queries of every form over it: those of the engine's documentation
// (https://comunica.dev/docs/query/) and of SPARQL 1.1 (https://www.w3.org/TR/sparql11-query/).

import type { Term, Triple } from '../../src/types.js'

export const prefixes = `
PREFIX : <http://example.org/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`

const spaces: Readonly<Record<string, string>> = {
  '': 'http://example.org/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  dc: 'http://purl.org/dc/elements/1.1/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
}

function term(text: string): Term {
  if (text.startsWith('"')) return { v: text.slice(1), e: false }
  if (text.startsWith('_:')) return { v: text, e: true }
  const [space = '', name = ''] = text.split(':')
  return { v: `${spaces[space]}${name}`, e: true }
}

export const people: readonly Triple[] = [
  [':alice', 'rdf:type', 'foaf:Person'],
  [':alice', 'foaf:name', '"Alice'],
  [':alice', 'foaf:mbox', ':mail-alice'],
  [':alice', 'foaf:age', '"42'],
  [':alice', 'foaf:knows', ':bob'],
  [':alice', 'foaf:knows', ':carol'],
  [':bob', 'rdf:type', 'foaf:Person'],
  [':bob', 'foaf:name', '"Bob'],
  [':bob', 'foaf:nick', '"Bobby "B"'],
  [':bob', 'foaf:age', '"7'],
  [':bob', 'foaf:knows', ':carol'],
  [':carol', 'rdf:type', ':Author'],
  [':carol', 'foaf:name', '"Carol, née Müller'],
  [':carol', 'foaf:age', '"unknown'],
  [':carol', 'foaf:knows', ':dave'],
  [':dave', 'foaf:name', '"Dave\tof two\nlines'],
  [':dave', 'foaf:knows', ':alice'],
  [':dave', 'foaf:knows', ':dave'],
  [':Author', 'rdfs:subClassOf', 'foaf:Person'],
  ['foaf:Person', 'rdfs:subClassOf', 'foaf:Agent'],
  [':book1', 'dc:title', '"SPARQL Tutorial'],
  [':book1', 'dc:creator', ':carol'],
  [':book1', ':price', '"42'],
  [':book2', 'dc:title', '"The Semantic Web'],
  [':book2', 'dc:creator', ':carol'],
  [':book2', 'dc:creator', ':alice'],
  [':book2', ':price', '"23'],
  [':book3', 'dc:title', '"A New SPARQL Tutorial'],
  [':book3', ':price', '"30'],
  ['_:n1', ':note', '"a note'],
  ['_:n1', ':about', ':book1'],
].map(([s, p, o]) => ({ s: term(s as string), p: term(p as string), o: term(o as string) }))

/** By what they show. An order that a query asks for is total. */
export const queries: Readonly<Record<string, string>> = {
  everything: 'SELECT ?s ?p ?o WHERE { ?s ?p ?o }',
  'one object': 'SELECT ?s ?p ?o WHERE { ?s ?p :carol . ?s ?p ?o }',
  'a limit of more than there is': 'SELECT * WHERE { ?s foaf:name ?name } LIMIT 100',
  'a slice of an order':
    'SELECT ?name WHERE { ?s foaf:name ?name } ORDER BY ?name LIMIT 2 OFFSET 1',
  'a descending order': 'SELECT ?t WHERE { ?b dc:title ?t } ORDER BY DESC(?t)',
  'an order by a number': 'SELECT ?b ?p WHERE { ?b :price ?p } ORDER BY xsd:integer(?p)',
  'a join': 'SELECT ?name ?mbox WHERE { ?x foaf:name ?name . ?x foaf:mbox ?mbox }',
  'a join of three': 'SELECT * { ?a foaf:knows ?b . ?b foaf:knows ?c . ?c foaf:name ?name }',
  'one variable twice': 'SELECT ?x { ?x foaf:knows ?x }',
  'a literal': 'SELECT ?s { ?s ?p "42" }',
  'a literal of another kind': 'SELECT ?s { { ?s ?p 42 } UNION { ?s foaf:name "Alice"@en } }',
  'blank nodes': 'SELECT ?title { ?n :note ?note . ?n :about ?book . ?book dc:title ?title }',
  'a blank node in the query': 'SELECT ?o { [] :about ?o }',
  optional: 'SELECT ?name ?nick { ?x foaf:name ?name OPTIONAL { ?x foaf:nick ?nick } }',
  'a filter in an optional':
    'SELECT ?title ?price { ?x dc:title ?title OPTIONAL { ?x :price ?price FILTER (xsd:integer(?price) < 30) } }',
  'two optionals':
    'SELECT * { ?x foaf:name ?name OPTIONAL { ?x foaf:mbox ?mbox } OPTIONAL { ?x foaf:nick ?nick } }',
  union: 'SELECT ?v { { ?x foaf:name ?v } UNION { ?x dc:title ?v } }',
  'a filter on a number': 'SELECT ?x { ?x foaf:age ?age FILTER (xsd:integer(?age) > 30) }',
  'a filter by regular expression':
    'SELECT ?title { ?x dc:title ?title FILTER regex(?title, "^sparql", "i") }',
  'regular expressions with every flag':
    'SELECT ?name { ?x foaf:name ?name FILTER (regex(?name, "f two.l", "s") || regex(?name, "^l", "m") || regex(?name, "Al i [c ]", "x")) }',
  'a pattern that is text': 'SELECT ?n { ?x foaf:nick ?n FILTER regex(?n, \'y "B\', "q") }',
  replace: 'SELECT (REPLACE(?name, "(o)(.)", "<$2$1>") AS ?new) { ?x foaf:name ?name }',
  'string functions':
    'SELECT (UCASE(?n) AS ?u) (STRLEN(?n) AS ?l) (CONCAT(?n, "!") AS ?c) (SUBSTR(?n, 2, 3) AS ?s) (STRBEFORE(?n, " ") AS ?b) { ?x foaf:name ?n }',
  'terms and their kinds':
    'SELECT ?o (isIRI(?o) AS ?i) (isLiteral(?o) AS ?l) (DATATYPE(?o) AS ?d) { ?s ?p ?o FILTER (!isBlank(?s)) }',
  'if, coalesce, in':
    'SELECT (IF(?p IN ("42", "23"), "yes", "no") AS ?x) (COALESCE(?none, ?p) AS ?y) { ?b :price ?p }',
  bind: 'SELECT ?t ?d { ?x :price ?p ; dc:title ?t BIND (xsd:integer(?p) * 2 AS ?d) }',
  values: 'SELECT ?b ?t { VALUES ?b { :book1 :book3 } ?b dc:title ?t }',
  'values of two, undefined':
    'SELECT ?b ?t { ?b dc:title ?t } VALUES (?b ?t) { (UNDEF "SPARQL Tutorial") (:book2 UNDEF) }',
  exists: 'SELECT ?x { ?x foaf:name ?n FILTER EXISTS { ?x foaf:mbox ?m } }',
  'not exists': 'SELECT ?x { ?x foaf:name ?n FILTER NOT EXISTS { ?x foaf:age ?a } }',
  minus: 'SELECT DISTINCT ?s { ?s ?p ?o MINUS { ?s foaf:name ?n } FILTER (!isBlank(?s)) }',
  distinct: 'SELECT DISTINCT ?p { ?s ?p ?o }',
  reduced: 'SELECT REDUCED ?s { ?s foaf:name ?n }',
  count: 'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?d) { ?s ?p ?o }',
  'count of nothing': 'SELECT (COUNT(*) AS ?n) { ?s :nothing ?o }',
  'groups and having':
    'SELECT ?x (COUNT(?y) AS ?n) { ?x foaf:knows ?y } GROUP BY ?x HAVING (COUNT(?y) > 1) ORDER BY ?x',
  aggregates:
    'SELECT (SUM(xsd:integer(?p)) AS ?sum) (MIN(?p) AS ?min) (MAX(?p) AS ?max) (AVG(xsd:integer(?p)) AS ?avg) { ?b :price ?p }',
  'a sub-query':
    'SELECT ?y ?name { :alice foaf:knows ?y { SELECT ?y (MIN(?n) AS ?name) { ?y foaf:name ?n } GROUP BY ?y } }',
  'a sequence path': 'SELECT ?n { :alice foaf:knows/foaf:knows/foaf:name ?n }',
  'an inverse path': 'SELECT ?x { :carol ^foaf:knows ?x }',
  'an alternative path': 'SELECT ?v { :bob foaf:name|foaf:nick ?v }',
  'a path of any length': 'SELECT ?x { :alice foaf:knows+ ?x }',
  'a path of any length, or none': 'SELECT ?type { :carol rdf:type/rdfs:subClassOf* ?type }',
  'an optional step': 'SELECT ?x { :alice foaf:knows? ?x }',
  'a negated path': 'SELECT ?v { :bob !(foaf:knows|rdf:type) ?v }',
  'a path between variables': 'SELECT ?x ?y { ?x foaf:knows+ ?y }',
  'a named graph': 'SELECT * { GRAPH ?g { ?s ?p ?o } }',
  'ask, true': 'ASK { ?x foaf:name "Alice" }',
  'ask, false': 'ASK { ?x foaf:name "Alice" ; foaf:nick ?nick }',
  construct: 'CONSTRUCT { ?x rdfs:label ?n } WHERE { ?x foaf:name ?n }',
  'construct where': 'CONSTRUCT WHERE { ?x foaf:knows ?y }',
  'construct by hand': 'CONSTRUCT { ?y :knownBy ?x . ?x a :Known } WHERE { ?x foaf:knows ?y }',
  describe: 'DESCRIBE :alice',
  'describe where': 'DESCRIBE ?x { ?x foaf:nick ?n }',
}
