// What a retrieval is asked for, checked, with its limits and the vector of its question.

import type { Embedder, Vector } from '../../types.js'
import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aFunction, aSignal, aVector } from '../../door/rules.js'
import { shown } from '../../door/wording.js'
import { eitherOf, untilAborted } from '../../in-flight.js'
import { languagesOfQuestion } from '../../text/language.js'
import { parseSearch } from '../../text/search-text.js'
import { languagesIn } from '../languages.js'
import { Question } from '../question.js'
import type { RankingQuestion } from '../ranking/ranking.js'
import type { Reranker } from '../types.js'
import { mostText, questionWords } from '../words/asked-words.js'

export interface Retrieval {
  /** Undefined where the question is a vector. */
  readonly text: string | undefined
  /** What passages are ranked by; undefined where it is by vectors alone. */
  readonly ranking: Omit<RankingQuestion, 'k'> | undefined
  readonly vector: Vector | undefined
  /** Makes a vector of the question where nothing was found by its words. */
  readonly embed: (() => Promise<Vector>) | undefined
  readonly rerank: Reranker | undefined
  readonly entities: number
  readonly triples: number
  readonly depth: number
  readonly maxTriples: number
  readonly languages: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
}

/** What questions are embedded by. */
export interface QuestionEmbedder {
  readonly embed: Embedder | undefined
  /** Whether no model makes its vectors: they are asked where there is nothing else. */
  readonly isOffline: boolean
}

/** Of each limit: its least value, the reference system's, and more than any question is for. */
const limits = {
  entities: [1, 50, 10_000],
  triples: [0, 30, 100_000],
  depth: [0, 2, 100],
  maxTriples: [0, 150, 1_000_000],
} as const

const legNames = ['words', 'names', 'walk', 'vectors'] as const

/**
 * The question, and its vector where it has one. An embedder may take seconds, so this comes before a
 * version of the cores is held.
 * @throws LorekeepError `LK_GRAPH_QUERY`; what the embedder throws; the signal's reason
 */
export async function checkRetrieval(
  query: unknown,
  { embed, isOffline }: QuestionEmbedder,
  closing: AbortSignal = new AbortController().signal,
): Promise<Retrieval> {
  const question = new Question()
  const given = new Members(query, '', question.problems, 'a question, an object')
  const text = given.get('text')
  const vector = given.get('vector')
  const asked = checkOptions(
    'retrieve()',
    { signal: given.get('signal'), rerank: given.get('rerank') },
    hostOptions,
  )
  const signal = eitherOf(closing, asked.signal)
  const count = (name: keyof typeof limits) => {
    const [least, usual, most] = limits[name]
    return given.integer(name, least, most) ?? usual
  }
  const languages = languagesIn(given)
  const checked = {
    entities: count('entities'),
    triples: count('triples'),
    depth: count('depth'),
    maxTriples: count('maxTriples'),
    // Of none is as good as no preference.
    languages: languages?.length ? [...languages] : undefined,
    signal,
  }
  const chosen = given.get('use')
  const use =
    chosen === undefined ? undefined : new Members(chosen, 'use', question.problems, 'an object')
  const legs = usedLegs(use)
  given.end()
  if (text === undefined && vector === undefined) {
    given.fail('text', 'is missing: what to look for, as text or as vector')
  }
  const copy = text === undefined && vector !== undefined && question.vector(vector, 'vector')
  if (text === undefined) {
    if (use !== undefined) given.fail('use', 'is about a text: a vector finds what is near to it')
    if (asked.rerank) given.fail('rerank', 'is about a text: a vector has nothing to compare')
  } else checkText(text, vector, given)
  const byVectors = legs.vectors ?? (embed !== undefined && !isOffline)
  if (byVectors && embed === undefined) {
    const advice = 'configure an embedder, or leave vectors out'
    question.problems.fail(
      'use.vectors',
      `has nothing here that makes a vector of the text; ${advice}`,
    )
  }
  const isRanked = legs.words || legs.names
  if (!isRanked && !byVectors) given.fail('use', 'leaves nothing to find passages by')
  question.end()
  const { rerank } = asked
  if (typeof text !== 'string') {
    const none = { text: undefined, ranking: undefined, embed: undefined, rerank: undefined }
    return { ...checked, ...none, vector: copy as Vector }
  }
  const isFallback = embed !== undefined && isOffline && legs.vectors === undefined
  return {
    ...checked,
    text,
    ranking: isRanked ? { text, legs, ...wordsOf(text, signal) } : undefined,
    vector: byVectors && embed !== undefined ? await embedded(text, embed, signal) : undefined,
    embed: isFallback ? () => embedded(text, embed, signal) : undefined,
    rerank: rerank as Reranker | undefined,
  }
}

const hostOptions = { signal: aSignal, rerank: aFunction }

function usedLegs(use: Members | undefined) {
  const given = legNames.map((name) => [name, use?.boolean(name)] as const)
  use?.end()
  const { words = true, names = true, walk = true, vectors } = Object.fromEntries(given)
  return { words, names, walk, vectors }
}

/** What is longer is looked for by its beginning. */
function wordsOf(whole: string, signal: AbortSignal) {
  const text = whole.slice(0, mostText)
  const { forms: languages, stopWords } = languagesOfQuestion(text)
  const { quoted, ...words } = questionWords(parseSearch(text), stopWords)
  return { words: { ...words, languages, signal }, quoted }
}

function checkText(text: unknown, vector: unknown, given: Members): void {
  if (vector !== undefined) given.fail('vector', 'stands beside text: a question is one of them')
  if (typeof text !== 'string') given.fail('text', `must be a string, not ${shown(text)}`)
  else if (text.trim() === '') given.fail('text', 'is empty')
  else if (!text.isWellFormed()) given.fail('text', 'has half of a surrogate pair')
}

async function embedded(
  text: string,
  embed: Embedder,
  signal = new AbortController().signal,
): Promise<Vector> {
  const vectors: unknown = await untilAborted((signal) => embed([text], { signal }), signal)
  const vector: unknown = Array.isArray(vectors) && vectors.length === 1 ? vectors[0] : undefined
  if (aVector.holds(vector)) return vector
  throw new TypeError('the embedder must give one vector of finite numbers for one text')
}
