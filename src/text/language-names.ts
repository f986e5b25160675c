// The languages that words can be taken in, by their names.

import { stemLanguages } from './stemming.js'
import { stopWordLanguages } from './stop-words.js'

/** Words are compared as they are written: no stems, no stop words. */
export const noLanguage = 'none'

/** As MongoDB writes them. */
const names: Readonly<Record<string, string>> = {
  danish: 'da',
  dutch: 'nl',
  english: 'en',
  finnish: 'fi',
  french: 'fr',
  german: 'de',
  hungarian: 'hu',
  italian: 'it',
  norwegian: 'nb',
  portuguese: 'pt',
  romanian: 'ro',
  russian: 'ru',
  spanish: 'es',
  swedish: 'sv',
}

/** By which languages may be named beside their tags. */
export const languageNames: readonly string[] = [...Object.keys(names), noLanguage]

/** What has a stemmer, a list of stop words, or both. */
export const knownLanguages: readonly string[] = [
  ...new Set([...stemLanguages, ...stopWordLanguages]),
].sort()

/**
 * The tag of a language by its tag (`de-AT` is `de`) or its name in English; `none` is itself.
 * Undefined for a language of which nothing is known.
 */
export function languageNamed(name: string): string | undefined {
  const lower = name.toLowerCase()
  if (lower === noLanguage) return noLanguage
  if (Object.hasOwn(names, lower)) return names[lower]
  const [tag = ''] = lower.split('-', 1)
  return knownLanguages.includes(tag) ? tag : undefined
}
