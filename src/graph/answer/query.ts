// What an answer is asked for, checked, but for what is the retrieval's to check.

import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aSignal } from '../../door/rules.js'
import { Question } from '../question.js'
import type { AnswerQuery, Generate, RetrieveQuery } from '../types.js'
import { aGenerator, generatorOf } from './generator.js'

export interface AnswerRequest {
  readonly text: string
  readonly retrieval: RetrieveQuery
  /** Undefined where the passages are the answer. */
  readonly generate: Generate | undefined
  readonly maxPromptLength: number
  readonly signal: AbortSignal | undefined
}

/**
 * Some 3,000 tokens of English: with the instructions and an answer, what a model has room for that
 * was started without a word about that (4,096).
 */
const usualLength = 12_000
export const promptLengths = [500, 1_000_000] as const

/** @throws LorekeepError `LK_GRAPH_QUERY`; TypeError for options that cannot be */
export function checkAnswer(query: AnswerQuery): AnswerRequest {
  const question = new Question()
  const given = new Members(query, '', question.problems, 'a question, an object')
  const text = given.get('text')
  if (text === undefined) given.fail('text', 'is missing: the question, in words')
  const maxPromptLength = given.integer('maxPromptLength', ...promptLengths) ?? usualLength
  const { generate, signal } = checkOptions(
    'answer()',
    { generate: given.get('generate'), signal: given.get('signal') },
    { generate: aGenerator, signal: aSignal },
  )
  question.end()
  const { generate: _generate, maxPromptLength: _length, ...retrieval } = query
  return {
    text: text as string,
    retrieval,
    generate: generate && generatorOf('answer(): generate', generate),
    maxPromptLength,
    signal,
  }
}
