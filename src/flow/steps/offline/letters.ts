// The engine ends a word at every letter beyond Latin-1: it is shown a word of plain letters.

/** Latin letters that no accent tells from a plain one, each with the letter that it passes for. */
const plainLetters: Readonly<Record<string, string>> = {
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  Ŋ: 'N',
  ŋ: 'n',
  Œ: 'O',
  œ: 'o',
  Ə: 'A',
  ə: 'a',
  Ŧ: 'T',
  ŧ: 't',
}

const foreign = /[\u0100-\u024f\u0259\u0292\u0300-\u036f\u1e00-\u1eff]/

export interface PlainText {
  /** With one letter in the place of each letter, and none in that of a combining accent. */
  readonly text: string
  /** Where each code unit of `text`, and its end, stands in what it was made of. */
  readonly places: readonly number[]
}

/** Undefined for a text that has no letters of that kind. */
export function withPlainLetters(text: string): PlainText | undefined {
  if (!foreign.test(text)) return undefined
  let plain = ''
  const places: number[] = []
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at)
    if (unit >= '\u0300' && unit <= '\u036f') continue
    plain += plainLetter(unit)
    places.push(at)
  }
  places.push(text.length)
  return { text: plain, places }
}

function plainLetter(unit: string): string {
  if (!foreign.test(unit)) return unit
  const known = plainLetters[unit] ?? unit.normalize('NFD').charAt(0)
  // A letter of its own is still a letter, and small or not.
  if (!foreign.test(known)) return known
  return unit === unit.toLowerCase() ? 'x' : 'X'
}
