import { InvalidArgumentError } from 'commander'
import t from 'tap'
import {
  formatTerm,
  formatTriple,
  parseGraph,
  parseTerm,
  parseValue,
} from '../../src/cli/output/term.js'
import { pickSeed, Random } from '../fixtures/random.js'

t.test('an entity is an IRI with or without angle brackets, a literal has quotes', async (t) => {
  for (const text of ['<urn:a>', 'urn:a']) t.same(parseTerm(text), { v: 'urn:a', e: true })
  t.same(parseTerm('"urn:a"'), { v: 'urn:a', e: false })
  t.same(parseTerm('<Mary Shelley>'), { v: 'Mary Shelley', e: true })
  t.same(parseTerm('"say \\"hi\\"\\n\\u00e9\\U0001F600"'), { v: 'say "hi"\né😀', e: false })
  t.same(parseTerm('""'), { v: '', e: false })
  t.same(parseTerm('"chat"@fr-FR'), { v: 'chat', e: false, ln: 'fr-FR' })
  t.same(parseTerm('"5"^^<urn:integer>'), { v: '5', e: false, dt: 'urn:integer' })
  t.same(parseTerm('_:b0'), { v: '_:b0', e: true })
})

t.test('a blank node has any label of N-Triples', (t) => {
  // As imports make them of long labels, and of letters beyond ASCII.
  for (const v of ['_:b0123.0f0f', '_:_a', '_:größe', '_:a·b-c']) {
    t.equal(formatTerm({ v, e: true }), v)
    t.same(parseTerm(v), { v, e: true })
    t.equal(parseGraph(v), v)
  }
  for (const v of ['_:', '_:a.', '_:-a', '_:a b', '_:a\u202eb']) {
    t.equal(formatTerm({ v, e: true })[0], '<')
    t.throws(() => parseTerm(v), InvalidArgumentError)
  }
  t.end()
})

t.test('a value is a number or a literal, a graph an IRI', (t) => {
  t.equal(parseValue('9'), 9)
  t.equal(parseValue('-1.5e3'), -1500)
  t.same(parseValue('"9"'), { v: '9', e: false })
  t.same(parseValue('"9"^^<urn:integer>'), { v: '9', e: false, dt: 'urn:integer' })
  const xsd = 'http://www.w3.org/2001/XMLSchema#'
  t.same(parseValue('2000-01-31'), { v: '2000-01-31', e: false, dt: `${xsd}date` })
  const noon = '2000-01-31T12:00:00Z'
  t.same(parseValue(noon), { v: noon, e: false, dt: `${xsd}dateTime` })
  for (const text of ['', 'x', '1e', '<urn:a>', 'urn:a', '0x10', '2000-01']) {
    t.throws(() => parseValue(text), { message: /^It is a number, a date such as/ }, text)
  }
  t.equal(parseGraph('<urn:a>'), 'urn:a')
  t.equal(parseGraph('_:b0'), '_:b0')
  for (const text of ['', 'x', '"x"', '?g'])
    t.throws(() => parseGraph(text), { message: /^It is <iri>, or an IRI/ }, text)
  t.end()
})

t.test('what is none of these is refused', async (t) => {
  const wrong = [
    '',
    'London',
    'Mary Shelley',
    'urn:a b',
    '"London',
    'London"',
    '"a"b"',
    '<urn:a',
    '"chat"@',
    '"chat"@fr_FR',
    '"chat"@fr@en',
    '"5"^^<integer>',
    '"5"^^urn:integer',
    '"5"^^<urn:a>@en',
    '"C:\\Users"',
    '"\\u00e"',
    '"\\uD800"',
    '"\\U00110000"',
    '<urn:a\\>',
  ]
  for (const text of wrong) t.throws(() => parseTerm(text), InvalidArgumentError, text)
})

t.test('nothing of a term that is printed moves a cursor, or ends its line', async (t) => {
  const v = 'a"b\\c\td\u001b[2J\u202e\ne'
  t.equal(formatTerm({ v, e: false }), '"a\\"b\\\\c\\td\\u001b[2J\\u202e\\ne"')
  t.equal(formatTerm({ v: 'urn:a b>\\\n', e: true }), '<urn:a\\u0020b\\u003e\\u005c\\u000a>')
  const [s, p] = [
    { v: '_:b0', e: true },
    { v: 'urn:p', e: true },
  ]
  t.equal(formatTriple({ s, p, o: { v: 'é', e: false } }), '_:b0 <urn:p> "é" .')
})

const seed = pickSeed()
t.test(`a term is read as it was printed (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const characters = [...'ab:/_<>"\\{}|^`\'ntu \t\n\r\u0000\u001b\u0085\u2028\u202eé😀']
  for (let round = 0; round < 2000; round++) {
    const v = Array.from({ length: random.below(8) }, () => random.pick(characters)).join('')
    const more = random.pick([{}, { ln: 'de-AT' }, { dt: 'urn:ü' }])
    const term = random.below(2) === 0 ? { v, e: true } : { v, e: false, ...more }
    t.strictSame(parseTerm(formatTerm(term)), term)
  }
})
