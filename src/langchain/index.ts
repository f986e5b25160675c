// lorekeep/langchain: the library as retriever, vector store, loader and record manager of LangChain.js. It extends
// the classes of @langchain/core, an optional peer.

export type { MetadataFilter, MetadataOperators } from './filter.js'
export type { AddOptions, DeleteOptions } from './given-documents.js'
export { LorekeepLoader, type LorekeepLoaderOptions } from './loader.js'
export type { MetadataValue } from './metadata.js'
export { passagesAsText, type PassageMetadata } from './passage.js'
export { LorekeepRecordManager, type LorekeepRecordManagerOptions } from './record-manager.js'
export { LorekeepRetriever, type LorekeepRetrieverOptions } from './retriever.js'
export type { LangchainKnowledge, LangchainObjects } from './stores.js'
export { LorekeepVectorStore, type LorekeepVectorStoreOptions } from './vector-store.js'
