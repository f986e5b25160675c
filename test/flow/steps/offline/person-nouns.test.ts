import t from 'tap'
import { isPersonNoun } from '../../../../src/flow/steps/offline/person-nouns.js'

t.test('people by what their nouns end with, but for things that end so', (t) => {
  for (const noun of 'singer actor actress pianist musician chairman king coach president'.split(
    ' ',
  )) {
    t.ok(isPersonNoun(noun), noun)
  }
  for (const noun of 'film river chapter tower computer album plant restaurant list'.split(' ')) {
    t.notOk(isPersonNoun(noun), noun)
  }
  t.end()
})
