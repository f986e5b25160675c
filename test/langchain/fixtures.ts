// Stores in this process and of a server, and embeddings that need no model.

import { Embeddings } from '@langchain/core/embeddings'
import type { Test } from 'tap'
import { connect } from '../../src/client/index.js'
import { hashingEmbedder } from '../../src/flow/steps/hashing-embedder.js'
import type { LangchainKnowledge, LangchainObjects } from '../../src/langchain/index.js'
import type { Lorekeep } from '../../src/lorekeep.js'
import { serve } from '../http/fixtures/serving.js'

export interface Opened {
  readonly knowledge: LangchainKnowledge
  readonly objects: LangchainObjects
  /** Behind both doors. */
  readonly lorekeep: Lorekeep
}

export const doors: Readonly<Record<string, (t: Test) => Promise<Opened>>> = {
  'in process': async (t) => {
    const { lorekeep } = await serve(t)
    return { knowledge: lorekeep.knowledge, objects: lorekeep.objects, lorekeep }
  },
  'over HTTP': async (t) => {
    const { lorekeep, url } = await serve(t)
    const { knowledge, objects } = connect({ url, token: 'admin' })
    return { knowledge, objects, lorekeep }
  },
}

/** Of the words of a text, so that likeness is shared words. */
export class WordEmbeddings extends Embeddings {
  readonly #embed = hashingEmbedder({ dimensions: 64 })
  /** How many texts came at once. */
  readonly batches: number[] = []

  constructor() {
    super({})
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    this.batches.push(texts.length)
    const vectors = await this.#embed(texts, { signal: new AbortController().signal })
    return vectors.map((vector) => [...vector])
  }

  override async embedQuery(text: string): Promise<number[]> {
    return [...((await this.embedDocuments([text]))[0] as number[])]
  }
}

/** Whose vectors are what a function says. */
export class GivenEmbeddings extends Embeddings {
  readonly #give: (texts: readonly string[]) => unknown

  constructor(give: (texts: readonly string[]) => unknown) {
    super({})
    this.#give = give
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    return this.#give(texts) as number[][]
  }

  override async embedQuery(text: string): Promise<number[]> {
    return ((await this.embedDocuments([text])) as number[][])[0] as number[]
  }
}
