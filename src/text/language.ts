// Which language a text is in: a guess that rather says nothing than something wrong.

import { stopWordLanguages, stopWords } from './stop-words.js'
import { eachWord } from './words.js'

const latinLanguages = stopWordLanguages.filter(
  (language) => !['ru', 'ar', 'ja'].includes(language),
)

/** More of a text is not looked at. */
const lookedAt = 4096

/**
 * The language of a text as a BCP 47 tag, where its script or its function words tell; undefined
 * where they do not, as with most questions of a word or two. Scripts of one language are told by
 * the script alone: Hangul is `ko`, kana `ja`, Han without kana `zh`.
 */
export function languageOf(text: string): string | undefined {
  const start = text.slice(0, lookedAt)
  // As most questions: what scripts they are in needs not be asked.
  if (isAscii(start)) return /[A-Za-z]/.test(start) ? byStopWords(start, latinLanguages) : undefined
  const letters = start.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0) return undefined
  for (const [language, pattern, least] of byScript) {
    if ((start.match(pattern)?.length ?? 0) >= letters * least) return language
  }
  if (isMost(start, /\p{sc=Cyrl}/gu, letters)) {
    if (/[іїєґ]/i.test(start)) return /[ыэёъў]/i.test(start) ? undefined : 'uk'
    if (/[ыэё]/i.test(start)) return /[ј-џ]/i.test(start) ? undefined : 'ru'
    return byStopWords(start, ['ru'])
  }
  if (isMost(start, /\p{sc=Arab}/gu, letters)) {
    return /[ٹڈڑںے]/.test(start) ? 'ur' : /[پچژگ]/.test(start) ? 'fa' : byStopWords(start, ['ar'])
  }
  if (!isMost(start, /\p{sc=Latn}/gu, letters)) return undefined
  return byStopWords(start, latinLanguages)
}

/** By which languages a question is read. */
export interface QuestionLanguages {
  /** In which other forms of its words are found. */
  readonly forms: readonly string[]
  /** In which its words are passed over that say little. */
  readonly stopWords: readonly string[]
}

/**
 * The languages that a question may be in: a few words tell less than a text, and to take forms of one language more
 * does little harm. English is among them unless more speaks against it.
 */
export function languagesOfQuestion(text: string): QuestionLanguages {
  const told = languageOf(text)
  if (told !== undefined) return { forms: [told], stopWords: [told] }
  const letters = isAscii(text) ? 0 : (text.match(/\p{L}/gu)?.length ?? 0)
  for (const [language, script] of likelyByScript) {
    if (letters > 0 && isMost(text, script, letters)) {
      return { forms: [language], stopWords: [language] }
    }
  }
  const counts = countsOfStopWords(text, latinLanguages)
  const most = counts[0]?.count ?? 0
  const english = counts.find(({ language }) => language === 'en')?.count ?? 0
  const likely = counts.filter(({ count }) => count === most).map(({ language }) => language)
  if (most === 0 || english === most || likely.length > mostLikely) {
    return { forms: ['en'], stopWords: ['en'] }
  }
  // One such word may as well be a word of another language that says much: *die*, *war*.
  if (most === 1) return { forms: [...likely, 'en'], stopWords: ['en'] }
  const forms = english === most - 1 ? [...likely, 'en'] : likely
  return { forms, stopWords: forms }
}

/** Of several languages in a script the one that has a stemmer here. */
const likelyByScript: readonly (readonly [language: string, script: RegExp])[] = [
  ['ru', /\p{sc=Cyrl}/gu],
  ['ar', /\p{sc=Arab}/gu],
]

/** Where more are as likely, nothing is known. */
const mostLikely = 3

/** Kana are some of the letters of a Japanese text, the rest of which is Han. */
const byScript: readonly (readonly [language: string, pattern: RegExp, least: number])[] = [
  ['ja', /[\p{sc=Hira}\p{sc=Kana}]/gu, 0.2],
  ['zh', /\p{sc=Han}/gu, 0.6],
  ['ko', /\p{sc=Hang}/gu, 0.6],
  ['th', /\p{sc=Thai}/gu, 0.6],
  ['he', /\p{sc=Hebr}/gu, 0.6],
  ['el', /\p{sc=Grek}/gu, 0.6],
  ['hi', /\p{sc=Deva}/gu, 0.6],
]

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}

function isMost(text: string, pattern: RegExp, letters: number): boolean {
  return (text.match(pattern)?.length ?? 0) >= letters * 0.6
}

/** Two different function words at least, and twice as many as any other language has. */
function byStopWords(text: string, languages: readonly string[]): string | undefined {
  const [first, second] = countsOfStopWords(text, languages)
  if (!first || first.count < 2) return undefined
  // Related languages share many of them, so long texts are decided by less.
  const margin = Math.max(1, first.count * (first.count < 8 ? 0.34 : 0.2))
  return second && first.count - second.count < margin ? undefined : first.language
}

/** How many different function words of each language a text has, the most first. */
function countsOfStopWords(text: string, languages: readonly string[]) {
  const forms = new Set<string>()
  eachWord(text, (form) => forms.add(form))
  const counts = languages.map((language) => {
    const words = stopWords(language)
    return { language, count: [...forms].filter((form) => words.has(form)).length }
  })
  return counts.sort((a, b) => b.count - a.count)
}
