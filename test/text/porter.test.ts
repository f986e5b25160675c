import t from 'tap'
import { stemmer } from '@orama/stemmers/english'
import { porterStem } from '../../src/text/porter.js'
import { pickSeed, Random } from '../fixtures/random.js'

const seed = pickSeed()
const random = new Random(seed)

/** What the patterns of the package look for, and what stands before it or behind. */
const endings = [
  ...'ational tional enci anci izer bli alli entli eli ousli ization ation ator alism'.split(' '),
  ...'iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical'.split(' '),
  ...'ful ness al ance ence er ic able ible ant ement ment ent ou ism ate iti ous'.split(' '),
  ...'ive ize sion tion sses ies ss s ed eed ing y e ll at bl iz ie'.split(' '),
]
const letters = "aeiouyaeioubcdfghklmnprstvwxyz'éß"

function* words(): Generator<string> {
  for (const first of ['', 'a', 'b', 'y', 'ab', 'hop', 'motor', 'yellow']) {
    for (const one of endings) {
      for (const other of ['', ...endings]) yield first + one + other
    }
  }
  for (let round = 0; round < 100_000; round++) {
    let word = ''
    for (let n = random.below(7); n >= 0; n--) word += random.pick([...letters])
    for (let n = random.below(3); n > 0; n--) word += random.pick(endings)
    yield word
  }
}

t.test(`its stems are those of the package (SEED=${seed})`, (t) => {
  const different = [...words()].filter((word) => porterStem(word) !== stemmer(word))
  t.strictSame(different, [])
  t.end()
})

t.test('and so are those of words', (t) => {
  const stems = 'running hopping hoped feed agreed sky happy relational yes conflated controlling'
  const expected = 'run hop hope feed agre sky happi relat ye conflat control'
  t.strictSame(stems.split(' ').map(porterStem), expected.split(' '))
  t.end()
})
