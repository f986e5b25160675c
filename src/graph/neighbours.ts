import { isSame } from '../terms.js'
import type { Term, Triple } from '../types.js'
import { Matches, type OpenView } from './matches.js'
import type { Answer } from './results.js'
import type { Neighbour } from './types.js'

/** What stands next to a term: first the triples about it, then those that lead to it. */
export class Neighbours implements Answer<Neighbour> {
  readonly #open: OpenView
  readonly #term: Term
  readonly #out: Matches
  readonly #in: Matches
  #left: number

  constructor(open: OpenView, term: Term, limit: number) {
    this.#open = open
    this.#term = term
    this.#left = limit
    this.#out = new Matches(open, { s: term }, limit)
    // No limit: how many of these are loops is not known.
    this.#in = new Matches(open, { o: term }, Infinity)
  }

  get isDone(): boolean {
    return this.#left === 0 || (this.#out.isDone && this.#in.isDone)
  }

  next(most: number): Neighbour[] {
    const isOut = !this.#out.isDone
    const triples = (isOut ? this.#out : this.#in).next(most)
    // One that has the term on both sides comes once.
    const found = isOut ? triples : triples.filter(({ s }) => !this.#is(s)).slice(0, this.#left)
    this.#left -= found.length
    return found.map((triple: Triple) => ({
      term: isOut ? triple.o : triple.s,
      triple,
      direction: isOut ? 'out' : 'in',
    }))
  }

  end(): void {
    this.#open.release()
  }

  check(): void {
    this.#open.check()
  }

  #is(term: Term): boolean {
    return isSame(term, this.#term)
  }
}
