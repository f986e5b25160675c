// `$text`: what is searched, as its operands say it.

import { parseSearch, type WordSequence } from '../../text/search-text.js'
import { knownLanguages, languageNamed, noLanguage } from '../../text/language-names.js'
import type { JsonPath } from '../../door/json.js'
import { Members } from '../../door/members.js'
import type { Problems } from '../../door/problems.js'
import { aFlag, aString } from '../../door/rules.js'

/** A word of a question. */
export interface AskedWord {
  readonly form: string
  /** Whether all words count that begin with it. */
  readonly isPrefix: boolean
}

/** Words that have to stand one behind the other; or one alone. */
export type AskedPhrase = Pick<WordSequence, 'forms' | 'isPrefix'>

export interface ParsedText {
  /** Each once. */
  readonly words: readonly AskedWord[]
  /** What has to be there. */
  readonly phrases: readonly AskedPhrase[]
  readonly excluded: readonly AskedPhrase[]
  /** That of the index where none was given. */
  readonly language: string | undefined
}

/** Each is looked up in every list. */
const mostWords = 256
/** Words of a phrase: each is looked up with its places. */
const mostInPhrase = 64

/** `undefined` after at least one problem. */
export function readText(value: unknown, at: JsonPath, problems: Problems): ParsedText | undefined {
  const given = new Members(value, at, problems, 'an object, { $search: text }')
  const search = given.need('$search', aString)
  const named = given.take('$language', aString)
  const language = named === undefined ? undefined : languageNamed(named)
  if (named !== undefined && language === undefined) {
    const known = [...knownLanguages, noLanguage].join(', ')
    given.fail('$language', `is none that is known: there are ${known}`)
  }
  for (const name of ['$caseSensitive', '$diacriticSensitive']) {
    if (given.take(name, aFlag) !== true) continue
    given.fail(name, 'is not supported: an index has words in small letters and without accents')
  }
  given.end()
  if (search === undefined) return undefined
  const { words, phrases, excluded } = parseSearch(search)
  const count = [...phrases, ...excluded].reduce(
    (sum, { forms }) => sum + forms.length,
    words.length,
  )
  if (count > mostWords) {
    return given.fail('$search', `has ${count} words, at most ${mostWords}`)
  }
  for (const { forms } of [...phrases, ...excluded]) {
    if (forms.length <= mostInPhrase) continue
    return given.fail(
      '$search',
      `has ${forms.length} words that have to stand one behind the other, at most ${mostInPhrase}`,
    )
  }
  return {
    words: unique(words.map(({ form, isPrefix }) => ({ form, isPrefix }))),
    phrases: unique(phrases.map(({ forms, isPrefix }) => ({ forms, isPrefix }))),
    excluded: unique(excluded.map(({ forms, isPrefix }) => ({ forms, isPrefix }))),
    language,
  }
}

function unique<T>(values: readonly T[]): readonly T[] {
  if (values.length < 2) return values
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
