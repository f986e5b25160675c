// The step `embed`: a vector for each chunk.

import { setImmediate } from 'node:timers/promises'
import { LorekeepError } from '../../errors.js'
import type { Vector } from '../../types.js'
import type { Step } from '../types.js'
import { hashingEmbedder, isHashing } from './hashing-embedder.js'
import { checkKnowledge } from './knowledge-input.js'
import { modelOptionsFrom } from '../../openai/configuration.js'
import { openaiEmbedder } from './openai/embedder.js'
import type { Members } from '../../door/members.js'
import type { ChunkOutput, EmbedOutput, Embedder } from './types.js'
import { checkOptions } from '../../door/options.js'
import { aCount, aFunction, aVector } from '../../door/rules.js'

export interface EmbedOptions {
  /** hashingEmbedder() by default. */
  readonly embedder?: Embedder
  /** Texts that the embedder gets at once; between batches progress is told. 64 by default. */
  readonly batch?: number
}

const defaultBatch = 64

/** The step; its embedder is for the steps behind it, too. */
export interface EmbedStep extends Step<ChunkOutput, EmbedOutput> {
  readonly embedder: Embedder
}

const embedOptions = { embedder: aFunction, batch: aCount(1) }

export function embed(options: EmbedOptions = {}): EmbedStep {
  checkOptions('embed()', options, embedOptions)
  const { embedder = hashingEmbedder(), batch = defaultBatch } = options
  return {
    name: 'embed',
    record: !isHashing(embedder),
    embedder,
    run: async (input, context): Promise<EmbedOutput> => {
      const { document, signal, progress } = context
      const { chunks } = await checkKnowledge(input, 'embed', context)
      const texts = chunks.map(({ start, end }) => document.text.slice(start, end))
      const onProgress = (done: number) => progress(done, texts.length)
      return { chunks, vectors: await embedVectors(embedder, texts, { signal, batch, onProgress }) }
    },
  }
}

interface EmbedVectorsOptions {
  readonly signal: AbortSignal
  readonly batch?: number
  readonly onProgress?: (done: number) => void
}

/**
 * The vectors of texts, asked for in batches.
 * @throws LorekeepError `LK_STEP_OUTPUT` if the embedder gives anything but one vector for each
 *   text, all of one length; the signal's reason once it is aborted
 */
export async function embedVectors(
  embedder: Embedder,
  texts: readonly string[],
  { signal, batch = defaultBatch, onProgress }: EmbedVectorsOptions,
): Promise<Vector[]> {
  const vectors: Vector[] = []
  for (let from = 0; from < texts.length; from += batch) {
    signal.throwIfAborted()
    const some = texts.slice(from, from + batch)
    const found: unknown = await embedder(some, { signal })
    signal.throwIfAborted()
    if (!Array.isArray(found) || found.length !== some.length) {
      const count = Array.isArray(found) ? `${found.length} vectors` : 'no list of vectors'
      throw new LorekeepError(
        'LK_STEP_OUTPUT',
        `the embedder gave ${count} for ${some.length} texts`,
      )
    }
    for (const vector of found as unknown[]) vectors.push(checked(vector, vectors))
    onProgress?.(vectors.length)
    // An embedder that computes never lets go of the thread by itself.
    await setImmediate()
  }
  return vectors
}

function checked(vector: unknown, before: readonly Vector[]): Vector {
  const where = `the embedder's vector of text ${before.length}`
  if (!aVector.holds(vector)) {
    throw new LorekeepError('LK_STEP_OUTPUT', `${where} is not a list of finite numbers`)
  }
  const [first = vector] = before
  if (vector.length === first.length) return vector
  const lengths = `has ${vector.length} dimensions, and that of text 0 has ${first.length}`
  throw new LorekeepError('LK_STEP_OUTPUT', `${where} ${lengths}`)
}

// ── configuration ────────────────────────────────────────────────────────────

/** The step of a configured flow. `type` is `hashing`, the default, or `openai`. */
export function embedFrom(reader: Members): EmbedStep {
  const type = reader.choice('type', ['hashing', 'openai'])
  const dimensions = reader.integer('dimensions', 1, 65_536)
  // Of the step, and of the requests that its embedder makes.
  const batch = reader.integer('batch', 1, 2048)
  const size = dimensions !== undefined && { dimensions }
  const together = batch !== undefined && { batch }
  const embedder =
    type === 'openai'
      ? openaiEmbedder({ ...modelOptionsFrom(reader), ...size, ...together })
      : hashingEmbedder({ ...size })
  return embed({ embedder, ...together })
}
