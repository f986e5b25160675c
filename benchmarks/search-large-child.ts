// node search-large-child.js DIRECTORY PASSAGES
//
// Asks the store in the directory in words, and tells how long the answers took.

import { setTimeout as sleep } from 'node:timers/promises'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { questionOf, user } from './passages-data.js'

export interface LargeSearchAnswer {
  readonly firstMs: number
  readonly p50: number
  readonly p95: number
  readonly rss: number
}

const questions = Number(process.env['QUESTIONS'] ?? 400)

async function ask(directory: string, passages: number): Promise<LargeSearchAnswer> {
  await using keep = await openOurs(directory)
  const graph = keep.knowledge.graph({ user })
  let rss = 0
  const times: number[] = []
  for (let n = 0; n < questions; n++) {
    const asked = performance.now()
    const found = await graph.search({ text: questionOf(n, passages), k: 10 })
    times.push(performance.now() - asked)
    bench.check(found.length > 0, `nothing found for '${questionOf(n, passages)}'`)
    rss = Math.max(rss, process.memoryUsage().rss)
    if (n % 50 === 0) await sleep(0)
  }
  const [firstMs = NaN, ...others] = times
  others.sort((a, b) => a - b)
  const at = (share: number) => others[Math.floor(share * (others.length - 1))] as number
  return { firstMs, p50: at(0.5), p95: at(0.95), rss }
}

const [directory = '', passages = '0'] = process.argv.slice(2)
process.stdout.write(JSON.stringify(await ask(directory, Number(passages))))
