import t from 'tap'
import wink, { type WinkMethods } from 'wink-nlp'
import model from 'wink-eng-lite-web-model'
import { read } from '../../../../src/flow/steps/offline/reading.js'
import { loadTagger, Tagger } from '../../../../src/flow/steps/offline/tagger.js'

t.test('sentences end at paragraphs, and words with hyphens are one', async (t) => {
  const tagger = await loadTagger()
  const sentences = tagger.sentences('Solid-state\nmatter. It is\r\n \r\nwell - known')
  t.strictSame(
    sentences.map((sentence) => sentence.map(({ text }) => text)),
    [
      ['Solid-state', 'matter', '.'],
      ['It', 'is'],
      ['well', '-', 'known'],
    ],
  )
})

t.test('what it has read before does not change how it reads', async (t) => {
  const tagger = await loadTagger()
  const text = "Take them to Biffin's (my kinsman's house)! Biffin's and my kinsman's. `Biffin's'"
  t.strictSame(tagger.sentences(text), tagger.sentences(text))
})

t.test('what the dictionary knows of a word, and that it does not know it', async (t) => {
  const tagger = await loadTagger()
  t.strictSame(tagger.common('batteries'), { pos: 'NOUN', lemma: 'battery' })
  t.equal(tagger.common('hammersmith'), undefined)
  t.equal(tagger.common('constructor')?.pos, 'NOUN')
  t.equal(tagger.common('__proto__'), undefined)
})

t.test('an engine that has seen enough gives way to a fresh one', async (t) => {
  const engine = wink(model, ['sbd', 'pos'])
  let engines = 0
  // It counts, and reads something short in place of the long text.
  const create = (): WinkMethods => {
    engines++
    return { ...engine, readDoc: () => engine.readDoc('Ada') }
  }
  const tagger = new Tagger(create)
  const text = 'word '.repeat(250_000)
  for (const expected of [1, 2, 3]) {
    t.equal(tagger.sentences(text).length, 1)
    t.equal(engines, expected)
  }
})

t.test('a name that the tagger made up is not taken', async (t) => {
  const tagger = await loadTagger()
  const inventive = { sentences: () => tagger.sentences('We met Ada.'), common: () => undefined }
  const text = 'We met somebody.'
  const passage = { text, parted: text, title: undefined, isFirst: true, before: '', after: '' }
  const { sentences } = read(passage, inventive as unknown as Tagger)
  t.strictSame(
    sentences.flatMap(({ names, phrases }) => [...names, ...phrases]),
    [],
  )
})
