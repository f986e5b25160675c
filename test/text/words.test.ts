import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { fold } from '../../src/text/fold.js'
import { eachAskedWord, eachWord, maxWordLength } from '../../src/text/words.js'
import { pickSeed } from '../fixtures/random.js'

const seed = pickSeed()
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

interface Word {
  readonly form: string
  readonly start: number
  readonly end: number
}

function wordsOf(text: string): Word[] {
  const words: Word[] = []
  eachWord(text, (form, start, end) => words.push({ form, start, end }))
  return words
}

function formsOf(text: string): string[] {
  return wordsOf(text).map(({ form }) => form)
}

/** What Intl.Segmenter says of a text without names such as C++, or scripts without spaces. */
function segmentsOf(text: string): Word[] {
  const words: Word[] = []
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    if (!isWordLike) continue
    const form = fold(segment)
    // To it `__` is a word.
    if (/[\p{Alphabetic}\p{N}]/u.test(form))
      words.push({ form, start: index, end: index + segment.length })
  }
  return words
}

t.test('words are cut as UAX #29 says', async (t) => {
  t.strictSame(formsOf("The quick (“brown”) fox can't jump 32.3 feet, right?"), [
    ...['the', 'quick', 'brown', 'fox', "can't", 'jump', '32.3', 'feet', 'right'],
  ])
  t.strictSame(formsOf('state-of-the-art snake_case __init__ 1,000,000 a.m.'), [
    ...['state', 'of', 'the', 'art', 'snake_case', '__init__', '1,000,000', 'a.m'],
  ])
  t.strictSame(formsOf('_ __ ... -- \'\' "" \u0301 😀 👩‍👩‍👧 €'), [])
  t.strictSame(formsOf('L’homme O’Neill rock’n’roll'), ["l'homme", "o'neill", "rock'n'roll"])
  t.strictSame(formsOf('שלום צה״ל צה"ל ג׳ירפה'), ['שלום', 'צה"ל', 'צה"ל', "ג'ירפה"])
  t.strictSame(formsOf('한국어 문서를 हिन्दी में'), ['한국어', '문서를', 'हिन्दी', 'में'])
})

t.test('places are those of the text, whatever folding makes of it', async (t) => {
  const text = 'Straße, İstanbul ﬁne; cafe\u0301s 😀 𝒳y’s John’s a\u00adb e\u0301'
  const found = wordsOf(text).map(({ form, start, end }) => [form, text.slice(start, end)])
  t.strictSame(found, [
    ['strasse', 'Straße'],
    ['istanbul', 'İstanbul'],
    ['fine', 'ﬁne'],
    ['cafes', 'cafe\u0301s'],
    ['xy', '𝒳y’s'],
    ['john', 'John’s'],
    ['ab', 'a\u00adb'],
    ['e', 'e\u0301'],
  ])
})

t.test('short names with ++ or # are words', async (t) => {
  t.strictSame(formsOf('C++, C# and F#: VB# i++; C++11 (J#)'), [
    ...['c++', 'c#', 'and', 'f#', 'vb#', 'i++', 'c++', '11', 'j#'],
  ])
  t.strictSame(formsOf('a#b a++b C#é word++ word# c+ 1# +C++ é#'), [
    ...['a', 'b', 'a', 'b', 'c', 'e', 'word', 'word', 'c', '1', 'c++', 'e'],
  ])
})

t.test('Han, Hiragana and Katakana come as pairs, with the last alone', async (t) => {
  t.strictSame(wordsOf('a知识库。山 b'), [
    { form: 'a', start: 0, end: 1 },
    { form: '知识', start: 1, end: 3 },
    { form: '识库', start: 2, end: 4 },
    { form: '库', start: 3, end: 4 },
    { form: '山', start: 5, end: 6 },
    { form: 'b', start: 7, end: 8 },
  ])
  t.strictSame(formsOf('東京タワーへ'), ['東京', '京タ', 'タワ', 'ワー', 'ーへ', 'へ'])
  // A mark belongs to its character, and one outside of the first plane is one character.
  t.strictSame(wordsOf('か\u3099𠀀ﾊﾟ'), [
    { form: 'が𠀀', start: 0, end: 4 },
    { form: '𠀀パ', start: 2, end: 6 },
    { form: 'パ', start: 4, end: 6 },
  ])
})

t.test(
  'what is asked for leaves out the last character of a run, or takes it as a prefix',
  async (t) => {
    const asked = (text: string) => {
      const words: string[] = []
      eachAskedWord(text, (form, _start, _end, isPrefix) =>
        words.push(form + (isPrefix ? '*' : '')),
      )
      return words
    }
    t.strictSame(asked('知识库'), ['知识', '识库'])
    t.strictSame(asked('山'), ['山*'])
    t.strictSame(asked('the 山'), ['the', '山*'])
    t.strictSame(asked('知识 base'), ['知识', '识', 'base'])
    t.strictSame(asked('knowledge base'), ['knowledge', 'base'])
    t.strictSame(asked(' '), [])
  },
)

t.test('Hangul stands apart from other scripts, composed or not', async (t) => {
  for (const text of ['2024년에 Python을 KBS의', '2024년에 Python을 KBS의'.normalize('NFD')]) {
    t.strictSame(formsOf(text), ['2024', '년에', 'python', '을', 'kbs', '의'])
  }
})

