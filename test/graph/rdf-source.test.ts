import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Quad, Stream, Term as RdfTerm } from '@rdfjs/types'
import { DataFactory } from 'n3'
import t from 'tap'
import { rdfSource } from '../../src/graph/rdf-source.js'
import { quadOf } from '../../src/rdf/terms.js'
import type { Term, Triple } from '../../src/types.js'
import { arrayGraph } from './array-graph.js'

const { blankNode, defaultGraph, literal, namedNode, quad, variable } = DataFactory

const iri = (name: string): Term => ({ v: `http://example.org/${name}`, e: true })
const text = (v: string): Term => ({ v, e: false })
const entity = (v: string): Term => ({ v, e: true })

const triples: Triple[] = [
  { s: iri('ellen'), p: iri('name'), o: text('Ellen') },
  { s: iri('ellen'), p: iri('knows'), o: iri('dick') },
  { s: iri('dick'), p: iri('name'), o: text('Dick') },
  { s: entity('_:b1'), p: iri('name'), o: text('_:b1') },
  { s: entity('Old Hammond'), p: iri('knows'), o: entity('_:b1') },
  { s: text('Ellen'), p: iri('knows'), o: text('Ellen') },
  { s: iri('ellen'), p: iri('name'), o: { ...text('Ellen'), ln: 'en' } },
  { s: iri('ellen'), p: iri('age'), o: { ...text('20'), dt: 'http://example.org/years' } },
  { s: { ...text('20'), dt: 'http://example.org/years' }, p: iri('knows'), o: text('20') },
]

const read = async (stream: Stream): Promise<Quad[]> =>
  (stream as unknown as Readable).toArray() as Promise<Quad[]>

const lines = (quads: readonly Quad[]) =>
  quads
    .map(({ subject, predicate, object }) => [subject, predicate, object].map(show).join(' '))
    .sort()

const show = (term: RdfTerm) => {
  const { termType, value } = term
  if (term.termType !== 'Literal') return `${termType}(${value})`
  return `${termType}(${value} ${term.language} ${term.datatype.value})`
}

t.test('every triple is a quad of the default graph', async (t) => {
  const quads = await read(rdfSource(arrayGraph(triples)).match())
  t.strictSame(lines(quads), lines(triples.map((triple) => quadOf(triple))))
  t.ok(quads.every(({ graph }) => graph.termType === 'DefaultGraph'))
})

t.test('a term that a quad shows finds the quads that show it in this place', async (t) => {
  const source = rdfSource(arrayGraph(triples))
  const all = await read(source.match())
  for (const place of ['subject', 'predicate', 'object'] as const) {
    const shown = new Map(all.map((each) => [show(each[place]), each[place]]))
    for (const [name, term] of shown) {
      const asked = {
        subject: place === 'subject' ? term : null,
        predicate: place === 'predicate' ? term : undefined,
        object: place === 'object' ? term : variable('o'),
      }
      const found = await read(source.match(asked.subject, asked.predicate, asked.object))
      const expected = all.filter((each) => each[place].equals(term))
      t.strictSame(lines(found), lines(expected), `${place} ${name}`)
      t.equal(
        await source.countQuads(asked.subject, asked.predicate, asked.object),
        expected.length,
      )
    }
  }
})

t.test('what no core has finds nothing, and reads nothing', async (t) => {
  const graph = arrayGraph(triples)
  const source = rdfSource(graph)
  const quoted = quad(namedNode('http://e.org/a'), namedNode('http://e.org/b'), literal('c'))
  const subject = quadOf(triples[5] as Triple).subject
  const asked: Record<string, Parameters<typeof source.match>> = {
    'a quoted triple': [null, null, quoted],
    'a literal as subject': [literal('Ellen')],
    'the name that a literal has as subject, as object': [null, null, subject],
    'a blank node as predicate': [null, blankNode('b1')],
    'the default graph as object': [null, null, defaultGraph()],
    'half a character as subject': [namedNode('urn:\ud800')],
    'half a character as predicate': [null, namedNode('urn:\ud800')],
    'half a character as object': [null, null, literal('\udc00')],
    'half a character as graph': [null, null, null, namedNode('urn:\ud800')],
    'no name as graph': [null, null, null, namedNode('')],
  }
  for (const [name, terms] of Object.entries(asked)) {
    t.strictSame(await read(source.match(...terms)), [], name)
    t.equal(await source.countQuads(...terms), 0, name)
  }
  t.equal(graph.reads.opened, 0)
})

t.test('a graph is one of the named ones, the default one, or any', async (t) => {
  const g = 'http://example.org/g'
  const [first] = triples as [Triple]
  const named = [
    { ...first, g },
    { ...first, g: '_:g' },
    { ...first, g: 'g' },
  ]
  const source = rdfSource(arrayGraph([...triples, ...named]))
  const graphs = async (asked?: Parameters<typeof source.match>[3]) =>
    (await read(source.match(null, null, null, asked))).map(({ graph }) => show(graph))
  t.equal((await graphs()).length, triples.length + 3)
  t.equal((await graphs(variable('g'))).length, triples.length + 3)
  t.strictSame(new Set(await graphs(defaultGraph())), new Set(['DefaultGraph()']))
  t.strictSame(await graphs(namedNode(g)), [`NamedNode(${g})`])
  t.strictSame(await graphs(blankNode('g')), ['BlankNode(g)'])
  const urn = 'urn:lorekeep:entity:g'
  t.strictSame(await graphs(namedNode(urn)), [`NamedNode(${urn})`])
  t.strictSame(await graphs(namedNode('http://example.org/none')), [])
  t.strictSame(await graphs(literal('g') as never), [])
  t.equal(await source.countQuads(null, null, null, namedNode(g)), 1)
})

t.test('nothing is read before the stream is, and not much ahead of it', async (t) => {
  const many = Array.from({ length: 1000 }, (_, i) => ({
    s: iri(`s${i}`),
    p: iri('p'),
    o: text('o'),
  }))
  const graph = arrayGraph(many)
  const stream = rdfSource(graph).match() as unknown as Readable
  await new Promise(setImmediate)
  t.strictSame(graph.reads, { opened: 0, open: 0, given: 0 })
  stream.read()
  await once(stream, 'readable')
  for (let i = 0; i < 200; i++) await new Promise(setImmediate)
  t.ok(graph.reads.given > 0 && graph.reads.given < 100, `read ${graph.reads.given} ahead`)
  t.equal(graph.reads.open, 1)
})

t.test('a stream that is destroyed leaves no cursor open', async (t) => {
  const graph = arrayGraph(triples)
  const stream = rdfSource(graph).match() as unknown as Readable
  await once(stream, 'readable')
  t.ok(stream.read())
  stream.destroy()
  await once(stream, 'close')
  t.strictSame([graph.reads.opened, graph.reads.open], [1, 0])
})

t.test('an error of the graph is an error of the stream', async (t) => {
  const graph = arrayGraph(triples)
  graph.failure = { error: new Error('broken'), afterTriples: 2 }
  const stream = rdfSource(graph).match() as unknown as Readable
  let seen = 0
  stream.on('data', () => seen++)
  const [error] = (await once(stream, 'error')) as [Error]
  t.equal(error, graph.failure.error)
  t.equal(seen, 2)
})
