// A retriever of LangChain over `retrieve`: by words, names, walks, and vectors where there are good ones.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Document, DocumentInterface } from '@langchain/core/documents'
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers'
import type { RunnableConfig } from '@langchain/core/runnables'
import { checkOptions } from '../door/options.js'
import { aCount, aListOfTexts, anObject, aText, neverUndefined } from '../door/rules.js'
import type { RetrieveLegs } from '../graph/types.js'
import { documentOfPassage, type PassageMetadata } from './passage.js'
import { aKnowledgeStore, theirs, within, type LangchainKnowledge } from './stores.js'

export interface LorekeepRetrieverOptions extends BaseRetrieverInput {
  readonly knowledge: Pick<LangchainKnowledge, 'graph'>
  readonly user: string
  /** Passages at most. 4 by default. */
  readonly k?: number
  /** Only of these cores: those of flows have the ids of their documents. All of the user's by default. */
  readonly cores?: readonly string[]
  readonly collection?: string
  /** What passages are found by: `use` of `retrieve`. */
  readonly use?: RetrieveLegs
  /** Which languages passages should be in, the preferred one first. */
  readonly languages?: readonly string[]
}

const retrieverRules = {
  knowledge: aKnowledgeStore,
  user: aText,
  k: aCount(1, 10_000),
  // A part that is misspelt, or undefined, would be one that is left out, which allows more.
  cores: neverUndefined(aListOfTexts),
  collection: neverUndefined(aText),
  use: anObject,
  languages: aListOfTexts,
  ...{ callbacks: theirs, tags: theirs, metadata: theirs, verbose: theirs },
}

/** What `retrieve` starts from by default. */
const fewestEntities = 50

export class LorekeepRetriever extends BaseRetriever<PassageMetadata> {
  override lc_namespace = ['lorekeep', 'langchain']
  readonly #options: LorekeepRetrieverOptions
  /** Of the calls of invoke(): what LangChain hands on from there does not have it. */
  readonly #signals = new AsyncLocalStorage<AbortSignal | undefined>()

  /** @throws TypeError for options that cannot be */
  constructor(options: LorekeepRetrieverOptions) {
    checkOptions('LorekeepRetriever()', options, retrieverRules, 'knowledge', 'user')
    const { callbacks, tags, metadata, verbose } = options
    super({
      ...(callbacks !== undefined && { callbacks }),
      ...(tags !== undefined && { tags }),
      ...(metadata !== undefined && { metadata }),
      ...(verbose !== undefined && { verbose }),
    })
    this.#options = { ...options }
  }

  static override lc_name(): string {
    return 'LorekeepRetriever'
  }

  /** A `signal` of the configuration ends the question. */
  override async invoke(
    question: string,
    config?: Partial<RunnableConfig>,
  ): Promise<DocumentInterface<PassageMetadata>[]> {
    return this.#signals.run(config?.signal, () => super.invoke(question, config))
  }

  /** The best first. @throws LorekeepError as retrieve(), and the signal's reason */
  override async _getRelevantDocuments(question: string): Promise<Document<PassageMetadata>[]> {
    const { knowledge, user, k = 4, use, languages, ...options } = this.#options
    const signal = this.#signals.getStore()
    signal?.throwIfAborted()
    const { sources } = await knowledge.graph({ user, ...within(options) }).retrieve({
      text: question,
      entities: Math.max(k, fewestEntities),
      use,
      languages,
      signal,
    })
    return sources
      .filter(({ text }) => text !== undefined && text.trim() !== '')
      .slice(0, k)
      .map((source, at) => documentOfPassage(source, at + 1))
  }
}
