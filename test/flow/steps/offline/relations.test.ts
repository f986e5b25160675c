import t from 'tap'
import { saidIn } from './said.js'

t.test('a verb has the subject and the objects that stand beside it', async (t) => {
  t.strictSame(await saidIn('Ada Byron and Tim Cook met Bob Dylan, Al Gore and Eve Arden.'), [
    ...['Ada Byron | meet | Bob Dylan', 'Tim Cook | meet | Bob Dylan'],
    ...['Ada Byron | meet | Al Gore', 'Tim Cook | meet | Al Gore'],
    ...['Ada Byron | meet | Eve Arden', 'Tim Cook | meet | Eve Arden'],
  ])
  t.strictSame(await saidIn('Ada Byron, who played for the Houston Astros, moved to Rome.'), [
    'Ada Byron | play for | Houston Astros',
    'Ada Byron | move to | Rome',
  ])
})

t.test('what is denied, only possible, or of an unknown subject is not said', async (t) => {
  for (const text of [
    'Tim Cook has never met Emmanuel Macron.',
    'Tim Cook could have met Emmanuel Macron.',
    'The wife of John Smith visited Rome.',
    'They said that he met Emmanuel Macron.',
    'If Tim Cook had not met Emmanuel Macron, he would.',
  ]) {
    t.strictSame(await saidIn(text), [], text)
  }
})

t.test('passives and participles say when, where and by whom', async (t) => {
  t.strictSame(await saidIn('Ada Byron was born in Paris, France, on 5 May 1960.'), [
    'Ada Byron | born in | Paris',
    'Paris | in | France',
    'Ada Byron | born on | 1960-05-05 (date)',
  ])
  t.strictSame(await saidIn('Founded in 1770 by Ada Byron, Gyldendal is in Copenhagen.'), [
    'Gyldendal | founded in | 1770 (gYear)',
    'Gyldendal | founded by | Ada Byron',
    'Gyldendal | in | Copenhagen',
  ])
  t.strictSame(await saidIn('Tim Cook opened DeepSound in May 1998.'), [
    'Tim Cook | open | DeepSound',
    'DeepSound | opened in | 1998-05 (gYearMonth)',
  ])
})

t.test('a work by its kind, its owner and its year', async (t) => {
  t.strictSame(await saidIn('We saw Disney\'s 2014 film "Big Hero Six" again.'), [
    'Big Hero Six | type | film',
    'Big Hero Six | film of | Disney',
    'Big Hero Six | year | 2014 (gYear)',
  ])
  t.strictSame(await saidIn('We met South Park creators Trey Parker and Matt Stone.'), [
    'Trey Parker | creator of | South Park',
    'Matt Stone | creator of | South Park',
  ])
})

t.test('an apposition says what a name is, and a list does not', async (t) => {
  t.strictSame(await saidIn('We met Tim Cook, the chief executive officer of Apple, there.'), [
    'Tim Cook | type | chief executive officer',
    'Tim Cook | chief executive officer of | Apple',
  ])
  t.strictSame(await saidIn('We met Tim Cook, a dog, and a cat.'), [])
  t.strictSame(await saidIn('We met Trent Reznor of Nine Inch Nails.'), [
    'Trent Reznor | of | Nine Inch Nails',
  ])
})

t.test('who made a work, and examples, are not of the verb before', async (t) => {
  const said = await saidIn('Tim Cook was inspired by the novel "Big Fish" by Ada Byron.')
  t.notOk(said.includes('Tim Cook | inspired by | Ada Byron'), said.join())
  t.ok(said.includes('Tim Cook | inspired by | Big Fish'))
  t.strictSame(await saidIn('Tim Cook acts a lot, including Big Fish.'), [])
})
