// 10,000,000 triples in 1,000 cores: counted and streamed whole, asked, and half of them deleted.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { collect, openOurs } from './graph-store.js'
import { streamOf, subject, user } from './library-data.js'
import * as bench from './measure.js'

const cores = 1000
/** Streams of 100 triples, of which a core has so many. */
const streams = Number(process.env['STREAMS'] ?? 100)
const triples = cores * streams * 100

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

function tell(scenario: string, value: number, unit: 'ms' | 'MiB' | 'x', most?: number): void {
  const ours = `${Number(value.toPrecision(4))} ${unit}`
  const target = most === undefined ? {} : { target: { most } }
  bench.report({
    scenario,
    peer: '',
    ours,
    theirs: '',
    value,
    low: value,
    high: value,
    unit,
    ...target,
  })
}

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
  tell(`count of ${triples} triples`, 1000 * counting, 'ms', 2000)
  let told = 0
  const scanning = await bench.seconds(async () => {
    for await (const _ of graph.match()) told++
  })
  bench.check(told === triples, `told: ${told}`)
  tell('microseconds a triple of the whole, streamed', (1e6 * scanning) / triples, 'x', 1)
  for (let n = 0; n < 2000; n++)
    await collect(graph.match({ s: subject((n * 7919) % (cores * streams), 3) }))
  tell('RSS after questions', process.memoryUsage().rss / bench.MiB, 'MiB', 400)
  const full = await bytesIn(directory)
  for (let core = 0; core < cores; core += 2) await knowledge.delete({ user, id: `${core}` })
  const left = await graph.count()
  bench.check(left === triples / 2, `left: ${left}`)
  await knowledge.index({ user })
  // The files follow in the background.
  await sleep(20_000)
  tell(
    'disk of what is left, of half of what was there',
    (2 * (await bytesIn(directory))) / full,
    'x',
    1.2,
  )
})
