import t from 'tap'
import { saidIn } from './said.js'

t.test('when somebody was born and died', async (t) => {
  for (const life of [
    '13 June 1877 – 5 November 1946',
    'born Giuseppe Stella, June 13, 1877 – November 5, 1946',
    'born June 13, 1877; died 5 November 1946',
  ]) {
    const said = await saidIn(`Joseph Stella (${life}) was a painter.`)
    t.strictSame(
      said.slice(0, 2),
      [
        'Joseph Stella | born on | 1877-06-13 (date)',
        'Joseph Stella | died on | 1946-11-05 (date)',
      ],
      life,
    )
  }
  const [born] = await saidIn('Ada Byron, OBE (born 1960) is a writer.')
  t.equal(born, 'Ada Byron | born in | 1960 (gYear)')
})

t.test('years of what is no person are not those of a life', async (t) => {
  t.strictSame(await saidIn('Star Trek (1966–1969) is a series.'), [
    'Star Trek | from | 1966 (gYear)',
    'Star Trek | until | 1969 (gYear)',
    'Star Trek | type | series',
  ])
  t.strictSame(await saidIn('She sang on Diamond Cut (1979).'), [
    'Diamond Cut | year | 1979 (gYear)',
  ])
})

t.test('who somebody is', async (t) => {
  t.strictSame(await saidIn('We met Lester Smith (designer of Dragon Dice) and left.'), [
    'Lester Smith | type | designer',
    'Lester Smith | designer of | Dragon Dice',
  ])
})
