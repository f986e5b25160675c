// What a retrieval is asked for, checked, with its limits and the vector of its question.

import type { Embedder, Vector } from '../../types.js'
import { checkMembers, checkSignal, refuse } from '../question.js'

export interface Retrieval {
  readonly vector: Vector
  readonly entities: number
  readonly triples: number
  readonly depth: number
  readonly maxTriples: number
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
): Promise<Retrieval> {
  const given = checkMembers(query, '', ['vector', 'text', ...Object.keys(limits), 'signal'])
  const { vector, text } = given
  const signal = checkSignal(given['signal'], 'signal')
  const checked = {
    entities: checkCount('entities', given),
    triples: checkCount('triples', given),
    depth: checkCount('depth', given),
    maxTriples: checkCount('maxTriples', given),
    signal,
  }
  if (text === undefined) {
    if (vector === undefined) refuse('text', 'expected what to look for, as text or as vector')
    if (!isVector(vector)) refuse('vector', 'expected a list of finite numbers, one at least')
    return { ...checked, vector }
  }
  if (vector !== undefined) refuse('vector', 'a question is a text or a vector, and not both')
  if (typeof text !== 'string') refuse('text', `expected a string, found ${typeof text}`)
  if (text.trim() === '') refuse('text', 'the question is empty')
  if (!text.isWellFormed()) refuse('text', 'the text holds a lone surrogate')
  if (embed === undefined) {
    refuse('text', 'nothing here makes a vector of a text; configure an embedder, or give a vector')
  }
  return { ...checked, vector: await embedded(text, embed, signal) }
}

function checkCount(name: keyof typeof limits, given: Readonly<Record<string, unknown>>): number {
  const [least, usual, most] = limits[name]
  const value = given[name] ?? usual
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
    return value as number
  }
  return refuse(name, `expected a whole number from ${least} to ${most}, found ${String(value)}`)
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
  if (isVector(vector)) return vector
  throw new TypeError('the embedder must give one vector of finite numbers for one text')
}

function isVector(value: unknown): value is Vector {
  const isList =
    Array.isArray(value) || value instanceof Float64Array || value instanceof Float32Array
  if (!isList || value.length === 0) return false
  // Not every(), which passes over holes.
  for (let i = 0; i < value.length; i++) if (!Number.isFinite(value[i])) return false
  return true
}
