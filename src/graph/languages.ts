// The languages that a question names.

import type { Members } from '../door/members.js'
import { aRule } from '../door/rules.js'
import { aLanguageRange } from '../terms.js'
import { languageNamed, languageNames } from '../text/language-names.js'

/** Tags of five letters and more are well formed, but there are none of languages (RFC 5646, 2.2.1): they are names. */
const aLanguage = aRule<string>(
  `a language by its tag, such as 'de' or 'en-GB', '*' for any, or by one of the names ${languageNames.join(', ')}`,
  (name) => aLanguageRange.holds(name) && rangeNamed(name) !== undefined,
)

/** As ranges of RFC 4647. Of most languages there are no stems, and they may be named all the same. */
export function languagesIn(given: Members): readonly string[] | undefined {
  const named = given.list('languages', aLanguage)
  return named?.map((name) => rangeNamed(name) as string)
}

function rangeNamed(name: string): string | undefined {
  return /^[^-]{1,3}(?:-|$)/.test(name) ? name : languageNamed(name)
}
