// What the suites of the W3C ask of N-Triples, N-Quads, Turtle and TriG, in texts of our own: what each
// says, in N-Quads, through every pair of syntaxes; and what is none. `npm run w3c` runs the suites.

import t, { type Test as Tap } from 'tap'
import { asSet, isIsomorphic, type Tuple } from '../w3c/isomorphism.js'
import { readNQuads } from '../w3c/n-quads.js'
import { ofTriple } from '../w3c/terms.js'
import { parse, write } from './texts.js'

const xsd = 'http://www.w3.org/2001/XMLSchema#'
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const base = 'http://e.org/a/b'
const formats = ['n-triples', 'n-quads', 'turtle', 'trig']

/** What is said in N-Quads, with `:name` for `<urn:name>` and `rdf:` and `xsd:` for theirs. */
function said(short: string): readonly Tuple[] {
  const names: Readonly<Record<string, string>> = { '': 'urn:', rdf, xsd }
  const long = short.replace(
    /"(?:[^"\\]|\\.)*"|<[^>]*>|_:\w+|(?<![\w@-])(rdf|xsd|):(\w+)/g,
    (whole, prefix?: string, name?: string) =>
      name === undefined ? whole : `<${names[prefix ?? '']}${name}>`,
  )
  return readNQuads(long.replaceAll(';;', '.\n') + ' .')
}

const head = '@prefix : <urn:> . '

/** A text and the quads that it says, `;;` between them. */
type Cases = readonly (readonly [text: string, quads: string])[]

