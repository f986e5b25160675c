import t from 'tap'
import { saidIn } from './said.js'

const said = ['Ringu | type | horror film', 'Ringu | directed by | Hideo Nakata']

t.test('a first sentence speaks of what the title names', async (t) => {
  for (const text of [
    'Ringu is a Japanese horror film directed by Hideo Nakata.',
    'A Japanese horror film directed by Hideo Nakata.',
    'Is a Japanese horror film directed by Hideo Nakata.',
    'It is a Japanese horror film directed by Hideo Nakata.',
    'Ringu\nRingu (リング) is a 1998 horror film directed by Hideo Nakata.',
  ]) {
    t.strictSame(await saidIn(text, 'Ringu (film)'), said, text)
  }
  const other = await saidIn(
    'A man came in. It is a horror film directed by Hideo Nakata.',
    'Ringu',
  )
  t.notOk(other.some((line) => line.startsWith('Ringu')))
})

t.test('pronouns and the kind stand for it, until another takes its place', async (t) => {
  const film = 'Ringu is a film directed by Hideo Nakata. '
  const of = async (more: string) => (await saidIn(film + more, 'Ringu')).slice(2)
  t.strictSame(await of('It was written by Ada Byron. The film was sold to Disney.'), [
    'Ringu | written by | Ada Byron',
    'Ringu | sold to | Disney',
  ])
  t.strictSame(await of('Its producer is Ada Byron.'), ['Ada Byron | producer of | Ringu'])
  t.strictSame(await of('He was born in Rome.'), [])
  t.strictSame(await of('Tim Cook left. It was written by Ada Byron.'), [])
  const unnamed = 'We saw Ringu, a film directed by Hideo Nakata. '
  const untitled = await saidIn(`${unnamed}It was written by Ada Byron.`)
  t.notOk(untitled.some((line) => line.includes('written')))
})

t.test('a text without a title is about what it defines first', async (t) => {
  const film = 'Ringu is a film directed by Hideo Nakata. '
  const said = await saidIn(`${film}It was written by Ada Byron.`)
  t.strictSame(said.at(-1), 'Ringu | written by | Ada Byron')
})

t.test('the whole title is a name', async (t) => {
  const text = `Let's Smile is an album by Ada Byron. "Let's Smile" was released in 2009.`
  t.strictSame(await saidIn(text, "Let's Smile"), [
    "Let's Smile | type | album",
    "Let's Smile | album by | Ada Byron",
    "Let's Smile | released in | 2009 (gYear)",
  ])
  t.strictSame(await saidIn('Big Hero 6: The Series was made by Disney.', 'Big Hero 6'), [
    'Big Hero 6: The Series | made by | Disney',
  ])
})
