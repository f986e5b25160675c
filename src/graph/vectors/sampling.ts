// How far a search has to look, found by asking: vectors that are not linked yet are questions whose
// answers are known. It depends on the vectors. Where they are spread like noise there are no paths
// that lead to the nearest, and comparing with all is faster.

import { Beam } from './beam.js'
import type { GraphBuilder } from './graph-builder.js'
import type { Turns } from '../../turns.js'
import { mostLinks, search } from './walk.js'

/** How many of the nearest are looked for, and which part of them has to be found. */
export const sampleNearest = 10
const recall = 0.97

/** The least width is more than most vectors need: questions are not always like them. */
const widths = [64, 96, 128, 192, 256, 384, 512, 768, 1024]

/** Beyond this part of the vectors, met in no order, a search gains little over comparing with all. */
export const mostMet = 0.25
/** The same where many more are still to come: the part shrinks as they grow. */
export const mostMetEarly = 0.5

export const samples = 64

/** The width for searches among `linked`, 0 where they had better not follow links. */
export async function sampleWidth(
  builder: GraphBuilder,
  linked: readonly number[],
  held: readonly number[],
  mostPart: number,
  turns: Turns,
): Promise<number> {
  const queries = [...held.map(builder.addressOf), ...mix(builder, held)]
  const nearest = await findNearest(builder, linked, queries, turns)
  const beam = new Beam(sampleNearest)
  for (const width of widths) {
    let found = 0
    let wanted = 0
    let met = 0
    for (const [n, query] of queries.entries()) {
      await turns.pass()
      const { kernel, place, visits, count } = builder
      met += search(kernel, place, builder, visits, count, query, beam, width)
      const truth = nearest[n] as Beam
      const least = truth.scores[truth.size - 1] as number
      for (let i = 0; i < truth.size; i++) {
        // By score: which of equal ones is found does not matter.
        if (i < beam.size && (beam.scores[i] as number) >= least) found++
      }
      wanted += truth.size
    }
    if (met > mostPart * linked.length * queries.length) return 0
    if (found >= recall * wanted) return width
  }
  return 0
}

/** Between two vectors: questions are not about one thing alone. */
function mix(builder: GraphBuilder, held: readonly number[]): number[] {
  const { dimensions } = builder.place
  const vector = (node: number) =>
    new Float32Array(builder.kernel.memory.buffer, builder.addressOf(node), dimensions)
  return held.map((node, n) => {
    const first = vector(node)
    const second = vector(held[(n + 1) % held.length] as number)
    const spare = builder.count + n
    vector(spare).set(first.map((component, i) => component + (second[i] as number) / 2))
    return builder.addressOf(spare)
  })
}

async function findNearest(
  builder: GraphBuilder,
  linked: readonly number[],
  queries: readonly number[],
  turns: Turns,
): Promise<Beam[]> {
  const { kernel, place } = builder
  const nearest = queries.map(() => new Beam(sampleNearest))
  const numbers = new Uint32Array(kernel.memory.buffer, place.numbers, mostLinks + 3)
  const products = new Float32Array(kernel.memory.buffer, place.products, mostLinks + 3)
  // So few that they stay in the processor's cache for all queries.
  for (let from = 0; from < linked.length; from += mostLinks) {
    const group = linked.slice(from, from + mostLinks)
    await turns.pass()
    numbers.fill(0)
    numbers.set(group)
    for (const [n, query] of queries.entries()) {
      const { table, perBlock, dimensions } = place
      kernel.dotsAt(query, place.numbers, group.length, table, perBlock, dimensions, place.products)
      const beam = nearest[n] as Beam
      for (const [i, node] of group.entries()) beam.add(node, products[i] as number)
    }
  }
  return nearest
}
