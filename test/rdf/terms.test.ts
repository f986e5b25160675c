import t from 'tap'
import { rdfFactory } from '../../src/rdf/factory.js'
import { isAbsoluteIri, quadOf, rdfTermOf, termOf, tripleOf } from '../../src/rdf/terms.js'
import { entity, literal } from './texts.js'

const xsd = 'http://www.w3.org/2001/XMLSchema#'

const { namedNode, blankNode, literal: rdfLiteral, defaultGraph, quad } = rdfFactory

t.test('terms of a core and of RDF stand for each other', async (t) => {
  for (const [term, inRdf] of [
    [entity('https://example.org/käse?a=%20#b'), namedNode('https://example.org/käse?a=%20#b')],
    [entity('_:b0'), blankNode('b0')],
    [entity('_:käse.1'), blankNode('käse.1')],
    [literal(''), rdfLiteral('')],
    [literal('_:b0 "\n'), rdfLiteral('_:b0 "\n')],
    [{ ...literal('x'), ln: 'en-GB' }, rdfLiteral('x', 'en-GB')],
    [{ ...literal('9'), dt: `${xsd}integer` }, rdfLiteral('9', namedNode(`${xsd}integer`))],
  ] as const) {
    t.ok(rdfTermOf(term).equals(inRdf), term.v)
    t.strictSame(termOf(inRdf), term)
  }
})

t.test('what stands for a literal elsewhere is the name of a graph as any other', async (t) => {
  const [s, p, o] = ['urn:a', 'urn:b', 'urn:c'].map((name) => namedNode(name))
  const names = ['urn:lorekeep:literal:x', 'urn:lorekeep:entity:x', 'urn:lorekeep:literal:']
  const graphs = names.map((name) => tripleOf(quad(s!, p!, o!, namedNode(name))).g)
  t.strictSame(graphs, ['urn:lorekeep:literal:x', 'x', 'urn:lorekeep:literal:'])
})

t.test('every triple of a core is a statement of RDF, and comes back as it was', async (t) => {
  const values = ['Ellen', '', 'a b', '<x>', '_:', '_:a b', '_:a.', 'http://x/ y', 'käse%zz', '%41']
  for (const value of [...values, 'urn:lorekeep:entity:Ellen', 'urn:lorekeep:literal:x']) {
    const typed = { ...literal(value), dt: 'urn:x:käse#%' }
    const said = { ...literal(value), ln: 'de-at' }
    for (const term of [entity(value), literal(value), typed, said]) {
      for (const o of [term, literal('x'), typed, said]) {
        const { subject, predicate, object } = quadOf({ s: term, p: term, o })
        t.equal(predicate.termType, 'NamedNode')
        for (const found of [subject, predicate]) {
          t.ok(isAbsoluteIri(found.value), found.value)
          t.strictSame(termOf(found), term)
        }
        t.strictSame(termOf(object), o)
      }
    }
  }
  const { subject, predicate } = quadOf({ s: entity('_:b'), p: entity('_:b'), o: literal('') })
  t.equal(subject.termType, 'BlankNode')
  t.equal(predicate.value, 'urn:lorekeep:entity:_%3Ab')
})

t.test('a URN that looks like ours and is none stays what it is', async (t) => {
  for (const iri of [
    'urn:lorekeep:entity:http://example.org/',
    'urn:lorekeep:entity:http%3A%2F%2Fexample.org%2F',
    'urn:lorekeep:entity:%zz',
    'urn:lorekeep:entity:%41',
    'urn:lorekeep:sample',
    'urn:lorekeep:literal-of:',
    'urn:lorekeep:literal-of::x',
    'urn:lorekeep:literal-of:x',
    'urn:lorekeep:literal-of:x:y',
    'urn:lorekeep:literal-of:%40EN:y',
    'urn:lorekeep:literal-of:%40en_:y',
    'urn:lorekeep:literal-of:%40en:y:z',
  ]) {
    t.strictSame(termOf(namedNode(iri)), entity(iri))
    t.equal(rdfTermOf(entity(iri)).value, iri)
  }
})

t.test('a factory of the caller makes the terms', async (t) => {
  const made: string[] = []
  const factory = {
    ...rdfFactory,
    namedNode: <Iri extends string>(iri: Iri) => {
      made.push(iri)
      return namedNode(iri)
    },
  }
  quadOf({ s: entity('urn:s'), p: entity('urn:p'), o: entity('urn:o') }, factory)
  t.strictSame(made, ['urn:s', 'urn:p', 'urn:o'])
})

t.test('variables, quoted triples and the default graph are no terms of a core', async (t) => {
  const node = namedNode('urn:a')
  t.throws(() => termOf(quad(node, node, node)), TypeError)
  t.throws(() => termOf(defaultGraph()), TypeError)
})

t.test('terms are equal where RDF says so', async (t) => {
  const node = namedNode('urn:a')
  const terms = [
    node,
    namedNode('urn:b'),
    blankNode('urn:a'),
    blankNode(),
    rdfLiteral('urn:a'),
    rdfLiteral('urn:a', 'en'),
    rdfLiteral('urn:a', { language: 'en', direction: 'ltr' }),
    rdfLiteral('urn:a', namedNode('http://www.w3.org/2001/XMLSchema#date')),
    defaultGraph(),
    quad(node, node, node),
    quad(node, node, node, node),
  ]
  for (const [i, one] of terms.entries()) {
    for (const [j, other] of terms.entries()) t.equal(one.equals(other), i === j, `${i} ${j}`)
    t.equal(one.equals(null), false)
  }
  t.equal(rdfLiteral('x', 'en').datatype.value.split('#')[1], 'langString')
})
