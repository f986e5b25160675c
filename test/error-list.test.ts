import t from 'tap'
import { addUnknown, ErrorList, maxErrorBytes, maxErrors } from '../src/error-list.js'
import { LorekeepError } from '../src/errors.js'

t.test('a list tells what is wrong up to its bounds, and counts the rest', async (t) => {
  const list = new ErrorList<{ path: string }>()
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
    const list = new ErrorList<{ path: string; message: string }>()
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
  let made = 0
  const list = new ErrorList<{ path: string }>()
  const names = Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1])
  addUnknown(list, { known: 1, ...Object.fromEntries(names) }, ['known'], (path) => {
    made++
    return { path }
  })
  t.equal(made, maxErrors)
  t.equal(list.count, 50_000)
})

t.test('lists are joined with what each left out', async (t) => {
  const list = new ErrorList<{ path: string }>()
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