const turtle: Readonly<Record<string, Cases>> = {
  'lists of predicates and objects': [
    [':a :p :b ; :q :c , :d .', ':a :p :b ;; :a :q :c ;; :a :q :d'],
    [':a :p :b ; ; :q :c ; .', ':a :p :b ;; :a :q :c'],
    [':a a :T .', ':a rdf:type :T'],
    ['<urn:a><urn:p>"b"@en,"c".', ':a :p "b"@en ;; :a :p "c"'],
  ],
  prefixes: [
    ['PREFIX x: <urn:x/> prefix y: <urn:y/> x:a y:b x: .', '<urn:x/a> <urn:y/b> <urn:x/>'],
    [
      '@prefix x: <urn:x/> . x:a :p 1 . @prefix x: <urn:y/> . x:a :p 1 .',
      '<urn:x/a> :p "1"^^xsd:integer ;; <urn:y/a> :p "1"^^xsd:integer',
    ],
    ['@prefix a.b-1: <urn:> . a.b-1:c.d a.b-1:_1 a.b-1:1:x .', '<urn:c.d> <urn:_1> <urn:1:x>'],
    [':a%20b :p\\~\\.\\,\\/ :\\%41 .', '<urn:a%20b> <urn:p~.,/> <urn:%41>'],
    [':é :p :a·b‿c .', '<urn:é> <urn:p> <urn:a·b‿c>'],
  ],
  'relative IRIs': [
    ['<c> <#p> <> .', '<http://e.org/a/c> <http://e.org/a/b#p> <http://e.org/a/b>'],
    ['<../c> </p> <//f.org/o> .', '<http://e.org/c> <http://e.org/p> <http://f.org/o>'],
    ['<./c/../d> <?q> <g:h> .', '<http://e.org/a/d> <http://e.org/a/b?q> <g:h>'],
    ['@base <http://f.org/x/y> . <z> :p 1 .', '<http://f.org/x/z> :p "1"^^xsd:integer'],
    ['BASE <../x/> BASE <y> <z> :p <> .', '<http://e.org/x/z> :p <http://e.org/x/y>'],
    ['@prefix n: <n#> . n:a :p n: .', '<http://e.org/a/n#a> :p <http://e.org/a/n#>'],
    [
      '<http://e.org/x/../y> :p <HTTP://E.org/%7e> .',
      '<http://e.org/x/../y> :p <HTTP://E.org/%7e>',
    ],
  ],
  'blank nodes': [
    ['_:x :p _:y . _:y :p _:x .', '_:x :p _:y ;; _:y :p _:x'],
    ['_:0.x-y :p _:_ .', '_:a :p _:b'],
    ['[] :p [] .', '_:x :p _:y'],
    ['[ :p :a ; :q [ :r 1 ] ] .', '_:x :p :a ;; _:x :q _:y ;; _:y :r "1"^^xsd:integer'],
    ['[ :p :a ] :q [ :p :a ] , [ ] .', '_:x :p :a ;; _:y :p :a ;; _:x :q _:y ;; _:x :q _:z'],
    ['_:genid1 :p [] , [] .', '_:a :p _:b ;; _:a :p _:c'],
    ['_:b0 :p [ :q _:b0 ] , _:b1 .', '_:a :p _:c ;; _:c :q _:a ;; _:a :p _:b'],
  ],
  collections: [
    ['() :p ( ) .', 'rdf:nil :p rdf:nil'],
    [
      ':a :p (1 "b") .',
      ':a :p _:x ;; _:x rdf:first "1"^^xsd:integer ;; _:x rdf:rest _:y ;; _:y rdf:first "b" ;; _:y rdf:rest rdf:nil',
    ],
    [
      '(:a) :p ((:b)) .',
      '_:x rdf:first :a ;; _:x rdf:rest rdf:nil ;; _:x :p _:y ;; _:y rdf:first _:z ;; _:y rdf:rest rdf:nil ;; _:z rdf:first :b ;; _:z rdf:rest rdf:nil',
    ],
    [
      '([ :p 1 ]) :q () .',
      '_:x rdf:first _:y ;; _:x rdf:rest rdf:nil ;; _:y :p "1"^^xsd:integer ;; _:x :q rdf:nil',
    ],
  ],
  numbers: [
    [
      ':a :p 1, -01, +2 .',
      ':a :p "1"^^xsd:integer ;; :a :p "-01"^^xsd:integer ;; :a :p "+2"^^xsd:integer',
    ],
    [':a :p 1.0, -.5 .', ':a :p "1.0"^^xsd:decimal ;; :a :p "-.5"^^xsd:decimal'],
    [
      ':a :p 1e0, 1.E-3, .1e+2 .',
      ':a :p "1e0"^^xsd:double ;; :a :p "1.E-3"^^xsd:double ;; :a :p ".1e+2"^^xsd:double',
    ],
    [':a :p 1.:b :p 1 .', ':a :p "1"^^xsd:integer ;; :b :p "1"^^xsd:integer'],
    [':a :p true, false .', ':a :p "true"^^xsd:boolean ;; :a :p "false"^^xsd:boolean'],
  ],
  texts: [
    [`:a :p "it's", 'say "x"' .`, ':a :p "it\'s" ;; :a :p "say \\"x\\""'],
    [`:a :p """a"b""c\nd""", '''a'b''c''' .`, `:a :p "a\\"b\\"\\"c\\nd" ;; :a :p "a'b''c"`],
    [
      ':a :p """\\"""", "\\t\\b\\n\\r\\f\\"\\\'\\\\" .',
      ':a :p "\\"" ;; :a :p "\\t\\b\\n\\r\\f\\"\'\\\\"',
    ],
    [':a :p "\\u00e9\\U0001F600", "é😀" .', ':a :p "é😀"'],
    [
      ':a :p "", "x"@en, "x"@de-AT-1996, "x"^^:t, "x"^^<urn:t> .',
      ':a :p "" ;; :a :p "x"@en ;; :a :p "x"@de-AT-1996 ;; :a :p "x"^^:t',
    ],
    [`:a :p "x"^^<${xsd}string> .`, ':a :p "x"'],
    [':a :p "# no comment" . # a comment\n# :a :q 1 .', ':a :p "# no comment"'],
    [':a :p <urn:\\u0061> .', ':a :p :a'],
  ],
}

const lines: Cases = [
  ['<urn:a> <urn:p> <urn:b> .', ':a :p :b'],
  ['<urn:a><urn:p><urn:b>.', ':a :p :b'],
  ['\t<urn:a>\t<urn:p>\t_:b\t.\t# a comment', ':a :p _:b'],
  ['\n# a comment\n\r\n<urn:a> <urn:p> "b" .\r\n<urn:a> <urn:p> "c" .\n', ':a :p "b" ;; :a :p "c"'],
  ['<urn:a> <urn:p> "\\u0062\\t\\"\\\\\\U0001F600" .', ':a :p "b\\t\\"\\\\😀"'],
  ['_:1a.b <urn:p> "x"@en-gb .\n_:1a.b <urn:p> _:é .', '_:x :p "x"@en-gb ;; _:x :p _:y'],
  ['<urn:a> <urn:p> "x"^^<urn:t> .', ':a :p "x"^^:t'],
  ['<urn:a> <urn:p> "\u007f\u0080\u2028" .', ':a :p "\u007f\u0080\u2028"'],
  ['<urn:a> <urn:p> "" .', ':a :p ""'],
]

