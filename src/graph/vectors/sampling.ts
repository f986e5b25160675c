// How far a search has to look, found by asking: vectors that are not linked yet are questions whose
// answers are known. It depends on the vectors. Where they are spread like noise there are no paths
// that lead to the nearest, and comparing with all is faster.

import type { Turns } from '../../turns.js'
import { codeMargin, queryInto } from './codes.js'
import type { GraphBuilder } from './graph-builder.js'
import { reaches } from './links.js'
import type { Sample } from './samples.js'
import { sampleNearest } from './walk.js'

/**
 * Which part of them has to be found: more than the 97 % that are promised, as the first width that
 * does it among several was lucky, too.
 */
const recall = 0.98

/** The least width is more than most vectors need: questions are not always like them. */
const widths = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512, 768, 1024]

/** Beyond this part of the vectors, met in no order, a search gains little over comparing with all. */
export const mostMet = 0.5
/** The same where many more are still to come: the part shrinks as they grow. */
export const mostMetEarly = 0.5

/** The same of questions that are further from all vectors than most, of as many as tell it from chance. */
const farRecall = 0.95
const groupSize = 32
const groupStep = 16

/** The width for searches among the linked, 0 where they had better not follow links. */
export async function sampleWidth(
  builder: GraphBuilder,
  dimensions: number,
  linked: number,
  all: readonly Sample[],
  mostPart: number,
  turns: Turns,
): Promise<number> {
  const wanted = all.reduce((sum, { nearest }) => sum + nearest.size, 0)
  const { walk } = builder
  for (const width of widths) {
    let found = 0
    walk.met = 0
    for (const { query, nearest } of all) {
      await turns.pass()
      walk.factor = queryInto(query, walk.query)
      walk.search(builder, width)
      found += countFound(builder, dimensions, nearest)
    }
    if (walk.met > mostPart * linked * all.length) return 0
    if (found >= recall * wanted) return width
  }
  return 0
}

/**
 * How near the tenth in view has to be so that a walk of `width` is wide enough, of twice the width, and so on: see
 * `LinksHeader.reach`. Found by the questions in the order of how near theirs was, a group at a time.
 */
export async function sampleReach(
  builder: GraphBuilder,
  dimensions: number,
  width: number,
  all: readonly Sample[],
  turns: Turns,
): Promise<number[]> {
  const { walk } = builder
  const foundBy = async ({ query, nearest }: Sample, times: number) => {
    await turns.pass()
    walk.factor = queryInto(query, walk.query)
    walk.search(builder, width)
    const { nearness } = walk
    if (times > 1) walk.widen(builder, times * width)
    return { nearness, found: countFound(builder, dimensions, nearest) }
  }
  const asked = []
  for (const sample of all) asked.push({ sample, ...(await foundBy(sample, 1)) })
  asked.sort((a, b) => b.nearness - a.nearness)

  const reach: number[] = []
  let good = 0
  for (let times = 1; reach.length < reaches; times *= 2) {
    if (times > 1) {
      for (const one of asked.slice(good)) one.found = (await foundBy(one.sample, times)).found
    }
    while (good < asked.length && isGood(asked.slice(good, good + groupSize))) good += groupStep
    // No cosine is above 1, and none below -1.
    if (good >= asked.length) reach.push(-1)
    else reach.push(asked[good - 1]?.nearness ?? 1)
  }
  return reach
}

function isGood(group: readonly { sample: Sample; found: number }[]): boolean {
  const wanted = group.reduce((sum, { sample }) => sum + sample.nearest.size, 0)
  return group.reduce((sum, { found }) => sum + found, 0) >= farRecall * wanted
}

/** How many are among those that are compared exactly, by which the nearest of them come first. */
function countFound(
  builder: GraphBuilder,
  dimensions: number,
  nearest: ReadonlySet<number>,
): number {
  const { walk } = builder
  const last = Math.min(sampleNearest, walk.size) - 1
  const least = walk.score(last) - codeMargin(dimensions, builder.factorOf(walk.node(last)))
  let found = 0
  for (let n = 0; n < walk.size && walk.score(n) >= least; n++) {
    if (nearest.has(walk.node(n))) found++
  }
  return found
}
