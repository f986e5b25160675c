// How good is what is found, beside a word search of forty lines over the same passages: recall among the
// first two and five, and nDCG of the first ten, in percent. Each passage is a document that the default flow
// has taken. What was chosen by looking at questions was by the even ones.

import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryBackend } from '../adapters/memory.js'
import type { Graph, RetrieveLegs } from '../src/graph/types.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import type { Term } from '../src/types.js'
import * as bench from './measure.js'
import { PlainBm25 } from './plain-bm25.js'
import { collectionsByRule } from './retrieval-rules.js'
import { collectionsOfStyles } from './retrieval-styles.js'
import { cran, hotpot, type Collection, type Passage, type Question } from './retrieval-data.js'

const user = 'retrieval'
const firsts = 10

const base = 'urn:passage:'

const scoreNames = ['recall@2', 'recall@5', 'nDCG@10'] as const

const ablations: readonly RetrieveLegs[] = [
  { names: false, walk: false },
  { walk: false },
  { names: false },
  { words: false },
  { words: false, walk: false },
]

const collections = [
  { collection: hotpot(), targets: { 'recall@2': 80, 'recall@5': 92 } },
  { collection: cran(), targets: {} },
]
for (const { collection, targets } of collections) {
  if (collection === undefined) {
    bench.report({ scenario: 'retrieval', peer: 'BM25F', skipped: 'the collection is not here' })
  } else await measure(collection, targets)
}

for (const collection of [...collectionsByRule(), ...collectionsOfStyles()]) {
  await measureByRule(collection)
}

type Targets = Readonly<Partial<Record<keyof Scores, number>>>

async function measure(collection: Collection, targets: Targets): Promise<void> {
  const { name } = collection
  const plain = new PlainBm25(collection.passages)
  const theirs = await scoresOf(collection, (text) => Promise.resolve(plain.search(text, firsts)))
  {
    await using keep = await filled(collection)
    const graph = keep.knowledge.graph({ user })
    tell(
      `search of ${name}`,
      await scoresOf(collection, searching(collection, graph)),
      theirs,
      {},
      0,
    )
    const all = await scoresOf(collection, retrieving(collection, graph))
    // Where questions need no second passage, following names may cost a point.
    tell(`retrieve of ${name}`, all, theirs, targets, -1)
    for (const legs of ablations) {
      const scores = await scoresOf(collection, retrieving(collection, graph, legs))
      const off = Object.entries(legs).flatMap(([leg, on]) => (on ? [] : [leg]))
      tell(`retrieve of ${name} without ${off.join(' and ')}`, scores, theirs)
    }
  }
  await using untitled = await filled(withoutTitles(collection))
  const graph = untitled.knowledge.graph({ user })
  tell(
    `retrieve of ${name}, titles unknown`,
    await scoresOf(collection, retrieving(collection, graph)),
    theirs,
  )
}

/** Weights were not chosen by these, only which rules there are. */
async function measureByRule(collection: Collection): Promise<void> {
  const { name, passages } = collection
  const plain = new PlainBm25(passages)
  const theirs = await scoresOf(collection, (text) => Promise.resolve(plain.search(text, firsts)))
  await using keep = await filled(collection)
  const graph = keep.knowledge.graph({ user })
  tell(`search of ${name}`, await scoresOf(collection, searching(collection, graph)), theirs)
  tell(`retrieve of ${name}`, await scoresOf(collection, retrieving(collection, graph)), theirs)
}

type Halves = Readonly<Record<'even' | 'odd', Scores[]>>

/** `least`: what the difference to the peer may be, where there is no target of its own. */
function tell(
  scenario: string,
  ours: Halves,
  theirs: Halves,
  targets?: Targets,
  least?: number,
): void {
  for (const which of ['even', 'odd'] as const) {
    const [mine, other] = [mean(ours[which]), mean(theirs[which])]
    for (const name of scoreNames) {
      const [value, reference] = [mine[name], other[name]]
      const needed = targets?.[name]
      const difference = value - (needed ?? reference)
      const target =
        needed !== undefined
          ? { target: { least: 0 } }
          : least !== undefined && Object.keys(targets ?? {}).length === 0
            ? { target: { least } }
            : {}
      bench.report({
        scenario: `${scenario}: ${name}, ${which} questions`,
        peer: needed === undefined ? 'BM25F' : `BM25F; target ${needed}`,
        ours: value.toFixed(1),
        theirs: reference.toFixed(1),
        ...{ value: difference, low: difference, high: difference },
        unit: 'points',
        ...target,
      })
    }
  }
}

function searching({ passages }: Collection, graph: Graph): (text: string) => Promise<string[]> {
  return async (question) => {
    // What is in quotes need not be there: these are questions, and no searches.
    const text = question.replace(/["“”]/g, ' ')
    // A document may have several passages, and counts once.
    const found = await graph.search({ text, k: 2 * firsts })
    const ids = found.map(({ document }) => idOf(passages, document))
    return [...new Set(ids)].slice(0, firsts)
  }
}

function retrieving(
  { passages }: Collection,
  graph: Graph,
  use?: RetrieveLegs,
): (text: string) => Promise<string[]> {
  return async (text) => {
    const { sources } = await graph.retrieve({ text, use, entities: 2 * firsts, maxTriples: 0 })
    const ids = sources.map(({ document }) => idOf(passages, document))
    return [...new Set(ids)].slice(0, firsts)
  }
}

function idOf(passages: readonly Passage[], document: Term | undefined): string {
  return passages[Number(document?.v.slice(base.length))]?.id ?? ''
}

async function filled({ passages }: Collection): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  const { flows, knowledge } = keep
  flows.run()
  for (const [n, { title, text }] of passages.entries()) {
    const document = { user, id: `${base}${n}`, content: text.trim() === '' ? title : text }
    await flows.load('default', title === '' ? document : { ...document, title })
  }
  for (let left = passages.length; left > 0;) {
    const { done, dead } = await flows.stats('default')
    bench.check(dead === 0, `${dead} dead letters`)
    left = passages.length - done
    if (left > 0) await sleep(50)
  }
  await knowledge.index({ user })
  return keep
}

/** A title is the first sentence of the text, which nobody says is one. */
function withoutTitles({ passages, ...others }: Collection): Collection {
  const untitled = passages.map(({ id, title, text }) => {
    return { id, title: '', text: `${title}. ${text}` }
  })
  return { ...others, passages: untitled }
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
