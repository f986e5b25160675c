import t, { type Test } from 'tap'
import {
  checkEntityPatterns,
  checkFlag,
  checkLimit,
  checkMembers,
  checkQueryPatterns,
  checkSelection,
  checkTerm,
  checkTriplePattern,
} from '../../src/graph/question.js'

const boat = { v: 'urn:x:boat', e: true }
const text = { v: '', e: false }

function refuses(t: Test, check: () => unknown, path: string) {
  t.throws(check, { code: 'LK_GRAPH_QUERY', details: { path } }, `${path}: ${check.toString()}`)
}

t.test('a term is taken as it is, and copied', async (t) => {
  t.strictSame(checkTerm(boat, 't'), boat)
  t.strictSame(checkTerm(text, 't'), text)
  t.not(checkTerm(boat, 't'), boat)
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
  const open = { s: undefined, p: undefined, o: undefined }
  t.strictSame(checkTriplePattern(undefined, ''), open)
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
  t.strictSame(checkQueryPatterns([pattern], 'patterns'), [pattern])
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
  refuses(t, () => checkEntityPatterns([{}, { p: 'x' }], 'where'), 'where[1].p')
})

t.test('a selection is a list of variables', async (t) => {
  t.equal(checkSelection(undefined, 'select'), undefined)
  t.strictSame(checkSelection(['?x', '?y'], 'select'), ['?x', '?y'])
  refuses(t, () => checkSelection('?x', 'select'), 'select')
  refuses(t, () => checkSelection(['?x', 'y'], 'select'), 'select[1]')
  refuses(t, () => checkSelection([boat], 'select'), 'select[0]')
})

t.test('a limit is a whole number from 0, or none', async (t) => {
  for (const limit of [0, 1, Number.MAX_SAFE_INTEGER, Infinity]) {
    t.equal(checkLimit(limit, 'limit'), limit)
  }
  t.equal(checkLimit(undefined, 'limit'), Infinity)
  for (const limit of [-1, 1.5, NaN, 2 ** 53, '1', null]) {
    refuses(t, () => checkLimit(limit, 'limit'), 'limit')
  }
})

t.test('a flag is true or false', async (t) => {
  t.equal(checkFlag(undefined, 'distinct'), false)
  t.equal(checkFlag(true, 'distinct'), true)
  t.equal(checkFlag(false, 'distinct'), false)
  refuses(t, () => checkFlag(1, 'distinct'), 'distinct')
  refuses(t, () => checkFlag(null, 'distinct'), 'distinct')
})

t.test('members that nobody knows are refused', async (t) => {
  t.strictSame(checkMembers(undefined, '', ['limit']), {})
  t.strictSame(checkMembers({ limit: 1 }, '', ['limit']), { limit: 1 })
  refuses(t, () => checkMembers({ limits: 1 }, '', ['limit']), 'limits')
  refuses(t, () => checkMembers(1, 'options', ['limit']), 'options')
})
