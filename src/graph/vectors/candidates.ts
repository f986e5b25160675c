// The nearest entities so far.

import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { NearEntity } from '../types.js'
import type { Turns } from '../../turns.js'
import type { VectorSet } from './types.js'

/** Vectors wait until there are so many, or four for each entity that is asked for. */
const fewestWaiting = 128

interface Near {
  readonly set: number
  readonly index: number
  readonly score: number
}

export class Candidates {
  /** Vectors with less than this change nothing any more. */
  threshold = -Infinity
  readonly #sets: readonly VectorSet[]
  readonly #k: number
  readonly #term: (id: number) => Term
  readonly #turns: Turns
  /** The best vector of each entity, the best entity first, as of the last settle(). */
  #best = new Map<number, Near>()
  #waiting: Near[] = []

  constructor(sets: readonly VectorSet[], k: number, term: (id: number) => Term, turns: Turns) {
    this.#sets = sets
    this.#k = k
    this.#term = term
    this.#turns = turns
  }

  /** `set` is the place of a set among all. */
  add(set: number, index: number, score: number): void {
    if (score >= this.threshold) this.#waiting.push({ set, index, score })
  }

  /** Whether it is time for settle(). */
  get isFull(): boolean {
    return this.#waiting.length >= Math.max(fewestWaiting, 4 * this.#k)
  }

  /** Keeps the best vector of each entity, and of entities the k best. */
  async settle(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    const best = new Map(this.#best)
    for (const near of waiting) {
      if (near.score < this.threshold) continue
      if (this.#turns.isLong) await this.#turns.pass()
      const found = this.entity(near.set, near.index)
      // Not awaited where it is there: that is most of the time this takes.
      const entity = typeof found === 'number' ? found : await found
      const known = best.get(entity)
      if (known === undefined || compare(near, known) < 0) best.set(entity, near)
    }
    let order = [...best].sort(([, a], [, b]) => compare(a, b))
    if (order.length >= this.#k) {
      this.threshold = (order[this.#k - 1] as [number, Near])[1].score
      order = await this.#cut(order)
    }
    this.#best = new Map(order)
  }

  async result(): Promise<NearEntity[]> {
    await this.settle()
    const named = await this.#name([...this.#best])
    const found: NearEntity[] = []
    for (const { term, near } of named) {
      const { set, index, score } = near
      const vectors = this.#sets[set] as VectorSet
      found.push({ entity: term, score, core: await withBlocks(() => vectors.core(index)) })
    }
    return found
  }

  /** The entity of a vector. */
  entity(set: number, index: number): number | Promise<number> {
    // Whoever names a set names one of these.
    const vectors = this.#sets[set] as VectorSet
    return withBlocks(() => vectors.entity(index))
  }

  /** The k best, where those with the score of the last of them are chosen among by name. */
  async #cut(order: [number, Near][]): Promise<[number, Near][]> {
    const isTied = ([, { score }]: [number, Near]) => score === this.threshold
    const first = order.findIndex(isTied)
    const end = order.findLastIndex(isTied) + 1
    if (end === this.#k) return order.slice(0, end)
    const tied = await this.#name(order.slice(first, end))
    const chosen = tied.slice(0, this.#k - first)
    return [...order.slice(0, first), ...chosen.map(({ id, near }): [number, Near] => [id, near])]
  }

  /** In the order of results. */
  async #name(order: readonly [number, Near][]) {
    const named = []
    for (const [id, near] of order) {
      if (this.#turns.isLong) await this.#turns.pass()
      const term = await withBlocks(() => this.#term(id))
      named.push({ id, near, term, bytes: Buffer.from(term.v) })
    }
    return named.sort(
      (a, b) =>
        b.near.score - a.near.score ||
        Buffer.compare(a.bytes, b.bytes) ||
        Number(a.term.e) - Number(b.term.e),
    )
  }
}

/** Better ones first; of equal ones, those of the first set. */
function compare(a: Near, b: Near): number {
  return b.score - a.score || a.set - b.set || a.index - b.index
}
