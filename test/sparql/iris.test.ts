import t from 'tap'
import { createSparql } from '../../src/sparql/index.js'
import { ready } from './oracle.js'

const { graph } = ready([])

async function terms(query: string, baseIRI?: string): Promise<(string | undefined)[]> {
  const result = await createSparql().query(graph, query, { baseIRI })
  if (result.type !== 'bindings') throw new Error(result.type)
  for await (const row of result.bindings) return result.variables.map((name) => row[name]?.value)
  return []
}

/** RFC 3986, section 5.4, with `http://a/b/c/d;p?q` as the base. */
const examples = `
  g:h = g:h, g = http://a/b/c/g, ./g = http://a/b/c/g, g/ = http://a/b/c/g/, /g = http://a/g,
  //g = http://g, ?y = http://a/b/c/d;p?y, g?y = http://a/b/c/g?y, #s = http://a/b/c/d;p?q#s,
  g#s = http://a/b/c/g#s, g?y#s = http://a/b/c/g?y#s, ;x = http://a/b/c/;x, g;x = http://a/b/c/g;x,
  g;x?y#s = http://a/b/c/g;x?y#s, = http://a/b/c/d;p?q, . = http://a/b/c/, ./ = http://a/b/c/,
  .. = http://a/b/, ../ = http://a/b/, ../g = http://a/b/g, ../.. = http://a/, ../../g = http://a/g,
  ../../../g = http://a/g, /./g = http://a/g, /../g = http://a/g, g. = http://a/b/c/g.,
  ..g = http://a/b/c/..g, ./../g = http://a/b/g, ./g/. = http://a/b/c/g/, g/../h = http://a/b/c/h,
  g;x=1/../y = http://a/b/c/y, g?y/../x = http://a/b/c/g?y/../x, g#s/../x = http://a/b/c/g#s/../x`
  .split(',')
  .map((each) => / *(.*?) ?= (.*)/s.exec(each.replaceAll('\n', ' '))!.slice(1) as [string, string])

t.test('a relative IRI is resolved as RFC 3986 has it', async (t) => {
  const base = 'http://a/b/c/d;p?q'
  t.equal(examples.length, 33)
  for (const [relative, absolute] of examples) {
    const query = `SELECT (<${relative}> AS ?a) (IRI("${relative}") AS ?b) {}`
    t.strictSame(await terms(query, base), [absolute, absolute], relative)
  }
})

t.test('BASE and PREFIX are relative to what stands before them', async (t) => {
  for (const [prologue, expected] of [
    ['', 'http://e.org/x/y'],
    ['BASE <http://b.org/c/>', 'http://b.org/c/y'],
    ['BASE <../c/>', 'http://e.org/c/y'],
    ['BASE <http://b.org/c/> BASE <d/>', 'http://b.org/c/d/y'],
    ['PREFIX : <http://p.org/> BASE <http://b.org/>', 'http://b.org/y'],
  ] as const) {
    const query = `${prologue} SELECT (<y> AS ?a) (IRI("y") AS ?b) {}`
    t.strictSame(await terms(query, 'http://e.org/x/'), [expected, expected], query)
  }
  const prefixes = 'PREFIX a: <../a#> BASE <http://b.org/c/> PREFIX b: <../b#>'
  t.strictSame(await terms(`${prefixes} SELECT (a:x AS ?a) (b:x AS ?b) {}`, 'http://e.org/x/'), [
    'http://e.org/a#x',
    'http://b.org/b#x',
  ])
})

t.test('an absolute IRI stays as it is written', async (t) => {
  const query = 'SELECT (<http://e.org/a/../b> AS ?a) (<HTTP://e.org:80/%7e> AS ?b) {}'
  t.strictSame(await terms(query, 'http://e.org/'), ['http://e.org/a/../b', 'HTTP://e.org:80/%7e'])
})

t.test('without a base a relative one is refused, wherever it stands', async (t) => {
  for (const query of [
    'SELECT * { ?s <p> ?o }',
    'SELECT * { ?s <p>/^<urn:q> ?o }',
    'SELECT * { VALUES ?x { <v> } }',
    'SELECT ("1"^^<t> AS ?x) {}',
    'BASE <b> SELECT * { ?s ?p ?o }',
    'PREFIX : <n> SELECT * { ?s :p ?o }',
  ]) {
    await t.rejects(terms(query), { code: 'LK_GRAPH_QUERY' }, query)
  }
})
