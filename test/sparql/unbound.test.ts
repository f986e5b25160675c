import t from 'tap'
import { blank, iri, ours, ready, text, theirs } from './oracle.js'

const data = ready(
  [
    ['a', 'name', text('Ellen')],
    ['a', 'age', text('20')],
    ['a', 'knows', iri('b')],
    ['b', 'name', text('Dick')],
    ['b', 'knows', blank('n')],
    ['b', 'flag', text('5')],
    ['c', 'name', text('')],
  ].map(([s, p, o]) => ({
    s: iri(s as string),
    p: iri(p as string),
    o: o as ReturnType<typeof iri>,
  })),
)

/** As bind03 of the W3C, where ?o + 1 has a value and a match in some rows only. */
const queries = `
  ?s ?p ?o . BIND (?o + 1 AS ?z) ?s1 ?p1 ?z
  ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) ?s1 ?p1 ?z
  ?s1 ?p1 ?z { ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) }
  VALUES ?z { <urn:b> "5" } { ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) }
  { ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) } { ?s1 :flag ?z } UNION { ?s1 :age ?z }
  { SELECT ?s (STR(STRLEN(?o)) AS ?z) { ?s ?p ?o } } ?s1 ?p1 ?z
  { SELECT ?s (SUM(?o) AS ?z) { ?s ?p ?o } GROUP BY ?s } ?s1 ?p1 ?z
  { SELECT ?s (COUNT(*) AS ?z) { ?s ?p ?o } GROUP BY ?s } BIND (2 AS ?z2) ?s ?p1 ?y
  { SELECT ?a (COUNT(*) AS ?n) { ?s :name ?b OPTIONAL { ?s :knows ?a } } GROUP BY ?a } ?a ?p ?o
  ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) OPTIONAL { ?s1 :flag ?z }
  ?s1 :flag ?z OPTIONAL { ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) }
  ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) MINUS { ?s1 :flag ?z }
  ?s1 :flag ?z MINUS { ?s ?p ?o . BIND (STR(STRLEN(?o)) AS ?z) }
  ?s :name ?o . BIND (STR(STRLEN(?o)) AS ?z) BIND (?z + 1 AS ?y) ?s1 ?p1 ?y . ?s2 ?p2 ?z
  ?s1 :flag ?f FILTER EXISTS { ?s ?p ?o . BIND (?o + 1 AS ?z) ?z ?q ?f }
  ?s ?p ?o OPTIONAL { ?s :flag ?f BIND (?f AS ?z) } BIND (?z AS ?y) ?s1 :flag ?y
  BIND (IRI("urn:a") AS ?x) ?x ?p ?o . ?o ?q ?r
  BIND (<urn:a> AS ?x) ?x ?p ?o . ?o ?q ?r`

t.test('a variable that an expression left unbound joins with everything', async (t) => {
  for (const pattern of queries.trim().split('\n')) {
    const query = `SELECT * { ${pattern.trim()} }`
    t.strictSame(await ours(data, query), theirs(data, query), query)
  }
})
