// 500,000 vectors of 384 in LevelDB, 50 in a cluster: linking them, and asking for the ten nearest
// with 256 MiB for vectors, which is a third of what they take.

import { LevelBackend } from '../adapters/level/index.js'
import { VectorMemory } from '../src/graph/vectors/memory.js'
import * as bench from './measure.js'
import {
  ask,
  createClusters,
  draw,
  k,
  madeFile,
  mean,
  recallOf,
  setOf,
  writeFile,
} from './vectors-data.js'

const count = Number(process.env['VECTORS'] ?? 500_000)
const questionCount = 1000
const exactQuestions = 40
const cacheBytes = 256 * bench.MiB

const scenario = `nearest ${k}, ${count} vectors, cache of 256 MiB`
const source = createClusters(count / 50)
const questions = draw(source, questionCount, 7)
const rss = () => process.memoryUsage().rss / bench.MiB

await bench.inDirectory(async (directory) => {
  const backend = new LevelBackend(directory)
  const storage = await backend.open('slices')
  globalThis.gc?.()
  const idle = rss()
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, rss())), 50)
  const made = madeFile(source, count)
  const writing = await bench.seconds(async () => {
    for (let n = 0; n * 42 < count; n++) await made.block(n)
  })
  const cpu = process.cpuUsage()
  let file = made
  const linking = await bench.seconds(async () => {
    file = await writeFile(storage, made)
  })
  const { user } = process.cpuUsage(cpu)
  clearInterval(timer)
  bench.note(
    `  written and linked in ${(linking - writing).toFixed(0)} s, of which ${(user / 1e6 - writing).toFixed(0)} s of a processor`,
  )
  bench.note(`  ${(file.links / 1e6).toFixed(0)} MB of links and codes`)
  report('RSS of linking', 'the same process before', most - idle, 'MiB')

  globalThis.gc?.()
  const memory = new VectorMemory(cacheBytes)
  const set = setOf(file)
  const before = rss()
  const first = await bench.seconds(() => ask(set, questions[0] as Float32Array, memory))
  bench.note(`  the first question took ${first.toFixed(2)} s`)
  for (const question of questions) await ask(set, question, memory)
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const start = process.cpuUsage()
    const time = await bench.seconds(async () => {
      for (const question of questions) await ask(set, question, memory)
    })
    const { user, system } = process.cpuUsage(start)
    bench.note(
      `  ${(questionCount / time).toFixed(0)} questions/s, ${((user + system) / questionCount).toFixed(0)} us of a processor each`,
    )
    times.push(time)
  }
  report('RSS of asking', 'the same process before', rss() - before, 'MiB')

  const small = new VectorMemory(16 * bench.MiB)
  const recalls: number[] = []
  const exactTime = await bench.seconds(async () => {
    for (const question of questions.slice(0, exactQuestions)) {
      const wanted = await ask(set, question, small, true)
      recalls.push(recallOf(wanted, await ask(set, question, memory)))
    }
  })
  const recall = mean(recalls)
  bench.report({
    scenario: `recall@${k}, ${scenario}`,
    peer: 'exact',
    ours: `${exactQuestions} questions`,
    theirs: '',
    ...{ value: recall, low: recall, high: recall, unit: 'x', target: { least: 0.97 } },
  })
  const exact = Array<number>(times.length).fill((exactTime / exactQuestions) * questionCount)
  const each = { count: questionCount, unit: 'questions/s' }
  const names = { scenario, peer: 'exact, from the disk' }
  bench.report(bench.compareOperations(names, each, times, exact, { least: 10 }))
  await backend.close()
})

function report(name: string, peer: string, value: number, unit: 'MiB'): void {
  const ours = `${value.toFixed(0)} MiB`
  const names = { scenario: `${name}, ${count} vectors`, peer }
  bench.report({ ...names, ours, theirs: '', value, low: value, high: value, unit })
}
