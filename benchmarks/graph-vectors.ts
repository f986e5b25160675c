// The ten nearest of 100,000 entities by vectors of 384 numbers: exactly, against the speed at
// which the machine reads so many float32 from memory, and against a loop in JavaScript; and by the
// approximate index, against the exact answer, with how much of that it finds.
//
// Vectors of texts lie in clusters: here 1,000 of them about centres at random, the distance from
// which is 0.8 of the centre's length, so that two of a cluster have a cosine of about 0.6. The
// questions are further ones of the same kind. Vectors at random, of which none is near another,
// are measured for information, 20,000 of them: no index by distance finds its way among them.

import type { Graph } from '../src/graph/types.js'
import { Random } from '../test/fixtures/random.js'
import { ref } from './graph-data.js'
import { graphOf, openOurs } from './graph-store.js'
import * as bench from './measure.js'
import {
  createClusters,
  dimensions,
  draw,
  encodeVectors,
  entityOf,
  k,
  type Source,
} from './vectors-data.js'

const rounds = 7
const clusters = 1000
const exactQuestions = 10
const approximateQuestions = 200

await measure('100,000 vectors in clusters', 100_000, createClusters(clusters), true)
await measure('20,000 vectors at random', 20_000, uniform, false)

function uniform(into: Float32Array, random: Random): void {
  for (let i = 0; i < dimensions; i++) into[i] = random.next() * 2 - 1
}

async function measure(
  name: string,
  count: number,
  source: Source,
  hasTargets: boolean,
): Promise<void> {
  bench.note(`graph-vectors: ${name}`)
  const vectors = draw(source, count, 2)
  const questions = draw(source, approximateQuestions, 3)
  await bench.inDirectory(async (directory) => {
    await using keep = await openOurs(directory)
    const { knowledge } = keep
    const imported = await bench.seconds(async () => {
      await knowledge.import(ref, encodeVectors(vectors), { index: true })
      await knowledge.index(ref)
    })
    bench.note(`  imported and indexed in ${imported.toFixed(1)} s`)
    const state = await knowledge.indexState(ref)
    bench.check(state.vectors === count, `the vectors of the index: ${state.vectors}`)
    // Vectors without any order have none: searches of them are exact.
    const linked = hasTargets ? count : 0
    bench.check(
      state.approximate === linked,
      `those with an approximate index: ${state.approximate}`,
    )
    const graph = graphOf(keep)
    const recall = await measureRecall(graph, vectors, questions)
    await measureSpeed(name, graph, vectors, questions, hasTargets)
    bench.report({
      scenario: `recall@${k} of the approximate index, ${name}`,
      peer: 'exact',
      ours: `${approximateQuestions} questions`,
      theirs: '',
      ...{ value: recall, low: recall, high: recall, unit: 'x' },
      ...(hasTargets && { target: { least: 0.95 } }),
    })
  })
}

async function measureSpeed(
  name: string,
  graph: Graph,
  vectors: readonly Float32Array[],
  questions: readonly Float32Array[],
  hasTargets: boolean,
): Promise<void> {
  const bytes = 4 * vectors.length * dimensions
  const memory = Buffer.alloc(bytes, 1)
  const { exact, reading, loop, approximate } = await bench.interleave(rounds, {
    exact: (round) => {
      const asked = choose(questions, round, exactQuestions)
      return average(asked, (question) => graph.nearest(question, { k, exact: true }))
    },
    reading: () => bench.seconds(() => bench.check(memory.indexOf(2) === -1, 'what is in memory')),
    loop: (round) => {
      const asked = choose(questions, round, 2)
      return average(asked, (question) => nearest(question, vectors))
    },
    approximate: (round) => {
      const asked = choose(questions, round, approximateQuestions)
      return average(asked, (question) => graph.nearest(question, { k }))
    },
  })
  const scenario = `nearest ${k}, exact, ${name}`
  const toReading = { scenario, peer: `reading ${Math.round(bytes / 1e6)} MB (memchr)` }
  const half = hasTargets ? { least: 0.5 } : undefined
  bench.report(bench.compareRates(toReading, bytes, exact, reading, half))
  const questionsEach = { count: 1, unit: 'questions/s' }
  const toLoop = { scenario, peer: 'a loop in JavaScript over Float32Array' }
  bench.report(bench.compareOperations(toLoop, questionsEach, exact, loop))
  const toExact = { scenario: `nearest ${k}, approximate, ${name}`, peer: 'exact' }
  const tenfold = hasTargets ? { least: 10 } : undefined
  bench.report(bench.compareOperations(toExact, questionsEach, approximate, exact, tenfold))
}

/** Exact answers are checked against the loop as well. */
async function measureRecall(
  graph: Graph,
  vectors: readonly Float32Array[],
  questions: readonly Float32Array[],
): Promise<number> {
  let found = 0
  for (const [n, question] of questions.entries()) {
    const exact = (await graph.nearest(question, { k, exact: true })).map(nameOf)
    if (n < 5) {
      const wanted = nearest(question, vectors).map((index) => entityOf(index).v)
      bench.check(exact.join() === wanted.join(), 'the exact answer')
    }
    const approximate = new Set((await graph.nearest(question, { k })).map(nameOf))
    bench.check(approximate.size === k, 'how many the approximate index finds')
    found += exact.filter((name) => approximate.has(name)).length
  }
  return found / (k * questions.length)
}

/** The seconds that one question takes. */
async function average<Q>(asked: readonly Q[], ask: (question: Q) => unknown): Promise<number> {
  const time = await bench.seconds(async () => {
    for (const question of asked) await ask(question)
  })
  return time / asked.length
}

function choose<T>(values: readonly T[], round: number, length: number): T[] {
  const random = new Random(1000 + round)
  return Array.from({ length }, () => random.pick(values))
}

/** The numbers of the nearest vectors, nearest first: as one would write it without a library. */
function nearest(question: Float32Array, vectors: readonly Float32Array[]): number[] {
  const best: { readonly index: number; readonly score: number }[] = []
  for (const [index, vector] of vectors.entries()) {
    let product = 0
    let squares = 0
    for (let i = 0; i < dimensions; i++) {
      const component = vector[i] as number
      product += component * (question[i] as number)
      squares += component * component
    }
    const score = product / Math.sqrt(squares)
    const last = best.at(-1)
    if (best.length === k && last && score <= last.score) continue
    if (best.length === k) best.pop()
    best.push({ index, score })
    best.sort((a, b) => b.score - a.score)
  }
  return best.map(({ index }) => index)
}

function nameOf(found: { readonly entity: { readonly v: string } }): string {
  return found.entity.v
}
