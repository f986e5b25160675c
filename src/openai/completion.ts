// A chat with a model behind an OpenAI-compatible server: the text that it answers, as it comes.

import { isRecord } from '../door/wording.js'
import { hasCode, LorekeepError } from '../errors.js'
import { ModelClient } from './client.js'
import type { ModelOptions, StreamReader } from './client.js'

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

type Chat = (
  messages: readonly ChatMessage[],
  options: { readonly signal: AbortSignal },
) => AsyncGenerator<string, void, undefined>

/** The events of 20,000 tokens take some 5 MB, and a model may think in more than it says. */
const maxAnswerBytes = 64 * 1024 * 1024

const path = 'chat/completions'

/**
 * Asks `/chat/completions`; the options were checked. Where the server may not stream, its answer
 * comes in one piece. What a model thinks aloud before it answers is left out.
 *
 * The text rejects with what ModelClient throws, and with `LK_MODEL_ANSWER` where it is cut off at the
 * limit of tokens or by a filter, or empty.
 */
export function chatWith(options: ModelOptions): Chat {
  const client = new ModelClient(options)
  return async function* chat(messages, { signal }) {
    const end: End = { finish: undefined }
    let hasText = false
    for await (const text of withoutThoughts(said(client, options.model, messages, signal, end))) {
      hasText = true
      yield text
    }
    const flaw = flawOf(end.finish, hasText)
    if (flaw !== undefined) throw new LorekeepError('LK_MODEL_ANSWER', flaw)
  }
}

interface End {
  /** Why the model stopped, in the words of the server. */
  finish: string | undefined
}

async function* said(
  client: ModelClient,
  model: string,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
  end: End,
): AsyncGenerator<string, void, undefined> {
  const limits = { signal, maxAnswerBytes }
  let isStreamed = false
  const reader = () => {
    isStreamed = true
    return new CompletionReader(end)
  }
  try {
    const body = { model, messages, stream: true }
    yield* client.stream(path, body, { ...limits, reader })
  } catch (error) {
    if (isStreamed || !isBadRequest(error)) throw error
    // Some models, and some accounts, may not stream. If the fault lies elsewhere, this is refused as well.
    yield reader().read(await client.post(path, { model, messages }, limits))
  }
}

/** Of chunks of a completion, or of a whole one. */
class CompletionReader implements StreamReader {
  readonly #end: End

  constructor(end: End) {
    this.#end = end
    end.finish = undefined
  }

  get isFinished(): boolean {
    return this.#end.finish !== undefined
  }

  end(): void {
    this.#end.finish ??= 'stop'
  }

  read(value: unknown): string {
    const { choices } = isRecord(value) ? value : {}
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
    // The last chunk may tell what was used, and have no choice.
    if (!isRecord(choice)) return ''
    const { delta, message, finish_reason: finish } = choice
    const said = [delta, message].find(isRecord)
    // Of a message that came in one piece nothing is missing, whether it says so or not.
    if (typeof finish === 'string') this.#end.finish = finish
    else if (isRecord(message)) this.#end.finish = 'stop'
    return textOf(said?.['content']) || textOf(said?.['refusal'])
  }
}

/** A text, or a list of parts of which some are texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => (isRecord(part) && part['type'] === 'text' ? part['text'] : ''))
    .filter((text) => typeof text === 'string')
    .join('')
}

function flawOf(finish: string | undefined, hasText: boolean): string | undefined {
  if (finish === 'length') {
    return 'it was cut off at the limit of tokens: raise that of the server, or ask for less'
  }
  if (finish === 'content_filter') return 'it was cut off by a filter of the server'
  return hasText ? undefined : 'it is empty'
}

const [thoughts, endOfThoughts] = ['<think>', '</think>']

/** Without `<think>…</think>` before the answer, which some servers leave in it. */
async function* withoutThoughts(
  texts: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  let held = ''
  let isThinking = false
  let hasBegun = false
  for await (const text of texts) {
    if (hasBegun) {
      yield text
      continue
    }
    held = isThinking ? held + text : (held + text).trimStart()
    if (held.startsWith(thoughts)) isThinking = true
    const end = isThinking ? held.indexOf(endOfThoughts) : -1
    if (end >= 0) {
      held = held.slice(end + endOfThoughts.length).trimStart()
      isThinking = false
    }
    // Of thoughts as much as their end may begin with, and of the rest what may begin them.
    if (isThinking) held = held.slice(-endOfThoughts.length)
    else if (!thoughts.startsWith(held)) {
      hasBegun = true
      yield held
    }
  }
  if (!hasBegun && !isThinking && held !== '') yield held
}

function isBadRequest(error: unknown): boolean {
  if (!hasCode(error, 'LK_MODEL_REFUSED')) return false
  const { status } = error.details as { readonly status?: unknown }
  return status === 400 || status === 422
}
