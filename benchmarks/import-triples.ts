import { measureImport } from './level-import.js'

await measureImport('triples', { decoding: { least: 3 }, raw: { least: 0.6 } })
