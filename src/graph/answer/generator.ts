// What makes a text of a prompt: a function, or a model behind a server.

import { checkOptions } from '../../door/options.js'
import { aRule } from '../../door/rules.js'
import { isPlainObject } from '../../door/wording.js'
import { modelRules } from '../../openai/client.js'
import { chatWith } from '../../openai/completion.js'
import type { AnswerQuery, Generate } from '../types.js'

export const aGenerator = aRule<NonNullable<AnswerQuery['generate']>>(
  'a function, or the options of a model: { model, url, key }',
  (value) => typeof value === 'function' || isPlainObject(value),
)

/** Of what fits the rule. `where` it stands is for messages. @throws TypeError */
export function generatorOf(
  where: string,
  generate: NonNullable<AnswerQuery['generate']>,
): Generate {
  if (typeof generate === 'function') return generate
  checkOptions(where, generate, modelRules, 'model')
  const chat = chatWith(generate)
  return ({ messages }, { signal }) => chat(messages, { signal })
}
