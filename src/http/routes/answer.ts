// Questions that are answered in words: by the host's model, or by the passages.

import { hasCode, LorekeepError } from '../../errors.js'
import type { AnswerQuery, AnswerStream, Generate } from '../../graph/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import { isDisconnect } from '../body.js'
import { beginEvents, eventsType, eventText, wantsEvents } from '../events.js'
import { askedGraph, GraphBody, maxDepth } from '../graph-question.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { user } from '../parameters.js'
import type { Places } from '../places.js'
import { problemOf } from '../problem.js'
import { answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { Stopwatch, whileAsked } from '../stream.js'

interface AnswerRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  /** Undefined where the passages are the answer. */
  readonly generate: Generate | undefined
  readonly maxGraphResults: number
  readonly maxPromptLength: number
  readonly maxQueryMs: number
  readonly maxAnswerMs: number
  readonly answers: Places
  readonly heartbeatMs: number
  readonly exportIdleTimeoutMs: number
}

export function answerRoutes(options: AnswerRoutesOptions): readonly Route[] {
  const { prefix, knowledge, generate, maxGraphResults, maxPromptLength, maxAnswerMs } = options
  const { heartbeatMs, exportIdleTimeoutMs: idleTimeoutMs } = options
  const [ofOne, ofAll] = [`${prefix}/cores/{id}/answer`, `${prefix}/graph/answer`]
  const query = { user }
  const media = ['application/json', eventsType]
  return [
    {
      access: 'read',
      method: 'POST',
      path: ofOne,
      operation: 'answerInCore',
      media,
      query,
      run: answer,
    },
    {
      access: 'read',
      method: 'POST',
      path: ofAll,
      operation: 'answerInGraph',
      media,
      query,
      run: answer,
    },
  ]

  async function answer(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    const body = new GraphBody(await readJson(exchange, options))
    const graphOf = askedGraph(exchange, body)
    const query = {
      text: body.question(),
      use: body.legs(),
      entities: body.integer('entities', 1, maxGraphResults),
      triples: body.count('triples', maxGraphResults),
      depth: body.count('depth', maxDepth),
      maxTriples: body.count('maxTriples', maxGraphResults),
      languages: body.languages(),
      maxPromptLength: body.promptLength(maxPromptLength) ?? maxPromptLength,
    }
    body.end()
    const graph = knowledge.graph(graphOf())
    await options.answers.hold(principal, () =>
      whileAsked(call, options.maxQueryMs, async (asked, searching) => {
        const slow = new AbortController()
        const generating = new Stopwatch(maxAnswerMs, () => slow.abort(tooSlow(maxAnswerMs)))
        generating.pause()
        const signal = AbortSignal.any([asked, slow.signal])
        try {
          const stream = graph.answer({ ...query, generate, signal } as AnswerQuery)
          // Until here an error has a status of its own, also where events are asked for.
          const sources = await stream.sources()
          searching.pause()
          generating.go()
          if (wantsEvents(call)) await sendStream(exchange, stream, sources, generating)
          else await answerJson(call, 200, await stream)
        } finally {
          generating.pause()
        }
      }),
    )
  }

  async function sendStream(
    { call, requestId }: Exchange,
    stream: AnswerStream,
    sources: unknown,
    clock: Stopwatch,
  ): Promise<void> {
    const sending = beginEvents(call, { heartbeatMs, idleTimeoutMs, clock })
    try {
      await sending.all(eventsOf(stream, sources))
    } catch (error) {
      const isGone = isDisconnect(error) || hasCode(error, 'LK_HTTP_TIMEOUT')
      if (call.hasGone || isGone) throw error
      await sending.end(eventText('error', problemOf(error, requestId)))
      // For the host to know.
      throw error
    }
    await sending.end()
  }
}

async function* eventsOf(
  stream: AnswerStream,
  sources: unknown,
): AsyncGenerator<string, void, undefined> {
  yield eventText('sources', { sources })
  for await (const text of stream) yield eventText('text', { text })
  yield eventText('answer', await stream)
}

function tooSlow(maxAnswerMs: number): LorekeepError {
  const details = { maxAnswerMs }
  return new LorekeepError('LK_MODEL_UNAVAILABLE', `no whole answer in ${maxAnswerMs} ms`, {
    details,
  })
}
