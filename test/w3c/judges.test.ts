// What `npm run w3c` judges by: a judge that lets anything pass would be no use.

import t from 'tap'
import { difference, readAnswer, type Answer } from './answers.js'
import { asSet, isIsomorphic, type Tuple } from './isomorphism.js'
import { readTurtle } from './manifest.js'
import { readNQuads } from './n-quads.js'
import { byValue, literal } from './terms.js'
import { readRdfXml } from './xml.js'

const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** Edges between blank nodes. */
const graph = (edges: string): readonly Tuple[] =>
  edges.split(' ').map((edge) => [`_:${edge[0]}`, '<p>', `_:${edge[1]}`, ''])

t.test('graphs are the same but for the labels of their blank nodes', async (t) => {
  const same: readonly (readonly [string, string])[] = [
    ['ab bc', 'yz xy'],
    ['ab bc ca', 'xz zy yx'],
    ['ab ba cd dc', 'wz xy zw yx'],
    ['aa ab', 'yx yy'],
    ['ab bc ca de ef fd', 'ux xv vu yw wz zy'],
  ]
  for (const [a, b] of same) t.ok(isIsomorphic(graph(a), graph(b)), `${a}, ${b}`)
  const other: readonly (readonly [string, string])[] = [
    ['ab bc', 'ab ac'],
    ['ab bc ca', 'ab bc'],
    ['aa ab', 'aa ba'],
    // A colour for each degree does not tell these apart.
    ['ab bc cd de ef fa', 'ab bc ca de ef fd'],
    ['ab ba cd dc', 'ab bc cd da'],
  ]
  for (const [a, b] of other) t.notOk(isIsomorphic(graph(a), graph(b)), `${a}, ${b}`)
  t.notOk(isIsomorphic([['"a"', '_:x']], [['"b"', '_:x']]))
  t.notOk(isIsomorphic([['_:x'], ['_:x']], [['_:x'], ['_:y']]), 'rows may be the same twice')
  t.ok(isIsomorphic(asSet([['"a"'], ['"a"']]), [['"a"']]))
})

t.test('N-Quads are read', async (t) => {
  const text = `# a comment
<urn:s> <urn:p> "a \\"b\\"\\t\\u00e9\\U0001F600" . # another

_:a.b <urn:p>"x"@EN-gb <urn:g>.
\t<urn:s>\t<urn:p>\t"1"^^<${xsd}int>\t_:g\t.
<urn:s> <urn:p> <urn:o> .
<urn:s> <urn:p> <urn:o> .
`
  t.strictSame(readNQuads(text), [
    ['<urn:s>', '<urn:p>', '"a \\"b\\"\\té😀"', ''],
    ['_:a.b', '<urn:p>', '"x"@en-gb', '<urn:g>'],
    ['<urn:s>', '<urn:p>', `"1"^^<${xsd}int>`, '_:g'],
    ['<urn:s>', '<urn:p>', '<urn:o>', ''],
  ])
  t.throws(() => readNQuads('<urn:s> <urn:p> oops .'))
})

t.test('RDF/XML is read', async (t) => {
  const text = `<?xml version="1.0"?><!-- a comment -->
<!DOCTYPE rdf:RDF [ <!ENTITY e "http://e.org/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://e.org/" xmlns:e="&e;">
  <rdf:Description rdf:about="&e;a"><p rdf:resource="b"/><q xml:lang="en">A &amp; B</q></rdf:Description>
  <T rdf:ID="c" e:n='1'><p rdf:parseType="Resource"><q rdf:datatype="urn:t">2</q></p></T>
</rdf:RDF>`
  const type = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'
  t.ok(
    isIsomorphic(readRdfXml(text, 'http://e.org/x'), [
      ['<http://e.org/a>', '<http://e.org/p>', '<http://e.org/b>', ''],
      ['<http://e.org/a>', '<http://e.org/q>', '"A & B"@en', ''],
      ['<http://e.org/x#c>', type, '<http://e.org/T>', ''],
      ['<http://e.org/x#c>', '<http://e.org/n>', '"1"', ''],
      ['<http://e.org/x#c>', '<http://e.org/p>', '_:b', ''],
      ['_:b', '<http://e.org/q>', '"2"^^<urn:t>', ''],
    ]),
  )
})

