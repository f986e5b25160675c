// Questions by rare words, identifiers, quotations and names: how often the one right passage is the first, of
// `search` and of `retrieve`. The seed is SEED of the environment, or one that is printed.

import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryBackend } from '../adapters/memory.js'
import type { Graph } from '../src/graph/types.js'
import { createLorekeep } from '../src/index.js'
import { pickSeed, Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import { plain, rareQuestions, type RareQuestion } from './rare-questions.js'
import { rareTexts, type RareText } from './rare-texts.js'

const user = 'rare'
const least = 95

const base = 'urn:text:'

const seed = pickSeed()
const random = new Random(seed)
const texts = await rareTexts(random)
if (texts === undefined) {
  bench.report({ scenario: 'rare', peer: 'recall@1', skipped: 'the texts are not here' })
} else await measure(texts)

async function measure(texts: readonly RareText[]): Promise<void> {
  bench.note(`rare: SEED=${seed}`)
  const questions = rareQuestions(texts, random)
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { flows, knowledge } = keep
  flows.run()
  for (const [n, { title, text }] of texts.entries()) {
    const document = { user, id: `${base}${n}`, content: text }
    await flows.load('default', title === '' ? document : { ...document, title })
  }
  for (let left = texts.length; left > 0;) {
    const { done, dead } = await flows.stats('default')
    bench.check(dead === 0, `${dead} dead letters`)
    left = texts.length - done
    if (left > 0) await sleep(50)
  }
  await knowledge.index({ user })
  const graph = knowledge.graph({ user })
  for (const method of ['search', 'retrieve'] as const) {
    const kinds = new Map<string, boolean[]>()
    for (const question of questions) {
      const isFirst = isRight(question, await firstOf(graph, method, question))
      if (!isFirst) bench.note(`${method}, ${question.kind}: ${question.text}`)
      kinds.set(question.kind, [...(kinds.get(question.kind) ?? []), isFirst])
    }
    for (const [kind, each] of kinds) tell(`${method} by ${kind}`, each)
    tell(`${method}: all`, [...kinds.values()].flat(), least)
  }
}

interface First {
  readonly text: string | undefined
  readonly document: string | undefined
}

async function firstOf(
  graph: Graph,
  method: 'search' | 'retrieve',
  { text }: RareQuestion,
): Promise<First | undefined> {
  const found =
    method === 'search'
      ? await graph.search({ text, k: 1 })
      : (await graph.retrieve({ text, entities: 10, maxTriples: 0 })).sources
  const [first] = found
  return first && { text: first.text, document: first.document?.v }
}

/** A text of one passage has what is asked for in its title or its text; a long one has it in that passage. */
function isRight({ document, target }: RareQuestion, first: First | undefined): boolean {
  if (first?.document !== `${base}${document}`) return false
  const text = (texts as readonly RareText[])[document] as RareText
  if (text.kind !== 'novel') return true
  return plain(first.text ?? '')
    .toLowerCase()
    .includes(target.toLowerCase())
}

function tell(scenario: string, each: readonly boolean[], least?: number): void {
  const first = each.filter(Boolean).length
  const value = (100 * first) / each.length
  bench.report({
    scenario,
    peer: 'recall@1',
    ours: String(first),
    theirs: String(each.length),
    ...{ value, low: value, high: value },
    unit: 'points',
    ...(least !== undefined && { target: { least } }),
  })
}
