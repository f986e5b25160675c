import t from 'tap'
import { formsOfName, NAME, nameWord, titleNames } from '../../../src/graph/words/name-words.js'

t.test('a name is its words, however it is written', async (t) => {
  const names = ['Ed Wood', 'ED  WOOD', 'ed-wood', '“Ed Wood”', 'Éd Wood']
  t.strictSame(new Set(names.map(nameWord)), new Set([`${NAME}ed wood`]))
  t.strictSame(formsOfName(`${NAME}ed wood`), ['ed', 'wood'])
  t.equal(nameWord('東京都'), `${NAME}東京 京都`, 'the last character is not a word of its own')
})

t.test('what has no word, or too many, is no name', async (t) => {
  t.equal(nameWord(''), undefined)
  t.equal(nameWord('?!'), undefined)
  const ten = 'one two three four five six seven eight nine ten'
  t.equal(nameWord(ten), NAME + ten)
  t.equal(nameWord(`${ten} eleven`), undefined)
  t.equal(nameWord('a'.repeat(257)), undefined)
})

t.test('a title is called so without what tells it from others, too', async (t) => {
  t.strictSame(titleNames('Mercury (planet)'), [`${NAME}mercury planet`, `${NAME}mercury`])
  t.strictSame(titleNames('Mercury'), [`${NAME}mercury`])
  t.strictSame(titleNames('(untitled)'), [`${NAME}untitled`])
  t.strictSame(titleNames('...'), [])
})
