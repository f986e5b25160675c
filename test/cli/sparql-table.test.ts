import t from 'tap'
import { resultsTable } from '../../src/cli/output/sparql-table.js'

const xsd = 'http://www.w3.org/2001/XMLSchema#'

t.test('solutions are a table of terms', async (t) => {
  const uri = { type: 'uri', value: 'urn:a' } as const
  const bindings = [
    { s: uri, o: { type: 'literal', value: '5', datatype: `${xsd}integer` } },
    { s: { type: 'bnode', value: 'b0' }, o: { type: 'literal', value: 'le "chat"' } },
    { o: { type: 'literal', value: 'chat', 'xml:lang': 'fr' } },
    { s: uri, o: { type: 'literal', value: '1818', datatype: 'urn:year' } },
    { s: { type: 'triple', value: { subject: uri, predicate: uri, object: uri } } },
    { s: { type: 'literal', value: '\u001b[2J\n' } },
  ] as const
  t.equal(
    resultsTable({ head: { vars: ['s', 'o'] }, results: { bindings } }, 80),
    `?s                               ?o
<urn:a>                          5
_:b0                             "le \\"chat\\""
                                 "chat"@fr
<urn:a>                          "1818"^^<urn:year>
<<( <urn:a> <urn:a> <urn:a> )>>
"\\u001b[2J\\n"
`,
  )
})

t.test('no solutions are nothing, and variables may have any name', async (t) => {
  t.equal(resultsTable({ head: { vars: ['s'] }, results: { bindings: [] } }, 80), '')
  const head = { vars: ['constructor'] }
  t.equal(resultsTable({ head, results: { bindings: [{}] } }, 80), '?constructor\n\n')
})

t.test('columns stand below each other, whatever the script', async (t) => {
  const head = { vars: ['city', 'n'] }
  const bindings = ['東京', 'Genève', '🐝', '長い文長い文'].map((value) => ({
    city: { type: 'literal', value },
    n: { type: 'literal', value: '5' },
  })) as Parameters<typeof resultsTable>[0]['results']['bindings']
  t.equal(
    resultsTable({ head, results: { bindings } }, 80),
    `?city           ?n
"東京"          "5"
"Genève"        "5"
"🐝"            "5"
"長い文長い文"  "5"
`,
  )
  t.equal(
    resultsTable({ head, results: { bindings } }, 14),
    `?city      ?n
"東京"     "5"
"Genève"   "5"
"🐝"       "5"
"長い文…   "5"
`,
  )
})
