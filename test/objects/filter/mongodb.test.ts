import t from 'tap'
import '../../fixtures/regex-engine.js'
import { parseFilter } from '../../../src/objects/filter/filter.js'
import { facts, namesOf, sorted } from './mongodb/filters.js'
import { refusedFilters } from './mongodb/refusals.js'
import { matches } from './oracle.js'

for (const some of facts) {
  t.test(`filters match what MongoDB matches: ${some.source}`, async (t) => {
    for (const [filter, names] of some.answers) {
      const condition = parseFilter(filter, () => undefined)
      const found = namesOf(some, (object) => matches(condition, object))
      t.same(found, sorted(names), JSON.stringify(filter))
    }
  })
}

for (const [source, filter] of refusedFilters) {
  t.test(`what MongoDB refuses is refused: ${source}, ${JSON.stringify(filter)}`, async (t) => {
    t.throws(() => parseFilter(filter, () => undefined), { code: 'LK_QUERY' })
  })
}
