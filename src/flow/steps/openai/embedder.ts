import { LorekeepError } from '../../../errors.js'
import type { Vector } from '../../../types.js'
import { inBatches } from '../../../batches.js'
import type { Embedder } from '../types.js'
import { modelRules, ModelClient } from '../../../openai/client.js'
import type { ModelOptions } from '../../../openai/client.js'
import { checkOptions } from '../../../door/options.js'
import { aCount } from '../../../door/rules.js'

export interface OpenaiEmbedderOptions extends ModelOptions {
  /** For models that can shorten their vectors. */
  readonly dimensions?: number
  /** Texts in a request. 64 by default; less where they are long. */
  readonly batch?: number
}

/** Servers take some hundred thousand tokens in a request; a token is a byte or more. */
const maxRequestBytes = 200_000
const maxAnswerBytes = 64 * 1024 * 1024

const embedderOptions = { ...modelRules, dimensions: aCount(1), batch: aCount(1) }

/** Asks `/embeddings` of an OpenAI-compatible server. */
export function openaiEmbedder(options: OpenaiEmbedderOptions): Embedder {
  checkOptions('openaiEmbedder()', options, embedderOptions, 'model')
  const { model, dimensions, batch = 64 } = options
  const client = new ModelClient(options)
  return async (texts, { signal }) => {
    const vectors: Vector[] = []
    for (const input of inBatches(texts, {
      most: batch,
      weigh: Buffer.byteLength,
      mostWeight: maxRequestBytes,
    })) {
      const body = {
        model,
        input,
        ...(dimensions !== undefined && { dimensions }),
        encoding_format: 'float',
      }
      const answer = await client.post('embeddings', body, { signal, maxAnswerBytes })
      vectors.push(...vectorsOf(answer, input.length))
    }
    return vectors
  }
}

/** `{ data: [{ index, embedding }] }`, in any order; whoever leaves indexes out means the order. */
function vectorsOf(answer: unknown, count: number): Vector[] {
  const { data } = (answer ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) throw unusable('has no list `data`')
  if (data.length !== count) throw unusable(`has ${data.length} embeddings for ${count} texts`)
  const vectors: Float64Array[] = new Array(count)
  let dimensions: number | undefined
  data.forEach((item: unknown, position) => {
    const { index = position, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown }
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count) {
      throw unusable(`data[${position}].index is not that of a text`)
    }
    if (vectors[index as number]) throw unusable(`has two embeddings for text ${String(index)}`)
    if (!isVector(embedding)) throw unusable(`data[${position}].embedding is not a list of numbers`)
    dimensions ??= embedding.length
    if (embedding.length !== dimensions) {
      throw unusable(`data[${position}].embedding is of another length than those before it`)
    }
    vectors[index as number] = Float64Array.from(embedding)
  })
  return vectors
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite)
}

function unusable(what: string): LorekeepError {
  return new LorekeepError('LK_MODEL_ANSWER', `the answer of embeddings ${what}`)
}
