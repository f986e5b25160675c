// What the mock models of the SDK answer with.

import { APICallError, simulateReadableStream } from 'ai'
import type { MockLanguageModelV3 } from 'ai/test'
import { MockEmbeddingModelV3 } from 'ai/test'

export type Answered = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>
type Streamed = Awaited<ReturnType<MockLanguageModelV3['doStream']>>
type Part = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never
type Finish = Answered['finishReason']['unified']

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

export function answered(content: Answered['content'] | string, finish: Finish = 'stop'): Answered {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return { content: parts, finishReason: { unified: finish, raw: finish }, usage, warnings: [] }
}

export function streamed(texts: readonly string[], finish: Finish = 'stop'): Streamed {
  const chunks: Part[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...texts.map((delta): Part => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: finish, raw: finish }, usage },
  ]
  return {
    stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
  }
}

/** Vectors by a function. */
export function embeddingModel(
  give: (values: string[], signal: AbortSignal | undefined) => number[][] | Promise<number[][]>,
  maxEmbeddingsPerCall: number | null = null,
): MockEmbeddingModelV3 {
  return new MockEmbeddingModelV3({
    maxEmbeddingsPerCall,
    doEmbed: async ({ values, abortSignal }) => {
      return { embeddings: await give(values, abortSignal), warnings: [] }
    },
  })
}

export function failed(statusCode: number, responseHeaders: Record<string, string> = {}) {
  const isRetryable = statusCode === 429 || statusCode >= 500
  const asked = { url: 'https://example.com/', requestBodyValues: {} }
  return new APICallError({ message: 'no', ...asked, statusCode, isRetryable, responseHeaders })
}

/** No time goes by: whoever waits waits no longer, and requests have all the time that they like. */
export function impatient(timeoutMs: number) {
  const waits: number[] = []
  const after = (ms: number, run: () => void) => {
    if (ms === timeoutMs) return () => {}
    waits.push(ms)
    const timer = setImmediate(run)
    return () => clearImmediate(timer)
  }
  return { waits, timeoutMs, clock: { now: () => 0, after }, chance: { fraction: () => 0 } }
}
