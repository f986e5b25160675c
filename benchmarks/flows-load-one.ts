// Durable loads of 2 kB documents one after the other, against classic-level's own synced puts of
// the same documents as JSON texts, which are made before the clock starts. Beside it what a load cannot leave out.

import type { EncodedDocument } from '../src/flow/types.js'
import { createDocuments } from './flows-data.js'
import { loadNeeded, neededName } from './flows-needed.js'
import { checkQueued, flow, withOurs } from './flows-store.js'
import * as bench from './measure.js'
import { openRaw, rawKey, rawOptions } from './peers.js'

const rounds = 9
const count = 2_000

const documents = createDocuments(count, { textBytes: 2048, users: 4 })
const texts = documents.map((document) => Buffer.from(JSON.stringify(document)))
bench.note('flows-load-one')

const { ours, raw, needed } = await bench.interleave(rounds, {
  ours: (round) => loadOurs(documents, round === -1),
  raw: () => putTexts(texts),
  needed: () => loadNeeded(documents, 1),
})
const scenario = 'load documents of 2 kB, one after the other'
const operations = { count, unit: 'loads/s' }
const toPuts = { scenario, peer: 'classic-level synced puts of their JSON' }
bench.report(bench.compareOperations(toPuts, operations, ours, raw, { least: 0.9 }))
const toNeeded = { scenario, peer: neededName }
bench.report(bench.compareOperations(toNeeded, operations, ours, needed, { least: 0.8 }))

function loadOurs(documents: readonly EncodedDocument[], readBack: boolean): Promise<number> {
  return withOurs(1, async (flows) => {
    const time = await bench.seconds(async () => {
      for (const document of documents) await flows.load(flow, document)
    })
    bench.check((await flows.stats(flow)).queued === count, 'how many are queued')
    if (readBack) await checkQueued(flows, new Set(documents.map(({ id }) => id)))
    return time
  })
}

function putTexts(texts: readonly Buffer[]): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const level = await openRaw(directory, rawOptions.default)
    const time = await bench.seconds(async () => {
      for (const [n, text] of texts.entries()) await level.put(rawKey(n), text, { sync: true })
    })
    const last = level.getSync(rawKey(count - 1))
    bench.check(texts.at(-1)?.equals(last ?? new Uint8Array(0)) === true, 'the last text put')
    await level.close()
    return time
  })
}
