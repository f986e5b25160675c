// A VectorStore of LangChain over knowledge cores: durable, with approximate search where there are many.

import type { Document, DocumentInterface } from '@langchain/core/documents'
import type { EmbeddingsInterface } from '@langchain/core/embeddings'
import { maximalMarginalRelevance } from '@langchain/core/utils/math'
import { VectorStore, type MaxMarginalRelevanceSearchOptions } from '@langchain/core/vectorstores'
import { checkArgument, checkOptions } from '../door/options.js'
import { aCount, aName, aText, aVector } from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import { embedVectors } from '../flow/steps/embed.js'
import type { NearEntity } from '../graph/types.js'
import type { Vector } from '../types.js'
import { DocumentCores } from './document-cores.js'
import { alternativesOf, type MetadataFilter } from './filter.js'
import { addRules, deleteRules, ids, lastOfEach, namedDocuments } from './given-documents.js'
import type { AddOptions, DeleteOptions } from './given-documents.js'
import type { DecodedDocument } from './stored-document.js'
import { aKnowledgeStore, someAtOnce, type LangchainKnowledge } from './stores.js'

export interface LorekeepVectorStoreOptions {
  readonly knowledge: LangchainKnowledge
  readonly user: string
  /** Which the store has to itself. `langchain` by default. */
  readonly collection?: string
  /** Texts that the embeddings get at once. 64 by default. */
  readonly batch?: number
}

const storeRules = {
  knowledge: aKnowledgeStore,
  user: aText,
  collection: aName(256),
  batch: aCount(1),
}
const [defaultBatch, defaultFetchK, defaultLambda] = [64, 20, 0.5]

export class LorekeepVectorStore extends VectorStore {
  declare FilterType: MetadataFilter
  readonly #cores: DocumentCores
  readonly #collection: string
  readonly #batch: number

  /** @throws TypeError for options that cannot be */
  constructor(embeddings: EmbeddingsInterface, options: LorekeepVectorStoreOptions) {
    const given = checkOptions('LorekeepVectorStore()', options, storeRules, 'knowledge', 'user')
    // What is given here is shown in traces.
    super(embeddings, {})
    const { knowledge, user, collection = 'langchain', batch = defaultBatch } = given
    this.#cores = new DocumentCores(knowledge, user, collection)
    this.#collection = collection
    this.#batch = batch
  }

  override _vectorstoreType(): string {
    return 'lorekeep'
  }

