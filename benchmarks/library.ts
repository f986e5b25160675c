// 10,000 cores of 100 triples and 5 vectors each, asked as one graph, against the same in one core: what a
// question costs must not follow the number of cores. Imports are 16 at a time, as a server has them.

import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Graph, QueryPattern, TriplePattern } from '../src/graph/types.js'
import type { Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import { collect, openOurs } from './graph-store.js'
import {
  predicates,
  streamOf,
  subject,
  topic,
  triplesOfCore,
  user,
  vectorOf,
  whole,
} from './library-data.js'
import type { ColdLibraryAnswer } from './library-cold-child.js'
import * as bench from './measure.js'

const cores = Number(process.env['CORES'] ?? 10_000)
const atOnce = 16
const rounds = 5
const one = 'the same in one core'
const triples = cores * triplesOfCore

const streams = Array.from({ length: cores }, (_, core) => streamOf(core))
const all = Array.from({ length: cores }, (_, core) => streamOf(core, whole.id))

async function importMany(keep: Lorekeep): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < cores) {
      const core = next++
      const ref = { user, id: `core ${core}` }
      await keep.knowledge.import(ref, [streams[core] as Uint8Array], { index: true })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  // Indexed is what no question has to look into one by one.
  while ((await keep.knowledge.indexState({ user })).waiting.segments > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function importOne(keep: Lorekeep): Promise<void> {
  await keep.knowledge.import(whole, Readable.from(all), { index: true })
}

interface Shape {
  readonly questions: number
  /** At most 2 times, or 1.5 times, what it takes in one core. */
  readonly least: number
  readonly ask: (graph: Graph, random: Random) => Promise<unknown>
}

function matching(questions: number, pattern: (random: Random) => TriplePattern): Shape {
  return { questions, least: 0.5, ask: (graph, random) => collect(graph.match(pattern(random))) }
}

function joining(questions: number, patterns: (random: Random) => QueryPattern[]): Shape {
  return { questions, least: 0.5, ask: (graph, random) => collect(graph.solve(patterns(random))) }
}

const shapes: Readonly<Record<string, Shape>> = {
  'match by subject': matching(3000, (random) => ({ s: subject(random.below(cores), 3) })),
  'match by predicate and object': matching(2000, (random) => ({
    p: random.pick(predicates.slice(0, 5)),
    o: topic(random.below(5000)),
  })),
  'match by object': matching(500, (random) => ({ o: topic(random.below(5000)) })),
  'join of 2, from a constant': joining(500, (random) => [
    { s: '?x', p: random.pick(predicates.slice(0, 5)), o: topic(random.below(5000)) },
    { s: '?x', p: predicates[7]!, o: '?text' },
  ]),
  'join of 3, from a constant': joining(300, (random) => [
    { s: subject(random.below(cores), 2), p: predicates[1]!, o: '?topic' },
    { s: '?x', p: predicates[2]!, o: '?topic' },
    { s: '?x', p: predicates[8]!, o: '?text' },
  ]),
  nearest: {
    questions: 200,
    least: 1 / 1.5,
    ask: (graph, random) => graph.nearest(vectorOf(random.below(cores), random.below(5))),
  },
}

await bench.inDirectory((many) =>
  bench.inDirectory(async (single) => {
    const open = { many: await openOurs(many), single: await openOurs(single) }
    const times = {
      single: await bench.seconds(() => importOne(open.single)),
      many: await bench.seconds(() => importMany(open.many)),
    }
    const names = { scenario: `import ${cores} cores, indexed`, peer: one }
    const unit = { count: triples, unit: 'triples/s' }
    bench.report(bench.compareOperations(names, unit, [times.many], [times.single], { least: 0.3 }))
    await open.many.knowledge.index({ user })
    const state = await open.many.knowledge.indexState({ user })
    bench.note(`library: ${JSON.stringify(state)}`)
    bench.check(state.vectors === cores * 5, `vectors: ${state.vectors}`)

    const graphs = {
      many: open.many.knowledge.graph({ user }),
      single: open.single.knowledge.graph({ user }),
    }
    for (const graph of Object.values(graphs)) {
      const count = await graph.count()
      bench.check(count === triples, `count: ${count} of ${triples}`)
    }
    for (const [scenario, { questions, least, ask }] of Object.entries(shapes)) {
      const run = (graph: Graph) => (round: number) =>
        bench.seconds(async () => {
          const random = new Random(round + 2)
          for (let n = 0; n < questions; n++) await ask(graph, random)
        })
      const { ours, theirs } = await bench.interleave(rounds, {
        ours: run(graphs.many),
        theirs: run(graphs.single),
      })
      const operations = { count: questions, unit: '/s' }
      bench.report(
        bench.compareOperations({ scenario, peer: one }, operations, ours, theirs, { least }),
      )
    }
    await Promise.all([open.many.close(), open.single.close()])
    await coldly(many)
  }),
)

/** The first question of a new process: opening, and one question of each kind. */
async function coldly(directory: string): Promise<void> {
  const child = fileURLToPath(new URL('./library-cold-child.js', import.meta.url))
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      child,
      directory,
      String(round),
    ])
    const answer = JSON.parse(stdout) as ColdLibraryAnswer
    bench.check(answer.found === 10, `found ${answer.found}`)
    bench.note(`  opened in ${answer.openMs.toFixed(1)} ms, asked in ${answer.ms.toFixed(1)} ms`)
    found.push(answer.ms)
  }
  bench.report({
    scenario: 'first question of a new process',
    peer: '',
    ours: `${bench.median(found).toFixed(1)} ms`,
    theirs: '',
    ...bench.spread(found),
    unit: 'ms',
    target: { most: 50 },
  })
}
