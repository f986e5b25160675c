// What a thread that answers queries, and whoever has it answer them, say to each other.

import type { TriplePattern } from '../graph/types.js'
import type { Term } from '../types.js'

/** Chunks that a thread sends before any of them was asked for. */
export const chunksAhead = 2

/** True for an entity, false for a plain literal, of others the datatype, or `@` and the language. */
export type TermKind = boolean | string

export function kindOf({ e, dt, ln }: Term): TermKind {
  return ln === undefined ? (dt ?? e) : `@${ln}`
}

/** True where each triple of a pattern has to say which graph it is in. */
export const isGraphOpen = ({ g }: TriplePattern): boolean =>
  typeof g === 'string' && g.startsWith('?')

export function termOf(v: string, kind: TermKind): Term {
  if (typeof kind === 'boolean') return { v, e: kind }
  if (kind.startsWith('@')) return { v, e: false, ln: kind.slice(1) }
  return { v, e: false, dt: kind }
}

export type ToThread =
  | {
      readonly type: 'ask'
      readonly text: string
      readonly accept: string | undefined
      readonly baseIRI: string | undefined
      readonly defaultGraphs: readonly string[] | undefined
      readonly namedGraphs: readonly string[] | undefined
    }
  /** The places that the pattern left open, and its graph, of one triple after another. */
  | {
      readonly type: 'triples'
      readonly id: number
      readonly count: number
      readonly values: readonly string[]
      readonly kinds: readonly TermKind[]
      readonly isLast: boolean
    }
  | { readonly type: 'count'; readonly id: number; readonly count: number }
  | { readonly type: 'graphs'; readonly id: number; readonly names: readonly string[] }
  /** One chunk more may be sent. */
  | { readonly type: 'more' }
  /** Nobody wants the answer any more. */
  | { readonly type: 'leave' }

export type FromThread =
  /** The engine is in memory. */
  | { readonly type: 'ready' }
  | { readonly type: 'match'; readonly id: number; readonly pattern: TriplePattern }
  | { readonly type: 'next'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }
  | { readonly type: 'count'; readonly id: number; readonly pattern: TriplePattern }
  | { readonly type: 'graphs'; readonly id: number }
  | { readonly type: 'answer'; readonly contentType: string }
  | { readonly type: 'not-acceptable'; readonly offered: readonly string[] }
  | { readonly type: 'chunk'; readonly bytes: Uint8Array }
  | { readonly type: 'failed'; readonly failure: Failure }
  /** All of the question is over, however it ended, and the next one may come. */
  | { readonly type: 'free' }

export interface Failure {
  /** `undefined` for what is no error of ours. */
  readonly code: string | undefined
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** True where triples have to say the term: it may be any, or be spelled otherwise in the core. */
export function isToldTerm(asked: Term | undefined): boolean {
  return asked === undefined || asked.dt !== undefined || asked.ln !== undefined
}
