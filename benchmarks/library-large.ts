// 10,000,000 triples in 1,000 cores: counted and streamed whole, asked, and half of them deleted.

import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openOurs } from './graph-store.js'
import { streamOf, user } from './library-data.js'
import type { LargeLibraryAnswer } from './library-large-child.js'
import * as bench from './measure.js'

const cores = 1000
/** Streams of 100 triples, of which a core has so many. */
const streams = Number(process.env['STREAMS'] ?? 100)
const triples = cores * streams * 100

await bench.inDirectory(async (directory) => {
  await fill(directory)
  await ask(directory)
  const full = await bench.bytesIn(directory)
  await deleteHalf(directory)
  const left = (2 * (await bench.bytesIn(directory))) / full
  bench.reportOne('disk of what is left, of half of what was there', left, 'x', { most: 1.2 })
})

async function fill(directory: string): Promise<void> {
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
}

/** In a process of its own, whose memory is that of questions. */
async function ask(directory: string): Promise<void> {
  const child = fileURLToPath(new URL('./library-large-child.js', import.meta.url))
  const subjects = String(cores * streams)
  const { stdout } = await promisify(execFile)(process.execPath, [child, directory, subjects])
  const answer = JSON.parse(stdout) as LargeLibraryAnswer
  bench.check(answer.count === triples, `count: ${answer.count} of ${triples}`)
  bench.check(answer.told === triples, `told: ${answer.told}`)
  bench.reportOne(`count of ${triples} triples`, answer.countMs, 'ms', { most: 2000 })
  const each = (1000 * answer.scanMs) / triples
  bench.reportOne('microseconds a triple of the whole, streamed', each, 'x', { most: 1 })
  bench.reportOne('RSS of questions', answer.rss / bench.MiB, 'MiB', { most: 400 })
}

async function deleteHalf(directory: string): Promise<void> {
  await using keep = await openOurs(directory)
  const { knowledge } = keep
  for (let core = 0; core < cores; core += 2) await knowledge.delete({ user, id: `${core}` })
  const counted = await knowledge.graph({ user }).count()
  bench.check(counted === triples / 2, `left: ${counted}`)
  await knowledge.index({ user })
  // The files follow in the background.
  await sleep(20_000)
}
