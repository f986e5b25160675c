// 1,000,000 generated passages of 100 words in LevelDB: questions of two to six of their words.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openOurs } from './graph-store.js'
import * as bench from './measure.js'
import { documentsOf, streamOf, user } from './passages-data.js'
import type { LargeSearchAnswer } from './search-large-child.js'

const passages = Number(process.env['PASSAGES'] ?? 1_000_000)
const documentsOfCore = 500

const given = process.env['DIRECTORY']
if (given === undefined) {
  await bench.inDirectory(async (directory) => {
    await fill(directory)
    await ask(directory)
  })
} else {
  if (process.env['FILL'] !== undefined) await fill(given)
  await ask(given)
}

async function fill(directory: string): Promise<void> {
  await using keep = await openOurs(directory)
  const { knowledge } = keep
  const documents = documentsOf(passages)
  const imported = await bench.seconds(async () => {
    for (let first = 0; first < documents; first += documentsOfCore) {
      const id = `${first}`
      const count = Math.min(documentsOfCore, documents - first)
      const chunks = function* () {
        for (let n = 0; n < count; n++) yield streamOf(first + n, id)
      }
      await knowledge.import({ user, id }, chunks(), { index: true })
    }
  })
  bench.note(`imported in ${imported.toFixed(0)} s`)
  const merging = await bench.seconds(() => knowledge.index({ user }))
  const state = await knowledge.indexState({ user })
  bench.note(`merged in ${merging.toFixed(0)} s: ${JSON.stringify(state)}`)
}

/** In a process of its own, whose memory is that of questions. */
async function ask(directory: string): Promise<void> {
  const child = fileURLToPath(new URL('./search-large-child.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    child,
    directory,
    String(passages),
  ])
  const { firstMs, p50, p95, rss } = JSON.parse(stdout) as LargeSearchAnswer
  bench.note(`first ${firstMs.toFixed(0)} ms`)
  bench.reportOne(`search of ${passages} passages p50`, p50, 'ms', { most: 50 })
  bench.reportOne(`search of ${passages} passages p95`, p95, 'ms', { most: 50 })
  bench.reportOne('RSS of searches', rss / bench.MiB, 'MiB', { most: 400 })
}
