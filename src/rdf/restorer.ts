// Statements as they were before parseRdf() reified what their triples have no place for.

import { isSame } from '../terms.js'
import type { Triple } from '../types.js'
import { maxReification, startsReification, unreify } from './extras.js'
import type { Extras } from './extras.js'

export interface Statement {
  readonly triple: Triple
  readonly extras?: Extras
}

/** Holds back one triple, and what may be its reified statement directly behind it. */
export class Restorer {
  readonly #hasGraphs: boolean
  #triple: Triple | undefined
  #behind: Triple[] = []

  /** Without `hasGraphs` a statement in a named graph stays reified. */
  constructor(hasGraphs: boolean) {
    this.#hasGraphs = hasGraphs
  }

  /** The statements that are complete now. */
  push(triple: Triple): readonly Statement[] {
    if (this.#triple && this.#belongs(triple)) {
      this.#behind.push(triple)
      return []
    }
    const statements = this.end()
    this.#triple = triple
    return statements
  }

  end(): readonly Statement[] {
    const [triple, behind] = [this.#triple, this.#behind]
    if (triple === undefined) return []
    this.#triple = undefined
    this.#behind = []
    const extras = behind.length > 0 ? unreify(triple, behind) : undefined
    if (extras && (this.#hasGraphs || !extras.graph)) return [{ triple, extras }]
    return [triple, ...behind].map((triple) => ({ triple }))
  }

  #belongs(triple: Triple): boolean {
    const [first] = this.#behind
    if (first === undefined) return startsReification(triple)
    return this.#behind.length < maxReification && isSame(first.s, triple.s)
  }
}
