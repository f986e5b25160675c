// `lorekeep/steps`: the built-in steps for flows that are composed in code.

export { chunk } from './chunk.js'
export { embed } from './embed.js'
export type { EmbedOptions } from './embed.js'
export { extract } from './extract.js'
export type { ExtractOptions } from './extract.js'
export { store } from './store.js'
export type { StoreOptions } from './store.js'
export { index } from './index-objects.js'
export type { IndexOptions, IndexOutput } from './index-objects.js'
export { hashingEmbedder } from './hashing-embedder.js'
export type { HashingEmbedderOptions } from './hashing-embedder.js'
export { offlineExtractor } from './offline-extractor.js'
export { openaiEmbedder } from './openai/embedder.js'
export type { OpenaiEmbedderOptions } from './openai/embedder.js'
export { openaiExtractor } from './openai/extractor.js'
export type { ModelOptions } from '../../openai/client.js'
export type { SplitOptions } from './splitter.js'
export type {
  Chunk,
  ChunkObject,
  ChunkOutput,
  ChunkText,
  Embedder,
  EmbedOutput,
  Entity,
  EntityObject,
  Extraction,
  Extractor,
  ExtractorTools,
  ExtractOutput,
  StoreOutput,
} from './types.js'