t.test('scripts that need a dictionary are cut by it, however long the run is', async (t) => {
  t.strictSame(formsOf('สวัสดีครับโลก!'), ['สวัสดี', 'ครับ', 'โลก'])
  t.strictSame(formsOf('abcไทย12'), ['abc', 'ไทย', '12'])
  const text = 'สวัสดีครับโลก'.repeat(1000)
  const words = wordsOf(text)
  t.equal(words.length, 3000)
  t.equal(words.map(({ start, end }) => text.slice(start, end)).join(''), text)
})

t.test('no word is longer than 256 code units, and none ends inside a pair', async (t) => {
  const lengths = (text: string) => wordsOf(text).map(({ start, end }) => end - start)
  t.strictSame(lengths('a'.repeat(maxWordLength)), [256])
  t.strictSame(lengths('a'.repeat(maxWordLength + 1)), [256, 1])
  t.strictSame(lengths('é'.repeat(600)), [256, 256, 88])
  t.strictSame(lengths('a' + '𝒳'.repeat(200)), [255, 146])
  t.strictSame(lengths('知' + '\u0301'.repeat(300)), [256])
})

const fragment = fc.oneof(
  fc.constantFrom('word', 'Ünïcode', 'ﬁ', 'ß', 'İ', 'x', 'Zo\u0308e', "don't", 'l’eau', 'a.b', 'ǅ'),
  fc.constantFrom(
    'λόγος',
    'ΟΔΟΣ',
    'слово',
    'йод',
    'Ёж',
    'سلام',
    'مُحَمَّد',
    'ـ',
    'می\u200cروم',
    '\u0600',
  ),
  fc.constantFrom('שלום', 'צה״ל', 'א', 'हिन्दी', 'नमस्ते', 'क्\u200dष', '한국어', '각', '2024년', 'ㄱ'),
  fc.constantFrom('1', '23', '٣', '१', '１', '3.14', '1,000', '①', '½', 'Ⅷ', '²', '\u066b'),
  fc.constantFrom("'", '"', '.', ',', ':', ';', '·', '’', '‘', '״', '_', '‿', '\u202f', '\u037e'),
  fc.constantFrom(' ', '\n', '\r\n', '\t', '-', '/', '@', '(', '!', '?', '…', '\u200b', '\u00ad'),
  fc.constantFrom('😀', '👍🏽', '🇩🇪', '❤️', '3️⃣', 'ⓜ', '\u0301', '\ufe0f', '\u2060', '𝒳', '𐐷', '𞤢'),
  fc.constantFrom('\ud800', '\udc00', '\ud83d'),
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.string({ maxLength: 5 }),
)
/**
 * Where our rules are others on purpose. Behind a joiner the standard counts emoji in; ICU says that
 * what ends in Hangul, an underline or a quote with a mark is no word. The cedilla on its own is a letter since
 * Unicode 17, and folds to nothing.
 */
const ours =
  /[\u00b8\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{Ideographic}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}\p{sc=Ahom}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]|\u200d\p{M}*\p{ExtPict}|[\p{sc=Hang}\p{Pc}\u202f'][\p{M}\p{Cf}\p{Emoji_Modifier}]|[a-zA-Z](#|\+\+)/u

t.test(`boundaries are those of Intl.Segmenter (seed ${seed})`, async (t) => {
  let checked = 0
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 12 }), (fragments) => {
      const text = fragments.join('')
      if (ours.test(text)) return
      checked++
      assertSame(wordsOf(text), segmentsOf(text))
    }),
    { seed, numRuns: 40_000 },
  )
  t.ok(checked > 20_000, `${checked} texts`)
})

t.test(`words of any text stand in order and fold to themselves (seed ${seed})`, async () => {
  const more = fc.oneof(
    fragment,
    fc.constantFrom(
      '知识',
      '々',
      'カタカナ',
      'ー',
      'か\u3099',
      'ภาษาไทย',
      'ၶ',
      'ខ្មែរ',
      'ລາວ',
      'C++',
      'F#',
    ),
  )
  fc.assert(
    fc.property(fc.array(more, { maxLength: 12 }), (fragments) => {
      const text = fragments.join('')
      let [lastStart, lastEnd] = [-1, -1]
      for (const { form, start, end } of wordsOf(text)) {
        // Only the last of a run of pairs ends where the one before it does.
        if (!(start > lastStart && end >= lastEnd && end <= text.length)) return false
        if (form === '' || fold(form) !== form) return false
        const length = end - start
        if (length > maxWordLength) return false
        ;[lastStart, lastEnd] = [start, end]
      }
      return true
    }),
    { seed, numRuns: 20_000 },
  )
})

t.test('a novel has the words that Intl.Segmenter finds', async (t) => {
  const file = resolve('../shared/data/news-from-nowhere.txt')
  if (!existsSync(file)) {
    t.comment('no novel: ../shared/data is not there')
    return
  }
  const novel = readFileSync(file, 'utf8')
  // By the line: Intl.Segmenter takes minutes for the novel as a whole.
  for (const line of novel.split('\n')) assertSame(wordsOf(line), segmentsOf(line))
  t.equal(wordsOf(novel).length, novel.split('\n').flatMap(wordsOf).length)
})

function assertSame(found: readonly Word[], expected: readonly Word[]): void {
  const [mine, theirs] = [JSON.stringify(found), JSON.stringify(expected)]
  if (mine !== theirs) throw new Error(`${mine}, not ${theirs}`)
}
