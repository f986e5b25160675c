import { LorekeepError } from '../../../errors.js'
import { modelExtractor, type ModelMessage } from '../model-extractor.js'
import type { Extractor } from '../types.js'
import { contentOf } from './answer.js'
import { ModelClient, modelRules } from '../../../openai/client.js'
import type { ModelOptions, RequestOptions } from '../../../openai/client.js'
import { checkOptions } from '../../../door/options.js'

const maxAnswerBytes = 4 * 1024 * 1024

/**
 * Asks `/chat/completions` of an OpenAI-compatible server for definitions and relationships, once
 * for each chunk. What it names that does not stand in the chunk is left out.
 */
export function openaiExtractor(options: ModelOptions): Extractor {
  checkOptions('openaiExtractor()', options, modelRules, 'model')
  const complete = completion(options)
  return modelExtractor(async (messages, signal) =>
    contentOf(await complete(messages, { signal, maxAnswerBytes })),
  )
}

/** Some models and servers refuse what makes answers plain JSON and repeatable: they go without. */
function completion(options: ModelOptions) {
  const client = new ModelClient(options)
  const { model } = options
  const exact = { temperature: 0, response_format: { type: 'json_object' } }
  let refused = false
  return async (messages: readonly ModelMessage[], request: RequestOptions): Promise<unknown> => {
    const ask = (members: object) =>
      client.post('chat/completions', { model, messages, ...members }, request)
    if (refused) return ask({})
    try {
      return await ask(exact)
    } catch (error) {
      if (!(error instanceof LorekeepError) || !isBadRequest(error)) throw error
      // If the fault lies elsewhere this is refused as well, and the next request is whole again.
      const answer = await ask({})
      refused = true
      return answer
    }
  }
}

function isBadRequest({ code, details }: LorekeepError): boolean {
  return code === 'LK_MODEL_REFUSED' && (details['status'] === 400 || details['status'] === 422)
}
