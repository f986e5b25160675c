// Joins of two and three patterns over 1,000,000 triples, as stars about a subject and as chains,
// with constants (others each time) and without, against the same in SPARQL by oxigraph. Solutions
// are arrays of plain objects.

import type { Graph, QueryPattern } from '../src/graph/types.js'
import { Random } from '../test/fixtures/random.js'
import { checkSame, classes, GeneratedGraph, label, type } from './graph-data.js'
import { OxigraphPeer, oxigraphName, toSparql } from './graph-peers.js'
import { collect, fillOurs, graphOf, openOurs } from './graph-store.js'
import * as bench from './measure.js'

const rounds = 7
const triples = 1_000_000
/** The places in an entity's triples that lead to an entity or to a keyword: see graph-data.ts. */
const entitySlots = [2, 5, 6]
const keywordSlots = [4, 8]

const graph = new GeneratedGraph(triples)

interface Shape {
  readonly questions: number
  readonly create: (random: Random) => readonly QueryPattern[]
}

const shapes: Readonly<Record<string, Shape>> = {
  'star of 2, constant objects': {
    questions: 500,
    create: (random) => [
      { ...about(random, keywordSlots), s: '?x' },
      { s: '?x', p: type, o: random.pick(classes) },
    ],
  },
  'star of 3, a constant object': {
    questions: 500,
    create: (random) => [
      { ...about(random, keywordSlots), s: '?x' },
      { s: '?x', p: label, o: '?name' },
      { s: '?x', p: type, o: '?class' },
    ],
  },
  'chain of 2, from a constant': {
    questions: 2000,
    create: (random) => [
      { ...about(random, entitySlots), o: '?y' },
      { s: '?y', p: label, o: '?name' },
    ],
  },
  'chain of 3, from a constant': {
    questions: 2000,
    create: (random) => {
      const entity = random.below(graph.entities)
      const [slot, next] = [random.pick(entitySlots), random.pick(entitySlots)]
      const { s, p } = graph.statement(entity, slot)
      const further = graph.statement(graph.target(entity, slot), next)
      return [
        { s, p, o: '?y' },
        { s: '?y', p: further.p, o: '?z' },
        { s: '?z', p: label, o: '?name' },
      ]
    },
  },
  'chain of 3, to a constant': {
    questions: 500,
    create: (random) => [
      { s: '?x', p: about(random, entitySlots).p, o: '?y' },
      { ...about(random, keywordSlots), s: '?y' },
      { s: '?x', p: label, o: '?name' },
    ],
  },
  'star of 2, no constants': {
    questions: 2,
    create: (random) => [
      { s: '?x', p: about(random, entitySlots).p, o: '?y' },
      { s: '?x', p: about(random, keywordSlots).p, o: '?z' },
    ],
  },
  'chain of 2, no constants': {
    questions: 2,
    create: (random) => [
      { s: '?x', p: about(random, entitySlots).p, o: '?y' },
      { s: '?y', p: label, o: '?name' },
    ],
  },
  'chain of 3, no constants': {
    questions: 2,
    create: (random) => [
      { s: '?x', p: about(random, entitySlots).p, o: '?y' },
      { s: '?y', p: about(random, entitySlots).p, o: '?z' },
      { s: '?z', p: label, o: '?name' },
    ],
  },
}

await bench.inDirectory(async (directory) => {
  bench.note('graph-join: filling the stores')
  await fillOurs(directory, graph)
  using oxigraph = new OxigraphPeer()
  oxigraph.load(graph.nTriples())
  await using keep = await openOurs(directory)
  for (const [name, shape] of Object.entries(shapes)) {
    await measure(name, shape, graphOf(keep), oxigraph)
  }
})

async function measure(
  name: string,
  { questions, create }: Shape,
  graph: Graph,
  oxigraph: OxigraphPeer,
): Promise<void> {
  const createQuestions = (round: number) => {
    const random = new Random(1000 + round)
    return Array.from({ length: questions }, () => create(random))
  }
  for (const patterns of createQuestions(-2).slice(0, 100)) {
    const found = await collect(graph.solve(patterns))
    checkSame(found, oxigraph.solve(toSparql(patterns)), `${name}, ours and oxigraph`)
  }
  const wanted = new Map<number, number>()
  const { ours, theirs } = await bench.interleave(rounds, {
    ours: async (round) => {
      let found = 0
      const asked = createQuestions(round)
      const time = await bench.seconds(async () => {
        for (const patterns of asked) found += (await collect(graph.solve(patterns))).length
      })
      wanted.set(round, found)
      return time
    },
    theirs: async (round) => {
      let found = 0
      const asked = createQuestions(round).map(toSparql)
      const time = await bench.seconds(() => {
        for (const sparql of asked) found += oxigraph.solve(sparql).length
      })
      bench.check(found === wanted.get(round), `${name}: ${wanted.get(round)} of ${found} in all`)
      return time
    },
  })
  bench.note(`  ${name}: ${((wanted.get(0) ?? 0) / questions).toFixed(1)} solutions a question`)
  const names = { scenario: `join, ${name}`, peer: `${oxigraphName}, SPARQL` }
  const operations = { count: questions, unit: 'questions/s' }
  bench.report(bench.compareOperations(names, operations, ours, theirs, { least: 1 }))
}

/** A statement about any entity. */
function about(random: Random, slots: readonly number[]) {
  return graph.statement(random.below(graph.entities), random.pick(slots))
}
