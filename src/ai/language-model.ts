// An extractor and a generator of ours from a language model of the AI SDK.

import { generateText, streamText, type LanguageModel } from 'ai'
import { checkArgument, checkOptions } from '../door/options.js'
import { aRule } from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import { modelExtractor, type ModelMessage } from '../flow/steps/model-extractor.js'
import { cutOff, Flaw } from '../flow/steps/openai/answer.js'
import type { Extractor } from '../flow/steps/types.js'
import type { Generate } from '../graph/types.js'
import { aiRules, Asking, type AiOptions } from './asking.js'
import { isNamed } from './embedder.js'

const aModel = aRule<LanguageModel>('a language model of the AI SDK, or its id', (value) => {
  return isNamed(value) || typeof Object(value).doGenerate === 'function'
})

/**
 * Asks for definitions and relationships, once for each chunk, as `openaiExtractor` does.
 * @throws TypeError
 */
export function aiExtractor(model: LanguageModel, options: AiOptions = {}): Extractor {
  checkArgument('the model of aiExtractor()', model, aModel)
  checkOptions('aiExtractor()', options, aiRules)
  const asking = new Asking(options)
  return modelExtractor(async (messages, signal) => {
    const { text, finishReason } = await asking.once(signal, (abortSignal) =>
      generateText({ model, ...askedWith(messages), temperature: 0, abortSignal, maxRetries: 0 }),
    )
    if (finishReason === 'length') throw new Flaw(cutOff, text)
    if (text === '') throw new Flaw('has no content')
    return text
  })
}

/**
 * What `generate` of `answer` takes: the text as it comes. It rejects with `LK_MODEL_ANSWER` where that is empty, or cut
 * off at the limit of tokens or by a filter.
 * @throws TypeError
 */
export function aiGenerate(model: LanguageModel, options: AiOptions = {}): Generate {
  checkArgument('the model of aiGenerate()', model, aModel)
  checkOptions('aiGenerate()', options, aiRules)
  const asking = new Asking(options)
  return ({ messages }, { signal }) =>
    asking.stream(signal, (abortSignal) => textsOf(model, messages, abortSignal))
}

async function* textsOf(
  model: LanguageModel,
  messages: readonly ModelMessage[],
  abortSignal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { fullStream } = streamText({
    ...{ model, ...askedWith(messages), abortSignal, maxRetries: 0 },
    // It would be printed; it is thrown below.
    onError: () => {},
  })
  let hasText = false
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') abortSignal.throwIfAborted()
    // What it thinks, for one, is not told, and that it thinks is.
    const text = part.type === 'text-delta' ? part.text : ''
    hasText ||= text !== ''
    yield text
    if (part.type !== 'finish') continue
    const flaw = flawOf(part.finishReason, hasText)
    if (flaw !== undefined) throw new LorekeepError('LK_MODEL_ANSWER', flaw)
  }
}

function flawOf(finish: string, hasText: boolean): string | undefined {
  if (finish === 'length') return 'it was cut off at the limit of tokens: ask for less'
  if (finish === 'content-filter') return 'it was cut off by a filter'
  return hasText ? undefined : 'it is empty'
}

/** Both majors of the SDK take what is said by the system apart. */
function askedWith(messages: readonly ModelMessage[]) {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  const others = messages.flatMap(({ role, content }) =>
    role === 'system' ? [] : [{ role, content }],
  )
  return { system: system.join('\n\n'), messages: others }
}
