// 10,000,000 triples in 1,000 cores: counted and streamed whole, asked, and half of them deleted.

import { setTimeout as sleep } from 'node:timers/promises'
import { collect, openOurs } from './graph-store.js'
import { streamOf, subject, user } from './library-data.js'
import * as bench from './measure.js'

const cores = 1000
/** Streams of 100 triples, of which a core has so many. */
const streams = Number(process.env['STREAMS'] ?? 100)
const triples = cores * streams * 100

await bench.inDirectory(async (directory) => {
  await using keep = await openOurs(directory)
  const { knowledge } = keep
  const imported = await bench.seconds(async () => {
    for (let core = 0; core < cores; core++) {
      const chunks = Array.from({ length: streams }, (_, n) =>
        streamOf(core * streams + n, `${core}`),
      )
      await knowledge.import({ user, id: `${core}` }, chunks, { index: true })
    }
  })
  bench.note(`imported in ${imported.toFixed(0)} s`)
  const merging = await bench.seconds(() => knowledge.index({ user }))
  const state = await knowledge.indexState({ user })
  bench.note(`merged in ${merging.toFixed(0)} s: ${JSON.stringify(state)}`)
  const graph = knowledge.graph({ user })
  let count = 0
  const counting = await bench.seconds(async () => (count = await graph.count()))
  bench.check(count === triples, `count: ${count} of ${triples}`)
  bench.reportOne(`count of ${triples} triples`, 1000 * counting, 'ms', { most: 2000 })
  let told = 0
  const scanning = await bench.seconds(async () => {
    for await (const _ of graph.match()) told++
  })
  bench.check(told === triples, `told: ${told}`)
  const each = (1e6 * scanning) / triples
  bench.reportOne('microseconds a triple of the whole, streamed', each, 'x', { most: 1 })
  for (let n = 0; n < 2000; n++)
    await collect(graph.match({ s: subject((n * 7919) % (cores * streams), 3) }))
  bench.reportOne('RSS after questions', process.memoryUsage().rss / bench.MiB, 'MiB', {
    most: 400,
  })
  const full = await bench.bytesIn(directory)
  for (let core = 0; core < cores; core += 2) await knowledge.delete({ user, id: `${core}` })
  const counted = await graph.count()
  bench.check(counted === triples / 2, `left: ${counted}`)
  await knowledge.index({ user })
  // The files follow in the background.
  await sleep(20_000)
  const left = (2 * (await bench.bytesIn(directory))) / full
  bench.reportOne('disk of what is left, of half of what was there', left, 'x', { most: 1.2 })
})
