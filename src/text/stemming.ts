// Forms of one word have one stem. Stems are used when a question is asked: what is stored are forms.

import { porterStem } from './porter.js'

/** Gives the stem of a folded form. It is for comparing: a stem need not be a word. */
export type Stemmer = (form: string) => string

/**
 * Those of packages are loaded where one is asked for: all of them take 13 to 14 ms of the processor and 0.7 MiB of the
 * heap, one 3 to 4 ms and 0.1 MiB.
 */
const stemmers: Readonly<Record<string, () => Stemmer | Promise<Stemmer>>> = {
  ar: () => lightArabic,
  da: async () => (await import('@orama/stemmers/danish')).stemmer,
  de: async () => stemAfter(withoutUmlauts, (await import('@orama/stemmers/german')).stemmer),
  en: () => stemAfter(withoutIon, porterStem),
  es: async () => stemAfter(singular, (await import('@orama/stemmers/spanish')).stemmer),
  fi: async () => (await import('@orama/stemmers/finnish')).stemmer,
  fr: async () => stemAfter(withoutArticle, (await import('@orama/stemmers/french')).stemmer),
  hu: async () => (await import('@orama/stemmers/hungarian')).stemmer,
  it: async () => stemAfter(withoutArticle, (await import('@orama/stemmers/italian')).stemmer),
  ko: () => withoutParticle,
  nb: norwegian,
  nl: async () => (await import('@orama/stemmers/dutch')).stemmer,
  nn: norwegian,
  no: norwegian,
  pt: async () => (await import('@orama/stemmers/portuguese')).stemmer,
  ro: async () => (await import('@orama/stemmers/romanian')).stemmer,
  ru: async () => (await import('@orama/stemmers/russian')).stemmer,
  sv: async () => (await import('@orama/stemmers/swedish')).stemmer,
}

async function norwegian(): Promise<Stemmer> {
  return (await import('@orama/stemmers/norwegian')).stemmer
}

function stemAfter(change: (form: string) => string, stem: Stemmer): Stemmer {
  return (form) => stem(change(form))
}

/** The languages that have a stemmer, as BCP 47 tags. */
export const stemLanguages: readonly string[] = Object.keys(stemmers)

/** By language. */
const loaded = new Map<string, Stemmer>()

/**
 * The stemmer of a language (a BCP 47 tag; `de-AT` is `de`). Forms are stemmed as they were folded,
 * without accents, so that forms with one stem are found whichever way they were typed; some
 * endings that only an accent tells are missed by it. Words with digits, and those of fewer than
 * three letters, are their own stems. Of a language without a stemmer every form is its own.
 */
export function stemmer(language: string): Stemmer | Promise<Stemmer> {
  const name = (language.split('-', 1)[0] as string).toLowerCase()
  const known = loaded.get(name)
  if (known !== undefined) return known
  const load = Object.hasOwn(stemmers, name) ? stemmers[name] : undefined
  if (load === undefined) return (form) => form
  const found = load()
  return found instanceof Promise
    ? found.then((stem) => setLoaded(name, stem))
    : setLoaded(name, found)
}

function setLoaded(language: string, stem: Stemmer): Stemmer {
  const ofLanguage = ofWords(language, stem)
  loaded.set(language, ofLanguage)
  return ofLanguage
}

