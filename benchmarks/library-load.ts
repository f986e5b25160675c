// Questions to a library while 100 small cores a second come in for two minutes: how long each takes, how
// many parts there are, and how the memory grows; and how long it takes until all is merged afterwards.

import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../test/fixtures/random.js'
import { collect, openOurs } from './graph-store.js'
import { streamOf, subject, topic, predicates, user, vectorOf } from './library-data.js'
import * as bench from './measure.js'

const seconds = Number(process.env['SECONDS'] ?? 120)
const perSecond = 100
/** What is there before: what questions are about. */
const before = 1000

await bench.inDirectory(async (directory) => {
  await using keep = await openOurs(directory)
  const { knowledge } = keep
  const put = (core: number) =>
    knowledge.import({ user, id: `core ${core}` }, [streamOf(core)], { index: true })
  for (let core = 0; core < before; core++) await put(core)
  const graph = knowledge.graph({ user })
  const random = new Random(1)
  const questions = [
    () => collect(graph.match({ s: subject(random.below(before), 3) })),
    () =>
      collect(
        graph.match({ p: random.pick(predicates.slice(0, 5)), o: topic(random.below(5000)) }),
      ),
    () => graph.nearest(vectorOf(random.below(before), 1)),
  ]
  for (let n = 0; n < 300; n++) await questions[n % 3]?.()

  let core = before
  let isDone = false
  let failed = 0
  const start = performance.now()
  const importing = (async () => {
    while (performance.now() - start < 1000 * seconds) {
      const due = Math.floor(((performance.now() - start) / 1000) * perSecond)
      while (core - before < due) await put(core++).catch(() => failed++)
      await sleep(1)
    }
    isDone = true
  })()
  const times: number[] = []
  const parts: number[] = []
  const memory: number[] = []
  for (let n = 0; !isDone; n++) {
    const asked = performance.now()
    await questions[n % 3]?.()
    times.push(performance.now() - asked)
    if (n % 100 === 0) {
      parts.push((await knowledge.indexState({ user })).parts)
      memory.push(process.memoryUsage().rss / bench.MiB)
    }
    await sleep(2)
  }
  await importing
  bench.check(failed === 0, `${failed} imports failed`)
  const ended = performance.now()
  let state = await knowledge.indexState({ user })
  for (let last = -1; last !== state.parts || state.waiting.segments > 0;) {
    last = state.parts
    await sleep(2500)
    state = await knowledge.indexState({ user })
  }
  const merged = performance.now() - ended
  const count = await graph.count()
  bench.check(count === 100 * core, `count: ${count} of ${100 * core}`)
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] as number
  const scenario = `${times.length} questions while ${core - before} cores come in`
  bench.reportOne(`${scenario}: p50`, at(0.5), 'ms')
  bench.reportOne(`${scenario}: p99`, at(0.99), 'ms', { most: 20 })
  const half = memory.length >> 1
  const grown = Math.max(...memory.slice(half)) - Math.max(...memory.slice(0, half))
  bench.reportOne('RSS of the second half beside the first', grown, 'MiB', { most: 50 })
  bench.reportOne('until all is merged', merged, 'ms', { most: 60_000 })
  const tenths = Array.from(
    { length: 10 },
    (_, n) => memory[Math.ceil(((n + 1) / 10) * memory.length) - 1],
  )
  bench.note(
    `RSS at each tenth of it, in MiB: ${tenths.map((mib) => Math.round(mib ?? 0)).join(', ')}`,
  )
  bench.note(`parts: ${Math.max(...parts)} at most, ${state.parts} at the end`)
})
