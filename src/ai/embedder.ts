// An embedder of ours from an embedding model of the AI SDK.

import { embedMany, type EmbeddingModel } from 'ai'
import { checkArgument, checkOptions } from '../door/options.js'
import { aCount, anObject, aRule, aVector } from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import { inBatches } from '../batches.js'
import type { Embedder, Vector } from '../types.js'
import { aiRules, Asking, type AiOptions } from './asking.js'

export interface AiEmbedderOptions extends AiOptions {
  /** Texts in a request: 64 by default, less where they are long, and never more than the model takes. */
  readonly batch?: number
  /** What vectors have to have; by default what the first one has. */
  readonly dimensions?: number
  /** Of the AI SDK: what the provider of the model takes beside. */
  readonly providerOptions?: Parameters<typeof embedMany>[0]['providerOptions']
}

const embedderRules = {
  ...aiRules,
  batch: aCount(1),
  dimensions: aCount(1),
  providerOptions: anObject,
}
const aModel = aRule<EmbeddingModel>('an embedding model of the AI SDK, or its id', (value) => {
  return isNamed(value) || typeof Object(value).doEmbed === 'function'
})
/** Servers take some hundred thousand tokens in a request; a token is a byte or more. */
const maxRequestBytes = 200_000

/**
 * The embedder rejects with `LK_MODEL_UNAVAILABLE`, `LK_MODEL_REFUSED`, or `LK_MODEL_ANSWER` for other than a vector for
 * each text, all of one length.
 * @throws TypeError
 */
export function aiEmbedder(model: EmbeddingModel, options: AiEmbedderOptions = {}): Embedder {
  checkArgument('the model of aiEmbedder()', model, aModel)
  checkOptions('aiEmbedder()', options, embedderRules)
  const { batch = 64, providerOptions } = options
  const asking = new Asking(options)
  let { dimensions } = options
  return async (texts, { signal }) => {
    const most = Math.min(batch, await mostOf(model))
    const vectors: Vector[] = []
    const bounds = { most, weigh: Buffer.byteLength, mostWeight: maxRequestBytes }
    for (const values of inBatches(texts, bounds)) {
      const { embeddings } = await asking.once(signal, (abortSignal) =>
        embedMany({
          ...{ model, values, abortSignal, maxRetries: 0 },
          ...(providerOptions !== undefined && { providerOptions }),
        }),
      )
      if (embeddings.length !== values.length) {
        throw unusable(`${embeddings.length} vectors for ${values.length} texts`)
      }
      for (const vector of embeddings) {
        if (!aVector.holds(vector)) throw unusable('a vector that is no list of finite numbers')
        dimensions ??= vector.length
        if (vector.length !== dimensions) {
          throw unusable(
            `a vector of ${vector.length} dimensions, where ${dimensions} are expected`,
          )
        }
        vectors.push(vector)
      }
    }
    return vectors
  }
}

/** An id is looked up by the SDK, which cuts what is too much. */
async function mostOf(model: EmbeddingModel): Promise<number> {
  if (typeof model === 'string') return Infinity
  return Math.max(1, (await model.maxEmbeddingsPerCall) ?? Infinity)
}

export function isNamed(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function unusable(what: string): LorekeepError {
  return new LorekeepError('LK_MODEL_ANSWER', `the embedding model gave ${what}`)
}
