import { measureImport } from './level-import.js'

await measureImport('embeddings', { decoding: { least: 1 }, raw: { least: 0.6 } })
