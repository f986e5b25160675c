// What a retrieval is asked for, checked, with its limits and the vector of its question.

import type { Embedder, Vector } from '../../types.js'
import { Members } from '../../door/members.js'
import { checkOptions } from '../../door/options.js'
import { aSignal, aVector } from '../../door/rules.js'
import { shown } from '../../door/wording.js'
import { aLanguageRange } from '../../terms.js'
import { Question } from '../question.js'
import { eitherOf } from '../../in-flight.js'

export interface Retrieval {
  readonly vector: Vector
  readonly entities: number
  readonly triples: number
  readonly depth: number
  readonly maxTriples: number
  readonly languages: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
}

/** Of each limit: its least value, the reference system's, and more than any question is for. */
const limits = {
  entities: [1, 50, 10_000],
  triples: [0, 30, 100_000],
  depth: [0, 2, 100],
  maxTriples: [0, 1000, 1_000_000],
} as const

/**
 * The question, where it is asked in words as the embedder understands them. An embedder may take
 * seconds, so this comes before a version of the cores is held.
 * @throws LorekeepError `LK_GRAPH_QUERY`; what the embedder throws; the signal's reason
 */
export async function checkRetrieval(
  query: unknown,
  embed: Embedder | undefined,
  closing: AbortSignal = new AbortController().signal,
): Promise<Retrieval> {
  const question = new Question()
  const given = new Members(query, '', question.problems, 'a question, an object')
  const text = given.get('text')
  const vector = given.get('vector')
  const asked = checkOptions('retrieve()', { signal: given.get('signal') }, signalAlone)
  const signal = eitherOf(closing, asked.signal)
  const count = (name: keyof typeof limits) => {
    const [least, usual, most] = limits[name]
    return given.integer(name, least, most) ?? usual
  }
  const languages = given.list('languages', aLanguageRange)
  const checked = {
    entities: count('entities'),
    triples: count('triples'),
    depth: count('depth'),
    maxTriples: count('maxTriples'),
    // Of none is as good as no preference.
    languages: languages?.length ? [...languages] : undefined,
    signal,
  }
  given.end()
  if (text === undefined && vector === undefined) {
    given.fail('text', 'is missing: what to look for, as text or as vector')
  }
  const copy = text === undefined && vector !== undefined && question.vector(vector, 'vector')
  if (text !== undefined) checkText(text, vector, embed, given)
  question.end()
  if (typeof text !== 'string' || embed === undefined) {
    return { ...checked, vector: copy as Vector }
  }
  return { ...checked, vector: await embedded(text, embed, signal) }
}

const signalAlone = { signal: aSignal }

function checkText(
  text: unknown,
  vector: unknown,
  embed: Embedder | undefined,
  given: Members,
): void {
  if (vector !== undefined) given.fail('vector', 'stands beside text: a question is one of them')
  if (typeof text !== 'string') given.fail('text', `must be a string, not ${shown(text)}`)
  else if (text.trim() === '') given.fail('text', 'is empty')
  else if (!text.isWellFormed()) given.fail('text', 'has half of a surrogate pair')
  if (embed === undefined) {
    const advice = 'configure an embedder, or give a vector'
    given.fail('text', `has nothing here that makes a vector of it; ${advice}`)
  }
}

async function embedded(
  text: string,
  embed: Embedder,
  signal = new AbortController().signal,
): Promise<Vector> {
  signal.throwIfAborted()
  const vectors: unknown = await embed([text], { signal })
  signal.throwIfAborted()
  const vector: unknown = Array.isArray(vectors) && vectors.length === 1 ? vectors[0] : undefined
  if (aVector.holds(vector)) return vector
  throw new TypeError('the embedder must give one vector of finite numbers for one text')
}
