// Triple patterns over 1,000,000 triples: by subject (10 results), by predicate and object (6 on
// average) and by object (25), other constants each time, as arrays of plain triples. Cold, the
// first question of a process, after opening; then warm against oxigraph and quadstore.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Graph, TriplePattern } from '../src/graph/types.js'
import { Random } from '../test/fixtures/random.js'
import type { ColdAnswer } from './graph-cold-child.js'
import { checkSame, GeneratedGraph } from './graph-data.js'
import { OxigraphPeer, oxigraphName, QuadstorePeer, quadstoreName, quadsOf } from './graph-peers.js'
import { collect, fillOurs, graphOf, openOurs } from './graph-store.js'
import * as bench from './measure.js'

const rounds = 9
const triples = 1_000_000
const questions = 2000
const coldQuestions = 9
/** Quadstore is asked one question of so many, and its time multiplied. */
const quadstoreShare = 20
/** The places in an entity's triples whose objects other triples have too: see graph-data.ts. */
const sharedSlots = [2, 4, 5, 6, 8]
const labelSlot = 1

const graph = new GeneratedGraph(triples)

type Shape = (random: Random) => TriplePattern

const shapes: Readonly<Record<string, Shape>> = {
  'by subject': (random) => ({ s: graph.entity(random.below(graph.entities)) }),
  'by predicate and object': (random) => {
    const { p, o } = graph.statement(random.below(graph.entities), random.pick(sharedSlots))
    return { p, o }
  },
  // One in four is a literal that is there once.
  'by object': (random) => {
    const slot = random.chance(0.25) ? labelSlot : random.pick(sharedSlots)
    return { o: graph.statement(random.below(graph.entities), slot).o }
  },
}

await bench.inDirectory(async (ourDirectory) => {
  await bench.inDirectory(async (directory) => {
    bench.note('graph-match: filling the stores')
    await fillOurs(ourDirectory, graph)
    using oxigraph = new OxigraphPeer()
    oxigraph.load(graph.nTriples())
    await measureCold(ourDirectory, oxigraph)
    await using quadstore = await QuadstorePeer.open(directory)
    for (const quads of quadsOf(graph)) await quadstore.import(quads)
    await using keep = await openOurs(ourDirectory)
    for (const [name, shape] of Object.entries(shapes)) {
      await measureWarm(name, shape, graphOf(keep), oxigraph, quadstore)
    }
  })
})

async function measureWarm(
  name: string,
  shape: Shape,
  graph: Graph,
  oxigraph: OxigraphPeer,
  quadstore: QuadstorePeer,
): Promise<void> {
  for (const pattern of createPatterns(shape, -2, 200)) {
    const found = await collect(graph.match(pattern))
    checkSame(found, oxigraph.match(pattern), `${name}, ours and oxigraph`)
    checkSame(found, await quadstore.match(pattern), `${name}, ours and quadstore`)
  }
  const wanted = new Map<number, number>()
  const { ours, oxigraphs, quadstores } = await bench.interleave(rounds, {
    ours: async (round) => {
      let found = 0
      const patterns = createPatterns(shape, round, questions)
      const time = await bench.seconds(async () => {
        for (const pattern of patterns) found += (await collect(graph.match(pattern))).length
      })
      wanted.set(round, found)
      return time
    },
    oxigraphs: async (round) => {
      let found = 0
      const patterns = createPatterns(shape, round, questions)
      const time = await bench.seconds(() => {
        for (const pattern of patterns) found += oxigraph.match(pattern).length
      })
      bench.check(found === wanted.get(round), `${name}: ${wanted.get(round)} of ${found} in all`)
      return time
    },
    quadstores: async (round) => {
      const patterns = createPatterns(shape, round, questions / quadstoreShare)
      const time = await bench.seconds(async () => {
        for (const pattern of patterns) await quadstore.match(pattern)
      })
      return quadstoreShare * time
    },
  })
  bench.note(`  ${name}: ${((wanted.get(0) ?? 0) / questions).toFixed(1)} results a question`)
  const operations = { count: questions, unit: 'questions/s' }
  const scenario = `match ${name}`
  for (const [peer, theirs, least] of [
    [oxigraphName, oxigraphs, 1.5],
    [quadstoreName, quadstores, 10],
  ] as const) {
    bench.report(bench.compareOperations({ scenario, peer }, operations, ours, theirs, { least }))
  }
}

/** The patterns are made before the clock starts. */
function createPatterns(shape: Shape, round: number, length: number): TriplePattern[] {
  const random = new Random(1000 + round)
  return Array.from({ length }, () => shape(random))
}

/** Each question in a process of its own. The files may be in the system's cache. */
async function measureCold(directory: string, oxigraph: OxigraphPeer): Promise<void> {
  for (const [name, shape] of Object.entries(shapes)) {
    const answers: ColdAnswer[] = []
    for (const pattern of createPatterns(shape, 0, coldQuestions)) {
      const answer = await askCold(directory, pattern)
      checkSame(answer.found, oxigraph.match(pattern), `${name}, cold`)
      answers.push(answer)
    }
    const times = answers.map(({ ms }) => ms)
    const { value, low, high } = bench.spread(times)
    bench.report({
      scenario: `match ${name}, first question after opening`,
      peer: 'opening itself',
      ours: `${value.toFixed(1)} ms`,
      theirs: `${bench.spread(answers.map(({ openMs }) => openMs)).value.toFixed(1)} ms`,
      ...{ value, low, high, unit: 'ms' },
      target: { most: 20 },
    })
  }
}

async function askCold(directory: string, pattern: TriplePattern): Promise<ColdAnswer> {
  const script = fileURLToPath(new URL('./graph-cold-child.js', import.meta.url))
  const child = spawn(process.execPath, [script, directory, JSON.stringify(pattern)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout)) as ColdAnswer
}
