// Errors of expressions (SPARQL 1.1, section 17.2): a FILTER is false, a variable stays kinds, and the
// query goes on.

import t from 'tap'
import { createSparql } from '../../src/sparql/index.js'
import type { Term } from '../../src/types.js'
import { blank, iri, ours, ready, text, theirs, written } from './oracle.js'

const sparql = createSparql()
t.setTimeout(120_000)

t.test(
  'REGEX over anything but a text is no match: dawg-regex-001 to -004 of the W3C',
  async (t) => {
    const foo = { v: 'http://example.com/#foo', e: true }
    const value = { v: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#value', e: true }
    const literals = ['abcDEFghiJKL', 'ABCdefGHIjkl', '0123456789', 'http://example.com/literal']
    const objects = [...literals.map(text), { v: 'http://example.com/uri', e: true }]
    const data = ready(objects.map((o) => ({ s: foo, p: value, o })))
    const expected = {
      'regex(?val, "GHI")': [1],
      'regex(?val, "DeFghI", "i")': [0, 1],
      'regex(?val, "example\\\\.com")': [3],
      'regex(str(?val), "example\\\\.com")': [3, 4],
    }
    for (const [filter, found] of Object.entries(expected)) {
      const query = `SELECT ?val { <${foo.v}> <${value.v}> ?val . FILTER ${filter} }`
      const rows = found.map((i) => {
        const { v, e } = objects[i] as Term
        return e ? `val=<${v}>` : `val=${JSON.stringify([v, 'string', ''])}`
      })
      t.strictSame(await ours(data, query), rows.sort(), filter)
    }
  },
)

/** A row for each kind of object that a core has, and one without any. */
const kinds = ready([
  ...[iri('x'), blank('b'), text('Ellen'), text(''), text('20'), text('['), text('n')].map(
    (o, i) => ({ s: iri(`k${i}`), p: iri('is'), o }),
  ),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ s: iri(`k${i}`), p: iri('row'), o: text(`${i}`) })),
])

const places = {
  filter: 'SELECT ?k { ?k :row ?r OPTIONAL { ?k :is ?v } FILTER (EXPR) }',
  'a filter of an OPTIONAL': 'SELECT * { ?k :row ?r OPTIONAL { ?k :is ?v FILTER (EXPR) } }',
  'a filter of an EXISTS':
    'SELECT ?k { ?k :row ?r FILTER EXISTS { ?k :row ?r2 OPTIONAL { ?k :is ?v } FILTER (EXPR) } }',
  'a filter of a MINUS': 'SELECT ?k { ?k :row ?r MINUS { ?k :is ?v FILTER (EXPR) } }',
  BIND: 'SELECT ?k ?x { ?k :row ?r OPTIONAL { ?k :is ?v } BIND (EXPR AS ?x) }',
  'a sub-query': 'SELECT ?k ?x { ?k :row ?r { SELECT ?k (EXPR AS ?x) { ?k :is ?v } } }',
  'GROUP BY':
    'SELECT ?x (COUNT(*) AS ?n) { ?k :row ?r OPTIONAL { ?k :is ?v } } GROUP BY (EXPR AS ?x)',
  HAVING: 'SELECT ?v { ?k :row ?r OPTIONAL { ?k :is ?v } } GROUP BY ?v HAVING (EXPR)',
  'an aggregate': 'SELECT ?v (SAMPLE(EXPR) AS ?x) { ?k :is ?v } GROUP BY ?v',
  'ORDER BY': 'SELECT ?k { ?k :row ?r OPTIONAL { ?k :is ?v } } ORDER BY EXPR',
}

const failing = [
  'regex(?v, "l")',
  'regex("l", ?v)',
  'regex("l", "l", ?v)',
  'regex(?v, "(")',
  'regex(?v, "l", "ig")',
  'regex(?v, "l"@en)',
  'replace(?v, "l", "-")',
  // To the oracle, a pattern may match the empty text.
  'replace("a[n", IF(STR(?v) = "", 1/0, ?v), "-")',
  'replace("aEllen", "l", ?v)',
  'replace("a", "a", "b", ?v)',
  'replace(?v, "(", "-")',
  'replace(?v, "(l)(e)", "$2$1$9")',
  'IRI(?v)',
  'regex(?v, "l") || isIRI(?v)',
  'regex(?v, "l") && isIRI(?v)',
  'regex(?v, "l") && isLITERAL(?v)',
  '!regex(?v, "l")',
  '!(regex(?v, "l") || regex(?v, "("))',
  'COALESCE(regex(?v, "l"), "no")',
  'COALESCE(regex(?v, "("), replace(?v, "l", "-"))',
  'IF(regex(?v, "l"), "yes", "no")',
  'IF(isIRI(?v), regex(?v, "l"), "literal")',
  'regex(?v, "l") IN (false, 1/0)',
  'regex(replace(?v, "l", "("), "(") || true',
  'isIRI(IRI(replace(?v, "l", "urn:")))',
]

t.test('an error of an expression is an error of it alone, wherever it stands', async (t) => {
  for (const [place, query] of Object.entries(places)) {
    for (const expression of failing) {
      const text = query.replace('EXPR', () => `(${expression})`)
      t.strictSame(await ours(kinds, text), theirs(kinds, text), `${place}: ${expression}`)
    }
  }
})

