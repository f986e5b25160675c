import t from 'tap'
import { Members } from '../../src/door/members.js'
import { Problems } from '../../src/door/problems.js'
import { aText } from '../../src/door/rules.js'

t.test('a wrong item of a list is named by its place', (t) => {
  const problems = new Problems()
  const members = new Members({ cores: ['a', 5], 'the names': [''] }, 'query', problems)
  t.equal(members.list('cores', aText), undefined)
  t.equal(members.list('the names', aText), undefined)
  t.strictSame(
    problems.details.errors.map(({ path }) => path),
    ['query.cores[1]', 'query["the names"][0]'],
  )
  t.end()
})
