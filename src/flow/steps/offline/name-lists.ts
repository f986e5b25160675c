// Names in a row: `Ada, Bob and Carl`, and places in places: `Tralee, County Kerry, Ireland`.

import type { Chunk } from './chunks.js'
import type { Mention } from './mention.js'
import type { Statement } from './statement.js'

const ofPlaces = new Set(['in', 'at', 'near', 'from', 'of', 'to'])
const maxNames = 20

/** The name that the noun phrase at a chunk ends with, and those beside it. */
export function namesFrom(
  chunks: readonly Chunk[],
  from: number,
): { names: readonly Mention[]; end: number } {
  const first = nameAt(chunks, from)
  if (first === undefined) return { names: [], end: from }
  const names = [first]
  for (let at = from + 1; names.length < maxNames;) {
    const isComma = chunks[at]?.kind === 'comma'
    if (isComma) at++
    const isLast = chunks[at]?.kind === 'and'
    if (isLast) at++
    const next = isComma || isLast ? nameAt(chunks, at) : undefined
    if (next === undefined || isFollowedByVerb(chunks, at)) break
    names.push(next)
    at++
    if (isLast) return { names, end: at }
  }
  return { names: [first], end: from + 1 }
}

/** What lies in what, from the noun phrase at a chunk on, behind a preposition. */
export function placesFrom(
  chunks: readonly Chunk[],
  from: number,
  preposition: string,
): { statements: readonly Statement[]; end: number } {
  const statements: Statement[] = []
  let inner = nameAt(chunks, from)
  let end = from + 1
  if (!ofPlaces.has(preposition)) return { statements, end }
  while (inner !== undefined && chunks[end]?.kind === 'comma' && statements.length < 3) {
    const outer = chunks[end + 1]
    const isBare = outer?.kind === 'noun' && outer.from === outer.name?.from && !outer.noun
    if (!isBare || outer.name === undefined || /^\d/.test(outer.name.name)) break
    statements.push({ subject: inner, relation: 'in', object: outer.name })
    inner = outer.name
    end += 2
  }
  const next = chunks[end]
  const isList = next?.kind === 'and' || (next?.kind === 'comma' && chunks[end + 1]?.kind === 'and')
  const isSubject = next?.kind === 'verb' && isFinite(next)
  // `in Paris, London and Rome`; `in Paris, Ada met Bob`.
  if ((isList && nameBehindAnd(chunks, end)) || isSubject) return { statements: [], end: from + 1 }
  return { statements, end }
}

export function isFinite(chunk: Chunk | undefined): boolean {
  if (chunk?.kind !== 'verb') return false
  return chunk.form === 'active' || chunk.form === 'passive' || chunk.form === 'be'
}

function nameBehindAnd(chunks: readonly Chunk[], at: number): boolean {
  const and = chunks[at]?.kind === 'and' ? at : at + 1
  return nameAt(chunks, and + 1) !== undefined
}

function nameAt(chunks: readonly Chunk[], at: number): Mention | undefined {
  const chunk = chunks[at]
  return chunk?.kind === 'noun' ? chunk.name : undefined
}

function isFollowedByVerb(chunks: readonly Chunk[], at: number): boolean {
  return isFinite(chunks[at + 1])
}
