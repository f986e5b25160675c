import t from 'tap'
import { checkSearch } from '../../../src/graph/search/query.js'

const { signal } = new AbortController()

t.test('languages are each looked up once, and only those that have other forms', (t) => {
  const languagesOf = (text: string, languages?: readonly string[]) => {
    return checkSearch({ text, ...(languages && { languages }) }, signal).question.languages
  }
  t.strictSame(languagesOf('Haus', ['de-AT', 'DE', 'xx', 'de-CH', 'fr']), ['de', 'fr'])
  const many = Array.from({ length: 10_000 }, (_, n) => `de-x-${n}`)
  t.strictSame(languagesOf('Haus', many), ['de'])
  t.strictSame(languagesOf('Haus', []), [])
  t.end()
})

t.test('languages are named as by $text, and what is neither name nor tag is refused', (t) => {
  const languagesOf = (...languages: readonly string[]) =>
    checkSearch({ text: 'Haus', languages }, signal).question.languages
  t.strictSame(languagesOf('german', 'English', 'fr'), ['de', 'en', 'fr'])
  t.strictSame(languagesOf('none'), [])
  t.strictSame(languagesOf('tlh', 'zh-Hant', 'x-mine', 'i-klingon'), [])
  for (const unknown of ['klingon', 'deutsch', 'german-AT', 'de_CH', '']) {
    t.throws(() => languagesOf('de', unknown), { code: 'LK_GRAPH_QUERY' }, unknown)
  }
  t.throws(() => languagesOf('klingon'), /languages\[0\].*german/)
  t.end()
})

t.test('any language is what the text looks like', (t) => {
  const text = 'Wo steht das alte Haus der Familie?'
  const asked = (languages: readonly string[] | undefined) => {
    const { question } = checkSearch({ text, ...(languages && { languages }) }, signal)
    return { languages: question.languages, words: question.words.map(({ form }) => form) }
  }
  t.strictSame(asked(['*']), asked(undefined))
  t.strictSame(asked(['*', 'fr']).languages, ['de', 'fr'])
  t.end()
})

t.test('what no word asks for in Chinese and Japanese parts words, as it does in texts', (t) => {
  const of = (text: string) => {
    const { whole, pairs } = checkSearch({ text }, signal).question
    return [whole?.forms.join(' '), pairs.map(({ forms }) => forms.join(' '))]
  }
  t.strictSame(of('他在2019年来到'), ['他在 在 2019 年来 来到', ['2019 年来', '年来 来到']])
  t.strictSame(of('数据 知识'), ['数据 据 知识', []])
  t.strictSame(of('京都の寺院'), ['京都 都の の寺 寺院', []])
  t.strictSame(of('old house'), ['old house', ['old house']])
  t.strictSame(of('old* house'), [undefined, []])
  t.end()
})

t.test('phrases that end in what words begin with are so many at most', (t) => {
  const of = (count: number, of: (n: number) => string) => ({
    text: Array.from({ length: count }, (_, n) => of(n)).join(' '),
  })
  const phrase = (n: number) => (n % 2 === 0 ? `"the a${n}*"` : `-b${n}*`)
  t.equal(checkSearch(of(64, phrase), signal).question.phrases.length, 32)
  t.throws(() => checkSearch(of(65, phrase), signal), { code: 'LK_GRAPH_QUERY' })
  t.equal(
    checkSearch(
      of(200, (n) => `"the a${n}"`),
      signal,
    ).question.phrases.length,
    200,
  )
  t.equal(
    checkSearch(
      of(200, (n) => `a${n}*`),
      signal,
    ).question.words.length,
    200,
  )
  const joinedOf = (of: { text: string }) => checkSearch(of, signal).question.joined
  // These are found without as well, and no more of them are looked up.
  const open = joinedOf(of(200, (n) => `a-b${n}*`))
  t.strictSame([open.length, open.at(-1)?.forms], [64, ['a', 'b63']])
  t.equal(joinedOf(of(200, (n) => `a-b${n}`)).length, 200)
  t.end()
})
