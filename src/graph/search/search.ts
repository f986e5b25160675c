// Passages that have the words of a question, with their texts.

import type { Term } from '../../types.js'
import { passagePredicates } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import type { FoundPassage, ScoreOfWord } from '../types.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { UNKNOWN } from '../words/columns.js'
import { saturated } from '../words/scoring.js'
import { Search } from '../words/search.js'
import type { ScoredPassage } from '../words/top-passages.js'
import type { PassageSet } from '../words/types.js'
import { Highlighter } from './highlights.js'
import type { CheckedSearch } from './query.js'

/** The passages of all sets are in triples of the view. */
export async function search(
  view: GraphView,
  sets: readonly PassageSet[],
  { question, k, explain }: CheckedSearch,
): Promise<FoundPassage[]> {
  const { words, phrases, signal } = question
  if (words.length + phrases.length === 0) return []
  const begun = await Search.of(sets, question)
  signal?.throwIfAborted()
  const highlighter = new Highlighter(question)
  // Several cores may say the same passage.
  for (let wanted = k; ; wanted *= 2) {
    const best = begun.best(wanted)
    const found = new Map<string, FoundPassage>()
    for (const scored of best) {
      const passage = await readPassage(view, begun.set(scored.set), scored)
      const key = `${passage.chunk.v}\n${passage.text}`
      if (found.has(key)) continue
      found.set(key, {
        ...passage,
        highlights: highlighter.in(passage.text),
        ...(explain && { explanation: explanationOf(begun, scored) }),
      })
    }
    if (found.size < k && best.length === wanted) continue
    return [...found.values()].sort(byScore).slice(0, k)
  }
}

async function readPassage(
  view: GraphView,
  set: PassageSet,
  { passage, score }: ScoredPassage,
): Promise<Omit<FoundPassage, 'highlights'>> {
  return withBlocks(() => {
    const chunk = set.term(set.at('passage', passage))
    const maybe = (column: 'document' | 'title' | 'heading'): Term | undefined => {
      const id = set.at(column, passage)
      return id === 0 ? undefined : set.term(id - 1)
    }
    const [document, title, heading] = [maybe('document'), maybe('title'), maybe('heading')]
    const [start, end] = [set.at('begin', passage), set.at('end', passage)]
    return {
      chunk,
      ...(document && { document }),
      ...(title && { title: title.v }),
      ...(heading && { heading: heading.v }),
      core: set.coreOf(passage),
      ...(start !== UNKNOWN && { start }),
      ...(end !== UNKNOWN && { end }),
      text: textOf(view, set, passage, chunk),
      score,
    }
  })
}

/** May throw a Miss. */
function textOf(view: GraphView, set: PassageSet, passage: number, chunk: Term): string {
  const s = view.find(chunk)
  for (const name of passagePredicates.text) {
    const p = view.find({ v: name, e: true })
    if (s === NONE || p === NONE) continue
    const rows = view.rows(s, p, ANY)
    while (rows.next()) {
      const term = view.term(rows.o)
      if (!term.e && set.isText(passage, term)) return term.v
    }
  }
  return ''
}

function explanationOf(begun: Search, scored: ScoredPassage): ScoreOfWord[] {
  return begun.words.flatMap((word) => {
    const frequency = begun.frequency(word, scored)
    if (frequency === 0) return []
    const { text, passages, idf } = word
    return [{ word: text, passages, idf, frequency, score: idf * saturated(frequency) }]
  })
}

function byScore(a: FoundPassage, b: FoundPassage): number {
  if (a.score !== b.score) return b.score - a.score
  return a.chunk.v < b.chunk.v ? -1 : a.chunk.v > b.chunk.v ? 1 : 0
}
