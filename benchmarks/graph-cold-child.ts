// node graph-cold-child.js DIRECTORY PATTERN
//
// Opens the store in the directory, asks one question, and tells how long both took.

import type { TriplePattern } from '../src/graph/types.js'
import type { Triple } from '../src/types.js'
import { collect, graphOf, openOurs } from './graph-store.js'

export interface ColdAnswer {
  readonly openMs: number
  readonly ms: number
  readonly found: readonly Triple[]
}

const [directory = '', pattern = '{}'] = process.argv.slice(2)
const start = performance.now()
await using keep = await openOurs(directory)
const opened = performance.now()
const found = await collect(graphOf(keep).match(JSON.parse(pattern) as TriplePattern))
const ms = performance.now() - opened
process.stdout.write(JSON.stringify({ openMs: opened - start, ms, found } satisfies ColdAnswer))
