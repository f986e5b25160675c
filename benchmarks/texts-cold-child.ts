// node texts-cold-child.js DIRECTORY USER retrieve|search
//
// Opens the store in the directory, asks the questions of HotpotQA's sample, and tells how long they took, and the
// memory.

import { readFileSync } from 'node:fs'
import type { Graph } from '../src/graph/types.js'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { data } from './retrieval-data.js'

export interface ColdTextAnswer {
  readonly openMs: number
  readonly firstMs: number
  readonly p50: number
  readonly p95: number
  /** Bytes above those before the store was opened, at most. */
  readonly rss: number
}

const most = 200

const kinds: Readonly<Record<string, (graph: Graph, text: string) => Promise<number>>> = {
  retrieve: async (graph, text) => (await graph.retrieve({ text })).sources.length,
  search: async (graph, text) => (await graph.search({ text, k: 10 })).length,
}

async function ask(directory: string, user: string, kind: string): Promise<ColdTextAnswer> {
  const all = JSON.parse(readFileSync(data.questions, 'utf8')) as { readonly question: string }[]
  const ask = kinds[kind] as (typeof kinds)[string]
  const idle = process.memoryUsage().rss
  const opened = performance.now()
  await using keep = await openOurs(directory)
  const openMs = performance.now() - opened
  const graph = keep.knowledge.graph({ user })
  const times: number[] = []
  let rss = 0
  for (const { question } of all.slice(0, most)) {
    const asked = performance.now()
    const found = await ask(graph, question)
    times.push(performance.now() - asked)
    bench.check(found > 0, `nothing found for '${question}'`)
    rss = Math.max(rss, process.memoryUsage().rss - idle)
  }
  const [firstMs = NaN] = times
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] as number
  return { openMs, firstMs, p50: at(0.5), p95: at(0.95), rss }
}

const [directory = '', user = '', kind = ''] = process.argv.slice(2)
process.stdout.write(JSON.stringify(await ask(directory, user, kind)))
