// From claim to completion with a step that does nothing, 20,000 documents of 2 kB that wait,
// against BullMQ's and plainjob's workers. Ours and BullMQ's have the concurrency that suits each
// best; plainjob's worker takes one job at a time. Beside it what jobs cannot leave out.

import { createDocuments, inFlight } from './flows-data.js'
import { bullName, noSqlite, plainName, reportOrSkip, withBull, withPlain } from './flows-peers.js'
import { workNeeded, workNeededName } from './flows-needed.js'
import { noRedis } from './flows-redis.js'
import { flow, processOurs, withOurs } from './flows-store.js'
import * as bench from './measure.js'
import type { Contestant } from './measure.js'

const rounds = 7
const count = 20_000
const concurrencies = [50, 100, 200]
/** That what is needed does at once. */
const together = 200
const target = { least: 2.5 }

const documents = createDocuments(count, { textBytes: 2048, users: 4 })
bench.note('flows-work')

// The contestants of a queue are told apart by their concurrency.
const times: Record<string, number[]> = await bench.interleave(rounds, {
  ...ofEach('ours', workOurs),
  ...(!noRedis && ofEach('bull', workBull)),
  ...(!noSqlite && { plain: workPlain }),
  needed: () => workNeeded(documents, together),
})

const ours = best('ours')
const bull = noRedis ? undefined : best('bull')
const plain = times['plain']
const operations = { count, unit: 'jobs/s' }
const scenario = `claim to completion, an empty step, ${ours.concurrency} at once`
const toBull = { scenario, peer: bull ? `${bullName}, ${bull.concurrency} at once` : bullName }
reportOrSkip(toBull, noRedis, bull, (theirs) =>
  bench.report(bench.compareOperations(toBull, operations, ours.times, theirs.times, target)),
)
const toPlain = { scenario, peer: plainName }
reportOrSkip(toPlain, noSqlite, plain, (theirs) =>
  bench.report(bench.compareOperations(toPlain, operations, ours.times, theirs, target)),
)
const toNeeded = { scenario, peer: `${workNeededName}, ${together} at once` }
const needed = times['needed'] as number[]
bench.report(bench.compareOperations(toNeeded, operations, ours.times, needed, { least: 0.8 }))

function ofEach(
  name: string,
  work: (concurrency: number) => Promise<number>,
): Record<string, Contestant> {
  return Object.fromEntries(concurrencies.map((many) => [`${name}${many}`, () => work(many)]))
}

function best(name: string): { readonly concurrency: number; readonly times: number[] } {
  const tried = concurrencies.map((concurrency) => ({
    concurrency,
    times: times[`${name}${concurrency}`] ?? [],
  }))
  return tried.reduce((a, b) => (bench.median(b.times) < bench.median(a.times) ? b : a))
}

function workOurs(concurrency: number): Promise<number> {
  return withOurs(concurrency, async (flows, counted) => {
    await inFlight(documents, 1000, (document) => flows.load(flow, document))
    const time = await processOurs(flows, counted, count)
    bench.check(counted.runs === count, `the runs of the step: ${counted.runs} of ${count}`)
    const { queued, active, delayed, dead } = await flows.stats(flow)
    bench.check(queued + active + delayed + dead === 0, 'what is left')
    return time
  })
}

function workBull(concurrency: number): Promise<number> {
  return withBull(async (bull) => {
    await bull.fill(documents)
    return bull.process(count, concurrency)
  })
}

function workPlain(): Promise<number> {
  return withPlain(async (plain) => {
    plain.fill(documents)
    return plain.process(count)
  })
}
