// One version of several cores as one graph, by whole numbers in place of terms.

import type { Term } from '../types.js'
import type { ValueRange } from './value/range.js'

/** In the place of an id: anything, or a term that the graph does not have. */
export const ANY = -1
export const NONE = -2
// In the place of a graph's name: `ANY` is each graph by itself.
/** Whatever graphs a triple is in, it is one. */
export const UNION = -3
/** The default graph. */
export const DEFAULT = -4
/** Each named graph by itself. */
export const NAMED = -5

/**
 * Every method is synchronous and throws a Miss where a block is not in memory (see withBlocks). An
 * id names one term for as long as the view lives, whichever parts the term is in; two ids are two
 * terms. Ids are whole numbers from 0, below 2^53.
 */
export interface GraphView {
  /** The id of a term, `NONE` where no part has it. */
  find(term: Term): number
  /** The term of an id. */
  term(id: number): Term
  /** The text that has this hash; undefined where no part has one, or several are of it. */
  textOfHash(hash: number): string | undefined
  /**
   * The triples of a pattern, `ANY` where a place is open, each once; none where a place is `NONE`.
   * `g` is `UNION` where it is left out. Of a subject's triples those with `unwanted` predicates may be left
   * out, where many lie together.
   */
  rows(s: number, p: number, o: number, g?: number, unwanted?: ReadonlySet<number>): Rows
  has(s: number, p: number, o: number, g?: number): boolean
  /** How many rows there are: exactly where `isExact`, else about so many. Costs a few look-ups. */
  estimate(s: number, p: number, o: number, g?: number): number
  /** True where the graph is one part, in which no triple comes twice, and without named graphs. */
  readonly isExact: boolean
}

/** A view that can also be asked part by part, for literals by less than all of them. */
export interface PartedView extends GraphView {
  readonly parts: number
  /** The ids of the literals of a text that the n-th part has. */
  findText(text: string, n: number): number[]
  /** How many literals with a value in the range the n-th part has; about so many. `Infinity` of texts. */
  countBetween(range: ValueRange, n: number): number
  /** Those of all parts, each once, but for texts. */
  between(range: ValueRange): Values
  /** The names of the named graphs that the n-th part has. */
  graphNames(n: number): Names
}

/** A view whose rows can be told for less than it takes to join them. */
export interface TellingView extends PartedView {
  /** As rows(), for who only asks term() of their ids: one term may come under several. */
  rowsToTell(s: number, p: number, o: number, g: number): Rows
  /** A hint, before term() is called for each of the first `count`. Brings no blocks and throws no Miss. */
  readAhead(ids: Float64Array, count: number): void
  /**
   * Whether its terms are more than memory has room for: then those of many rows are read in their order. Its ids
   * are below 2^32.
   */
  readonly isVast: boolean
  termsInOrder(): OrderedTerms
}

/** Gives the terms of ids that ascend, and keeps none of what it reads. */
export interface OrderedTerms {
  /** May throw a Miss. */
  term(id: number): Term
  /** A hint, where the terms behind this one are asked for next. */
  bringAfter(id: number): void
}

/** A cursor over ids, as Rows are one. */
export interface Values {
  next(): boolean
  id: number
}

/** A cursor, as Rows are. */
export interface Names {
  next(): boolean
  name: string
}

/** A cursor. `next()` may throw a Miss, and goes on where it was when it is called again. */
export interface Rows {
  /** False at the end. */
  next(): boolean
  /** The triple that next() went to. */
  s: number
  p: number
  o: number
  /** The graph's name, or `DEFAULT`; of no use where rows of a `UNION` are asked for. */
  g: number
}
