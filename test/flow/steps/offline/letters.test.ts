import t from 'tap'
import { withPlainLetters } from '../../../../src/flow/steps/offline/letters.js'
import { loadTagger } from '../../../../src/flow/steps/offline/tagger.js'

t.test('a text of Latin-1, or of another script, stays as it is', (t) => {
  for (const text of ['', 'São Paulo – “quoted”', 'Ангела Меркель', '東京', 'Αθήνα']) {
    t.equal(withPlainLetters(text), undefined, text)
  }
  t.end()
})

t.test('each letter has a plain one, and its place', (t) => {
  const plain = (text: string) => withPlainLetters(text)?.text
  t.equal(plain('Dvořák Wałęsa Plzeň Łódź Škoda İzmir'), 'Dvorák Walesa Plzen Lódz Skoda Izmir')
  t.equal(plain('Đà Nẵng, Œuvre, ƛƢ'), 'Dà Nang, Ouvre, xX')
  t.strictSame(withPlainLetters('r\u030ca\u0301k'), { text: 'rak', places: [0, 2, 4, 5] })
  t.end()
})

t.test('words have all their letters', async (t) => {
  const tagger = await loadTagger()
  const words = (text: string) => tagger.sentences(text).flat()
  const text = 'Dvor\u030ca\u0301k met Lech Wałęsa at Łódź’s Škoda; cannot Œuvre-Łąka (İzmir).'
  t.strictSame(
    words(text).map(({ text }) => text),
    [
      ...['Dvor\u030ca\u0301k', 'met', 'Lech', 'Wałęsa', 'at', 'Łódź', '’s', 'Škoda', ';'],
      ...['can', 'not', 'Œuvre-Łąka', '(', 'İzmir', ')', '.'],
    ],
  )
  t.equal(words('We saw Plzeň.')[2]?.pos, 'PROPN')
})

t.test('words that the engine spells in its own way lose no others', async (t) => {
  const tagger = await loadTagger()
  const inventive = tagger.sentences('He saw whomst in Łódź and Wałęsa').flat()
  t.strictSame(
    inventive.map(({ text }) => text).filter((text) => /[^a-z]/i.test(text)),
    ['Łódź', 'Wałęsa'],
  )
})
