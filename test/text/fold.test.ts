import fc from 'fast-check'
import t from 'tap'
import { fold } from '../../src/text/fold.js'
import { pickSeed } from '../fixtures/random.js'

const seed = pickSeed()

const same: Readonly<Record<string, string>> = {
  Hello: 'hello',
  CAFÉ: 'cafe',
  'cafe\u0301': 'cafe',
  Straße: 'strasse',
  STRASSE: 'strasse',
  GROẞ: 'gross',
  ﬁne: 'fine',
  Ｆｕｌｌ: 'full',
  Ⅷ: 'viii',
  İstanbul: 'istanbul',
  ısı: 'isi',
  Łódź: 'lodz',
  Øre: 'ore',
  Ðorđe: 'dorde',
  Þór: 'thor',
  Æsop: 'aesop',
  œuvre: 'oeuvre',
  ſeſſion: 'session',
  Ħal: 'hal',
  Ŋgola: 'ngola',
  Đà: 'da',
  Nguyễn: 'nguyen',
  ΟΔΟΣ: 'οδοσ',
  οδός: 'οδοσ',
  ᾼδης: 'αδησ',
  Ёлка: 'елка',
  'за\u0301мок': 'замок',
  // Letters of their own keep their marks.
  йод: 'йод',
  'и\u0306од': 'йод',
  Київ: 'київ',
  ў: 'ў',
  ќерка: 'ќерка',
  مُحَمَّد: 'محمد',
  العـــربية: 'العربية',
  أحمد: 'احمد',
  آخر: 'اخر',
  مسؤول: 'مسؤول',
  فارسی: 'فارسي',
  שָׁלוֹם: 'שלום',
  'צה״ל': 'צה"ל',
  हिन्दी: 'हिन्दी',
  ภาษาไทย: 'ภาษาไทย',
  がぎ: 'がぎ',
  'か\u3099': 'が',
  ｶﾞ: 'ガ',
  한국: '한국',
  '٣٤': '34',
  '१२': '12',
  'co\u00adop': 'coop',
  '12\u202f000': '12000',
  ـ: '',
  "don't": "don't",
  'don’t': "don't",
  "John's": 'john',
  'John’s': 'john',
  "'s": "'s",
  "dogs'": 'dogs',
  "שלום'": 'שלום',
  'C++': 'c++',
  'C#': 'c#',
}

t.test('words that are written differently have one form', async (t) => {
  for (const [word, form] of Object.entries(same)) t.equal(fold(word), form, word)
})

t.test(`Latin words are folded as all others are (seed ${seed})`, async (t) => {
  const characters = Array.from({ length: 0x180 - 1 }, (_, n) => String.fromCharCode(n + 1))
  // What cannot be seen goes, and no table says so.
  const slowly = (word: string) => fold(`${word}\u200b`)
  for (const character of characters) t.equal(fold(character), slowly(character))
  const word = fc.array(fc.constantFrom(...characters), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(word, (units) => fold(units.join('')) === slowly(units.join(''))),
    { seed, numRuns: 20_000 },
  )
})

t.test(`to fold a form changes nothing (seed ${seed})`, async () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
    fc.constantFrom(...Object.keys(same).join('')),
    fc.constantFrom(
      '\u0301',
      '\u0306',
      '\u0308',
      '\u0654',
      '\u0323',
      '\u3099',
      'и',
      'і',
      'ي',
      "'s",
    ),
    fc.constantFrom('\u200d', '\u00ad', '\ud800', '\udc00', '\u0345', 'ﷺ', '\u037a', 'Σ', 'ŉ', 'ϔ'),
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 6 }), (units) => {
      const form = fold(units.join(''))
      return fold(form) === form && !/\s/.test(form)
    }),
    { seed, numRuns: 50_000 },
  )
})

t.test('to fold any single character twice changes nothing', async (t) => {
  for (let code = 0; code < 0x110000; code++) {
    const form = fold(String.fromCodePoint(code))
    if (fold(form) !== form) t.fail(`${code.toString(16)}: ${form}, then ${fold(form)}`)
  }
})