t.test('an answer is the same in every format', async (t) => {
  const head = `<sparql xmlns="http://www.w3.org/2005/sparql-results#">`
  const rs = '@prefix rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> .'
  const texts: Readonly<Record<string, string>> = {
    srx: `${head}<head><variable name="a"/><variable name="b"/></head><results>
      <result><binding name="a"><uri>urn:x</uri></binding><binding name="b"><literal
        datatype="${xsd}integer">1</literal></binding></result>
      <result><binding name="a"><bnode>n</bnode></binding></result>
      <result><binding name="b"><literal xml:lang="en"> "t,\n</literal></binding></result>
      </results></sparql>`,
    srj: JSON.stringify({
      head: { vars: ['a', 'b'] },
      results: {
        bindings: [
          {
            b: { type: 'literal', value: '1', datatype: `${xsd}integer` },
            a: { type: 'uri', value: 'urn:x' },
          },
          { a: { type: 'bnode', value: 'm' } },
          { b: { type: 'literal', value: ' "t,\n', 'xml:lang': 'en' } },
        ],
      },
    }),
    tsv: '?a\t?b\n<urn:x>\t1\n_:k\t\n\t" \\"t,\\n"@en\n',
    ttl: `${rs} [] a rs:ResultSet ; rs:resultVariable "a", "b" ; rs:solution
      [ rs:binding [ rs:variable "a" ; rs:value <urn:x> ], [ rs:variable "b" ; rs:value 1 ] ],
      [ rs:binding [ rs:variable "a" ; rs:value [] ] ],
      [ rs:binding [ rs:variable "b" ; rs:value " \\"t,\\n"@en ] ] .`,
  }
  const read = async (extension: string, text: string) =>
    readAnswer(`http://e.org/answer.${extension}`, text, readTurtle)
  const expected = await read('srj', texts.srj as string)
  for (const [extension, text] of Object.entries(texts)) {
    const answer = await read(extension, text)
    t.equal(difference({ expected, answer, isOrdered: false, isLax: false }), '', extension)
  }
  t.match(await read('csv', 'a,b\r\nurn:x,1\r\n_:k,\r\n," ""t,\n"\r\n'), {
    variables: ['a', 'b'],
    rows: [
      new Map([
        ['a', '"urn:x"'],
        ['b', '"1"'],
      ]),
      new Map([['a', '_:k']]),
      new Map([['b', literal(' "t,\n')]]),
    ],
  })
  for (const text of [`${head}<boolean>true</boolean></sparql>`, '{"head":{},"boolean":true}']) {
    const extension = text.startsWith('{') ? 'srj' : 'srx'
    t.strictSame(await read(extension, text), { type: 'boolean', value: true })
  }
})

const rows = (values: string, isOrdered?: boolean): Answer => ({
  type: 'rows',
  variables: ['x'],
  rows: values.split(' ').map((value) => new Map([['x', literal(value)]])),
  ...(isOrdered && { isOrdered }),
})

t.test('what is different is found', async (t) => {
  const table: readonly (readonly [Answer, Answer, boolean, ('ordered' | 'lax')?])[] = [
    [rows('a b'), rows('b a'), true],
    [rows('a b'), rows('b a'), false, 'ordered'],
    [rows('a b', true), rows('b a'), false],
    [rows('a a b'), rows('a b'), false],
    [rows('a a b'), rows('a b'), true, 'lax'],
    [rows('a a b'), rows('a a'), false, 'lax'],
    [rows('a b'), rows('a a b'), false, 'lax'],
    [rows('a'), { ...rows('a'), variables: ['x', 'y'] } as Answer, false],
    [{ type: 'boolean', value: true }, { type: 'boolean', value: false }, false],
    [{ type: 'boolean', value: true }, rows('a'), false],
  ]
  for (const [expected, answer, isSame, how] of table) {
    const options = { isOrdered: how === 'ordered', isLax: how === 'lax' }
    const found = difference({ expected, answer, ...options })
    t.equal(found === '', isSame, JSON.stringify([expected, answer, options]))
  }
})

t.test('numbers of a type are the same by their value', async (t) => {
  const number = (text: string, type: string) => byValue(literal(text, '', xsd + type))
  for (const [a, b, type] of [
    ['1.0', '1', 'decimal'],
    ['-0.50', '-.5', 'decimal'],
    ['+007', '7', 'integer'],
    ['-0', '0', 'integer'],
    ['1e3', '1000', 'double'],
    ['2.0E-1', '.2', 'float'],
  ] as const) {
    t.equal(number(a, type), number(b, type), `${a} ${type}`)
  }
  t.not(number('1', 'integer'), number('1', 'decimal'))
  t.not(number('9007199254740993', 'integer'), number('9007199254740992', 'integer'))
  t.not(number('10', 'integer'), number('1', 'integer'))
  t.not(number('-1', 'integer'), number('1', 'integer'))
  t.equal(byValue('"1.0"'), '"1.0"')
})
