// lorekeep/ai: tools over the library for the AI SDK, and its models as embedder, extractor and generator of ours. The
// package `ai` is an optional peer.

export type { AiOptions } from './asking.js'
export { aiEmbedder, type AiEmbedderOptions } from './embedder.js'
export { aiExtractor, aiGenerate } from './language-model.js'
export {
  knowledgeTools,
  type KnowledgeTool,
  type KnowledgeToolsOptions,
  type ToolAnswer,
  type ToolStores,
} from './tools.js'
