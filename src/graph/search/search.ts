// Passages that have the words of a question, with their texts.

import { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { FoundPassage, ScoreOfWord } from '../types.js'
import type { GraphView } from '../view.js'
import { columnOf, UNKNOWN } from '../words/columns.js'
import { Search, type ScoreOfPart } from '../words/search.js'
import type { ScoredPassage } from '../words/top-passages.js'
import type { PassageSet } from '../words/types.js'
import { ChunkTexts } from '../chunk-texts.js'
import { Highlighter } from './highlights.js'
import type { CheckedSearch } from './query.js'

/** The passages of all sets are in triples of the view. Rejects with the signal's reason. */
export async function search(
  view: GraphView,
  sets: readonly PassageSet[],
  { question, k, explain }: CheckedSearch,
): Promise<FoundPassage[]> {
  const { words, phrases, signal } = question
  if (words.length + phrases.length === 0) return []
  const turns = new Turns(signal)
  await turns.pass()
  const begun = await Search.of(sets, question, turns)
  try {
    const best = await readBest(view, begun, k, turns)
    const highlighter = new Highlighter(question, await begun.forms())
    const scored = best.map(({ scored }) => scored)
    const explained = explain ? await Search.explained(sets, question, scored, turns) : []
    const found: FoundPassage[] = []
    for (const [n, { passage }] of best.entries()) {
      await turns.pass()
      found.push({
        ...passage,
        highlights: await highlighter.in(passage.text, turns),
        ...(explain && { explanation: (explained[n] ?? []).map(wordOf) }),
      })
    }
    return found
  } finally {
    begun.end()
  }
}

/** Passages that are waited for at the same time: each lies in several blocks. */
const readAtOnce = 16

interface Read {
  readonly scored: ScoredPassage
  readonly passage: Omit<FoundPassage, 'highlights'>
}

/** The best, each once: several cores may say the same passage. */
async function readBest(view: GraphView, search: Search, k: number, turns: Turns): Promise<Read[]> {
  const texts = new ChunkTexts(view, turns)
  const read = new Map<string, Read>()
  for (let wanted = k; ; wanted *= 2) {
    const best = search.best(wanted)
    const found = new Map<string, Read>()
    const readOne = async (scored: ScoredPassage): Promise<void> => {
      const name = nameOf(scored)
      if (read.has(name)) return
      const passage = await readPassage(texts, search.set(scored.set), scored)
      read.set(name, { scored, passage })
    }
    for (let from = 0; from < best.length; from += readAtOnce) {
      const some = best.slice(from, from + readAtOnce)
      await Promise.all(some.map(readOne))
      for (const scored of some) {
        const one = read.get(nameOf(scored)) as Read
        const key = `${one.passage.chunk.v.length} ${one.passage.chunk.v}${one.passage.text}`
        if (!found.has(key)) found.set(key, one)
      }
      await turns.pass()
    }
    if (found.size < k && best.length === wanted) continue
    return [...found.values()].sort(byScore).slice(0, k)
  }
}

function nameOf({ set, passage }: ScoredPassage): string {
  return `${set} ${passage}`
}

async function readPassage(
  texts: ChunkTexts,
  set: PassageSet,
  { passage, score }: ScoredPassage,
): Promise<Omit<FoundPassage, 'highlights'>> {
  const said = await withBlocks(() => {
    const chunk = set.term(set.at(columnOf.passage, passage))
    const maybe = (column: 'document' | 'title' | 'heading'): Term | undefined => {
      const id = set.at(columnOf[column], passage)
      return id === 0 ? undefined : set.term(id - 1)
    }
    const [document, title, heading] = [maybe('document'), maybe('title'), maybe('heading')]
    const [start, end, page] = [
      set.at(columnOf.begin, passage),
      set.at(columnOf.end, passage),
      set.at(columnOf.page, passage),
    ]
    return {
      chunk,
      ...(document && { document }),
      ...(title && { title: title.v }),
      ...(heading && { heading: heading.v }),
      ...(page !== UNKNOWN && { page }),
      core: set.coreOf(passage),
      ...(start !== UNKNOWN && { start }),
      ...(end !== UNKNOWN && { end }),
    }
  })
  return { ...said, text: await texts.textOf(set, passage, said.chunk), score }
}

function wordOf({ text, ...score }: ScoreOfPart): ScoreOfWord {
  return { word: text, ...score }
}

function byScore({ passage: a }: Read, { passage: b }: Read): number {
  if (a.score !== b.score) return b.score - a.score
  return a.chunk.v < b.chunk.v ? -1 : a.chunk.v > b.chunk.v ? 1 : 0
}
