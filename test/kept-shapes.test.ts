import { queryObjects } from 'node:v8'
import t from 'tap'
import { Members } from '../src/door/members.js'
import { PlaceReader } from '../src/objects/engine/word-keys.js'
import { WordCursor } from '../src/objects/engine/word-page.js'
import { PhraseSearch } from '../src/objects/query/phrase.js'
import { Meter } from '../src/objects/query/rows.js'
import { WordScores } from '../src/objects/query/word-scores.js'

t.test('one of what a search makes anew is there when none is under way', async (t) => {
  const classes = [Members, Meter, PhraseSearch, PlaceReader, WordCursor, WordScores]
  // It collects first.
  for (const each of classes) t.ok(queryObjects(each, { format: 'count' }) > 0, each.name)
})
