import fc from 'fast-check'
import t from 'tap'
import { eachWord } from '../../src/text/words.js'
import { parseSearch } from '../../src/text/search-text.js'
import { pickSeed } from '../fixtures/random.js'

const seed = pickSeed()

/** Words, phrases, joined and excluded in short: prefixes have a star. */
function read(text: string): Record<string, string[]> {
  const { words, phrases, joined, excluded } = parseSearch(text)
  const star = (isPrefix: boolean) => (isPrefix ? '*' : '')
  const all = {
    words: words.map(({ form, isPrefix }) => form + star(isPrefix)),
    phrases: phrases.map(({ forms, isPrefix }) => forms.join(' ') + star(isPrefix)),
    joined: joined.map(({ forms, isPrefix }) => forms.join(' ') + star(isPrefix)),
    excluded: excluded.map(({ forms, isPrefix }) => forms.join(' ') + star(isPrefix)),
  }
  return Object.fromEntries(Object.entries(all).filter(([, found]) => found.length > 0))
}

t.test('words are words, with their places', async (t) => {
  t.strictSame(read('Who invented the Straße?'), { words: ['who', 'invented', 'the', 'strasse'] })
  t.strictSame(parseSearch(' a “b c”').words, [{ form: 'a', start: 1, end: 2, isPrefix: false }])
  t.strictSame(parseSearch(' a “b c”').phrases, [
    { forms: ['b', 'c'], isPrefix: false, start: 4, end: 7 },
  ])
  t.strictSame(read(' \n'), {})
})

t.test('phrases stand in quotes of any kind', async (t) => {
  for (const phrase of [
    '"red fox"',
    '“red fox”',
    '„red fox“',
    '«red fox»',
    '»red fox«',
    '„red fox”',
  ]) {
    t.strictSame(read(`a ${phrase} b`), { words: ['a', 'b'], phrases: ['red fox'] }, phrase)
  }
  t.strictSame(read('("red fox")'), { phrases: ['red fox'] })
  t.strictSame(read('"one" "" " "'), { phrases: ['one'] })
  t.strictSame(read('"red fo*"'), { phrases: ['red fo*'] })
  t.strictSame(read('"red fox'), { words: ['red', 'fox'] })
  t.strictSame(read('5" pipe 6" pipe'), { words: ['5', 'pipe', '6', 'pipe'] })
})

t.test('a minus excludes at the beginning of a word alone', async (t) => {
  t.strictSame(read('fox -red -"old dog" -lor*'), {
    words: ['fox'],
    excluded: ['red', 'old dog', 'lor*'],
  })
  t.strictSame(read('-state-of-the-art x'), { words: ['x'], excluded: ['state of the art'] })
  t.strictSame(read('a - b --c -'), { words: ['a', 'b', 'c'] })
})

t.test('words without white space between them are joined', async (t) => {
  t.strictSame(read('ISO-4217 foo.bar/baz user@example.org (a) b'), {
    words: ['iso', '4217', 'foo.bar', 'baz', 'user', 'example.org', 'a', 'b'],
    joined: ['iso 4217', 'foo.bar baz', 'user example.org'],
  })
  t.strictSame(read('192.168.0.1 C++'), { words: ['192.168.0.1', 'c++'] })
  t.strictSame(read('12\u202f000'), { words: ['12000'] })
})

t.test('a star makes a prefix', async (t) => {
  t.strictSame(read('lor* a*b * 2*'), {
    words: ['lor*', 'a', 'b', '2*'],
    joined: ['a b'],
  })
})

t.test('Han is asked for in pairs, and a single character as a prefix', async (t) => {
  t.strictSame(read('知识库 山'), { words: ['知识', '识库', '山*'], joined: ['知识 识库'] })
  t.strictSame(read('"知识库" -山'), { phrases: ['知识 识库'], excluded: ['山*'] })
  t.strictSame(read('知识'), { words: ['知识'] })
})

t.test('Japanese is cut where Hiragana begin and end', async (t) => {
  const words = (text: string) => read(text).words
  t.strictSame(words('京都の寺'), ['京都', '寺*'])
  t.strictSame(words('桜はいつ咲きますか'), ['桜*', '咲*'])
  t.strictSame(words('コンピューターの歴史'), [
    ...'コン ンピ ピュ ュー ータ ター'.split(' '),
    '歴史',
  ])
  // Beyond the first 65,536 characters, and with a selector of its form.
  t.strictSame(words('𠮟られた'), ['𠮟*'])
  t.equal(words('葛\u{e0100}られた')?.length, 1)
  t.strictSame(words('さくらは'), ['さく', 'くら', 'らは'])
  t.strictSame(words('私はりんごが好き'), ['私*', 'はり', 'りん', 'んご', 'ごが', '好*'])
  t.strictSame(words('か\u3099く'), ['がく'])
})

t.test(`any text is read, with places inside of it (seed ${seed})`, async () => {
  const unit = fc.oneof(
    fc.constantFrom('"', '“', '”', '„', '«', '»', '-', '--', '*', ' ', '\n', '\u202f', "'"),
    fc.constantFrom('a', 'word', 'C++', '知识', '山', 'か\u3099', 'ไทย', '\ud800', '\udc00', '𠀀'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 16 }), (units) => {
      const text = units.join('')
      const { words, phrases, joined, excluded } = parseSearch(text)
      const sequences = [...phrases, ...joined, ...excluded]
      return (
        [...words, ...sequences].every(
          ({ start, end }) => 0 <= start && start < end && end <= text.length,
        ) &&
        sequences.every(({ forms }) => forms.length > 0 && forms.every((form) => form !== '')) &&
        words.every(({ form }) => form !== '')
      )
    }),
    { seed, numRuns: 30_000 },
  )
})

t.test('a long text of quotes and minuses takes no longer than others', async (t) => {
  for (const text of ['«', '"a', ' -"', '“ ', 'a"'].map((unit) => unit.repeat(50_000))) {
    const started = performance.now()
    parseSearch(text)
    t.ok(performance.now() - started < 5_000, text.slice(0, 4))
  }
})

t.test('a run without white space may have any number of words', async (t) => {
  for (const unit of ['a-', '知', 'ไทย']) {
    const { words, joined } = parseSearch(unit.repeat(300_000))
    t.ok(words.length > 250_000, unit)
    t.equal(joined.length, 1)
  }
})

t.test('what joins a word in a text joins it in a question', async (t) => {
  for (const sign of ['\u202f', '\ufeff', '\u200d', '\u00ad', '\u202e']) {
    const text = `12${sign}34`
    const forms: string[] = []
    eachWord(text, (form) => forms.push(form))
    t.strictSame(
      parseSearch(text).words.map(({ form }) => form),
      forms,
    )
  }
})
