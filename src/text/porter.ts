// Porter's stemmer for English (1980), in the form that is usual in JavaScript: its stems are those of @orama/stemmers,
// which tries some twenty patterns for each word. A word that nobody has looked for yet is found by stemming all that
// begin like it, so this takes a quarter of the time.

type Endings = Readonly<Record<string, readonly (readonly [ending: string, instead: string])[]>>

/** By the last letter, the longest first, each with what takes its place. */
const second: Endings = {
  i: [
    ...pairs('biliti ble, entli ent, ousli ous, aliti al, iviti ive, enci ence, anci ance'),
    ...pairs('alli al, logi log, bli ble, eli e'),
  ],
  l: pairs('ational ate, tional tion'),
  m: pairs('alism al'),
  n: pairs('ization ize, ation ate'),
  r: pairs('izer ize, ator ate'),
  s: pairs('iveness ive, fulness ful, ousness ous'),
}

const third: Endings = {
  e: pairs('icate ic, ative, alize al'),
  i: pairs('iciti ic'),
  l: pairs('ical ic, ful'),
  s: pairs('ness'),
}

const fourth: Endings = {
  c: pairs('ic'),
  e: pairs('ance, ence, able, ible, ate, ive, ize'),
  i: pairs('iti'),
  l: pairs('al'),
  m: pairs('ism'),
  r: pairs('er'),
  s: pairs('ous'),
  t: pairs('ement, ment, ant, ent'),
  u: pairs('ou'),
}

function pairs(list: string): readonly (readonly [string, string])[] {
  return list.split(', ').map((pair) => {
    const [ending = '', instead = ''] = pair.split(' ')
    return [ending, instead]
  })
}

/** The stem of a folded word; one of less than three letters is its own. */
export function porterStem(word: string): string {
  if (word.length < 3) return word
  // At the beginning it is no vowel.
  const isY = word.startsWith('y')
  let stem = withoutPlural(isY ? `Y${word.slice(1)}` : word)
  stem = withoutPast(stem)
  if (stem.length > 1 && stem.endsWith('y') && measureOf(stem, stem.length - 1) >= FIRST_VOWEL) {
    stem = `${stem.slice(0, -1)}i`
  }
  stem = replaced(stem, second, FIRST_PAIR) ?? stem
  stem = replaced(stem, third, FIRST_PAIR) ?? stem
  stem = withoutFourth(stem)
  stem = withoutE(stem)
  return isY ? `y${stem.slice(1)}` : stem
}

function withoutPlural(word: string): string {
  if (!word.endsWith('s')) return word
  const isEs = word.length > 4 && word.endsWith('sses')
  if (isEs || (word.length > 3 && word.endsWith('ies'))) return word.slice(0, -2)
  return word.endsWith('ss') ? word : word.slice(0, -1)
}

function withoutPast(word: string): string {
  if (word.length > 3 && word.endsWith('eed')) {
    return measureOf(word, word.length - 3) >= FIRST_PAIR ? word.slice(0, -1) : word
  }
  const length = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const end = word.length - length
  if (length === 0 || end < 1 || measureOf(word, end) < FIRST_VOWEL) return word
  const stem = word.slice(0, end)
  if (stem.endsWith('at') || stem.endsWith('bl') || stem.endsWith('iz')) return `${stem}e`
  const last = stem.charCodeAt(end - 1)
  if (
    end > 1 &&
    last === stem.charCodeAt(end - 2) &&
    !isVowel(last) &&
    !'ylsz'.includes(stem[end - 1] as string)
  ) {
    return stem.slice(0, -1)
  }
  return isShort(stem) ? `${stem}e` : stem
}

/** Undefined where no ending is there, the word itself where what is before it is too short. */
function replaced(word: string, endings: Endings, least: number): string | undefined {
  const ofLetter = endings[word[word.length - 1] as string]
  if (ofLetter === undefined) return undefined
  for (const [ending, instead] of ofLetter) {
    const end = word.length - ending.length
    if (end < 1 || !word.endsWith(ending)) continue
    return measureOf(word, end) >= least ? word.slice(0, end) + instead : word
  }
  return undefined
}

function withoutFourth(word: string): string {
  const stem = replaced(word, fourth, SECOND_PAIR)
  if (stem !== undefined) return stem
  const end = word.length - 4
  if (end < 1 || !(word.endsWith('sion') || word.endsWith('tion'))) return word
  return measureOf(word, end) >= SECOND_PAIR ? word.slice(0, end) : word
}

function withoutE(word: string): string {
  let stem = word
  if (word.length > 1 && word.endsWith('e')) {
    const without = word.slice(0, -1)
    const measure = measureOf(without, without.length)
    if (measure >= SECOND_PAIR || (measure >= FIRST_PAIR && !isShort(without))) stem = without
  }
  const isLl = stem.endsWith('ll') && measureOf(stem, stem.length) >= SECOND_PAIR
  return isLl ? stem.slice(0, -1) : stem
}

// How far a word goes through [consonants] vowels consonants vowels consonants.
const START = 0
const CONSONANTS = 1
const FIRST_VOWEL = 2
const FIRST_PAIR = 3
const SECOND_VOWEL = 4
const SECOND_PAIR = 5

function measureOf(word: string, end: number): number {
  let state = START
  for (let at = 0; at < end; at++) {
    const letter = word.charCodeAt(at)
    // `y` is one where the other kind was before it.
    const isOne =
      isVowel(letter) || (letter === Y && state !== FIRST_VOWEL && state !== SECOND_VOWEL)
    if (isOne) {
      if (state <= CONSONANTS) state = FIRST_VOWEL
      else if (state === FIRST_PAIR) state = SECOND_VOWEL
    } else if (state === START) state = CONSONANTS
    else if (state === FIRST_VOWEL) state = FIRST_PAIR
    else if (state === SECOND_VOWEL) return SECOND_PAIR
  }
  return state
}

/** Consonants, a vowel, and a consonant: `hop`, but not `row`. */
function isShort(word: string): boolean {
  const { length } = word
  if (length < 3) return false
  const last = word.charCodeAt(length - 1)
  if (isVowel(last) || last === Y || last === W || last === X) return false
  const middle = word.charCodeAt(length - 2)
  if (!isVowel(middle) && middle !== Y) return false
  for (let at = 0; at < length - 2; at++) {
    const letter = word.charCodeAt(at)
    if (isVowel(letter) || (at > 0 && letter === Y)) return false
  }
  return true
}

const W = 0x77
const X = 0x78
const Y = 0x79

function isVowel(letter: number): boolean {
  return letter === 0x61 || letter === 0x65 || letter === 0x69 || letter === 0x6f || letter === 0x75
}
