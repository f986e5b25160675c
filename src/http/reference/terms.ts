// Terms as clients of the reference system write them. Those of its first versions are ours, { v, e };
// from 2.0 on they say their type: { t: 'i', i }, { t: 'b', d } or { t: 'l', v, dt, ln }.

import { isRecord } from '../../door/wording.js'
import type { Term } from '../../types.js'

/** How a client writes terms, and wants to have them written. */
export type Era = 'plain' | 'typed'

/** The term, where it is a typed one. Whatever else it is is left to who refuses it. */
export function plainTerm(value: unknown): unknown {
  if (!isTyped(value)) return value
  const { t, i, d, v, dt, ln } = value
  if (t === 'i') return { v: i, e: true }
  if (t === 'b' && typeof d === 'string') return { v: `_:${d.replace(/^_:/, '')}`, e: true }
  if (t !== 'l') return value
  // An empty text is none there. Of a text with a language the datatype is known.
  if (isGiven(ln)) return { v, e: false, ln }
  return { v, e: false, ...(isGiven(dt) && { dt }) }
}

/** A list of triples with plain terms. */
export function plainTriples(value: unknown): unknown {
  return Array.isArray(value) ? value.map(plainTriple) : value
}

function plainTriple(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { s, p, o, g, ...rest } = value
  const terms = { s: plainTerm(s), p: plainTerm(p), o: plainTerm(o) }
  return { ...terms, ...(isGiven(g) && { g }), ...rest }
}

export function termOf(term: Term, era: Era): object {
  if (era === 'plain') return term
  const { v, e, ...rest } = term
  if (!e) return { t: 'l', v, ...rest }
  return v.startsWith('_:') ? { t: 'b', d: v.slice(2) } : { t: 'i', i: v }
}

export function tripleOf(
  { s, p, o, ...rest }: { readonly s: Term; readonly p: Term; readonly o: Term },
  era: Era,
): object {
  return { s: termOf(s, era), p: termOf(p, era), o: termOf(o, era), ...rest }
}

/**
 * What its own terms show; without any, `user` is of the first versions, and `workspace`, one flat
 * `vector` or the first message of newer clients (`isNewer`) of those from 2.0 on.
 */
export function eraOf(body: Readonly<Record<string, unknown>>, isNewer = false): Era {
  for (const name of ['s', 'p', 'o']) {
    const term = body[name]
    if (isRecord(term)) return isTyped(term) ? 'typed' : 'plain'
  }
  if (body['user'] !== undefined) return 'plain'
  const isTypedEra = isNewer || body['workspace'] !== undefined || body['vector'] !== undefined
  return isTypedEra ? 'typed' : 'plain'
}

function isTyped(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && typeof value['t'] === 'string'
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
