import t from 'tap'
import {
  digit,
  doubleQuote,
  extend,
  hangul,
  hebrew,
  ideograph,
  joiner,
  letter,
  midBoth,
  midLetter,
  midNumber,
  other,
  quote,
  unspaced,
  wordClass,
} from '../../src/text/word-classes.js'

const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

const ofThaiAndKin =
  /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}\p{sc=Ahom}]/u

/** Whether a text is one segment. */
function isOne(text: string): boolean {
  return segmenter.segment(text).containing(0)?.segment.length === text.length
}

t.test('every code point of the first two planes joins as Intl.Segmenter says', async (t) => {
  for (let code = 0; code < 0x20000; code++) {
    const character = String.fromCodePoint(code)
    if (/\p{Cs}|\p{Cn}|\p{Co}/u.test(character)) continue
    // The cedilla on its own is a letter since Unicode 17; here it folds to nothing.
    // Vietnamese reading marks follow Han, which ICU cuts by itself.
    if (/[¸\u{16ff0}\u{16ff1}]/u.test(character) || ofThaiAndKin.test(character)) continue
    const found = wordClass(code)
    // Of these Unicode says one thing and ICU, which has dictionaries for them, another.
    if (found === ideograph || found === unspaced || found === hangul) continue
    const expected = classBySegmenter(character)
    if (!expected.includes(found)) t.fail(`${code.toString(16)}: ${found}, not ${expected}`)
  }
})

/** The classes that a character may have, by what it joins. */
function classBySegmenter(character: string): readonly number[] {
  const joinsBehind = isOne(`a${character}`)
  const joinsLetters = isOne(`a${character}a`)
  const joinsNumbers = isOne(`1${character}1`)
  if (isOne(`!${character}`)) return [extend]
  if (joinsBehind) return [letter, digit, joiner, hebrew]
  if (isOne(`א${character}`)) return [quote]
  if (joinsLetters && joinsNumbers) return [midBoth]
  if (joinsLetters) return [midLetter]
  if (joinsNumbers) return [midNumber]
  return isOne(`א${character}א`) && character === '"' ? [doubleQuote] : [other]
}

t.test('letters, digits and joiners are told apart', async (t) => {
  const of = (character: string) => wordClass(character.codePointAt(0) as number)
  for (const character of 'aZéßЖΩقहि') {
    t.ok([letter, extend].includes(of(character)), character)
  }
  for (const character of '09٣९１') t.equal(of(character), digit, character)
  for (const character of '_‿\u202f') t.equal(of(character), joiner)
  for (const character of 'אשת') t.equal(of(character), hebrew, character)
  for (const character of '知々〇ひカーｶ𠀀') t.equal(of(character), ideograph, character)
  for (const character of 'กໂខမ') t.equal(of(character), unspaced, character)
  for (const character of '가각ᄀᆨ') t.equal(of(character), hangul, character)
  for (const character of '😀 .!€\u200b\ud800') t.not(of(character), letter)
})
