import t from 'tap'
import { maxErrorBytes, maxErrors, Problems } from '../../src/door/problems.js'
import { LorekeepError } from '../../src/errors.js'

t.test('a list tells what is wrong up to its bounds, and counts the rest', async (t) => {
  const list = new Problems<{ path: string }>()
  for (let i = 0; i < maxErrors; i++) {
    t.notOk(list.isFull, `${i}`)
    list.add({ path: `k${i}` })
  }
  t.ok(list.isFull)
  t.notOk('errorsOmitted' in list.details)
  list.add({ path: 'one more' })
  list.omit(6)
  t.equal(list.details.errors.length, maxErrors)
  t.equal(list.details.errorsOmitted, 7)
  t.equal(list.count, maxErrors + 7)
})

t.test('its JSON is bounded in bytes, whatever the characters', async (t) => {
  for (const character of ['a', '€', '😀', '"', '\u0001', '\ud800']) {
    const list = new Problems<{ path: string; message: string }>()
    for (let i = 0; i < 1000; i++) {
      list.add({ path: character.repeat(400), message: character.repeat(100_000) })
    }
    const { errors, errorsOmitted = 0 } = list.details
    t.ok(Buffer.byteLength(JSON.stringify(errors)) <= maxErrorBytes, character)
    t.ok(errors.length > 0, character)
    t.equal(errors.length + errorsOmitted, 1000, character)
  }
})

t.test('beyond the bound nothing is made of an unknown name', async (t) => {
  const problems = new Problems()
  const names = Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1])
  problems.unknown({ known: 1, ...Object.fromEntries(names) }, ['known'], 'at')
  t.equal(problems.count, 50_000)
  t.equal(problems.details.errors.length, maxErrors)
  t.strictSame(problems.details.errors[0], {
    path: 'at.k0',
    message: 'is unknown; there is known',
  })
  problems.fail('x', () => t.fail('made in vain') as unknown as string)
})

t.test('an error has all of it in its details, and the first few in its message', async (t) => {
  const problems = new Problems()
  problems.throwIfAny('LK_QUERY')
  problems.fail('', 'must be an object')
  problems.fail(['odd key', 2], 'is wrong')
  t.throws(() => problems.throwIfAny('LK_QUERY'), {
    code: 'LK_QUERY',
    message: 'not a valid query: must be an object; ["odd key"][2] is wrong',
    details: {
      errors: [
        { path: '', message: 'must be an object' },
        { path: '["odd key"][2]', message: 'is wrong' },
      ],
    },
  })
  for (let n = 0; n < 9; n++) problems.fail(`k${n}`, 'is wrong')
  t.match(problems.error('LK_QUERY').message, / \(and 1 more\)$/)
})

t.test('lists are joined with what each left out', async (t) => {
  const list = new Problems<{ path: string }>()
  list.addAll({ errors: [{ path: 'a' }, { path: 'b' }], errorsOmitted: 3 })
  t.strictSame(list.details, { errors: [{ path: 'a' }, { path: 'b' }], errorsOmitted: 3 })
  list.addAll({})
  t.equal(list.count, 5)
})

t.test('an error repeats no more than the beginning of a long text', async (t) => {
  const long = 'x'.repeat(1024 * 1024)
  const error = new LorekeepError('LK_QUERY', long, { details: { path: long, count: 1 } })
  t.ok(error.message.length < 10_000)
  t.ok(String(error.details['path']).length < 10_000)
  t.equal(error.details['count'], 1)
})
