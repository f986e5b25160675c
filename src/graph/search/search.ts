// Passages that have the words of a question, with their texts.

import { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { FoundPassage, ScoreOfWord } from '../types.js'
import type { GraphView } from '../view.js'
import { columnOf, UNKNOWN } from '../words/columns.js'
import { bestWithKeys } from '../words/keys.js'
import type { ScoreOfPart } from '../words/explained.js'
import type { WordQuestion } from '../words/question.js'
import { Search } from '../words/search.js'
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
    const texts = new ChunkTexts(view, turns)
    const first = await firstOf(sets, question, { search: begun, k, texts }, turns)
    const best = await readBest(texts, begun, { k, first }, turns)
    const highlighter = new Highlighter(question, await begun.forms())
    const scored = best.map(({ scored }) => scored)
    const parts = explain ? await begun.explained(scored) : []
    const found: FoundPassage[] = []
    for (const [n, { passage }] of best.entries()) {
      await turns.pass()
      found.push({
        ...passage,
        highlights: await highlighter.in(passage.text, turns),
        ...(explain && { explanation: (parts[n] ?? []).map(wordOf) }),
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

/** What comes first whatever scores say, where it is not the first already: with the score of the best. */
async function firstOf(
  sets: readonly PassageSet[],
  question: WordQuestion,
  { search, k, texts }: { readonly search: Search; readonly k: number; readonly texts: ChunkTexts },
  turns: Turns,
): Promise<ScoredPassage | undefined> {
  const [best] = await search.best(k)
  if (best === undefined) return undefined
  const fieldsOf = (set: PassageSet, passage: number) => texts.fieldsOf(set, passage)
  const equals = await bestWithKeys(sets, question, { search, fieldsOf }, turns)
  if (equals[0]?.score === best.score) return undefined
  const named = await Promise.all(
    equals.map(async (each) => ({ each, name: await nameOf(search.set(each.set), each) })),
  )
  // The same one, whichever parts an index has.
  named.sort((a, b) => (a.name < b.name ? -1 : 1))
  return named[0] && { ...named[0].each, score: best.score }
}

function nameOf(set: PassageSet, { passage }: ScoredPassage): string | Promise<string> {
  return withBlocks(() => set.term(set.at(columnOf.passage, passage)).v)
}

/** The best, each once: several cores may say the same passage. */
async function readBest(
  texts: ChunkTexts,
  search: Search,
  { k, first }: { readonly k: number; readonly first: ScoredPassage | undefined },
  turns: Turns,
): Promise<Read[]> {
  const reads = new Map<string, Promise<Read>>()
  for (let wanted = k; ; wanted *= 2) {
    const best = await search.best(wanted)
    if (first !== undefined) best.unshift(first)
    const found = new Map<string, Read>()
    const readOnce = (scored: ScoredPassage): Promise<Read> => {
      const name = keyOf(scored)
      const read = reads.get(name) ?? readPassage(texts, search.set(scored.set), scored)
      reads.set(name, read)
      return read
    }
    for (let from = 0; from < best.length; from += readAtOnce) {
      for (const one of await Promise.all(best.slice(from, from + readAtOnce).map(readOnce))) {
        const key = `${one.passage.chunk.v.length} ${one.passage.chunk.v}${one.passage.text}`
        if (!found.has(key)) found.set(key, one)
      }
      await turns.pass()
    }
    if (found.size < k && best.length >= wanted) continue
    const place = ({ scored }: Read) => (scored === first ? 0 : 1)
    return [...found.values()].sort((a, b) => place(a) - place(b) || byScore(a, b)).slice(0, k)
  }
}

function keyOf({ set, passage }: ScoredPassage): string {
  return `${set} ${passage}`
}

async function readPassage(
  texts: ChunkTexts,
  set: PassageSet,
  scored: ScoredPassage,
): Promise<Read> {
  const { passage, score } = scored
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
  const text = await texts.textOf(set, passage, said.chunk)
  return { scored, passage: { ...said, text, score } }
}

function wordOf({ text, ...score }: ScoreOfPart): ScoreOfWord {
  return { word: text, ...score }
}

/** Those of one score in an order that does not change with the parts of an index. */
function byScore({ passage: a }: Read, { passage: b }: Read): number {
  if (a.score !== b.score) return b.score - a.score
  if (a.chunk.v !== b.chunk.v) return a.chunk.v < b.chunk.v ? -1 : 1
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0
}
