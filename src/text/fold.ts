// One form for the ways in which a word may be written.

/**
 * The folded form of a word: what the index holds, and what questions ask for.
 *
 * - Compatibility forms are undone (NFKD: `ﬁ` is `fi`, `Ａ` is `A`, `²` is `2`), and what is left is
 *   composed again (NFC).
 * - Upper case becomes lower case; `ς` is `σ`, Turkish `İ` and `ı` are `i`.
 * - Accents of Latin, Greek and Cyrillic go: `é` is `e`, `ё` is `е`. So do Arabic vowel signs and
 *   tatweel, Hebrew points, and what cannot be seen (soft hyphens, joiners, marks of direction).
 *   Letters of their own stay what they are: Cyrillic й, ї, ў, ѓ, ќ, Arabic hamza on waw and yeh,
 *   vowels of Indic scripts, dakuten.
 * - Letters that Unicode does not take apart are replaced by a table: `ß` is `ss`, `ø` is `o`.
 *   Alef with hamza or madda is alef, alef maksura and Farsi yeh are yeh.
 * - Digits of any script are those of ASCII.
 * - `’` and its like are `'`, and at the end it goes, with a possessive `s` or without.
 *
 * It may be empty, for a word of nothing but tatweel. It never has white space in it, and to fold it
 * again changes nothing.
 */
export function fold(word: string): string {
  const form = isAscii(word) ? word.toLowerCase() : (foldLatin(word) ?? foldAny(word))
  return withoutPossessive(form)
}

function isAscii(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) > 127) return false
  return !/\s/.test(word)
}

// Those from U+00C0 on, of which none changes what is beside it.
const firstLatin = 0xc0
const latin =
  "a a a a a a ae c e e e e i i i i d n o o o o o × o u u u u y th ss a a a a a a ae c e e e e i i i i d n o o o o o ÷ o u u u u y th y a a a a a a c c c c c c c c d d d d e e e e e e e e e e g g g g g g g g h h h h i i i i i i i i i i ij ij j j k k k l l l l l l l· l· l l n n n n n n 'n n n o o o o o o oe oe r r r r r r s s s s s s s s t t t t t t u u u u u u u u u u u u w w y y y z z z z z z s".split(
    ' ',
  )

/** As foldAny(), without its expressions, which take long to make; undefined where there are other letters. */
function foldLatin(word: string): string | undefined {
  let folded = ''
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    const form = code < 0x80 ? word[at] : latin[code - firstLatin]
    if (form === undefined) return undefined
    folded += form
  }
  return /\s/.test(folded) ? undefined : folded.toLowerCase()
}

/** Both may stand at the end again and again: a form has neither. */
function withoutPossessive(form: string): string {
  let end = form.length
  for (;;) {
    if (end > 1 && form[end - 1] === "'") end -= 1
    else if (end > 2 && form[end - 1] === 's' && form[end - 2] === "'") end -= 2
    else return end === form.length ? form : form.slice(0, end)
  }
}

// Format signs that stand before a number (U+0600 to 0605 and others) are seen, and stay.
const unseen = /[\s\p{Default_Ignorable_Code_Point}\u200b\u2060-\u206f\ufeff\u0640]/gu
// The first alternative keeps letters of their own, which would lose their mark to the second.
const accents =
  /([иу]\u0306|і\u0308|[кг]\u0301|[وي]\u0654)|[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/gu
const special = /[^\0-\x7f]/gu

function foldAny(word: string): string {
  const lower = word.normalize('NFKD').toLowerCase()
  const seen = lower.replace(unseen, '')
  // Marks that an invisible character held apart may have an order of their own.
  const ordered = seen.length === lower.length ? seen : seen.normalize('NFKD')
  return ordered.replace(accents, '$1').replace(special, replacement).normalize('NFC')
}

const replacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ƀ: 'b',
  ɓ: 'b',
  ƈ: 'c',
  ɖ: 'd',
  ɗ: 'd',
  ƒ: 'f',
  ǥ: 'g',
  ɠ: 'g',
  ɨ: 'i',
  ƙ: 'k',
  ƚ: 'l',
  ɲ: 'n',
  ƞ: 'n',
  ɵ: 'o',
  ƥ: 'p',
  ɍ: 'r',
  ȿ: 's',
  ƭ: 't',
  ʈ: 't',
  ʉ: 'u',
  ʋ: 'v',
  ƴ: 'y',
  ƶ: 'z',
  ς: 'σ',
  '‘': "'",
  '’': "'",
  ʼ: "'",
  ʻ: "'",
  '׳': "'",
  '״': '"',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ٱ: 'ا',
}

/** The zeros of scripts that write their own digits today; the other nine follow each. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0,
  0xf20, 0x1040, 0x17e0, 0x1810,
]

function replacement(character: string): string {
  const known = replacements[character]
  if (known !== undefined) return known
  const code = character.charCodeAt(0)
  if (code < 0x660 || code > 0x1819 || character.length > 1) return character
  const zero = zeros.find((zero) => code >= zero && code < zero + 10)
  return zero === undefined ? character : String(code - zero)
}
