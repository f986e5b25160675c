// What the core of graph-memory is asked, and how many results that has.

import { Random } from '../test/fixtures/random.js'
import type { Term } from '../src/types.js'
import { classes, type GeneratedGraph } from './graph-data.js'

export interface Questions {
  /** Numbers of entities whose triples are asked for. */
  readonly subjects: readonly number[]
  readonly objects: readonly { readonly p: Term; readonly o: Term }[]
  /** Entities of a class with the object under the predicate. */
  readonly stars: readonly { readonly p: Term; readonly o: Term; readonly c: Term }[]
  /** From these entities along one of their triples, and on to a label. */
  readonly chains: readonly number[]
}

/** The places of an entity's triples that are asked for: see graph-data.ts. */
const typeSlot = 0
export const labelSlot = 1
export const chainSlot = 2
const topicSlot = 4

export function createQuestions(graph: GeneratedGraph): Questions {
  const random = new Random(1)
  const entities = (length: number) => Array.from({ length }, () => random.below(graph.entities))
  return {
    subjects: entities(10_000),
    objects: entities(1000).map((n) => graph.statement(n, random.pick([chainSlot, topicSlot]))),
    stars: entities(200).map((n) => ({
      ...graph.statement(n, topicSlot),
      c: random.pick(classes),
    })),
    chains: entities(5000),
  }
}

/** From the generator's own triples. */
export function countResults(graph: GeneratedGraph): number {
  const { subjects, objects, stars, chains } = createQuestions(graph)
  const keys = [
    ...objects.map(({ p, o }) => key(p, o)),
    ...stars.map(({ p, o, c }) => key(p, o, c)),
  ]
  const counts = new Map(keys.map((name) => [name, 0]))
  const increment = (name: string) => {
    const count = counts.get(name)
    if (count !== undefined) counts.set(name, count + 1)
  }
  for (let entity = 0; entity < graph.entities; entity++) {
    const c = graph.statement(entity, typeSlot).o
    for (const slot of [chainSlot, topicSlot]) {
      const { p, o } = graph.statement(entity, slot)
      increment(key(p, o))
      increment(key(p, o, c))
    }
  }
  // Ten triples of a subject, and one end of each chain.
  const rest = 10 * subjects.length + chains.length
  return keys.reduce((sum, name) => sum + (counts.get(name) ?? 0), rest)
}

function key(...terms: readonly Term[]): string {
  return terms.map(({ v }) => v).join(' ')
}