const quads: Cases = [
  ['<urn:a> <urn:p> <urn:b> <urn:g> .', ':a :p :b :g'],
  ['<urn:a> <urn:p> "b"@en <urn:g> .\n<urn:a> <urn:p> "b"@en .', ':a :p "b"@en :g ;; :a :p "b"@en'],
  ['_:a <urn:p> _:b _:g .\n_:g <urn:p> _:a _:g .', '_:a :p _:b _:g ;; _:g :p _:a _:g'],
  [
    '<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> <urn:h> .',
    ':a :p :b :g ;; :a :p :b :h',
  ],
]

const trig: Cases = [
  ['{ :a :p :b }', ':a :p :b'],
  [':a :p :b . { :c :p :d . :e :p :f } {}', ':a :p :b ;; :c :p :d ;; :e :p :f'],
  [':g { :a :p :b . }', ':a :p :b :g'],
  ['GRAPH :g { :a :p :b } graph <urn:h> {}', ':a :p :b :g'],
  [':g { :a :p :b } :g { :a :p :c }', ':a :p :b :g ;; :a :p :c :g'],
  ['_:g { _:a :p _:g } _:a :p _:g .', '_:a :p _:g _:g ;; _:a :p _:g'],
  ['[] { :a :p 1.0 }', ':a :p "1.0"^^xsd:decimal _:g'],
  [
    ':g { [ :p (1) ] }',
    '_:x :p _:y :g ;; _:y rdf:first "1"^^xsd:integer :g ;; _:y rdf:rest rdf:nil :g',
  ],
  [':g { :a :p :b } { :a :p :b }', ':a :p :b :g ;; :a :p :b'],
  [
    '@prefix x: <urn:x/> . x:g { <c> a x:T } @base <http://f.org/> . x:h { <c> :p "x"@en }',
    '<http://e.org/a/c> rdf:type <urn:x/T> <urn:x/g> ;; <http://f.org/c> :p "x"@en <urn:x/h>',
  ],
]

async function holds(t: Tap, text: string, format: string, expected: readonly Tuple[]) {
  const { triples } = await parse(text, { format, base })
  const isSaid = (quads: readonly Tuple[], how: string) => {
    if (!isIsomorphic(quads, expected)) t.strictSame(quads, expected, `${format}, ${how}: ${text}`)
  }
  isSaid(asSet(triples.map(ofTriple)), 'read')
  isSaid(readNQuads(await write(triples, 'nq')), 'written')
  for (const first of formats) {
    const through = await parse(await write(triples, first), { format: first })
    for (const second of formats) {
      const back = await parse(await write(through.triples, second), { format: second })
      isSaid(readNQuads(await write(back.triples, 'nq')), `${first}, ${second}`)
    }
  }
  t.pass()
}

for (const [name, cases] of Object.entries(turtle)) {
  t.test(`Turtle, and TriG with it: ${name}`, async (t) => {
    for (const [text, quads] of cases) {
      for (const format of ['turtle', 'trig']) await holds(t, head + text, format, said(quads))
    }
  })
}

t.test('TriG has graphs', async (t) => {
  for (const [text, quads] of trig) await holds(t, head + text, 'trig', said(quads))
})

t.test('lines of triples and quads', async (t) => {
  for (const [text, quads] of lines) {
    for (const format of formats) await holds(t, text, format, said(quads))
  }
  for (const [text, said_] of quads) await holds(t, text, 'n-quads', said(said_))
})

