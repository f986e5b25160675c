import t from 'tap'
import { fold } from '../../src/text/fold.js'
import { isStopWord, stopWordLanguages, stopWords } from '../../src/text/stop-words.js'

t.test('function words are known by their folded forms', async (t) => {
  for (const [language, word] of [
    ['en', 'the'],
    ['de', 'für'],
    ['fr', 'où'],
    ['es', 'qué'],
    ['ru', 'ещё'],
    ['ar', 'إلى'],
    ['de-AT', 'und'],
    ['EN', 'of'],
  ] as const) {
    t.ok(isStopWord(fold(word), language), `${language}: ${word}`)
  }
  t.notOk(isStopWord('castle', 'en'))
  t.notOk(isStopWord('the', 'de'))
  for (const language of ['xx', '', 'constructor']) t.notOk(isStopWord('the', language))
})

t.test('every list has words, folded', async (t) => {
  for (const language of stopWordLanguages) {
    const words = [...stopWords(language)]
    t.ok(words.length > 40, language)
    t.strictSame(words, words.map(fold))
  }
})
