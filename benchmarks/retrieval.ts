// How good is what is found, beside a word search of forty lines over the same passages: recall among the
// first two and five, and nDCG of the first ten, in percent. What was chosen by looking at questions was by
// the even ones.

import { MemoryBackend } from '../adapters/memory.js'
import type { Graph } from '../src/graph/types.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import type { Triple } from '../src/types.js'
import { vocabulary } from '../src/vocabulary.js'
import * as bench from './measure.js'
import { PlainBm25 } from './plain-bm25.js'
import { cran, hotpot, type Collection, type Passage, type Question } from './retrieval-data.js'

const user = 'retrieval'
const firsts = 10

for (const collection of [hotpot(), cran()]) {
  if (collection === undefined) {
    bench.report({ scenario: 'retrieval', peer: 'BM25F', skipped: 'the collection is not here' })
  } else await measure(collection)
}

async function measure(collection: Collection): Promise<void> {
  await using keep = await filled(collection)
  const graph = keep.knowledge.graph({ user })
  const plain = new PlainBm25(collection.passages)
  const ours = await scoresOf(collection, (text) => searched(graph, text))
  const theirs = await scoresOf(collection, (text) => Promise.resolve(plain.search(text, firsts)))
  for (const which of ['even', 'odd'] as const) {
    const [mine, other] = [mean(ours[which]), mean(theirs[which])]
    for (const [name, value] of Object.entries(mine)) {
      const reference = other[name as keyof Scores]
      const all = { value: value - reference, low: value - reference, high: value - reference }
      bench.report({
        scenario: `search: ${name} of ${collection.name}, ${which} questions`,
        peer: 'BM25F',
        ours: value.toFixed(1),
        theirs: reference.toFixed(1),
        ...all,
        unit: 'points',
        target: { least: 0 },
      })
    }
  }
}

async function searched(graph: Graph, question: string): Promise<string[]> {
  // What is in quotes need not be there: these are questions, and no searches.
  const text = question.replace(/["“”]/g, ' ')
  const found = await graph.search({ text, k: firsts })
  return found.map(({ document }) => (document?.v ?? '').slice('urn:passage:'.length))
}

async function filled({ passages }: Collection): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  const m = { i: 'all', u: user, m: [], c: 'default' }
  await keep.knowledge.write({ user, id: 'all' }, [['t', { m, t: passages.flatMap(triplesOf) }]])
  await keep.knowledge.index({ user })
  return keep
}

function triplesOf({ id, title, text }: Passage): Triple[] {
  const uri = (v: string) => ({ v, e: true })
  const literal = (v: string) => ({ v, e: false })
  const document = uri(`urn:passage:${id}`)
  const chunk = uri(`urn:passage:${id}/c0`)
  return [
    { s: document, p: uri(vocabulary.name), o: literal(title) },
    { s: chunk, p: uri(vocabulary.isPartOf), o: document },
    { s: chunk, p: uri(vocabulary.text), o: literal(text) },
  ]
}

/** In percent. */
interface Scores {
  readonly 'recall@2': number
  readonly 'recall@5': number
  readonly 'nDCG@10': number
}

async function scoresOf(
  { questions }: Collection,
  search: (text: string) => Promise<readonly string[]>,
): Promise<{ even: Scores[]; odd: Scores[] }> {
  const scores = { even: [] as Scores[], odd: [] as Scores[] }
  for (const [n, question] of questions.entries()) {
    scores[n % 2 === 0 ? 'even' : 'odd'].push(scoreOf(question, await search(question.text)))
  }
  return scores
}

function scoreOf({ right }: Question, found: readonly string[]): Scores {
  const recall = (k: number) =>
    (100 * found.slice(0, k).filter((id) => right.has(id)).length) / right.size
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  const reached = found.reduce((sum, id, rank) => sum + (right.has(id) ? gain(rank) : 0), 0)
  const best = Array.from({ length: Math.min(firsts, right.size) }, (_, rank) => gain(rank))
  const ideal = best.reduce((sum, value) => sum + value, 0)
  return { 'recall@2': recall(2), 'recall@5': recall(5), 'nDCG@10': (100 * reached) / ideal }
}

function mean(scores: readonly Scores[]): Scores {
  const of = (name: keyof Scores) =>
    scores.reduce((sum, score) => sum + score[name], 0) / scores.length
  return { 'recall@2': of('recall@2'), 'recall@5': of('recall@5'), 'nDCG@10': of('nDCG@10') }
}
