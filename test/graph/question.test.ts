import { DataFactory } from 'n3'
import t, { type Test } from 'tap'
import { aLimit, Question } from '../../src/graph/question.js'
import { rdfFactory } from '../../src/rdf/index.js'

const boat = { v: 'urn:x:boat', e: true }
const text = { v: '', e: false }

/** What `read` gives, once nothing is wrong with it. */
function checked<T>(read: (question: Question) => T): T {
  const question = new Question()
  const found = read(question)
  question.end()
  return found
}

const checkTerm = (value: unknown, path: string) => checked((q) => q.term(value, path))
const checkTriplePattern = (value: unknown, path: string) =>
  checked((q) => q.triplePattern(value, path))
const checkQueryPatterns = (value: unknown, path: string) =>
  checked((q) => q.queryPatterns(value, path))
const checkEntityPatterns = (value: unknown, path: string) =>
  checked((q) => q.entityPatterns(value, path))

function refuses(t: Test, check: () => unknown, ...paths: readonly string[]) {
  const errors = paths.map((path) => ({ path }))
  t.throws(check, { code: 'LK_GRAPH_QUERY', details: { errors } }, `${paths}: ${check.toString()}`)
}

t.test('a term is taken as it is, and copied', async (t) => {
  t.strictSame(checkTerm(boat, 't'), boat)
  t.strictSame(checkTerm(text, 't'), text)
  t.not(checkTerm(boat, 't'), boat)
})

t.test('of a term of RDF/JS it is told what makes it one of a core', (t) => {
  for (const term of [rdfFactory.namedNode('urn:x:boat'), DataFactory.literal('a', 'en')]) {
    t.throws(() => checkTerm(term, 't'), { code: 'LK_GRAPH_QUERY', message: /termOf\(\)/ })
  }
  t.end()
})

t.test('what is no term is refused, with its place', async (t) => {
  refuses(t, () => checkTerm(undefined, 't'), 't')
  refuses(t, () => checkTerm(null, 't'), 't')
  refuses(t, () => checkTerm([boat], 't'), 't')
  refuses(t, () => checkTerm('urn:x:boat', 't'), 't')
  refuses(t, () => checkTerm('?x', 't'), 't')
  refuses(t, () => checkTerm({ e: true }, 't'), 't.v')
  refuses(t, () => checkTerm({ v: 1, e: true }, ''), 'v')
  refuses(t, () => checkTerm({ v: '\ud800', e: true }, 't'), 't.v')
  refuses(t, () => checkTerm({ v: 'x' }, 't'), 't.e')
  refuses(t, () => checkTerm({ v: 'x', e: 1 }, 't'), 't.e')
})

t.test('a triple pattern has terms in the places it names', async (t) => {
  const open = { s: undefined, p: undefined, o: undefined, g: undefined }
  t.strictSame(checkTriplePattern(undefined, ''), open)
  t.strictSame(checkTriplePattern({ g: 'urn:g' }, ''), { ...open, g: 'urn:g' })
  t.strictSame(checkTriplePattern({ g: null }, ''), { ...open, g: null })
  refuses(t, () => checkTriplePattern({ g: '' }, ''), 'g')
  refuses(t, () => checkTriplePattern({ g: boat }, 'pattern'), 'pattern.g')
  t.strictSame(checkTriplePattern({}, ''), open)
  t.strictSame(checkTriplePattern({ s: boat, o: text }, ''), { ...open, s: boat, o: text })
  refuses(t, () => checkTriplePattern({ subject: boat }, ''), 'subject')
  refuses(t, () => checkTriplePattern({ p: '?p' }, ''), 'p')
  refuses(t, () => checkTriplePattern({ o: { v: 1 } }, 'pattern'), 'pattern.o.v')
  refuses(t, () => checkTriplePattern({ o: null }, ''), 'o')
  refuses(t, () => checkTriplePattern([], 'pattern'), 'pattern')
})