/** Of section 17.4 and the casts of 17.5; X and Y are of every kind. */
const functions = `
  BOUND(?v); IF(X, Y, "no"); IF("", X, Y); COALESCE(X, Y); X || Y; X && Y; !X; sameTerm(X, Y);
  X IN (X); X NOT IN (X); isIRI(X); isURI(X); isBLANK(X); isLITERAL(X); isNUMERIC(X); STR(X); LANG(X);
  DATATYPE(X); IRI(X); URI(X); STRDT(X, Y); STRDT(X, xsd:string); STRLANG(X, "en");
  STRLEN(X); SUBSTR(X, 2); SUBSTR(X, Y); SUBSTR("Ellen", X, Y); UCASE(X); LCASE(X); STRSTARTS(X, Y);
  STRENDS(X, Y); CONTAINS(X, Y); STRBEFORE(X, Y); STRAFTER(X, Y); ENCODE_FOR_URI(X); CONCAT(X, Y);
  CONCAT(X, "!"); LANGMATCHES(X, "*"); REGEX(X, Y); REGEX(X, "l", Y);
  REPLACE(X, IF(STR(Y) = "", 1/0, Y), "z"); REPLACE(X, "l", Y); REPLACE(X, "l", "z", Y); ABS(X); ROUND(X); CEIL(X); FLOOR(X); YEAR(X); MONTH(X);
  DAY(X); HOURS(X); MINUTES(X); SECONDS(X); TIMEZONE(X); TZ(X); MD5(X); SHA1(X); SHA256(X); SHA384(X);
  SHA512(X); -X; +X; X + Y; X - Y; X * Y; X / Y; xsd:integer(X) + xsd:integer(Y);
  xsd:integer(X) / xsd:integer(Y); STR(X) = STR(Y); STRLEN(X) < STRLEN(Y); X < 1; X >= 1;
  xsd:boolean(X); xsd:integer(X); xsd:decimal(X); xsd:dateTime(X); xsd:string(X);
  EXISTS { ?none :is X }; NOT EXISTS { ?none :is X }`
  .split(';')
  .map((each) => each.trim())

t.test('a filter that is no operator sees the row that an OPTIONAL or EXISTS is for', async (t) => {
  const rows = [
    { s: iri('a'), p: iri('knows'), o: iri('b') },
    { s: iri('b'), p: iri('knows'), o: iri('c') },
    { s: iri('a'), p: iri('name'), o: text('Ann') },
    { s: iri('b'), p: iri('flag'), o: text('true') },
    { s: iri('c'), p: iri('flag'), o: text('false') },
    { s: iri('d'), p: iri('flag'), o: text('1') },
  ]
  const data = ready(rows)
  for (const filter of ['true', '"yes"', '?flag', 'xsd:boolean(?flag)', 'regex(?flag, "t")']) {
    for (const query of [
      `SELECT * { ?s :knows ?o OPTIONAL { ?o :flag ?flag FILTER (${filter}) } }`,
      `SELECT * { ?s :knows ?o OPTIONAL { ?s :name ?name FILTER (${filter}) } }`,
      `SELECT * { ?s :knows ?o FILTER EXISTS { ?o :flag ?flag FILTER (${filter}) } }`,
      `SELECT * { ?s :knows ?o FILTER NOT EXISTS { ?s :flag ?flag FILTER (${filter}) } }`,
      `SELECT * { ?s :knows ?o MINUS { ?o :flag ?flag FILTER (${filter}) } }`,
    ]) {
      t.strictSame(await ours(data, query), theirs(data, query), query)
    }
  }
})

t.test('each function takes each kind of term as the oracle does', async (t) => {
  for (const form of functions) {
    const expression = form.replace(/\b[XY]\b/g, (name) => (name === 'X' ? '?v' : '?w'))
    const other = form.includes('Y') ? '?l :row ?s OPTIONAL { ?l :is ?w }' : ''
    const query = `SELECT ?r ?s (${expression} AS ?x) { ?k :row ?r OPTIONAL { ?k :is ?v } ${other} }`
    t.strictSame(await ours(kinds, query), theirs(kinds, query), form)
  }
})

t.test('the replacement follows the rules of XPath', async (t) => {
  const replaced: Readonly<Record<string, string | undefined>> = {
    '<$1>': 'a<b><c>',
    '<$0>': 'a<b><c>',
    $1$1: 'abbcc',
    // Only the digits that make a group; one that the pattern does not have is empty.
    $12: 'ab2c2',
    '-$9-': 'a----',
    '\\$1': 'a$1$1',
    '\\\\': 'a\\\\',
    $: undefined,
    x$: undefined,
    $x: undefined,
    '${1}': undefined,
    '\\': undefined,
    '\\n': undefined,
  }
  for (const [by, expected] of Object.entries(replaced)) {
    const literal = JSON.stringify(by)
    const query = `SELECT (REPLACE("abc", "([bc])", ${literal}) AS ?x) {}`
    const rows = expected === undefined ? '' : `x=${JSON.stringify([expected, 'string', ''])}`
    t.strictSame(await ours(kinds, query), [rows], by)
  }
})

t.test(
  'a text that grows too large ends the query, also where its error would be caught',
  async (t) => {
    const grow = `REPLACE("${'a'.repeat(200_000)}", "^a+$", "${'$0'.repeat(3000)}")`
    for (const expression of [
      `STRLEN(${grow})`,
      `COALESCE(STRLEN(${grow}), 1)`,
      `${grow} = "" || true`,
    ]) {
      const asked = sparql.query(kinds.graph, `SELECT (${expression} AS ?x) {}`).then(written)
      await t.rejects(asked, { code: 'LK_GRAPH_QUERY' }, expression.slice(0, 10))
    }
  },
)
