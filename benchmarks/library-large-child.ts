// node library-large-child.js DIRECTORY STREAMS
//
// Counts and streams all triples of the store in the directory, and asks for subjects of its streams.

import { collect, openOurs } from './graph-store.js'
import { subject, user } from './library-data.js'

export interface LargeLibraryAnswer {
  readonly count: number
  readonly countMs: number
  readonly told: number
  readonly scanMs: number
  readonly rss: number
}

const [directory = '', streams = '0'] = process.argv.slice(2)
await using keep = await openOurs(directory)
const graph = keep.knowledge.graph({ user })
for (let n = 0; n < 2000; n++) {
  await collect(graph.match({ s: subject((n * 7919) % Number(streams), 3) }))
}
let start = performance.now()
const count = await graph.count()
const countMs = performance.now() - start
start = performance.now()
let told = 0
for await (const _ of graph.match()) told++
const scanMs = performance.now() - start
const rss = process.memoryUsage().rss
const answer: LargeLibraryAnswer = { count, countMs, told, scanMs, rss }
process.stdout.write(JSON.stringify(answer))
