import t from 'tap'
import { saidIn } from './said.js'

t.test('what something is, without what every other thing is', async (t) => {
  t.strictSame(await saidIn('Baku is the capital and largest city of Azerbaijan.'), [
    'Baku | type | capital',
    'Baku | type | city',
    'Baku | capital of | Azerbaijan',
    'Baku | city of | Azerbaijan',
  ])
  t.strictSame(await saidIn('Ada Byron was an actress, singer, and songwriter from Rome.'), [
    ...['Ada Byron | type | actress', 'Ada Byron | type | singer', 'Ada Byron | type | songwriter'],
    ...['Ada Byron | actress from | Rome', 'Ada Byron | singer from | Rome'],
    'Ada Byron | songwriter from | Rome',
  ])
})

t.test('what is counted, what has no kind, and other clauses say nothing', async (t) => {
  for (const text of [
    'Asmara is about 20 kilometres from Rome.',
    'Asmara is one of the largest things.',
    'Asmara is agriculture.',
  ]) {
    t.strictSame(await saidIn(text), [], text)
  }
})

t.test('the first of two nouns may belong to the second', async (t) => {
  t.strictSame(await saidIn('Raye Birk is an American film and television actor.'), [
    'Raye Birk | type | television actor',
  ])
  t.strictSame(await saidIn('Fal Khoon is a novel about a lieutenant and soldier.'), [
    'Fal Khoon | type | novel',
  ])
})
