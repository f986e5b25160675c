import t from 'tap'
import { rdfFactory as rdf } from '../../src/rdf/factory.js'
import { formatsOf } from '../../src/sparql/formats.js'
import type { SparqlResult } from '../../src/sparql/types.js'
import { all } from './oracle.js'

async function* one<T>(item: T): AsyncGenerator<T, void> {
  yield item
}

t.test('a text keeps its base direction', async (t) => {
  const term = rdf.literal('a', { language: 'en', direction: 'ltr' })
  const triple = rdf.quad(rdf.namedNode('urn:s'), rdf.namedNode('urn:p'), term)
  const rows = (): SparqlResult => ({
    type: 'bindings',
    variables: ['x'],
    bindings: one({ x: term }),
  })
  const texts = await Promise.all(
    [
      ...formatsOf('bindings').map(({ write }) => write(rows())),
      ...formatsOf('quads').map(({ write }) => write({ type: 'quads', quads: one(triple) })),
    ].map(async (text) => (await all(text)).join('')),
  )
  const [json, plainJson, csv, ...lines] = texts as [string, string, string]
  for (const text of [json, plainJson]) {
    t.strictSame(JSON.parse(text).results.bindings, [
      { x: { type: 'literal', value: 'a', 'xml:lang': 'en', 'its:dir': 'ltr' } },
    ])
  }
  t.equal(csv, 'x\r\na\r\n')
  for (const text of lines) t.match(text, '"a"@en--ltr')
})

t.test('a line has no term that would end it', async (t) => {
  const iri = rdf.namedNode('urn:a> <urn:b')
  const terms = [
    { term: iri, line: '<urn:a\\u003E\\u0020\\u003Curn:b>' },
    { term: rdf.literal('a"\n\\', iri), line: `"a\\"\\n\\\\"^^<urn:a\\u003E\\u0020\\u003Curn:b>` },
    { term: rdf.literal('a', 'en . #'), line: undefined },
    { term: rdf.blankNode('a b'), line: undefined },
    { term: rdf.blankNode('a.'), line: undefined },
    { term: rdf.blankNode(''), line: undefined },
    { term: rdf.blankNode('é.a'), line: '_:é.a' },
  ]
  for (const { term, line } of terms) {
    const triple = rdf.quad(rdf.namedNode('urn:s'), rdf.namedNode('urn:p'), term)
    const results: readonly SparqlResult[] = [
      { type: 'quads', quads: one(triple) },
      { type: 'bindings', variables: ['x'], bindings: one({ x: term }) },
    ]
    for (const result of results) {
      const text = async () => (await all(formatsOf(result.type).at(-1)!.write(result))).join('')
      if (line === undefined) await t.rejects(text(), { code: 'LK_GRAPH_QUERY' }, term.value)
      else t.match(await text(), line, term.value)
    }
  }
})
