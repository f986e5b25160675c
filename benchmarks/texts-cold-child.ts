// node texts-cold-child.js DIRECTORY USER
//
// Opens the store in the directory, asks the questions of HotpotQA's sample, and tells how long they took.

import { readFileSync } from 'node:fs'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { data } from './retrieval-data.js'

export interface ColdTextAnswer {
  readonly firstMs: number
  readonly p50: number
  readonly p95: number
}

const most = 200

async function ask(directory: string, user: string): Promise<ColdTextAnswer> {
  const all = JSON.parse(readFileSync(data.questions, 'utf8')) as { readonly question: string }[]
  await using keep = await openOurs(directory)
  const graph = keep.knowledge.graph({ user })
  const times: number[] = []
  for (const { question } of all.slice(0, most)) {
    const asked = performance.now()
    const { sources } = await graph.retrieve({ text: question })
    times.push(performance.now() - asked)
    bench.check(sources.length > 0, `nothing found for '${question}'`)
  }
  const [firstMs = NaN] = times
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] as number
  return { firstMs, p50: at(0.5), p95: at(0.95) }
}

const [directory = '', user = ''] = process.argv.slice(2)
process.stdout.write(JSON.stringify(await ask(directory, user)))