  static override async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface,
    options: LorekeepVectorStoreOptions,
  ): Promise<LorekeepVectorStore> {
    const documents = texts.map((pageContent, at) => {
      const metadata = Array.isArray(metadatas) ? (metadatas[at] as object) : metadatas
      return { pageContent, metadata: metadata ?? {} }
    })
    return LorekeepVectorStore.fromDocuments(documents, embeddings, options)
  }

  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface,
    options: LorekeepVectorStoreOptions,
  ): Promise<LorekeepVectorStore> {
    const store = new LorekeepVectorStore(embeddings, options)
    await store.addDocuments(documents)
    return store
  }

  /**
   * Embeds some at a time, and stores each with its vector. Of an id that comes twice the last one stays.
   * @throws LorekeepError `LK_DOCUMENT_INVALID`, before anything is stored; `LK_STEP_OUTPUT` for vectors that cannot be;
   * `LK_CORE_*`, `LK_STORAGE_*`: what was stored until then stays, and the same call again stores the rest
   */
  override async addDocuments(
    documents: DocumentInterface[],
    options?: AddOptions,
  ): Promise<string[]> {
    const { ids, signal = never() } = checkOptions('addDocuments()', options, addRules)
    const named = namedDocuments(documents, ids, this.#collection)
    const embedder = (texts: readonly string[]) => this.embeddings.embedDocuments([...texts])
    const left = lastOfEach(named).map(([document]) => document)
    for (let from = 0; from < left.length; from += this.#batch) {
      const some = left.slice(from, from + this.#batch)
      const texts = some.map(({ document }) => document.pageContent)
      const vectors = await embedVectors(embedder, texts, { signal, batch: this.#batch })
      await this.#cores.put(some, vectors, signal)
    }
    return named.map(({ id }) => id)
  }

  /** As addDocuments(), with vectors that are there. */
  override async addVectors(
    vectors: number[][],
    documents: DocumentInterface[],
    options?: AddOptions,
  ): Promise<string[]> {
    const { ids, signal = never() } = checkOptions('addVectors()', options, addRules)
    const named = namedDocuments(documents, ids, this.#collection)
    if (vectors.length !== documents.length) {
      throw new TypeError(`there are ${vectors.length} vectors for ${documents.length} documents`)
    }
    const given = await embedVectors(
      () => vectors,
      named.map(({ document }) => document.pageContent),
      { signal, batch: Infinity },
    )
    const left = lastOfEach(named)
    const chosen = left.map(([, at]) => given[at] as Vector)
    await this.#cores.put(
      left.map(([document]) => document),
      chosen,
      signal,
    )
    return named.map(({ id }) => id)
  }

  /** What is not there is passed over. @throws TypeError where nothing is named */
  override async delete(options: DeleteOptions): Promise<void> {
    const { ids: named, deleteAll } = checkOptions('delete()', options, deleteRules)
    if ((named === undefined) === (deleteAll === undefined)) {
      throw new TypeError('delete() takes ids, or deleteAll: true, and not both')
    }
    if (named === undefined) await this.#cores.deleteAll()
    else await this.#cores.delete(named)
  }

  /** In the order of the ids; those that are not there are left out. */
  async getByIds(given: readonly string[]): Promise<Document[]> {
    checkArgument('ids', given, ids)
    const found = await someAtOnce(given, (id) => this.#cores.readId(id))
    return found.filter((document) => document !== undefined)
  }

  /** Best first, with the cosine of the angle, from -1 to 1. @throws LorekeepError `LK_GRAPH_QUERY` */
  override async similaritySearchVectorWithScore(
    query: number[],
    k: number,
    filter?: this['FilterType'],
  ): Promise<[Document, number][]> {
    const nearest = await this.#nearest(query, k, filter)
    const found = await someAtOnce(nearest, async ({ entity, score }) => {
      const document = await this.#cores.read(entity.v)
      return document === undefined ? [] : [[document, score] as [Document, number]]
    })
    return found.flat()
  }

  override async maxMarginalRelevanceSearch(
    query: string,
    options: MaxMarginalRelevanceSearchOptions<this['FilterType']>,
  ): Promise<Document[]> {
    const { k, fetchK = Math.max(k, defaultFetchK), lambda = defaultLambda, filter } = options
    const vector = await this.embeddings.embedQuery(query)
    const nearest = await this.#nearest(vector, fetchK, filter)
    const decoded = await someAtOnce(nearest, ({ entity }) => this.#cores.decode(entity.v))
    const found = decoded.filter((one) => one?.document !== undefined) as DecodedDocument[]
    const vectors = found.map((one) => one.vector)
    const chosen = maximalMarginalRelevance(vector, vectors, lambda, k)
    return chosen.map((at) => found[at]?.document as Document)
  }

  async #nearest(
    query: Vector,
    k: number,
    filter: MetadataFilter | undefined,
  ): Promise<readonly NearEntity[]> {
    checkArgument('k', k, aCount())
    const ways = alternativesOf(filter)
    if (!aVector.holds(query)) {
      const message = 'the vector of the question is not a list of finite numbers'
      throw new LorekeepError('LK_STEP_OUTPUT', message)
    }
    return k === 0 ? [] : this.#cores.nearest(query, k, ways)
  }
}

function never(): AbortSignal {
  return new AbortController().signal
}