/** By the line in which it is found. */
const noTurtle: readonly string[] = [
  ':a :p .',
  ':a :p :b',
  ':a :p :b :c .',
  ':a :p :b . . ',
  ':a :p ; .',
  ':a :p , :b .',
  ':a "p" :b .',
  ':a _:p :b .',
  ':a [] :b .',
  '"a" :p :b .',
  'a :p :b .',
  ':a :p a .',
  ':a :p nowhere:b .',
  ':a :p <b c> .',
  ':a :p <\\u0020> .',
  ':a :p <b{}> .',
  ':a :p "b .',
  ":a :p 'b\nc' .",
  ':a :p "\\x" .',
  ':a :p "\\u00g0" .',
  ':a :p "b"@ .',
  ':a :p "b"@1 .',
  ':a :p "b"@en^^:t .',
  ':a :p "b"^^"t" .',
  ':a :p 1.2.3 .',
  ':a :p 1e .',
  ':a :p +-1 .',
  ':a :p ( :b .',
  ':a :p [ :b ] .',
  ':a :p ] .',
  '[] .',
  '( 1 ) .'.replace('( 1 )', '()'),
  '@prefix x <urn:x> .',
  '@prefix x: <urn:x>',
  '@PREFIX x: <urn:x> .',
  'PREFIX x: <urn:x> .',
  '@base "urn:x" .',
  ':a :p :b%2 .',
  ':a :p :b\\c .',
  ':a :p TRUE .',
  '@keywords a .',
  '{ :a :p :b } :p :c .',
  ':a = :b .',
  ':a :p ?b .',
]

const noLines = [
  '<urn:a> <urn:p> <urn:b>',
  '<urn:a> <urn:p> .',
  '<urn:a> <urn:p> 1 .',
  '<urn:a> <urn:p> true .',
  "<urn:a> <urn:p> 'b' .",
  '<urn:a> <urn:p> """b""" .',
  '<urn:a> a <urn:b> .',
  '<urn:a> <urn:p> <urn:b>, <urn:c> .',
  '<urn:a> <urn:p> <urn:b> ; <urn:q> <urn:c> .',
  '<urn:a> <urn:p> [] .',
  '<urn:a> <urn:p> () .',
  '@prefix : <urn:> .',
  '@base <urn:> .',
  '<a> <urn:p> <urn:b> .',
  '<urn:a> <p> <urn:b> .',
  '<urn:a> <urn:p> "b"^^<t> .',
  '<urn:a> <urn:p> "b"^^urn:t .',
  '<urn:a> <urn:p> "b\nc" .',
  '<urn:a> <urn:p> "b\\qc" .',
  '<urn:a> <urn:p> "b"@1 .',
  '<urn:a> <urn:p> <urn:b c> .',
  '<urn:a> <urn:p> <urn:\\u0020b> .',
  '"a" <urn:p> <urn:b> .',
  '<urn:a> _:p <urn:b> .',
  '<urn:a> "p" <urn:b> .',
]

const noQuads = [
  '<urn:a> <urn:p> <urn:b> "g" .',
  '<urn:a> <urn:p> <urn:b> <g> .',
  '<urn:a> <urn:p> <urn:b> <urn:g> <urn:h> .',
]

const noTrig = [
  ':g { :a :p :b',
  ':g { :a :p :b } .',
  'GRAPH { :a :p :b }',
  'GRAPH :g :a :p :b .',
  ':g { :h { :a :p :b } }',
  ':g { @prefix x: <urn:x> . }',
  '"g" { :a :p :b }',
  '() { :a :p :b }',
  '(1) { :a :p :b }',
  '[ :p 1 ] { :a :p :b }',
  ':g :h { :a :p :b }',
  ':g { :a :p :b . . }',
]

t.test('what is none of a syntax is refused, with its line', async (t) => {
  const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [head, noTurtle, ['turtle', 'trig']],
    [head, noTrig, ['trig']],
    ['', noLines, ['n-triples', 'n-quads']],
    ['', quads.map(([text]) => text), ['n-triples', 'turtle']],
    ['', noQuads, ['n-quads']],
  ]
  for (const [before, texts, formats] of table) {
    for (const text of texts) {
      for (const format of formats) {
        const options = format.startsWith('n-') ? { format } : { format, base }
        const asked = parse(`\n${before}${text}`, options)
        const line = (found: number) => found >= 2
        const error = await asked.then(
          () => ({}),
          (reason: unknown) => reason,
        )
        const { code, details } = error as { code?: string; details?: { line: number } }
        t.equal(code, 'LK_RDF_FORMAT', `${format}: ${text}`)
        t.ok(line(details?.line ?? 0), `${format}: ${text}`)
      }
    }
  }
})
