// What a search is asked for, checked.

import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aSignal, aText } from '../../door/rules.js'
import { eitherOf } from '../../in-flight.js'
import { languagesOfQuestion, type QuestionLanguages } from '../../text/language.js'
import { stemLanguages } from '../../text/stemming.js'
import { parseSearch } from '../../text/search-text.js'
import { languagesIn } from '../languages.js'
import { Question } from '../question.js'
import { mostInPhrase, mostOpen, mostText, searchedWords } from '../words/asked-words.js'
import type { WordQuestion } from '../words/question.js'

export interface CheckedSearch {
  readonly question: WordQuestion
  readonly k: number
  readonly cores: readonly string[] | undefined
  readonly collection: string | undefined
  readonly explain: boolean
}

const usualK = 10
const mostK = 10_000

/** The search ends when `closing` says so, too. @throws LorekeepError `LK_GRAPH_QUERY` */
export function checkSearch(query: unknown, closing: AbortSignal): CheckedSearch {
  const asked = new Question()
  const given = new Members(query, '', asked.problems, 'a question, an object')
  const { signal } = checkOptions('search()', { signal: given.get('signal') }, { signal: aSignal })
  const text = given.need('text', aText)
  if (text !== undefined && text.trim() === '') given.fail('text', 'is empty')
  const isLong = text !== undefined && text.length > mostText
  if (isLong) given.fail('text', `has ${text.length} characters; there may be ${mostText}`)
  const k = given.integer('k', 1, mostK) ?? usualK
  const document = given.text('document')
  const collection = given.text('collection')
  const cores = given.list('cores', aText)
  const named = languagesIn(given)
  const explain = given.boolean('explain') ?? false
  const parsed = parseSearch(isLong ? '' : (text ?? ''))
  const { phrases, excluded } = parsed
  for (const { forms } of [...phrases, ...excluded]) {
    if (forms.length <= mostInPhrase) continue
    const message = `has ${forms.length} words that have to stand one behind the other, at most ${mostInPhrase}`
    given.fail('text', message)
    break
  }
  const open = [...phrases, ...excluded].filter(({ isPrefix }) => isPrefix).length
  if (open > mostOpen) {
    const message = `has ${open} phrases that end in what words begin with, at most ${mostOpen}`
    given.fail('text', message)
  }
  given.end()
  asked.end()
  const likely = languagesOfQuestion(text ?? '')
  const { forms, stopWords } = named === undefined ? likely : readBy(named, likely)
  const question = {
    ...searchedWords(parsed, stopWords),
    languages: forms,
    document,
    signal: eitherOf(closing, signal),
  }
  return { question, k, cores: cores && [...cores], collection, explain }
}

/** By named languages, each once: all of a list are looked up for each word. Of `*` by those that are likely. */
function readBy(named: readonly string[], likely: QuestionLanguages): QuestionLanguages {
  const by = (those: readonly string[]) => [
    ...new Set(named.flatMap((range) => (range === '*' ? those : [primaryOf(range)]))),
  ]
  const forms = by(likely.forms).filter((language) => stemLanguages.includes(language))
  return { forms, stopWords: by(likely.stopWords) }
}

function primaryOf(language: string): string {
  return (language.split('-', 1)[0] as string).toLowerCase()
}
