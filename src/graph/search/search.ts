// Passages that have the words of a question, with their texts.

import type { Term } from '../../types.js'
import { passagePredicates } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import type { FoundPassage, ScoreOfWord } from '../types.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { columnOf, UNKNOWN } from '../words/columns.js'
import { Search, type ScoreOfPart } from '../words/search.js'
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
  try {
    signal?.throwIfAborted()
    const found = await readBest(view, begun, k)
    const highlighter = new Highlighter(question)
    const scored = found.map(({ scored }) => scored)
    const explained = explain ? await Search.explained(sets, question, scored) : []
    return found.map(({ passage }, n) => ({
      ...passage,
      highlights: highlighter.in(passage.text),
      ...(explain && { explanation: (explained[n] ?? []).map(wordOf) }),
    }))
  } finally {
    begun.end()
  }
}

interface Read {
  readonly scored: ScoredPassage
  readonly passage: Omit<FoundPassage, 'highlights'>
}

/** The best, each once: several cores may say the same passage. */
async function readBest(view: GraphView, search: Search, k: number): Promise<Read[]> {
  const read = new Map<string, Read>()
  for (let wanted = k; ; wanted *= 2) {
    const best = search.best(wanted)
    const found = new Map<string, Read>()
    for (const scored of best) {
      const name = `${scored.set} ${scored.passage}`
      const one = read.get(name) ?? {
        scored,
        passage: await readPassage(view, search.set(scored.set), scored),
      }
      read.set(name, one)
      const key = `${one.passage.chunk.v}\n${one.passage.text}`
      if (!found.has(key)) found.set(key, one)
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
    const chunk = set.term(set.at(columnOf.passage, passage))
    const maybe = (column: 'document' | 'title' | 'heading'): Term | undefined => {
      const id = set.at(columnOf[column], passage)
      return id === 0 ? undefined : set.term(id - 1)
    }
    const [document, title, heading] = [maybe('document'), maybe('title'), maybe('heading')]
    const page = pageOf(view, chunk)
    const [start, end] = [set.at(columnOf.begin, passage), set.at(columnOf.end, passage)]
    return {
      chunk,
      ...(document && { document }),
      ...(title && { title: title.v }),
      ...(heading && { heading: heading.v }),
      ...(page !== undefined && { page }),
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

/** That it begins on: the first that is said. May throw a Miss. */
function pageOf(view: GraphView, chunk: Term): number | undefined {
  const s = view.find(chunk)
  for (const name of passagePredicates.page) {
    const p = view.find({ v: name, e: true })
    if (s === NONE || p === NONE) continue
    const rows = view.rows(s, p, ANY)
    while (rows.next()) {
      const { v, e } = view.term(rows.o)
      if (!e && /^\d{1,15}$/.test(v)) return Number(v)
    }
  }
  return undefined
}

function wordOf({ text, ...score }: ScoreOfPart): ScoreOfWord {
  return { word: text, ...score }
}

function byScore({ passage: a }: Read, { passage: b }: Read): number {
  if (a.score !== b.score) return b.score - a.score
  return a.chunk.v < b.chunk.v ? -1 : a.chunk.v > b.chunk.v ? 1 : 0
}
