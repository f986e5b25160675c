import { readFileSync } from 'node:fs'
import t from 'tap'
import { catalogue, hasCode, LorekeepError, type ErrorCode } from '../src/errors.js'

const docs = readFileSync('docs/errors.md', 'utf8')

t.test('docs/errors.md has every code with its kind, and no other', async (t) => {
  const documented = [...docs.matchAll(/^\| `(LK_[A-Z_]+)` \| (\S+) \|/gm)].map(
    ([, code, kind]) => [code, kind],
  )
  const expected = Object.entries(catalogue).map(([code, { kind }]) => [code, kind])
  t.strictSame(documented.sort(), expected.sort())
  for (const mentioned of docs.matchAll(/LK_[A-Z]+(_[A-Z]+)*/g)) {
    t.ok(Object.hasOwn(catalogue, mentioned[0]), mentioned[0])
  }
})

t.test('an error carries code, kind, cause and details', async (t) => {
  const cause = new Error('disk')
  const error = new LorekeepError('LK_STORAGE_FAILED', 'in cores', { cause, details: { n: 1 } })
  t.match(error, {
    name: 'LorekeepError',
    code: 'LK_STORAGE_FAILED',
    kind: 'storage',
    cause,
    details: { n: 1 },
  })
  t.equal(error.message, 'the storage failed: in cores')
  t.equal('cause' in new LorekeepError('LK_CLOSED'), false)
  t.ok(hasCode(error, 'LK_STORAGE_FAILED'))
  t.notOk(hasCode(error, 'LK_CLOSED' satisfies ErrorCode))
  t.notOk(hasCode({ code: 'LK_STORAGE_FAILED' }, 'LK_STORAGE_FAILED'))
})
