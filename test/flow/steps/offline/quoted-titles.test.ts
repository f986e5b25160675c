import t from 'tap'
import { namesIn } from './names-in.js'

t.test('a title in quotes is a name as it is', async (t) => {
  for (const title of [
    ...['Too Good to Last', "You're Getting Old", 'The Poor Kid', 'Red, White and Blue'],
    ...['Transmiticate', 'Babylon 5', 'Finale'],
  ]) {
    t.strictSame(await namesIn(`They sang the song "${title}" again.`), [title])
    t.strictSame(await namesIn(`They sang “${title},” and left.`), [title])
  }
})

t.test('a question may be one', async (t) => {
  t.strictSame(await namesIn('They sang the song "Who Are You?" again.'), ['Who Are You?'])
})

t.test('speech is none', async (t) => {
  t.strictSame(await namesIn('"Yes, I will," he said. "Well. Not now," she said.'), [])
  t.strictSame(
    await namesIn('Then he said, "Come with me to the old house." "Hello," said he.'),
    [],
  )
  t.strictSame(await namesIn('"But is this it?" he asked. "Oh no!" said she.'), [])
  t.strictSame(await namesIn('He called it "the best of all". An open " is no quote.'), [])
})