t.test('a pattern of a query has a term or a variable in each place', async (t) => {
  const pattern = { s: '?größe', p: boat, o: '?_1' }
  for (const g of [undefined, null, 'urn:g', '?g']) {
    t.strictSame(checkQueryPatterns([{ ...pattern, g }], 'patterns'), [{ ...pattern, g }])
  }
  refuses(t, () => checkQueryPatterns([{ ...pattern, g: '?a b' }], 'patterns'), 'patterns[0].g')
  t.strictSame(checkQueryPatterns([], 'patterns'), [])
  refuses(t, () => checkQueryPatterns(pattern, 'patterns'), 'patterns')
  refuses(t, () => checkQueryPatterns([pattern, 1], 'patterns'), 'patterns[1]')
  refuses(t, () => checkQueryPatterns([{ s: '?s', p: '?p' }], 'patterns'), 'patterns[0].o')
  refuses(t, () => checkQueryPatterns([{ ...pattern, g: boat }], 'patterns'), 'patterns[0].g')
  refuses(t, () => checkQueryPatterns([{ ...pattern, s: 'x' }], 'patterns'), 'patterns[0].s')
  for (const s of ['?', '?a b', '??a', '?a.b', '?__proto__']) {
    refuses(t, () => checkQueryPatterns([{ ...pattern, s }], 'patterns'), 'patterns[0].s')
  }
})

t.test('patterns of an entity are one or several, with open places', async (t) => {
  const open = { s: undefined, p: undefined, o: undefined }
  t.strictSame(checkEntityPatterns(undefined, 'where'), [])
  t.strictSame(checkEntityPatterns({ p: boat }, 'where'), [{ ...open, p: boat }])
  t.strictSame(checkEntityPatterns([{ o: '?entity' }, {}], 'where'), [
    { ...open, o: '?entity' },
    open,
  ])
  refuses(t, () => checkEntityPatterns('?entity', 'where'), 'where')
  refuses(t, () => checkEntityPatterns([{ x: boat }], 'where'), 'where[0].x')
  refuses(t, () => checkEntityPatterns([{ g: 'urn:g' }], 'where'), 'where[0].g')
  refuses(t, () => checkEntityPatterns([{}, { p: 'x' }], 'where'), 'where[1].p')
})

t.test('a vector has finite numbers, one at least, and is copied', async (t) => {
  const checkVector = (value: unknown) => checked((q) => q.vector(value, 'vector'))
  t.strictSame(checkVector([1, 2]), Float64Array.of(1, 2))
  t.strictSame(checkVector(Float32Array.of(0.5)), Float64Array.of(0.5))
  for (const value of [undefined, null, {}, '1', [], new Uint8Array(2)]) {
    refuses(t, () => checkVector(value), 'vector')
  }
  refuses(t, () => checkVector([1, , '2', NaN]), 'vector[1]', 'vector[2]', 'vector[3]')
})

t.test('all that is wrong with a question is told at once', async (t) => {
  const wrong = [{ s: '?s', p: '?p' }, 1, { s: 'x', p: { v: 1 }, o: '?o', g: 7 }]
  refuses(
    t,
    () => checkQueryPatterns(wrong, 'patterns'),
    'patterns[0].o',
    'patterns[1]',
    'patterns[2].g',
    'patterns[2].s',
    'patterns[2].p.v',
    'patterns[2].p.e',
  )
})

t.test('a selection is a list of variables', async (t) => {
  const checkSelection = (value: unknown) => checked((q) => q.selection(value, 'select'))
  t.equal(checkSelection(undefined), undefined)
  t.strictSame(checkSelection(['?x', '?y']), ['?x', '?y'])
  for (const wrong of ['?x', null]) refuses(t, () => checkSelection(wrong), 'select')
  refuses(t, () => checkSelection(['?x', 'y', boat]), 'select[1]', 'select[2]')
})

t.test('a limit is a whole number from 0, or none', async (t) => {
  for (const limit of [0, 1, Number.MAX_SAFE_INTEGER, Infinity]) t.ok(aLimit.holds(limit))
  for (const limit of [-1, 1.5, NaN, 2 ** 53, '1', null]) t.notOk(aLimit.holds(limit))
})
