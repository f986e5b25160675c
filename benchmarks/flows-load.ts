// Durable loads of 2 kB documents, 200 in flight, against BullMQ and plainjob with the same
// documents as their jobs' data. Ours are on disk when a load resolves; theirs are not. Beside it what loads cannot leave
// out.

import type { EncodedDocument } from '../src/flow/types.js'
import { createDocuments, inFlight } from './flows-data.js'
import { bullName, noSqlite, plainName, reportOrSkip, withBull, withPlain } from './flows-peers.js'
import { noRedis } from './flows-redis.js'
import { loadNeeded, neededName } from './flows-needed.js'
import { checkQueued, flow, withOurs } from './flows-store.js'
import { check, compareOperations, interleave, note, report, seconds } from './measure.js'

const rounds = 7
const count = 20_000
const atOnce = 200
const textBytes = 2048

const documents = createDocuments(count, { textBytes, users: 4 })
const ofOne = createDocuments(count, { textBytes, users: 1 })
note(`flows-load: ${Math.round(JSON.stringify(documents).length / count)} bytes a document in JSON`)

const { ours, oursOfOne, needed, bull, plain } = await interleave(rounds, {
  ours: (round) => loadOurs(documents, isChecked(round)),
  oursOfOne: (round) => loadOurs(ofOne, isChecked(round)),
  needed: () => loadNeeded(documents, atOnce),
  ...(!noRedis && { bull: () => loadBull(documents) }),
  ...(!noSqlite && { plain: () => loadPlain(documents) }),
})

const operations = { count, unit: 'loads/s' }
for (const [users, times] of [
  ['4 users', ours],
  ['1 user', oursOfOne],
] as const) {
  const scenario = `load documents of 2 kB, ${atOnce} in flight, ${users}`
  const target = { least: 2.5 }
  const toBull = { scenario, peer: bullName }
  reportOrSkip(toBull, noRedis, bull, (theirs) =>
    report(compareOperations(toBull, operations, times, theirs, target)),
  )
  const toPlain = { scenario, peer: plainName }
  reportOrSkip(toPlain, noSqlite, plain, (theirs) =>
    report(compareOperations(toPlain, operations, times, theirs, target)),
  )
  const toNeeded = { scenario, peer: `${neededName} for ${atOnce}` }
  report(compareOperations(toNeeded, operations, times, needed, { least: 0.8 }))
}

/** Everything is read back before the first round that counts, and after the last. */
function isChecked(round: number): boolean {
  return round === -1 || round === rounds - 1
}

function loadOurs(documents: readonly EncodedDocument[], readBack: boolean): Promise<number> {
  return withOurs(1, async (flows) => {
    const jobs = new Set<string>()
    const time = await seconds(() =>
      inFlight(documents, atOnce, async (document) => {
        const { job } = await flows.load(flow, document)
        jobs.add(job)
      }),
    )
    check(jobs.size === count, 'the ids of jobs')
    check((await flows.stats(flow)).queued === count, 'how many are queued')
    if (readBack) await checkQueued(flows, new Set(documents.map(({ id }) => id)))
    return time
  })
}

function loadBull(documents: readonly EncodedDocument[]): Promise<number> {
  return withBull(async (bull) => {
    const time = await seconds(() => inFlight(documents, atOnce, (document) => bull.add(document)))
    check((await bull.queue.getWaitingCount()) === count, 'the jobs in BullMQ')
    return time
  })
}

function loadPlain(documents: readonly EncodedDocument[]): Promise<number> {
  return withPlain(async (plain) => {
    const time = await seconds(() => {
      for (const document of documents) plain.add(document)
    })
    check(plain.countWaiting() === count, 'the jobs in plainjob')
    return time
  })
}