/** What no stemmer looks at. */
const noStem = /[\d_+#.,:]/

/** Whether other words may have the stem of this one: to look for them is to read all that begin like it. */
export function mayHaveOtherForms(form: string, language: string): boolean {
  const name = (language.split('-', 1)[0] as string).toLowerCase()
  return Object.hasOwn(stemmers, name) && !noStem.test(form)
}

function ofWords(language: string, stem: Stemmer): Stemmer {
  return (form) => {
    if ((form.length < 3 && language !== 'ko') || noStem.test(form)) return form
    // A stemmer may leave nothing of a word that is all endings.
    return stem(form) || form
  }
}

/**
 * What all words begin with that have a stem, each with one of these, and others. The end of a stem may be another
 * letter than its words have: happi, of happy; or some others. Before it may stand what a language writes onto words.
 */
export function beginningsOf(stem: string, language: string): string[] {
  const name = (language.split('-', 1)[0] as string).toLowerCase()
  const other = Object.hasOwn(otherEndings, name) ? stem.search(otherEndings[name] as RegExp) : -1
  const beginning = stem.slice(0, Math.max(2, other < 0 ? stem.length - 1 : other))
  const all = name === 'de' ? withUmlauts(beginning) : [beginning]
  const onto = Object.hasOwn(prefixes, name) ? (prefixes[name] as readonly string[]) : []
  return [...all, ...onto.map((prefix) => prefix + beginning)]
}

/** More than one letter, where stemmers write them for other endings. */
const otherEndings: Readonly<Record<string, RegExp>> = {
  // Of two consonants that are the same one is left, also where vowels follow: loppui is lopui.
  fi: /(?<=[^aeiouy])[aeiouy]{2,}$/,
  // Récemment is recent, publication is publiqu.
  fr: /(?<=e)nt$|(?<=i)qu$/,
  // Snelheden is snelheid.
  nl: /(?<=he)id$/,
}

const arabicArticles = ['ال', 'بال', 'كال', 'فال', 'لل'] as const
const elided = ['l', 'd', 'm', 't', 's', 'c'] as const

/** What stemmers take from the beginning of a word. */
const prefixes: Readonly<Record<string, readonly string[]>> = {
  ar: ['و', ...arabicArticles.flatMap((article) => [article, `و${article}`])],
  fr: [...elided, 'j', 'n', 'qu', 'jusqu', 'lorsqu', 'puisqu', 'quoiqu'].map((word) => `${word}'`),
  it: [...elided, 'un', 'dell', 'all', 'dall', 'nell', 'sull', 'quest'].map((word) => `${word}'`),
}

/**
 * Porter's fourth step takes `ion` from behind `s` or `t`. porterStem() takes that letter as well
 * (as the package does: connection is connec), so it is done here, but for `ation`, which an earlier step takes.
 */
function withoutIon(form: string): string {
  const at = form.lastIndexOf('ion')
  if (at < 3) return form
  const { length } = form
  const isLast =
    at + 3 === length || form.endsWith('ions') || form.endsWith('ional') || form.endsWith('ionally')
  const before = form[at - 1]
  if (!isLast || (before !== 's' && before !== 't') || form[at - 2] === 'a') return form
  const start = form.slice(0, at)
  return /(?:[aeiouy]+[^aeiouy]+){2}$/.test(start) ? start : form
}

/**
 * Arabic writes the article, and *and*, onto the word: light10 (Larkey, Ballesteros & Connell, 2007), which finds more
 * than stemmers that go deeper.
 */
function lightArabic(form: string): string {
  let stem = /^و.{3}/.test(form) ? form.slice(1) : form
  const article = arabicArticles.find((each) => stem.startsWith(each))
  if (article !== undefined && stem.length >= article.length + 2) stem = stem.slice(article.length)
  for (const ending of arabicEndings) {
    if (stem.endsWith(ending) && stem.length >= ending.length + 2) {
      stem = stem.slice(0, -ending.length)
    }
  }
  return stem
}

const arabicEndings = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ية', 'ه', 'ة', 'ي'] as const

/** German has ae, oe and ue where there is no key for ä, ö and ü, which are a, o and u here. */
function withoutUmlauts(form: string): string {
  return form.replace(/(?<![aeiouyq])([aou])e/g, '$1')
}

/** What the forms begin with of which this is left. */
function withUmlauts(beginning: string): string[] {
  const [, first = '', second] = /^([^aou]*[aou])(?:([^aou]*[aou]?).*)$/.exec(beginning) ?? []
  if (!second) return [beginning]
  return [first + second, `${first}e${second}`]
}

/** The package has stems for ciudad and ciudades that are not the same, and for luz and luces. */
function singular(form: string): string {
  return form.replace(/ces$/, 'z').replace(/(?<=.{2}(?:[dlnrjyx]|es))es$/, '')
}

/** French and Italian write articles and pronouns onto the next word: l'homme, dell'acqua. */
function withoutArticle(form: string): string {
  return form.replace(
    /^(?:\p{L}|qu|jusqu|lorsqu|puisqu|quoiqu|(?:de|a|da|ne|su)?ll|un|quest)'(?=.)/u,
    '',
  )
}

/** Korean writes particles onto the word: 문서를 is 문서 as an object. The longest goes. */
function withoutParticle(form: string): string {
  for (const particle of particles) {
    if (form.length > particle.length && form.endsWith(particle)) {
      return form.slice(0, -particle.length)
    }
  }
  return form
}

const particles = [
  ...['에서부터', '으로부터', '에게서', '에서는', '에서도', '으로는', '으로도', '으로서', '으로써'],
  ...[
    '로부터',
    '까지',
    '부터',
    '처럼',
    '보다',
    '에게',
    '에서',
    '에는',
    '에도',
    '으로',
    '이나',
    '이다',
  ],
  ...[
    '들이',
    '들을',
    '들은',
    '들의',
    '은',
    '는',
    '이',
    '가',
    '을',
    '를',
    '의',
    '에',
    '로',
    '와',
    '과',
    '도',
    '만',
    '들',
  ],
]
